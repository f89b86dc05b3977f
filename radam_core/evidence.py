"""What many runs say together: whether one learned, how forgiving a method is, and what foretold a failure.

Each is a plain function of numbers, so that it can be worked by hand. Sources are named where a measure is not ours.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

LEARNED = 0.5  # of the reference: a final loss below that has learned
WITHIN = 0.05  # of the best: still as good
MOST_SEEDS = 2 / 3  # of the seeds must learn where a warmup works


def learns(final_loss: float, reference: float) -> bool:
    """Whether a run ended below half of the reference: the task's baseline, or its own first loss where there is none.
    One that diverged has no final loss (nan), and has not."""
    return bool(final_loss < LEARNED * reference)


def grid_weights(lrs: ArrayLike) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """How much of a learning-rate grid each rate stands for, in log lr: half of the way to its neighbours, and at the
    ends as far outwards as inwards. They add up to 1; equal steps in log lr have equal weights."""
    logs = np.log(np.asarray(lrs, dtype=np.float64))
    if len(logs) == 1:
        return np.ones(1)
    if not (np.diff(logs) > 0).all():
        raise ValueError(f"lrs must rise, got {np.exp(logs).tolist()}")
    gaps = np.diff(logs)
    widths = (np.append(gaps, gaps[-1]) + np.insert(gaps, 0, gaps[0])) / 2
    return np.asarray(widths / widths.sum())


def robust_share(lrs: ArrayLike, values: ArrayLike, better: str) -> float:
    """The part of the learning-rate grid, in log lr, whose value is within 5% of the best one; `better` is "higher" or
    "lower". A rate without a value (nan) is not; a grid without any has none of it."""
    found = np.asarray(values, dtype=np.float64)
    weights = grid_weights(lrs)
    if not np.isfinite(found).any():
        return 0.0
    best = np.nanmax(found) if better == "higher" else np.nanmin(found)
    margin = WITHIN * abs(best)
    good = found >= best - margin if better == "higher" else found <= best + margin
    return float(weights[good].sum())  # nan compares as false


def lr_sensitivity(final_losses: ArrayLike, first_losses: ArrayLike) -> float:
    """The mean over a grid of learning rates of min(final loss, first loss), less the smallest of them (Wortsman et al.
    2023): 0 if every rate ends as well as the best. A run that diverged (nan) counts with its first loss."""
    final, first = np.asarray(final_losses, dtype=np.float64), np.asarray(first_losses, dtype=np.float64)
    ends = np.fmin(final, first)
    return float(ends.mean() - ends.min())


def shortest_warmup(learned: Mapping[float, Sequence[bool]], steps: float = math.inf) -> float | None:
    """The smallest length from which on at least two thirds of the seeds learn; None if there is none.

    `learned` has for each length what the seeds did. Lengths beyond the run's own `steps` never come to the full rate,
    and say nothing about it: they are passed over.
    """
    shortest = None
    for length in sorted((length for length in learned if length <= steps), reverse=True):
        if np.mean(learned[length]) < MOST_SEEDS - 1e-9:
            break
        shortest = length
    return shortest


def auc(scores: ArrayLike, failed: ArrayLike) -> float | None:
    """How well a score tells the runs that failed: the chance that one of them scores higher than one that did not,
    ties counted half (Mann and Whitney). 1 always, 0.5 no better than a coin, 0 always the other way round.

    None without at least one of each. Runs without a score (nan) are passed over.
    """
    scores, failed = np.asarray(scores, dtype=np.float64), np.asarray(failed, dtype=bool)
    known = np.isfinite(scores)
    bad, good = scores[known & failed], scores[known & ~failed]
    if not len(bad) or not len(good):
        return None
    wins = (bad[:, None] > good[None, :]).mean() + (bad[:, None] == good[None, :]).mean() / 2
    return float(wins)
