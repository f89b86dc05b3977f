"""What the variants of Appendix C came to: over seeds, and seed by seed against the first of them.

Lanes of one seed have the same first weights and the same batches, so that their difference is not the luck of those.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.evidence.findings import Findings
from dashboard.evidence.outcomes import end, metric


@dataclass(frozen=True)
class Spread:
    """Mean and range of what is known."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    @property
    def below(self) -> int:
        return sum(value < 0 for value in self.values)

    @property
    def above(self) -> int:
        return sum(value > 0 for value in self.values)


@dataclass(frozen=True)
class Variant:
    """By seed; nan where a lane is not over. One that diverged has lost its metric, and ends where it began."""

    contender: int
    label: str
    places: tuple[int, ...]
    metrics: tuple[float, ...]
    losses: tuple[float, ...]
    over: int
    diverged: int


def variants(found: Findings) -> list[Variant]:
    made = []
    for number, contender in enumerate(found.config.contenders):
        cells = [one for one in found.found if one.cell.contender == number]
        made.append(
            Variant(
                number,
                contender.label,
                tuple(one.cell.place for one in cells),
                tuple(metric(one, found.metric, found.better) for one in cells),
                tuple(end(one) for one in cells),
                sum(one.outcome.over for one in cells),
                sum(one.outcome.diverged_at is not None for one in cells),
            )
        )
    return made


def spread(values: Sequence[float]) -> Spread | None:
    """Of those that are numbers; None if none is."""
    known = tuple(float(value) for value in values if np.isfinite(value))
    return Spread(known) if known else None


def paired(values: Sequence[float], reference: Sequence[float]) -> Spread | None:
    """The differences seed by seed, where both are known."""
    return spread([a - b for a, b in zip(values, reference, strict=False)])
