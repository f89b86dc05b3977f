"""What the theory pages compute, shared by all visitors: each function is a page's question put to `radam_core`."""

from dataclasses import dataclass

import numpy as np

from dashboard.remembered import Remembered, shared
from radam_core import comparison
from radam_core.domains import FloatArray
from radam_core.simulation import (
    Averages,
    Progress,
    SimulatedVariance,
    log_spaced_steps,
    sample_averages,
    simulate_variance,
    variance_with_error,
)
from radam_core.theory import (
    FIRST_FINITE,
    Variance,
    known_step,
    rectification,
    rho,
    variance_analytic,
    variance_and_spread,
    variance_first_order,
)

ROUTES: tuple[Variance, ...] = ("exact", "analytic", "first-order")

_averages: Remembered[Averages] = Remembered(most=24)
_paper: Remembered[SimulatedVariance] = Remembered(most=1)


def simulated_steps(beta2: float, beta1: float = 0.9) -> int:
    """Six memories of the longer average, as the paper's 6000 steps at 0.999; not so many that a visitor waits."""
    return int(np.clip(round(6 / (1 - max(beta1, beta2))), 200, 12_000))


@shared(200)
def _exact(beta2: float, mu: float, last: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The steps to draw from step 3, where the variance becomes finite, and the limit; variance and spread at them."""
    t = np.append(log_spaced_steps(FIRST_FINITE, last, 160), np.inf)
    return t, *variance_and_spread(t, beta2, mu)


@shared(200)
def variance_routes(beta2: float, mu: float, last: int) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Var[psi_t] from step 3, where it becomes finite: exactly, and by both forms at rho_t where these are defined.

    The two forms know nothing of mu: they are drawn for mu = 0, as RAdam uses them.
    """
    t, exact, _ = (values[:-1] for values in _exact(beta2, mu, last))
    rho_t = np.asarray(rho(t, beta2))
    approximations = {"analytic": (variance_analytic, 2.0), "first-order": (variance_first_order, 4.0)}
    curves = {"exact": exact}
    for name, (variance, lowest) in approximations.items():
        curves[name] = np.full(t.shape, np.nan)
        curves[name][rho_t > lowest] = variance(rho_t[rho_t > lowest])
    return t, curves


def relative_spreads(beta2: float, mu: float, last: int) -> FloatArray:
    """Standard deviation over mean of psi_t, exactly, at the steps of `variance_routes`."""
    return _exact(beta2, mu, last)[2][:-1]


@shared(200)
def rectified_variances(beta2: float, mu: float, last: int) -> dict[str, FloatArray]:
    """r_t^2 times the exact variance, for r_t from each route, at the steps of `variance_routes`."""
    t, curves = variance_routes(beta2, mu, last)
    return {name: rectification(t, beta2, variance=name) ** 2 * curves["exact"] for name in ROUTES}


def approximation_errors(routes: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """How far the two forms at rho_t are from the exact variance, relative to it."""
    return {name: routes[name] / routes["exact"] - 1 for name in ("analytic", "first-order")}


def averages(
    beta2: float, trajectories: int, beta1: float = 0.9, first: int = 5, progress: Progress | None = None
) -> Averages:
    """Simulated trajectories, drawn once for all mu and all visitors."""
    steps = simulated_steps(beta2, beta1)
    return _averages.get(
        (beta2, beta1, trajectories, first),
        lambda: sample_averages(beta2, steps, trajectories, beta1=beta1, first=first, progress=progress),
    )


def simulated_variance(drawn: Averages, mu: float) -> tuple[FloatArray, FloatArray]:
    """The variance of psi_t over trajectories and its standard error."""
    return variance_with_error(drawn.adaptive_rate(mu))


def paper_simulation(progress: Progress | None = None) -> SimulatedVariance:
    """The paper's Figure 9 at its settings: beta2 0.999, 5000 trajectories, 6000 steps, six mu."""
    return _paper.get("paper", lambda: simulate_variance(progress=progress))


closest_warmup = shared(200)(comparison.closest_warmup)
rate_known = shared(400)(known_step)


@dataclass(frozen=True)
class UpdateSize:
    """The size of Adam's update m/sqrt(v) over trajectories, at the steps t."""

    t: FloatArray
    median: FloatArray
    rms: FloatArray


def update_size(drawn: Averages, mu: float) -> UpdateSize:
    update = np.abs(drawn.update(mu))
    return UpdateSize(drawn.t, np.median(update, axis=1), np.sqrt(np.mean(np.square(update), axis=1)))


@shared(200)
def simulated_size(beta2: float, beta1: float, mu: float) -> UpdateSize:
    """Of 2000 trajectories from step 1 on."""
    return update_size(averages(beta2, 2000, beta1, first=1), mu)


@dataclass(frozen=True)
class Settling:
    """A curve's start and end, and the first drawn step at which it is within a tenth of its end; None if none is."""

    start: float
    final: float
    step: int | None
    hardly_changes: bool  # within a tenth of its end throughout
    last: int  # the last drawn step


def settling(t: FloatArray, curve: FloatArray, final: float) -> Settling:
    near = np.abs(curve - final) <= 0.1 * final
    step = int(t[np.argmax(near)]) if near.any() else None
    return Settling(float(curve[0]), final, step, bool(near.all()), int(t[-1]))


def size_settling(size: UpdateSize) -> Settling:
    """Of the median update. Its end is the middle of the last ten drawn steps, which evens out the chance in each."""
    return settling(size.t, size.median, float(np.median(size.median[-10:])))


def variance_settling(beta2: float, mu: float, last: int) -> Settling:
    """Of the exact variance, at the steps of `variance_routes`. Its end is its limit, which may lie beyond the last."""
    t, exact, _ = _exact(beta2, mu, last)
    return settling(t[:-1], exact[:-1], float(exact[-1]))
