"""A lane in outline: its loss at some sixty steps, how it ended, and the early signs. It is made from the lane's
records and a few kB small, so that a sweep of hundreds of lanes is drawn and read without them."""

import json
import math
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from dashboard.asked.kinds import RunConfig
from dashboard.evidence.outcomes import DIVERGED, FINISHED, UNDER_WAY, WAITING, Outcome, number
from dashboard.evidence.signs import AT_STEPS
from dashboard.evidence.steps import grid_steps
from dashboard.runs.records import LaneSteps, Record, decode
from demo_models import TASKS
from radam_core.race.frames import BIN_OF_ONE, schedule_columns
from radam_core.race.plan import FINAL_STEPS, Lane
from radam_core.theory import variance_log_psi_exact

FORM = 2  # of what is kept: another one is made again from the records


@dataclass
class Outline:
    """Grows record by record. A loss at a step is the mean over the last 20 steps before it, as everywhere."""

    lane: Lane
    steps: int
    metric: str | None
    records: int = 0  # how many it was made from
    last: int = 0
    first_loss: float = math.nan
    losses: list[float | None] = field(default_factory=list)
    metrics: list[float | None] = field(default_factory=list)
    latest: dict[str, float | None] = field(default_factory=dict)
    signs: dict[str, dict[int, float]] = field(default_factory=dict)
    diverged_at: int | None = None
    complete: bool = False
    gradients: dict[int, float] = field(default_factory=dict)
    _window: deque[tuple[int, np.float32]] = field(default_factory=deque)
    _first_gradient: float = math.nan

    @classmethod
    def of_task(cls, lane: Lane, task: str, steps: int) -> "Outline":
        return cls(lane, steps, next(iter(TASKS[task].metrics), None))

    def add(self, body: str | bytes) -> None:
        """The lane's next record; it ends with the run's last step, or where the lane diverged."""
        part = decode(body)
        grid = grid_steps(self.steps)
        self.records += 1
        measured = sorted(part.metrics.items())
        for step, loss in zip(part.steps.tolist(), part.columns["loss"], strict=True):
            if math.isnan(self.first_loss):
                self.first_loss = float(loss)
            self._reach(step - 1, grid, measured)  # a step between recorded ones does not look ahead
            if np.isfinite(loss):
                self._window.append((step, loss))
            self._reach(step, grid, measured)
        self._reach(part.last, grid, measured)
        self._measure(part)
        self.last, self.diverged_at = part.last, part.diverged_at
        self.complete = self.last >= self.steps or self.diverged_at is not None

    def _reach(self, step: int, grid: list[int], measured: list[tuple[int, Any]]) -> None:
        while len(self.losses) < len(grid) and grid[len(self.losses)] <= step:
            self._advance(grid[len(self.losses)], measured)
            self.losses.append(number(self._now))
            self.metrics.append(self.latest.get(self.metric) if self.metric else None)

        self._advance(step, measured)

    def _advance(self, step: int, measured: list[tuple[int, Any]]) -> None:
        """To what is known at this step; the last loss stays until there is another."""
        while measured and measured[0][0] <= step:
            self.latest = {name: number(value) for name, value in measured.pop(0)[1].items()}
        while len(self._window) > 1 and self._window[0][0] <= step - FINAL_STEPS:
            self._window.popleft()

    @property
    def _now(self) -> float:
        return float(np.mean([loss for _, loss in self._window])) if self._window else math.nan

    def _measure(self, part: LaneSteps) -> None:
        """The signs at the steps that this record covers."""
        for found in part.histograms:
            counts = found.counts()[0].sum(0)
            median = median_log10(counts)
            seen = median_log10(np.concatenate([[0], counts[1:]]))  # as the ridges have it: exact zeros left out
            if math.isfinite(seen):
                self.gradients[found.t] = float(f"{seen:.4g}")
            if found.t not in (1, *AT_STEPS):
                continue
            if found.t == 1:
                self._first_gradient = median
                continue
            before = part.steps <= found.t
            sizes = {
                name: float(part.columns[name][before][-1]) if before.any() else math.nan
                for name in ("update_rms", "relative_update")
            }
            norms = found.by_group("grad_norm")
            multiplier = float(schedule_columns([self.lane], [found.t])["multiplier"][0, 0])
            known = self.lane.method.adaptive and self.lane.method.theory
            variance = _variance(found.t, self.lane.method.betas[1]) if known else math.nan
            told = {
                "gradient": median,
                "gradient_fall": self._first_gradient - median,
                "layers": float(norms[0] / norms[-1]) if len(norms) > 1 and norms[-1] > 0 else math.nan,
                **sizes,
                "multiplier": multiplier,
                "critical": found.spread.get("critical", math.nan),
                "psi_across": found.spread.get("psi_across", math.nan),
                "psi_theory": variance * multiplier**2,
            }
            for name, value in told.items():
                if math.isfinite(value):
                    self.signs.setdefault(name, {})[found.t] = float(f"{value:.6g}")

    @property
    def outcome(self) -> Outcome:
        status = DIVERGED if self.diverged_at is not None else FINISHED if self.complete else UNDER_WAY
        return Outcome(
            status=status if self.records else WAITING,
            last=self.last,
            first_loss=self.first_loss,
            final_loss=self._now if status == FINISHED else math.nan,
            losses=tuple(self.losses),
            metrics=tuple(self.metrics),
            latest=dict(self.latest),
            signs={name: dict(found) for name, found in self.signs.items()},
            diverged_at=self.diverged_at,
            gradients=dict(self.gradients),
        )


def outline_of(config: RunConfig, place: int, records: Iterable[Record]) -> str:
    """Of a lane whose records are all there, as it is kept."""
    lane = config.only([place]).lanes[0].as_lane(config.steps)
    outline = Outline.of_task(lane, config.task, config.steps)
    for record in records:
        outline.add(record.body)
    return to_json(outline.outcome)


@lru_cache(256)
def _variance(t: int, beta2: float) -> float:
    return float(np.asarray(variance_log_psi_exact(t, beta2)))


def median_log10(counts: np.ndarray[Any, Any]) -> float:
    return quantile_log10(counts, 0.5)


def quantile_log10(counts: np.ndarray[Any, Any], share: float) -> float:
    """Of log10|x|, from counts by powers of two, straight between the ends of its bin; zeros are least."""
    total = counts.sum()
    if not total:
        return math.nan
    at = np.cumsum(counts)
    bin_ = int(np.searchsorted(at, total * share))
    inside = (total * share - (at[bin_] - counts[bin_])) / counts[bin_]
    return float((bin_ - BIN_OF_ONE + inside) * math.log10(2))


def to_json(outcome: Outcome) -> str:
    plain = asdict(outcome)
    plain |= {name: number(getattr(outcome, name)) for name in ("first_loss", "final_loss")}
    return json.dumps({"form": FORM, **plain}, separators=(",", ":"), allow_nan=False)


def from_json(text: str) -> Outcome | None:
    """None for one of another form."""
    plain = json.loads(text)
    if plain.pop("form", None) != FORM:
        return None
    for name in ("first_loss", "final_loss"):
        plain[name] = math.nan if plain[name] is None else plain[name]
    for name in ("losses", "metrics"):
        plain[name] = tuple(plain[name])
    signs = {name: {int(t): value for t, value in found.items()} for name, found in plain["signs"].items()}
    gradients = {int(t): value for t, value in plain["gradients"].items()}
    return Outcome(**{**plain, "signs": signs, "gradients": gradients})
