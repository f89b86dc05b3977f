"""The one rule by which a row of the paper is judged, written down before the runs were made.

A claim is an order ("RAdam ends below Adam") or a likeness ("RAdam ends where the warmup does, to so much"), and it is
looked at case by case: over seeds for what is trained, over means or degrees of freedom for what is computed.

    agrees             it holds in the mean and in every case
    partly             it holds in the mean, and not in every case
    differs            it does not hold in the mean
    not at this scale  nothing here can be compared with it

A row is judged by the least favourable of its claims.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

AGREES, PARTLY, DIFFERS, NOT_HERE = "agrees", "partly", "differs", "not at this scale"
NOT_RECORDED = "not recorded"  # no verdict: the recording of a row is not here
VERDICTS = (DIFFERS, PARTLY, AGREES)  # the least favourable first
RULE = (
    "**agrees**: what the paper claims holds in the mean and in every seed; **partly**: in the mean, not in every seed; "
    "**differs**: not in the mean; **not at this scale**: nothing here can be compared with it. A row with several claims "
    "is judged by the least favourable of them; one that is computed, case by case in place of seeds."
)
CAUTION = (
    "Five seeds are few (three where a row says so), and training is chaotic: other rounding is another draw of each. "
    "Where two sides do not differ, *partly* or *differs* is a coin's toss, and all five seeds fall on one side in 1 of 16 "
    "cases, all three in 1 of 4: look at the seeds. Recordings made again by other code, or on other processors, have changed "
    "the verdict of three rows: Figure 7 on digits and Appendix C where warmup matters once each, and Figure 6 on digits "
    "four times, the last time with five seeds on both sides."
)
Values = Mapping[object, float]  # by case


@dataclass(frozen=True)
class Held:
    """Where a claim holds: nan holds nowhere, as a comparison with it is false."""

    in_cases: tuple[bool, ...]
    in_the_mean: bool

    @property
    def verdict(self) -> str:
        if not self.in_cases or not self.in_the_mean:
            return DIFFERS
        return AGREES if all(self.in_cases) else PARTLY

    @property
    def count(self) -> str:
        return f"{sum(self.in_cases)} of {len(self.in_cases)}"


@dataclass(frozen=True)
class Judged:
    """One claim, what it was judged by, and how."""

    text: str  # with what the two sides came to
    verdict: str
    held: str  # in how many cases, as "3 of 5"
    by_seed: Mapping[object, tuple[float, float]] = field(default_factory=dict)  # the two sides of what is trained


def below(low: Values, high: Values) -> Held:
    """`low` lies below `high`; the cases of both are the same."""
    return Held(tuple(bool(high[case] - low[case] > 0) for case in low), _mean(high) - _mean(low) > 0)


def alike(one: Values, other: Values, tolerance: float) -> Held:
    """No further apart than the tolerance, either way."""
    near = tuple(bool(abs(one[case] - other[case]) <= tolerance) for case in one)
    return Held(near, abs(_mean(one) - _mean(other)) <= tolerance)


def row_verdict(judged: Sequence[Judged]) -> str:
    return min((one.verdict for one in judged), key=VERDICTS.index, default=NOT_HERE)


def _mean(values: Values) -> float:
    return float(np.mean(list(values.values()))) if values else np.nan
