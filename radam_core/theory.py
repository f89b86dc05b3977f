"""The paper's theory as functions of numbers: rho_t, the rectification r_t and the variance behind it (Sections 3, 4).

Throughout, psi_t = 1 / sqrt(v_t / (1 - beta2^t)) is the adaptive learning rate of gradients g_i ~ N(mu, 1), and t
counts from 1. Scalars give scalars; arrays broadcast.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bernoulli, factorial, gammaln

from radam_core.averages import bias_correction
from radam_core.domains import FloatArray, check_beta2, check_finite, check_rho, check_step
from radam_core.exact import variance_exact
from radam_core.simulation import Progress, sample_averages, variance_with_error

__all__ = [
    "LOWEST_THRESHOLD",
    "SimulatedVariance",
    "Variance",
    "bias_correction",
    "effective_warmup",
    "first_rectified_step",
    "rectification",
    "rho",
    "rho_inf",
    "simulate_variance",
    "variance_analytic",
    "variance_exact",
    "variance_first_order",
]

Variance = Literal["first-order", "analytic", "exact"]

# A rectification threshold below these meets an infinite variance; the first-order form needs Var[psi^2], hence 4.
LOWEST_THRESHOLD: dict[Variance, float] = {"first-order": 4.0, "analytic": 2.0, "exact": 2.0}

_K = np.arange(1, 11)
_B = bernoulli(20)[2::2]  # B_2, B_4, ..., B_20
# coth(y) - 1/y = sum_k 4^k B_2k / (2k)! y^(2k-1): rounding error is reached for |y| <= 1/2.
_LANGEVIN = 4.0**_K * _B / factorial(2 * _K)
# log Gamma(a+1/2) - log Gamma(a) - log(a)/2 = -sum_k (2 - 2^(1-2k)) B_2k / (2k (2k-1)) a^(1-2k): likewise for a >= 10.
_LOG_GAMMA_RATIO = -(2 - 2.0 ** (1 - 2 * _K[:7])) * _B[:7] / (2 * _K[:7] * (2 * _K[:7] - 1))


def rho_inf(beta2: ArrayLike) -> FloatArray:
    """rho_inf = 2 / (1 - beta2) - 1, the limit of rho_t (Section 4.1)."""
    return (2.0 / (1.0 - check_beta2(beta2)) - 1.0)[()]


def rho(t: ArrayLike, beta2: ArrayLike) -> FloatArray:
    """rho_t = rho_inf - 2 t beta2^t / (1 - beta2^t), the length of the likened simple average at step t (Section 4.1).

    As written, two numbers near 2 / (1 - beta2) are subtracted to give about t, which at beta2 = 0.9999 costs seven
    digits. With x = -log(beta2) the same is t + L(x/2) - t L(t x/2), L(y) = coth(y) - 1/y, where nothing cancels.
    """
    t, beta2 = np.broadcast_arrays(check_step(t), check_beta2(beta2))
    x = -np.log(beta2)
    early = t * x < 1
    y, t_early = np.where(early, x / 2, 0.0), np.where(early, t, 1.0)
    stable = t_early + _langevin(y) - t_early * _langevin(t_early * y)
    fading = np.where(t < np.inf, t, 0.0) * np.exp(-t * x)  # t beta2^t, 0 in the limit
    return np.where(early, stable, rho_inf(beta2) - 2 * fading / bias_correction(t, beta2))[()]


def _langevin(y: FloatArray) -> FloatArray:
    return y * np.polynomial.polynomial.polyval(y * y, _LANGEVIN)


def variance_first_order(rho: ArrayLike) -> FloatArray:
    """Var[psi] ~ rho / (2 (rho-2) (rho-4)) for rho > 4: the delta method, used by RAdam (Equation 5)."""
    rho = check_rho(rho, above=4)
    return (rho / (2 * (rho - 2) * (rho - 4)))[()]


def variance_analytic(rho: ArrayLike) -> FloatArray:
    """Var[psi] = rho/(rho-2) - rho 2^(2 rho-5)/pi B((rho-1)/2, (rho-1)/2)^2 for rho > 2 (Equation 2, tau = 1).

    The paper calls this form unstable, and as printed it is: both terms tend to 1. With a = rho/2 the second equals
    exp(L), L = 2 log(Gamma(a-1/2) / Gamma(a)) + log(a), so that Var = 1/(a-1) - expm1(L) subtracts no ones.
    """
    rho = check_rho(rho, above=2)
    a = rho / 2
    near = np.minimum(a, 10.0)
    log_mean_square = 2 * (gammaln(near - 0.5) - gammaln(near)) + np.log(near)
    inverse = 1 / np.maximum(a, 10.0)
    odd_series = inverse * np.polynomial.polynomial.polyval(inverse * inverse, _LOG_GAMMA_RATIO)
    log_mean_square = np.where(a < 10, log_mean_square, 2 * odd_series - 2 * np.log1p(-inverse / 2))
    return (2 / (rho - 2) - np.expm1(log_mean_square))[()]


def rectification(
    t: ArrayLike, beta2: ArrayLike, threshold: float = 4.0, variance: Variance = "first-order"
) -> FloatArray:
    """r_t = sqrt(C_var / Var[psi_t]), C_var being the variance's limit; nan where rho_t <= threshold (Section 4.2).

    With the first-order variance this is sqrt((rho_t-4) (rho_t-2) rho_inf / ((rho_inf-4) (rho_inf-2) rho_t)), RAdam's
    own. "analytic" takes Theorem 1 at rho_t in its place, "exact" the exponential average itself.
    """
    if variance not in LOWEST_THRESHOLD:
        raise ValueError(f"variance must be one of {', '.join(LOWEST_THRESHOLD)}, got {variance!r}")
    if not LOWEST_THRESHOLD[variance] <= threshold < np.inf:
        raise ValueError(f"threshold must be at least {LOWEST_THRESHOLD[variance]:g} for {variance}, got {threshold:g}")
    t, beta2 = np.broadcast_arrays(check_step(t), check_beta2(beta2))
    rho_t = np.asarray(rho(t, beta2))
    defined = rho_t > threshold
    r_t = np.full(t.shape, np.nan)
    if defined.any():
        r_t[defined] = np.sqrt(_VARIANCE_RATIO[variance](t[defined], beta2[defined], rho_t[defined]))
    return r_t[()]


# C_var / Var[psi_t] by each route, for steps where rho_t is inside the route's domain.
_VARIANCE_RATIO: dict[Variance, Callable[[FloatArray, FloatArray, FloatArray], FloatArray]] = {
    "first-order": lambda t, beta2, rho_t: variance_first_order(rho_inf(beta2)) / variance_first_order(rho_t),
    "analytic": lambda t, beta2, rho_t: variance_analytic(rho_inf(beta2)) / variance_analytic(rho_t),
    "exact": lambda t, beta2, rho_t: variance_exact(np.inf, beta2) / variance_exact(t, beta2),
}


@overload
def first_rectified_step(beta2: float, threshold: float = ...) -> int | None: ...
@overload
def first_rectified_step(beta2: Sequence[float] | FloatArray, threshold: float = ...) -> NDArray[np.object_]: ...
def first_rectified_step(beta2: Any, threshold: float = 4.0) -> Any:
    """The first t with rho_t > threshold, or None when rho_inf <= threshold: momentum for ever (beta2 <= 0.6 for 4)."""
    if np.ndim(beta2):
        steps = [first_rectified_step(float(b), threshold) for b in np.ravel(beta2)]
        return np.array(steps, dtype=object).reshape(np.shape(beta2))
    check_finite("threshold", threshold)
    if rho_inf(beta2) <= threshold:
        return None
    last = 1
    while rho(last, beta2) <= threshold:  # rho_t increases with t: double, then look between
        last *= 2
    between = np.arange(last // 2 + 1, last + 1)
    return int(between[np.searchsorted(rho(between, beta2), threshold, side="right")])


def effective_warmup(factors: ArrayLike) -> float:
    """T(w) = sum_t (1 - w_t), the steps a warmup is worth (Ma & Yarats 2021), for the factors w_1, ..., w_T."""
    return float(np.sum(1.0 - check_finite("factors", factors)))


@dataclass(frozen=True)
class SimulatedVariance:
    """Monte-Carlo variances at the steps t: arrays of shape [mu, step], each with its standard error."""

    t: FloatArray
    mus: FloatArray
    variance: FloatArray
    variance_error: FloatArray
    rectified: FloatArray
    rectified_error: FloatArray


def simulate_variance(
    beta2: float = 0.999,
    steps: int = 6000,
    mus: ArrayLike = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0),
    trajectories: int = 5000,
    seed: int = 0,
    progress: Progress | None = None,
) -> SimulatedVariance:
    """Var[1/sqrt(v_hat_t)] and Var[r_t/sqrt(v_hat_t)] by simulation (Section 5.3; the defaults are the paper's).

    One set of normals serves every mu. From step 5 on, as in the paper: before it, the sample variance has itself no
    finite variance. r_t is nan where RAdam does not rectify.
    """
    means = np.atleast_1d(check_finite("mus", mus))
    if not means.size:
        raise ValueError("mus must hold at least one mean, got none")
    averages = sample_averages(beta2, steps, trajectories, seed, progress=progress)
    estimates = np.array([variance_with_error(averages.adaptive_rate(mu)) for mu in means])
    variance, error = estimates[:, 0], estimates[:, 1]
    r_squared = rectification(averages.t, beta2) ** 2
    return SimulatedVariance(averages.t, means, variance, error, r_squared * variance, r_squared * error)
