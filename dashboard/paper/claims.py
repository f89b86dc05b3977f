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
from dataclasses import dataclass

import numpy as np

AGREES, PARTLY, DIFFERS, NOT_HERE = "agrees", "partly", "differs", "not at this scale"
VERDICTS = (DIFFERS, PARTLY, AGREES)  # the least favourable first
RULE = (
    "**agrees**: what the paper claims holds in the mean and in every seed; **partly**: in the mean, not in every seed; "
    "**differs**: not in the mean; **not at this scale**: nothing here can be compared with it. A row with several claims "
    "is judged by the least favourable of them."
)
CAUTION = (
    "With three to five seeds, a claim whose two sides overlap is a near thing: from the recordings of 17 November 2026 to "
    "those of the 18th, by another version of the code, three rows changed their verdict (Figures 6 and 7 on digits, and "
    "Appendix C where warmup matters)."
)
Values = Mapping[object, float]  # by case


@dataclass(frozen=True)
class Judged:
    """One claim, what it was judged by, and how."""

    text: str  # with what the two sides came to
    verdict: str


def below(low: Values, high: Values) -> str:
    """`low` lies below `high`; the cases of both are the same."""
    return _verdict([high[case] - low[case] > 0 for case in low], _mean(high) - _mean(low) > 0)


def alike(one: Values, other: Values, tolerance: float) -> str:
    """No further apart than the tolerance, either way."""
    apart = [abs(one[case] - other[case]) <= tolerance for case in one]
    return _verdict(apart, abs(_mean(one) - _mean(other)) <= tolerance)


def row_verdict(judged: Sequence[Judged]) -> str:
    return min((one.verdict for one in judged), key=VERDICTS.index, default=NOT_HERE)


def _mean(values: Values) -> float:
    return float(np.mean(list(values.values()))) if values else np.nan


def _verdict(in_cases: Sequence[bool], in_the_mean: bool) -> str:
    """nan holds nowhere: a comparison with it is false."""
    if not in_cases or not in_the_mean:
        return DIFFERS
    return AGREES if all(in_cases) else PARTLY
