"""The rows that need no training: the paper's theory, computed at its own settings."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dashboard.figures.results import paper_simulation
from dashboard.paper.claims import Judged, below
from radam_core.theory import variance_analytic, variance_first_order

RHOS = np.geomspace(2.1, 1000, 400)
DEGREES = np.arange(5, 501)
MUCH_SMALLER = 0.1
Numbers = NDArray[np.float64]


def theorem_1() -> list[Judged]:
    """Case by case: from each rho to the next larger one."""
    variance = np.asarray(variance_analytic(RHOS))
    falls = below(dict(enumerate(variance[1:])), dict(enumerate(variance[:-1])))
    ends = f"{variance[0]:.3g} at rho {RHOS[0]:g} to {variance[-1]:.3g} at rho {RHOS[-1]:g}"
    return [Judged(f"variance: {ends}, falling in {falls.count} steps", falls.verdict, falls.count)]


def approximation() -> list[Judged]:
    """Case by case: each number of degrees of freedom."""
    analytic, first_order = (np.asarray(form(DEGREES)) for form in (variance_analytic, variance_first_order))
    apart = np.abs(first_order / analytic - 1)
    small = below(dict(enumerate(apart)), dict.fromkeys(range(len(apart)), MUCH_SMALLER))
    text = (
        f"difference over value: {apart.mean():.2g} in the mean, below a tenth in {small.count} "
        f"cases, from rho {DEGREES[small.in_cases.index(True)]} on, and {apart[0]:.3g} at rho {DEGREES[0]}"
    )
    return [Judged(text, small.verdict, small.count)]


def simulation() -> list[Judged]:
    """Case by case: each mean of the gradients."""
    found = paper_simulation()
    first, last = (found.variance[:, i] for i in (0, -1))
    larger = below(_by_mean(last), _by_mean(first))
    plain, rectified = (_uneven(values) for values in (found.variance, found.rectified))
    even = below(_by_mean(rectified), _by_mean(plain))
    count = f"{larger.count} means"
    ranges = [f"{values.min():.3g} to {values.max():.3g}" for values in (plain, rectified)]
    return [
        Judged(
            f"variance at step {found.t[0]:g} above that at step {found.t[-1]:g} for {count}",
            larger.verdict,
            larger.count,
        ),
        Judged(
            f"largest over smallest variance: {ranges[0]} as it is, {ranges[1]} rectified", even.verdict, even.count
        ),
    ]


def _by_mean(values: Numbers) -> dict[object, float]:
    return dict(enumerate(values.tolist()))


def _uneven(values: Numbers) -> Numbers:
    """By mean: the largest variance over the smallest."""
    return np.asarray(np.nanmax(values, 1) / np.nanmin(values, 1))


THEORY: dict[str, Callable[[], list[Judged]]] = {
    "theorem-1": theorem_1,
    "approximation": approximation,
    "simulation": simulation,
}
