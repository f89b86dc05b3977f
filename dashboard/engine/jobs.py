"""What is under way: races, the lanes they wait for, and the packs in which workers train those lanes.

A lane is trained once, however many races have it. A pack is what one worker stacks: lanes of one race when it was
handed out, which other races may have come to want since.
"""

import math
import time
from dataclasses import dataclass, field
from typing import Any

from dashboard.asked.config import RaceConfig
from dashboard.asked.kinds import RunConfig
from dashboard.engine.commands import GO, PAUSE, STOP
from dashboard.engine.packing import share_out, share_out_wide
from dashboard.runs.feed import Feed, LaneFeed, Status
from dashboard.runs.identity import lane_ids
from dashboard.runs.records import Record
from dashboard.runs.states import OVER, PAUSED, QUEUED, RUNNING

AGAIN = "A worker was lost. Its lanes started again; what was recorded before stays."
FROM_THE_START = "It starts again from step 1; what was recorded before stays, and grows once it has come so far."


@dataclass(eq=False)
class LaneJob:
    id: str
    feed: LaneFeed
    races: "list[RaceJob]" = field(default_factory=list)  # that wait for it
    pack: "Pack | None" = None  # once it is in a worker
    place: int = 0  # in its pack


@dataclass(eq=False)
class RaceJob:
    """A race, and with `SweepJob` also a sweep: a list of lanes that visitors want."""

    run: str
    config: RunConfig
    feed: Feed
    long: bool  # its packs take places for long runs
    lanes: list[LaneJob] = field(default_factory=list)  # that are not over
    wants: dict[str, str] = field(default_factory=dict)  # visitor -> GO or PAUSE, of those who want the run
    state: str = QUEUED
    position: int | None = None
    message: str = ""
    speed: float | None = None  # lane-steps a second, as last measured
    begun: float | None = None  # by the monotonic clock, when it had first left the queue

    def want(self, visitor: str, command: str) -> None:
        """A visitor's own word, in place of their last one. Who does not want the run has nothing to pause or stop."""
        if command == GO:
            self.wants[visitor] = GO
        elif command == STOP:
            self.wants.pop(visitor, None)
        elif visitor in self.wants:
            self.wants[visitor] = command

    @property
    def command(self) -> str:
        """What all of them together want: it goes while one wants it to go, and stops when nobody wants it any more."""
        if not self.wants:
            return STOP
        return GO if GO in self.wants.values() else PAUSE

    @property
    def waiting(self) -> list[LaneJob]:
        """The lanes for which it waits to be given a worker."""
        return [lane for lane in self.lanes if lane.pack is None] if self.command == GO else []

    @property
    def packs(self) -> "list[Pack]":
        return list({id(lane.pack): lane.pack for lane in self.lanes if lane.pack is not None}.values())

    @property
    def news(self) -> str:
        """Why nothing new comes of some of its lanes, while that is so: whatever the others do meanwhile."""
        return next((pack.message for pack in self.packs if pack.message), "")

    def turn(self) -> str:
        """Into the state that its lanes and visitors give it, unless it is over."""
        states = {pack.state for pack in self.packs}
        if RUNNING in states:
            return RUNNING
        return PAUSED if PAUSED in states or self.command == PAUSE else QUEUED

    def share_out(self, places: list[int], idle: int, workers: int, on_gpu: bool) -> list[list[int]]:  # noqa: ARG002
        """The packs that are to be handed out now, as far as there is room."""
        return share_out(self.config, places, idle, on_gpu)

    def status(self) -> Status:
        speeds = {pack.key: pack.steps_per_second for pack in self.packs}
        known = bool(speeds) and all(speeds.values())
        if known:
            lanes = (lane.pack.key for lane in self.lanes if lane.pack is not None)
            self.speed = _rounded(sum(speeds[key] for key in lanes))
        left = self.seconds_left() if known else math.nan
        step, steps = self.progress()
        return Status(
            state=self.state,
            position=self.position,
            step=step,
            steps=steps,
            lane_steps_per_second=self.speed,
            seconds_left=_rounded(left) if known and self.state not in OVER else None,
            message=self.message,
            wanted_by=len(self.wants),
        )

    def progress(self) -> tuple[int, int]:
        """The step that all lanes have come to, and the last one."""
        steps = self.config.steps
        return min(steps if lane.complete else lane.step for lane in self.feed.lanes), steps

    def seconds_left(self) -> float:
        return max((self.config.steps - pack.step) / pack.steps_per_second for pack in self.packs)


@dataclass(eq=False)
class SweepJob(RaceJob):
    """Its packs are wide, and one a worker: what counts is when all cells are done."""

    count: int = 0  # of its lanes, those that were known before among them
    planned: list[list[int]] = field(default_factory=list)  # packs, by place

    def __post_init__(self) -> None:
        self.count = len(set(lane_ids(self.config)))

    def share_out(self, places: list[int], idle: int, workers: int, on_gpu: bool) -> list[list[int]]:  # noqa: ARG002
        """By a plan that is made once: what is left, shared out anew each time, would end in packs of one lane."""
        if not set(places) <= {place for pack in self.planned for place in pack}:
            self.planned = share_out_wide(self.config, places, workers, on_gpu)
        waiting = set(places)
        packs = [left for pack in self.planned if (left := [place for place in pack if place in waiting])]
        out = sum(pack.state != PAUSED for pack in self.packs)
        return packs[: max(0, workers - out)]

    def progress(self) -> tuple[int, int]:
        """In lane-steps. A stopped sweep waits for no lane any more, and has come no further by that."""
        steps, left = self.config.steps, self.feed.lanes
        done = (self.count - len(left)) * steps + sum(steps if lane.complete else lane.step for lane in left)
        return done, self.count * steps

    def seconds_left(self) -> float:
        steps = self.config.steps
        left = sum(steps - (lane.pack.step if lane.pack is not None else 0) for lane in self.lanes)
        return left / self.speed if self.speed else math.nan


JOBS: dict[str, type[RaceJob]] = {"race": RaceJob, "sweep": SweepJob}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


@dataclass(eq=False)
class Pack:
    key: str  # Dask's
    config: RaceConfig  # of its lanes alone
    lanes: dict[int, LaneJob]  # by place: those that are wanted and not over
    long: bool
    worker: str = ""  # its address, once it has started
    future: Any = None  # Dask's
    state: str = RUNNING
    told: tuple[str, tuple[int, ...]] = (GO, ())  # what its worker was told: a command, and the lanes to keep
    attempts: int = 0
    step: int = 0  # the last one of this attempt
    recorded: int = 0  # the step up to which this attempt tells nothing new
    _clock: float | None = None  # since when it trains without a pause
    _seconds: float = 0.0

    def __post_init__(self) -> None:
        self.told = self.first_told

    @property
    def command(self) -> str:
        """What the races want that wait for its lanes."""
        commands = {race.command for lane in self.lanes.values() for race in lane.races}
        return GO if GO in commands else PAUSE if commands else STOP

    @property
    def first_told(self) -> tuple[str, tuple[int, ...]]:
        """What a worker begins with."""
        return GO, tuple(range(len(self.config.lanes)))

    @property
    def races(self) -> list[RaceJob]:
        return list({race.run: race for lane in self.lanes.values() for race in lane.races}.values())

    @property
    def message(self) -> str:
        """Why nothing new comes, while that is so."""
        if self.attempts > 1:
            return AGAIN
        return FROM_THE_START if self.step < self.recorded else ""

    def started(self, worker: str) -> None:
        """By its first worker, or by another one after that was lost: from step 0 either way."""
        self.attempts += 1
        self.worker, self.step, self.told = worker, 0, self.first_told
        self.recorded = max((lane.feed.step for lane in self.lanes.values()), default=0)
        self._clock, self._seconds = time.monotonic(), 0.0

    def take(self, place: int, record: Record) -> None:
        feed = self.lanes[place].feed
        feed.add(record)
        self.step = max(self.step, record.last)
        if feed.complete:
            self.leave(place)

    def leave(self, place: int) -> None:
        self.lanes.pop(place).pack = None

    def turn(self, state: str) -> None:
        """Into a state; the clock of its speed stands still in a pause."""
        now = time.monotonic()
        if state == PAUSED and self._clock is not None:
            self._seconds, self._clock = self._seconds + now - self._clock, None
        elif state == RUNNING and self.state == PAUSED:
            self._clock = now
        self.state = state

    @property
    def steps_per_second(self) -> float:
        seconds = self._seconds + (0.0 if self._clock is None else time.monotonic() - self._clock)
        return self.step / seconds if seconds > 0 else 0.0
