"""How one cell of a sweep ended, or how far it has come."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.asked.grid import Grid, GridCell
from dashboard.asked.sweep_config import AXES
from radam_core.evidence import learns

FINISHED, DIVERGED, UNDER_WAY, WAITING = "finished", "diverged", "under way", "waiting"


@dataclass(frozen=True)
class Outcome:
    """What is known of a lane: its outline, without where it stands in the grid."""

    status: str = WAITING
    last: int = 0  # the step it has come to
    first_loss: float = float("nan")
    final_loss: float = float("nan")  # the mean over the last steps; nan of a lane that diverged or has not ended
    losses: tuple[float | None, ...] = ()  # at the steps of `grid_steps`, as far as it has come
    metrics: tuple[float | None, ...] = ()  # the task's first metric, as last measured before these
    latest: Mapping[str, float | None] = field(default_factory=dict)  # all metrics when they were last measured
    signs: Mapping[str, Mapping[int, float]] = field(default_factory=dict)  # early measures by name and step
    diverged_at: int | None = None
    gradients: Mapping[int, float] = field(
        default_factory=dict
    )  # median log10|g|, exact zeros left out, by histogram step

    @property
    def over(self) -> bool:
        return self.status in (FINISHED, DIVERGED)


@dataclass(frozen=True)
class CellOutcome:
    cell: GridCell
    outcome: Outcome
    baseline: float | None

    @property
    def reference(self) -> float:
        """What a final loss is compared with: the task's baseline, or where it has none the lane's own first loss."""
        return self.outcome.first_loss if self.baseline is None else self.baseline

    @property
    def learns(self) -> bool | None:
        """None while that is open."""
        return learns(self.outcome.final_loss, self.reference) if self.outcome.over else None


def end(one: CellOutcome) -> float:
    """min(final loss, first loss): a lane that diverged ends where it began. nan of one that is not over."""
    final, first = one.outcome.final_loss, one.outcome.first_loss
    if not one.outcome.over:
        return math.nan
    return first if math.isnan(final) else min(final, first)


def metric(one: CellOutcome, name: str | None, better: str = "higher") -> float:
    """As last measured. A lane that diverged has lost what it had; nan of one that is not over or was not measured."""
    if name is None or not one.outcome.over:
        return math.nan
    if one.outcome.diverged_at is not None:
        return 0.0 if better == "higher" else math.inf
    value = one.outcome.latest.get(name)
    return math.nan if value is None else value


def cell_outcomes(config: Grid, outcomes: Mapping[int, Outcome] | list[Outcome]) -> list[CellOutcome]:
    """By place."""
    baselines = [config.baseline(number) for number in range(len(config.contenders))]
    return [CellOutcome(cell, outcomes[cell.place], baselines[cell.contender]) for cell in config.cells]


def cell_row(config: Grid, found: CellOutcome) -> dict[str, Any]:
    """A cell as a line of a table, plain values only."""
    cell, outcome = found.cell, found.outcome
    metric = next(iter(config.judged_by), None)
    lane = cell.lane.as_lane(1).method
    beta2 = lane.betas[1] if AXES["beta2"](lane) else None
    values = {"lr": cell.lane.lr, "warmup_steps": lane.warmup_steps, "beta2": beta2, **cell.values}
    return {
        "method": config.contenders[cell.contender].method,
        "label": config.contenders[cell.contender].label,
        **values,
        "seed": cell.seed,
        "final_loss": number(outcome.final_loss),
        "metric": outcome.latest.get(metric) if metric else None,
        "status": outcome.status if outcome.diverged_at is None else f"{outcome.status} at step {outcome.diverged_at}",
        "learns": found.learns,
    }


def number(value: float | None) -> float | None:
    """A float that JSON can hold, to seven digits: None stands for what is not finite."""
    return float(f"{value:.7g}") if value is not None and abs(value) < float("inf") else None
