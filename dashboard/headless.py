"""A race without a browser: its lanes' records gathered into curves and a summary. Imports torch only to train.

With a store it is the app's: lanes that were trained before are taken from it, and what is new is kept there.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.asked.config import RaceConfig
from dashboard.asked.lane_states import LossCourse, in_words
from dashboard.asked.presets import PRESETS
from dashboard.engine.packing import share_out
from dashboard.runs.identity import lane_ids
from dashboard.runs.records import LaneSteps, Record, decode, lane_records
from dashboard.runs.states import ELSEWHERE
from dashboard.runs.states import STOPPED as RUN_STOPPED
from dashboard.runs.store import Store
from demo_models import TASKS
from radam_core.race.control import Control
from radam_core.race.frames import DIVERGED, FINISHED, STOPPED, Frame, schedule_columns
from radam_core.race.plan import FINAL_STEPS
from radam_core.race.quantities import QUANTITIES

FILE = "records.jsonl"


def frames(config: RaceConfig, control: Control | None = None, measure: bool = True) -> Iterator[Frame]:
    """The frames of a configuration's race, run in this process."""
    from radam_core.race.race import race

    return race(TASKS[config.task].open(config.settings), config.plan(measure), control)


def records(
    config: RaceConfig, places: list[int] | None = None, control: Control | None = None
) -> Iterator[dict[int, Record]]:
    """The records of a race's lanes by their places, or of some of them, run in this process pack by pack."""
    from radam_core.race.race import Race

    problem = TASKS[config.task].open(config.settings)

    def told() -> Iterator[dict[int, Record]]:
        for pack in share_out(config, places or list(range(len(config.lanes))), idle=1):
            for found in lane_records(Race(problem, config.only(pack).plan()), control):
                yield {pack[place]: record for place, record in found.items()}

    return told()


def run(config: RaceConfig | str, **changes: Any) -> "Recording":
    """Runs a configuration, or a preset by name, to its end: `run("figure-1", steps=200, seed=3)`."""
    if isinstance(config, str):
        if config not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {config!r}")
        config = PRESETS[config].config
    recording = Recording(config.changed(**changes) if changes else config)
    for _ in recording.train():
        pass
    return recording


def _one_thread() -> AbstractContextManager[None]:
    from radam_core.race.threads import one_thread

    return one_thread()


@dataclass
class LaneRecording:
    """What a lane has said so far."""

    parts: list[LaneSteps] = field(default_factory=list)
    course: LossCourse = field(default_factory=LossCourse)
    metrics: dict[int, Mapping[str, float]] = field(default_factory=dict)  # step -> name -> value
    last: int = 0
    ends: bool = False
    trained: bool = False  # here, not taken from the store

    @property
    def diverged_at(self) -> int | None:
        return self.parts[-1].diverged_at if self.parts else None

    @property
    def status(self) -> str:
        if self.diverged_at is not None:
            return DIVERGED
        return FINISHED if self.ends else STOPPED

    def state(self, baseline: float | None) -> str:
        """As the lane's card in the app has it."""
        lost = f" at step {self.diverged_at}" if self.diverged_at is not None else ""
        return in_words(self.status + lost, self.course, baseline)

    @property
    def steps(self) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *(part.steps for part in self.parts)])

    def column(self, name: str) -> NDArray[np.float32]:
        return np.concatenate([np.empty(0, np.float32), *(part.columns[name] for part in self.parts)])

    @property
    def latest(self) -> Mapping[str, float]:
        """Its metrics when they were last measured."""
        return self.metrics[max(self.metrics)] if self.metrics else {}

    @property
    def final_loss(self) -> float:
        """The mean over the last steps; nan of a lane that was lost, or has none."""
        recent = self.column("loss")[self.steps > self.last - FINAL_STEPS]
        return float(recent.mean()) if len(recent) and self.diverged_at is None else np.nan


@dataclass
class Recording:
    """What a race's lanes have said, and how long it took to say it; with `out`, also on disk as it comes."""

    config: RaceConfig
    out: Path | None = None
    # False: only what the summary needs, so that a long race takes no more memory than a short one.
    keep_all: bool = True
    lanes: list[LaneRecording] = field(init=False)
    started: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.lanes = [LaneRecording() for _ in self.config.lanes]
        if self.out is not None and (self.out / FILE).exists():
            raise ValueError(f"out must be a folder without a recording, but {self.out} holds {FILE} already")

    def train(self, store: Store | None = None, control: Control | None = None) -> Iterator[None]:
        """Takes what the store has and trains the rest, a few steps at a time.

        What goes into the store is trained at one torch thread, as the app's workers do: another number of threads
        rounds otherwise, and where a race is at its edge, that decides how it ends.
        """
        ids = lane_ids(self.config)
        known = store.known(ids) if store else set()
        missing = [place for place, lane in enumerate(ids) if lane not in known and lane not in ids[:place]]
        told = records(self.config, missing, control) if missing else iter(())
        self._begin()
        if store:
            store.add(self.config, RUN_STOPPED, ELSEWHERE)
            for place, lane in enumerate(ids):
                for record in store.records(lane) if lane in known else ():
                    self.add(place, record)
        with _one_thread() if store and missing else nullcontext():
            for found in told:
                if store:
                    store.add_records((ids[place], record) for place, record in found.items())
                for place, record in found.items():
                    for same in (same for same, lane in enumerate(ids) if lane == ids[place]):
                        self.lanes[same].trained = True
                        self.add(same, record)
                self.seconds = time.perf_counter() - self.started
                yield

    def _begin(self) -> None:
        """Once the task could be opened: from here on it counts the time, and writes."""
        self.started = time.perf_counter()
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            (self.out / "config.json").write_text(self.config.to_json() + "\n", encoding="utf-8")
            (self.out / FILE).write_text("", encoding="utf-8")

    def add(self, place: int, record: Record) -> None:
        lane = self.lanes[place]
        part = decode(record.body)
        lane.parts.append(part)
        lane.course.add(part.steps.tolist(), part.columns["loss"].tolist())
        lane.last, lane.ends = record.last, record.ends
        lane.metrics |= part.metrics
        while not self.keep_all and lane.parts[0].last <= record.last - FINAL_STEPS:
            lane.parts.pop(0)
        if self.out is not None:
            label = json.dumps(self.config.lanes[place].label)
            with (self.out / FILE).open("a", encoding="utf-8") as file:
                file.write(f'{{"lane":{label},{record.body[1:]}\n')

    @property
    def done(self) -> int:
        """The last step that a lane has come to."""
        return max(lane.last for lane in self.lanes)

    @property
    def lane_steps(self) -> int:
        """Of those that were trained here."""
        return sum(lane.last for lane in self.lanes if lane.trained)

    @property
    def steps(self) -> NDArray[np.int64]:
        return np.unique(np.concatenate([lane.steps for lane in self.lanes]))

    def column(self, name: str) -> NDArray[Any]:
        """A quantity of the recorded steps, [step, lane], nan where a lane has none: `column("loss")`."""
        steps = self.steps
        if name not in QUANTITIES:
            return np.asarray(schedule_columns(self.config.plan().lanes, steps)[name])
        whole = np.full((len(steps), len(self.lanes)), np.nan, np.float32)
        for k, lane in enumerate(self.lanes):
            whole[np.isin(steps, lane.steps), k] = lane.column(name)
        return whole

    def summary(self) -> dict[str, Any]:
        """One plain object: the race's speed, and each lane's end."""
        baseline = TASKS[self.config.task].baseline_at(self.config.settings)
        return {
            "task": self.config.task,
            "seed": self.config.seed,
            "steps": self.done,
            "seconds": round(self.seconds, 3),
            "lane_steps": self.lane_steps,
            "lane_steps_per_second": round(self.lane_steps / self.seconds, 2) if self.seconds else 0.0,
            "lanes": [
                {
                    "label": config.label,
                    "status": lane.status,
                    "state": lane.state(baseline),
                    "final_loss": _number(lane.final_loss),
                    "metric": {name: _number(value) for name, value in lane.latest.items()},
                    "diverged_at": lane.diverged_at,
                    "trained": lane.trained,
                }
                for config, lane in zip(self.config.lanes, self.lanes, strict=True)
            ],
        }

    def save_summary(self) -> None:
        if self.out is not None:
            (self.out / "summary.json").write_text(json.dumps(self.summary(), indent=2) + "\n", encoding="utf-8")


def _number(value: float) -> float | None:
    """A float that JSON can hold: None stands for what is not finite."""
    return round(float(value), 6) if np.isfinite(value) else None
