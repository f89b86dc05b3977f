"""The thread that hands lanes to the workers in packs and takes in what they say, to be written down and shown.

It owns the cluster; the pages' threads only leave it notes. Dask does the rest: a worker that dies is replaced, and its
packs train again from step 0, which changes nothing that is stored.

Fair share: packs in a worker take turns. And of the places that the workers have, long runs get at most half, so that
a short one never waits behind a row of long ones.
"""

import logging
import queue
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from distributed import Future

from dashboard.engine import worker
from dashboard.engine.cluster import Cluster, Layout
from dashboard.engine.commands import STOP
from dashboard.engine.jobs import LaneJob, Pack, RaceJob
from dashboard.engine.under_way import LOST_MESSAGE, UnderWay
from dashboard.runs.feeds import Feeds
from dashboard.runs.identity import lane_ids
from dashboard.runs.processes import Processes, Wishes
from dashboard.runs.states import CUT_OFF, CUT_OFF_MESSAGE, PAUSED, STOPPED
from dashboard.runs.store import Store

PACE_SECONDS = 0.08  # what comes within this time is written down and sent on together
TRY_AGAIN_SECONDS = 5.0
NO_WORKERS = "The Dask cluster has no workers now."
_END = object()
log = logging.getLogger(__name__)


class Dispatcher:
    def __init__(
        self,
        store: Store,
        feeds: Feeds,
        plan: Layout | None,
        processes: Processes | None = None,
        most_seconds: float | None = None,
    ) -> None:
        self.plan, self.most_seconds = plan, most_seconds
        self.under_way = UnderWay(store, feeds, self._steer, processes)
        self.cluster: Cluster | None = None
        self.devices: tuple[str, ...] | None = None
        self.workers = 1  # as far as is known
        self.topic = f"radam-lab-{uuid.uuid4().hex}"
        self.probes: list[Future[Any]] = []  # the places in workers that measurements take
        self.lock = threading.RLock()
        self._notes: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._errands = ThreadPoolExecutor(1, thread_name_prefix="radam-lab-errands")
        self._thread = threading.Thread(target=self._work, name="radam-lab-dispatcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._notes.put(_END)
        if self._thread.ident is not None:
            self._thread.join(30)
        self._errands.shutdown(wait=False, cancel_futures=True)

    def add(self, race: RaceJob) -> None:
        with self.lock:
            self.under_way.add(race)
        self._notes.put(None)

    def knows(self, run: str) -> bool:
        """Whether it is under way here, whatever a store that could not be written says."""
        with self.lock:
            return run in self.under_way.races

    def want(self, run: str, visitor: str, command: str) -> None:
        """What a visitor wants of a run; it does what all its visitors want. Nothing happens to one that is over."""
        with self.lock:
            race = self.under_way.races.get(run)
            if race is None:
                return
            self.under_way.want(race, visitor, command)
            self._obey(race)
        self._notes.put(None)

    def heed(self, wishes: Wishes) -> list[str]:
        """What visitors of all processes want, as the store has it; the runs among it that are not under way."""
        with self.lock:
            races = self.under_way.races
            for run, race in list(races.items()):
                if race.wants != wishes.get(run, {}):
                    race.wants = dict(wishes.get(run, {}))
                    self._obey(race)
                    self._notes.put(None)
            return [run for run in wishes if run not in races]

    def _obey(self, race: RaceJob) -> None:
        if race.command == STOP:
            self.under_way.over(race, STOPPED)
        else:
            self.under_way.steer(race.packs)
            self.under_way.show(race)
            self.under_way.show_queue()

    def let_go(self) -> None:
        """Another process goes on with all races."""
        with self.lock:
            self.under_way.let_go()

    def wants(self, run: str, visitor: str) -> str | None:
        with self.lock:
            race = self.under_way.races.get(run)
            return None if race is None else race.wants.get(visitor)

    def _steer(self, pack: Pack, command: str, keep: tuple[int, ...]) -> None:
        """Tells the pack's worker what is wanted of it, without waiting until it has heard."""
        self._errands.submit(self._tell_workers, pack.key, command, keep)

    def _tell_workers(self, key: str, command: str, keep: tuple[int, ...]) -> None:
        cluster = self.cluster
        if cluster is not None:
            cluster.client.run(worker.set_command, key, command, keep, on_error="ignore")

    def _work(self) -> None:
        ended = False
        while not ended:
            try:
                cluster = self._open()
            except Exception as error:  # not there, without this project's packages, or with older ones: it may change
                self.under_way.trouble = f"The Dask cluster cannot be used: {error}"
                log.warning(self.under_way.trouble)
                with self.lock:
                    self.under_way.show_queue()
                ended = self._ended_within(TRY_AGAIN_SECONDS)
                continue
            try:
                ended = self._until_lost(cluster)
            except Exception as error:  # mostly an OSError; whatever it is, this thread must go on
                log.warning("The Dask scheduler was lost: %r", error)
            self._leave(cluster, CUT_OFF_MESSAGE if ended else LOST_MESSAGE)
        with self.lock:
            for race in list(self.under_way.races.values()):
                self.under_way.over(race, CUT_OFF, CUT_OFF_MESSAGE)

    def _open(self) -> Cluster:
        cluster = Cluster.open(self.plan)
        cluster.client.subscribe_topic(self.topic, lambda event: self._notes.put(event[1]))
        self._ask_for_devices(cluster)
        self.cluster, self.under_way.trouble = cluster, ""
        return cluster

    def _ask_for_devices(self, cluster: Cluster) -> None:
        found = cluster.client.run(worker.devices, on_error="ignore")
        self.devices = max((tuple(names) for names in found.values()), key=len, default=None)
        self.workers = max(1, len(found))

    def measure(self, function: Any, *arguments: Any, **options: Any) -> "Future[Any] | None":
        """Has a worker compute something on the side; None while each of them has such work, or there is none."""
        cluster = self.cluster
        try:
            workers = len(cluster.client.nthreads()) if cluster is not None else 0
        except OSError:  # the scheduler has just gone
            return None
        with self.lock:
            self.probes = [probe for probe in self.probes if not probe.done()]
            if cluster is None or len(self.probes) >= workers:
                return None
            self.probes.append(cluster.client.submit(function, *arguments, **options))
            return self.probes[-1]

    def _leave(self, cluster: Cluster, message: str) -> None:
        """Ends the races with lanes in a worker; those that wait go on waiting."""
        with self.lock:
            if cluster.client.status == "running":
                cluster.client.unsubscribe_topic(self.topic)
                for key in self.under_way.packs:
                    self._tell_workers(key, STOP, ())
            for pack in list(self.under_way.packs.values()):
                self.under_way.all_over(pack, CUT_OFF, message)
            self.under_way.packs.clear()
            self.cluster, self.probes = None, []
        cluster.close()

    def _ended_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                if self._notes.get(timeout=left) is _END:
                    return True
            except queue.Empty:
                break
        return False

    def _until_lost(self, cluster: Cluster) -> bool:
        """Works until the engine is closed (True) or the scheduler is gone (False)."""
        handled = 0.0
        # A scheduler that was started again at the same address is another one: it knows nothing of our topic.
        scheduler = cluster.client.scheduler_comm
        while cluster.client.status == "running" and cluster.client.scheduler_comm is scheduler:
            if self.devices is None:
                self._ask_for_devices(cluster)
            cluster.mend()
            self._hand_out(cluster)
            notes = []
            try:
                notes.append(self._notes.get(timeout=1.0))
                time.sleep(max(0.0, PACE_SECONDS - (time.monotonic() - handled)))
                while True:
                    notes.append(self._notes.get_nowait())
            except queue.Empty:
                handled = time.monotonic()
            if _END in notes:
                return True
            with self.lock:
                self.under_way.take_in([note for note in notes if note is not None])
                if self.most_seconds is not None:
                    self.under_way.end_overdue(self.most_seconds)
        return False

    def _hand_out(self, cluster: Cluster) -> None:
        """Gives waiting lanes to the workers, race by race in their order, as far as there is room."""
        if not any(race.waiting for race in self.under_way.races.copy().values()):
            return
        threads = cluster.client.nthreads()
        with self.lock:
            self.under_way.trouble = "" if threads else NO_WORKERS
            slots = sum(threads.values())
            out = [pack for pack in self.under_way.packs.values() if pack.state != PAUSED]
            idle = len(set(threads) - {pack.worker for pack in out}) - sum(not pack.worker for pack in out)
            room = slots - len(out) - sum(not probe.done() for probe in self.probes)
            room_for_long = max(1, slots // 2) - sum(pack.long for pack in out)
            for race in list(self.under_way.races.values()):
                for lanes in self._packs_of(race, idle, len(threads)):
                    if room <= 0 or (race.long and room_for_long <= 0):
                        break
                    room, room_for_long, idle = room - 1, room_for_long - race.long, idle - 1
                    self._hand(race, lanes, cluster)
            self.under_way.show_queue()

    def _packs_of(self, race: RaceJob, idle: int, workers: int) -> list[dict[int, LaneJob]]:
        """The waiting lanes of a race by their places in it, pack by pack."""
        if not race.waiting:
            return []
        places = {lane: place for place, lane in reversed(list(enumerate(lane_ids(race.config))))}
        waiting = {places[lane.id]: lane for lane in race.waiting}
        device = race.config.device if race.config.device != "auto" else (self.devices or ("cpu",))[0]
        packs = race.share_out(sorted(waiting), idle, workers, on_gpu=device != "cpu")
        return [{place: waiting[place] for place in pack} for pack in packs]

    def _hand(self, race: RaceJob, lanes: dict[int, LaneJob], cluster: Cluster) -> None:
        # A key of its own for every attempt: one that a server left behind on a cluster must not be taken for it.
        key = f"pack-{race.run}-{uuid.uuid4().hex[:8]}"
        config = race.config.only(list(lanes))
        pack = Pack(key, config, dict(enumerate(lanes.values())), race.long)
        for place, lane in pack.lanes.items():
            lane.pack, lane.place = pack, place
        self.under_way.packs[key] = pack
        # Dask takes the worker with the least to do. One asked for by name would be waited for after its death.
        pack.future = cluster.client.submit(worker.train, self.topic, config.to_json(), key=key, pure=False)
        pack.future.add_done_callback(self._notes.put)
        for waiting in pack.races:
            self.under_way.show(waiting, "")
