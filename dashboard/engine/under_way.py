"""The races under way: what workers say of their lanes goes into the store and out to the viewers, here alone.

Whatever goes wrong with one pack, a full disk or a worker that speaks nonsense, ends the races that wait for its lanes
and not the others.
"""

import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from distributed import Future
from distributed.scheduler import KilledWorker

from dashboard.engine.commands import STOP
from dashboard.engine.jobs import LaneJob, Pack, RaceJob
from dashboard.runs.feeds import Feeds
from dashboard.runs.processes import Processes
from dashboard.runs.records import Record
from dashboard.runs.speeds import add_speed
from dashboard.runs.states import CUT_OFF, FAILED, FINISHED, OVER, PAUSED, QUEUED, RUNNING, STOPPED
from dashboard.runs.store import Store
from radam_core.race.plan import plain_steps

LEAST_MEASURED_STEPS = 50  # of a pack whose speed is remembered: setting up would weigh too much in a shorter one
LOST_MESSAGE = "The connection to the Dask scheduler was lost. What was recorded is here; Train runs it again."
LONGEST_REASON = 500
log = logging.getLogger(__name__)


class UnderWay:
    """Not for two threads at once: the dispatcher holds its lock around every call."""

    def __init__(
        self,
        store: Store,
        feeds: Feeds,
        steer: Callable[[Pack, str, tuple[int, ...]], object],
        processes: Processes | None = None,
    ) -> None:
        self.store, self.feeds, self._steer, self.processes = store, feeds, steer, processes
        self._unwritten: list[Callable[[], object]] = []  # what the store could not be told yet, in its order
        self.races: dict[str, RaceJob] = {}  # in the order in which they came
        self.lanes: dict[str, LaneJob] = {}
        self.packs: dict[str, Pack] = {}  # in workers, also those that are about to end
        self.trouble = "The workers are starting."  # why runs wait that would otherwise not; empty if there is no such

    def add(self, race: RaceJob) -> None:
        """A race, with those of its lanes that are not known: one that is under way is waited for with others."""
        self.races[race.run] = race
        for feed in {feed.id: feed for feed in race.feed.lanes if not feed.complete}.values():
            lane = self.lanes.setdefault(feed.id, LaneJob(feed.id, feed))
            lane.races.append(race)
            race.lanes.append(lane)
        self.steer(race.packs)
        self.show(race)
        self.show_queue()

    def steer(self, packs: Iterable[Pack]) -> None:
        """Tells workers what is wanted of their packs, where it is something new."""
        for pack in packs:
            wanted = pack.command, tuple(pack.lanes)
            if wanted != pack.told:
                pack.told = wanted
                self._steer(pack, *wanted)

    def take_in(self, notes: list[Any]) -> None:
        """What workers said, in its order. A pack's records are written down together, up to the next word on it:
        nobody sees the steps of a race that goes on beside the state it had before."""
        records: dict[str, list[tuple[int, Record]]] = {}
        for note in notes:
            pack = self.packs.get(note["key"] if isinstance(note, dict) else note.key)
            if pack is None:  # over, or of an earlier attempt
                continue
            if isinstance(note, dict) and "records" in note:
                with self._only_this_fails(pack):
                    given = [(int(place), Record(*values)) for place, *values in note["records"]]
                    records.setdefault(pack.key, []).extend(given)
                continue
            with self._only_this_fails(pack):
                if not self._take_records(pack, records.pop(pack.key, [])):
                    continue
                if isinstance(note, dict):
                    self._turned(pack, note)
                else:
                    self._failed(pack, note)
        for key, rest in records.items():
            if key in self.packs:
                with self._only_this_fails(self.packs[key]):
                    self._take_records(self.packs[key], rest)

    @contextmanager
    def _only_this_fails(self, pack: Pack) -> Iterator[None]:
        """Whatever goes wrong with what a worker said ends its races, not the thread that serves them all."""
        try:
            yield
        except Exception as error:
            log.exception("The pack %s cannot go on.", pack.key)
            self.all_over(pack, FAILED, _reason(error))

    def _take_records(self, pack: Pack, records: list[tuple[int, Record]]) -> bool:
        """Whether they are stored now. A full disk, say, ends these races; the others can perhaps go on."""
        wanted = [(place, record) for place, record in records if place in pack.lanes]
        if not wanted:
            return True
        try:
            self.store.add_records((pack.lanes[place].id, record) for place, record in wanted)
        except sqlite3.Error as error:
            self.all_over(pack, FAILED, f"The records cannot be stored: {error}")
            return False
        races = pack.races
        for place, record in wanted:
            lane = pack.lanes.get(place)
            if lane is not None:
                pack.take(place, record)
                if lane.feed.complete:
                    self._lane_is_over(lane)
        for race in races:
            if race.lanes:
                self.show(race, race.news)
            else:
                self.over(race, FINISHED)
        return True

    def _lane_is_over(self, lane: LaneJob) -> None:
        self.lanes.pop(lane.id, None)
        for race in lane.races:
            race.lanes.remove(lane)
        lane.races.clear()

    def _turned(self, pack: Pack, note: dict[str, Any]) -> None:
        """A worker says that a pack started, was paused, goes on, or ended."""
        state = note["state"]
        if "started_in" in note:
            pack.started(str(note["started_in"]))
            self.steer([pack])
        if state in (RUNNING, PAUSED):
            pack.turn(state)
            for race in pack.races:
                self.show(race, race.news)
            return
        del self.packs[pack.key]
        if state == FINISHED and note["step"] >= LEAST_MEASURED_STEPS and note["whole"]:
            steps = plain_steps(note["step"], pack.config.half_batch_steps, pack.config.sharpness_every)
            with _even_if_the_disk_is_full():
                add_speed(self.store, pack.config, note["seconds"] / steps)
        if state == FINISHED:
            self.all_over(pack, FAILED, "Records were lost on their way here.")
        else:
            self.all_over(pack, STOPPED)

    def _failed(self, pack: Pack, future: "Future[Any]") -> None:
        """Dask's last word on a pack, which matters only if the pack itself could not say one."""
        if future.status == "error":
            del self.packs[pack.key]
            self.all_over(pack, FAILED, _reason(future.exception()))
        elif future.status in ("cancelled", "lost"):  # nobody here cancels: the scheduler has gone
            del self.packs[pack.key]
            self.all_over(pack, CUT_OFF, LOST_MESSAGE)

    def all_over(self, pack: Pack, state: str, message: str = "") -> None:
        """For the races that wait for a lane of the pack."""
        for race in pack.races:
            self.over(race, state, message)

    def over(self, race: RaceJob, state: str, message: str = "") -> None:
        """Ends a race, and with it the lanes that no other one waits for."""
        self.races.pop(race.run, None)
        packs = race.packs
        for lane in race.lanes:
            lane.races.remove(race)
            if not lane.races:
                self.lanes.pop(lane.id, None)
                if lane.pack is not None:
                    lane.pack.leave(lane.place)
        race.lanes.clear()
        visitors = list(race.wants)
        race.wants.clear()
        self.steer(packs)
        self.show(race, message, state, visitors)
        with _even_if_the_disk_is_full():
            for gone in self.store.trim():
                self.feeds.forget(gone)
        self.show_queue()

    def end_overdue(self, most_seconds: float) -> None:
        """Stops the races that have taken longer than any may: pauses count, what they waited in the queue does not."""
        told = f"Stopped after {most_seconds / 60:g} minutes, the most that a run has here. What was recorded stays."
        for race in list(self.races.values()):
            if race.begun is not None and time.monotonic() - race.begun > most_seconds:
                self.over(race, STOPPED, told)

    def let_go(self) -> None:
        """Of all races, which another process goes on with."""
        self.races.clear()
        self.lanes.clear()
        for pack in self.packs.values():
            self._steer(pack, STOP, ())
        self.packs.clear()
        self._unwritten.clear()

    def want(self, race: RaceJob, visitor: str, command: str) -> None:
        """What a visitor wants of a race; then all that visitors of other processes want counts, too."""
        race.want(visitor, command)
        processes = self.processes
        if processes is not None and self._write(lambda: processes.want(race.run, visitor, command)):
            with _even_if_the_disk_is_full():
                race.wants = processes.wishes(race.run).get(race.run, {})

    def written(self) -> bool:
        """Whether the store has been told all that it was to be: a full disk may have room again."""
        with _even_if_the_disk_is_full():
            while self._unwritten:
                self._unwritten[0]()
                del self._unwritten[0]
        return not self._unwritten

    def _write(self, write: Callable[[], object]) -> bool:
        self._unwritten.append(write)
        return self.written()

    def show(
        self, race: RaceJob, message: str | None = None, state: str | None = None, visitors: Sequence[str] = ()
    ) -> None:
        """Tells the store of a new state, and the viewers of anything new. `visitors` have wanted one that is over."""
        state = race.turn() if state is None else state
        if message is not None:
            race.message = message
        if state != QUEUED:
            race.position = None
        processes, run, told = self.processes, race.run, race.message
        if state in OVER and processes is not None:
            self._write(lambda: processes.end(run, state, told, visitors))
        elif state != race.state and (processes is not None or state in OVER):  # a guest marks none as under way
            with _even_if_the_disk_is_full():
                (processes.turn if processes is not None else self.store.set_state)(run, state, told)
        race.state = state
        if race.begun is None and state != QUEUED:
            race.begun = time.monotonic()
        race.feed.set_status(race.status())
        race.feed.wake()

    def show_queue(self) -> None:
        waiting = [race for race in self.races.values() if race.waiting and race.state == QUEUED]
        for position, race in enumerate(waiting, 1):
            if (race.position, race.message) != (position, self.trouble):
                race.position = position
                self.show(race, self.trouble)


@contextmanager
def _even_if_the_disk_is_full() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        log.warning("The store cannot be written: %s", error)


def _reason(error: BaseException) -> str:
    """Why a race could not run, in words for a visitor."""
    if isinstance(error, KilledWorker):
        return "Worker after worker was lost while running this: it may need more memory than there is."
    return (str(error) or type(error).__name__)[:LONGEST_REASON]
