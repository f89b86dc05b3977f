"""A race without a browser: its frames gathered into curves and a summary. Imports torch only when one is run."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.config import RaceConfig
from dashboard.presets import PRESETS
from demo_models import TASKS
from radam_core.control import Control
from radam_core.entry import FINAL_STEPS
from radam_core.frames import STOPPED, Frame, encode_frame


def frames(config: RaceConfig, control: Control | None = None) -> Iterator[Frame]:
    """The frames of a configuration's race, run in this process."""
    from radam_core.race import race

    return race(TASKS[config.task].open(config.settings), config.entry(), control)


def run(config: RaceConfig | str, **changes: Any) -> "Recording":
    """Runs a configuration, or a preset by name, to its end: `run("figure-1", steps=200, seed=3)`."""
    if isinstance(config, str):
        if config not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {config!r}")
        config = PRESETS[config].config
    recording = Recording(config.changed(**changes) if changes else config)
    for frame in frames(recording.config):
        recording.add(frame)
    return recording


@dataclass
class Recording:
    """What a race has said so far, and how long it took to say it; with `out`, also on disk as it comes."""

    config: RaceConfig
    out: Path | None = None
    # False: only what the summary needs, so that a long race takes no more memory than a short one.
    keep_all: bool = True
    frames: list[Frame] = field(default_factory=list)
    metrics: dict[int, Mapping[str, NDArray[np.float32]]] = field(default_factory=dict)  # step -> name -> [lane]
    started: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.out is not None and (self.out / "frames.jsonl").exists():
            raise ValueError(f"out must be a folder without a recording, but {self.out} holds frames.jsonl already")

    def begin(self) -> None:
        """Once the task could be opened: from here on it counts the time, and writes."""
        self.started = time.perf_counter()
        if self.out is not None:
            self.out.mkdir(parents=True, exist_ok=True)
            (self.out / "config.json").write_text(self.config.to_json() + "\n", encoding="utf-8")
            (self.out / "frames.jsonl").write_text("", encoding="utf-8")

    def add(self, frame: Frame) -> None:
        self.frames.append(frame)
        self.metrics |= frame.metrics
        while not self.keep_all and self.frames[0].last <= frame.last - FINAL_STEPS:
            self.frames.pop(0)
        self.seconds = time.perf_counter() - self.started
        if self.out is not None:
            with (self.out / "frames.jsonl").open("a", encoding="utf-8") as file:
                file.write(encode_frame(frame) + "\n")

    @property
    def done(self) -> int:
        return self.frames[-1].last if self.frames else 0

    @property
    def steps(self) -> NDArray[np.int64]:
        return np.concatenate([frame.steps for frame in self.frames]) if self.frames else np.empty(0, dtype=np.int64)

    def column(self, name: str) -> NDArray[Any]:
        """A per-step quantity of `Frame` over the whole race, [recorded step, lane]: `column("loss")`."""
        if not self.frames:
            return np.empty((0, len(self.config.lanes)))
        return np.concatenate([getattr(frame, name) for frame in self.frames])

    def summary(self) -> dict[str, Any]:
        """One plain object: the race's speed, and each lane's end."""
        last = self.frames[-1] if self.frames else None
        latest = self.metrics[max(self.metrics)] if self.metrics else {}
        recent = self.column("loss")[self.steps > self.done - FINAL_STEPS]
        return {
            "task": self.config.task,
            "seed": self.config.seed,
            "steps": self.done,
            "seconds": round(self.seconds, 3),
            "lane_steps_per_second": round(self._lane_steps() / self.seconds, 2) if self.seconds else 0.0,
            "lanes": [
                {
                    "label": lane.label,
                    "status": last.status[k] if last else STOPPED,
                    "final_loss": _number(recent[:, k].mean()) if len(recent) else None,
                    "metric": {name: _number(values[k]) for name, values in latest.items()},
                    "diverged_at": last.diverged_at[k] if last else None,
                }
                for k, lane in enumerate(self.config.lanes)
            ],
        }

    def _lane_steps(self) -> int:
        ends = self.frames[-1].diverged_at if self.frames else ()
        return sum(self.done if at is None else at for at in ends)

    def save_summary(self) -> None:
        if self.out is not None:
            (self.out / "summary.json").write_text(json.dumps(self.summary(), indent=2) + "\n", encoding="utf-8")


def _number(value: Any) -> float | None:
    """A float that JSON can hold: None stands for what is not finite."""
    return round(float(value), 6) if np.isfinite(value) else None
