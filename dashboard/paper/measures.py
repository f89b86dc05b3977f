"""What a row compares: a number for each seed, out of a sweep's cells of one contender."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.evidence.findings import Findings
from dashboard.evidence.outcomes import CellOutcome, end, metric


@dataclass(frozen=True)
class Measure:
    """`of` makes one number of a seed's cells, given the name of the task's first metric."""

    name: str
    of: Callable[[Sequence[CellOutcome], str], float]
    shown: str = ".3g"
    scale: str = "linear"  # how it is drawn: or "log", or "per cent"

    def text(self, value: float) -> str:
        return f"{100 * value:.1f}%" if self.scale == "per cent" else format(value, self.shown)


FINAL_LOSS = Measure("final loss", lambda cells, _: min(map(end, cells)), scale="log")
ACCURACY = Measure("accuracy", lambda cells, name: max(metric(one, name) for one in cells), scale="per cent")
EXACT_MATCH = Measure("exact match", lambda cells, name: max(metric(one, name) for one in cells), scale="per cent")
PERPLEXITY = Measure("perplexity", lambda cells, name: min(metric(one, name, "lower") for one in cells), ".4g")
ACCURACY_RANGE = Measure(
    "range of the accuracy over the learning rates",
    lambda cells, name: max(metric(one, name) for one in cells) - min(metric(one, name) for one in cells),
    scale="per cent",
)
# Where methods fail, a range of losses would favour the one that fails everywhere.
FAILED_RATES = Measure(
    "learning rates at which it does not learn", lambda cells, _: sum(not one.learns for one in cells), ".2g"
)


def gradient_at(step: int) -> Measure:
    """In decades: -5.8 is 10^-5.8. Exact zeros are left out."""
    return Measure(
        f"median log10|g| at step {step}", lambda cells, _: cells[0].outcome.gradients.get(step, math.nan), ".2f"
    )


def by_seed(found: Findings, label: str, measure: Measure, at: Mapping[str, Any]) -> dict[object, float]:
    """Of one contender, at some values of the axes if there are such."""
    cells: dict[object, list[CellOutcome]] = {}
    for one in found.found:
        if found.config.contenders[one.cell.contender].label == label and _is_at(one, at):
            cells.setdefault(one.cell.seed, []).append(one)
    if not cells:
        raise ValueError(f"label and at must name cells of the sweep, got {label!r} and {dict(at)!r}")
    name = found.metric or ""
    return {seed: measure.of(own, name) for seed, own in cells.items()}


def _is_at(one: CellOutcome, at: Mapping[str, Any]) -> bool:
    return all(one.cell.values.get(name) == value for name, value in at.items())


def spoken(values: Mapping[object, float], measure: Measure) -> str:
    """The mean, and from where to where."""
    numbers = list(values.values())
    mean = measure.text(sum(numbers) / len(numbers))
    ends = [measure.text(pick(numbers)) for pick in (min, max)]
    return mean if len(numbers) == 1 else f"{mean} ({ends[0]} to {ends[1]})"
