"""Appendix C as a sweep: who takes steps 1 to 4, who takes steps 5 to 8, and who goes on, on any task over seeds.

The paper's three rows and Adam throughout are always there, so that a choice is seen beside them; at the first settings
and on `numbers` the sweeps are those of `SWEEPS`, with their lanes and recordings.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dashboard.asked import protocol
from dashboard.asked.config import PHASES, LaneConfig
from dashboard.asked.sweep_config import LR, WARMUP, SweepConfig, has_warmup_length
from dashboard.asked.sweep_presets import contender
from demo_models import TASKS
from radam_core.methods import ADAPTIVE, METHODS, Method

EIGHT = 8  # steps that are looked at one by one
LONGEST_LABEL = 40
PAPERS_RATE = 0.1
# What the races of these tasks share elsewhere in the app, beside the rate.
_SHARED: dict[str, dict[str, Any]] = {
    "numbers": {"beta2": protocol.BETA2, "decay": "linear"},
    "text": {"clip": 5.0},
}
# A warmup or a freeze of 2,000 steps, as the methods have them, would outlast the run.
_LENGTHS = {WARMUP: 200, "frozen_steps": 50}


@dataclass(frozen=True)
class Choice:
    """The methods of steps 1 to 4, of steps 5 to 8, and of all that follow."""

    first: str
    second: str
    after: str

    @property
    def label(self) -> str:
        """As short as a lane's name must be: by the methods' labels, or else by their names on the command line."""
        labels = [METHODS[name].label for name in (self.first, self.second, self.after)]
        names = [self.first, self.second, self.after]
        said = (self._said(*labels), self._said(*names), " / ".join(labels), " / ".join(names))
        return next((text for text in said if len(text) <= LONGEST_LABEL), "Your choice")

    def _said(self, first: str, second: str, after: str) -> str:
        if self.first == self.second == self.after:
            return f"{after} throughout"
        if self.first == self.second:
            return f"{first} for 1-8, then {after}"
        if self.second == self.after:
            return f"{first} for 1-4, then {after}"
        if self.first == self.after:
            return f"{after}, but {second} for 5-8"
        return f"{first} for 1-4, {second} for 5-8, then {after}"


# By their names in METHODS: the paper's three rows, and what all of it is against.
ROWS: dict[str, Choice] = {
    "radam": Choice("radam", "radam", "radam"),
    "adam-4-radam": Choice("adam", "radam", "radam"),
    "sgd-4-adam-8-radam": Choice("momentum", "adam", "radam"),
    "adam": Choice("adam", "adam", "adam"),
}
DEFAULT = ROWS["adam-4-radam"]


def usual_rate(task: str) -> float:
    """The paper's on `digits`, whose network is of its kind; elsewhere the task's own."""
    return PAPERS_RATE if task == "digits" else TASKS[task].lr


@lru_cache(256)
def four_steps(task: str, lr: float, choice: Choice = DEFAULT, seeds: int = 5) -> SweepConfig:
    """The sweep; `ValueError` says what of it is not allowed."""
    for place, name in (("steps 1-4", choice.first), ("steps 5-8", choice.second), ("afterwards", choice.after)):
        if name not in PHASES:
            raise ValueError(f"the method of {place} must be one of {', '.join(PHASES)}, got {str(name)[:40]!r}")
    shared = _SHARED.get(task, {})
    contenders = [contender(name, **shared) for name in ROWS]
    if same_row(task, choice) is None:
        contenders.append(_own(task, choice))
    return SweepConfig.make(
        {
            "task": task,
            "contenders": contenders,
            "axes": {LR: (lr,)},
            "seeds": tuple(range(seeds)),
            "dense_steps": EIGHT,
        }
    )


@lru_cache(2048)
def same_row(task: str, choice: Choice) -> str | None:
    """The row of the table that a choice is, step by step: RAdam begins with momentum steps, so momentum for steps 1 to
    4 and then RAdam is RAdam itself."""
    own = _method(task, _own(task, choice))
    rows = {name: _method(task, contender(name, **_SHARED.get(task, {}))) for name in ROWS}
    return next((name for name, row in rows.items() if same_steps(own, row, TASKS[task].steps)), None)


def same_steps(one: Method, other: Method, steps: int) -> bool:
    """Whether two methods do the same to any parameters, with any gradients, in every one of these steps."""
    return _alike(one, other, EIGHT + 1) and _alike(one, other, steps)  # most differ early, and hundreds take a while


def _alike(one: Method, other: Method, steps: int) -> bool:
    a, b = (method.coefficients(np.arange(1, steps + 1)) for method in (one, other))
    adapts = a.branch == ADAPTIVE  # elsewhere nothing is divided, and epsilon is not used
    names = ("m_keep", "m_gain", "v_keep", "v_gain", "lr_factor", "step", "branch")
    alike = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)
    return alike and np.array_equal(a.eps[adapts], b.eps[adapts])


def _own(task: str, choice: Choice) -> dict[str, Any]:
    chosen = [METHODS[name] for name in (choice.first, choice.second, choice.after)]
    lane: dict[str, Any] = dict(_SHARED.get(task, {}))
    if any(map(has_warmup_length, chosen)):
        lane[WARMUP] = _LENGTHS[WARMUP]
    if any(method.frozen_steps for method in chosen):
        lane["frozen_steps"] = _LENGTHS["frozen_steps"]
    if choice.first != choice.after:
        lane["steps_1_4"] = choice.first
    if choice.second != choice.after:
        lane["steps_5_8"] = choice.second
    return contender(choice.after, choice.label, **lane)


def _method(task: str, made: dict[str, Any]) -> Method:
    lane = LaneConfig.model_validate({**made["lane"], "label": made["label"], "method": made["method"], LR: 1.0})
    return lane.as_lane(TASKS[task].steps).method
