"""A lane's first steps from its records: every one of them has a histogram where `dense_steps` asks for it."""

from collections.abc import Iterable

import numpy as np

from dashboard.evidence.first_steps import FirstSteps
from dashboard.runs.outlines import quantile_log10
from dashboard.runs.records import LaneSteps, PackedHistogram, decode


def first_steps(bodies: Iterable[str | bytes], last: int) -> FirstSteps:
    """Steps 1 to `last`, as far as they are recorded; records after them are not read."""
    found: list[tuple[PackedHistogram, float]] = []
    for body in bodies:
        part = decode(body)
        found += [(one, _update(part, one.t)) for one in part.histograms if one.t <= last]
        if part.last >= last:
            break
    return FirstSteps(
        tuple(one.t for one, _ in found),
        tuple(_quartiles(one) for one, _ in found),
        tuple(update for _, update in found),
        tuple(found[0][0].by_layer()) if found else (),
        tuple(tuple(one.by_layer().values()) for one, _ in found),
    )


def _update(part: LaneSteps, step: int) -> float:
    at = np.flatnonzero(part.steps == step)
    return float(part.columns["update_rms"][at[0]]) if len(at) else float("nan")


def _quartiles(histogram: PackedHistogram) -> tuple[float, float, float]:
    counts = histogram.counts()[0].sum(0)
    counts[0] = 0  # words that are not in the batch, pixels that are never set: no gradient at all
    low, median, high = (quantile_log10(counts, share) for share in (0.25, 0.5, 0.75))
    return low, median, high
