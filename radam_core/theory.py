"""The paper's theory as functions of numbers: rho_t, the rectification r_t and the variance behind it (Sections 3, 4).

Throughout, psi_t = 1 / sqrt(v_t / (1 - beta2^t)) is the adaptive learning rate of gradients g_i ~ N(mu, 1), and t
counts from 1. Scalars give scalars; arrays broadcast.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bernoulli, factorial, gammaln, polygamma

from radam_core.averages import bias_correction
from radam_core.domains import FloatArray, check_beta2, check_finite, check_rho, check_step
from radam_core.exact import (
    FIRST_FINITE,
    relative_spread,
    variance_and_spread,
    variance_exact,
    variance_log_psi_exact,
)

__all__ = [
    "FIRST_FINITE",
    "LOWEST_THRESHOLD",
    "Variance",
    "bias_correction",
    "effective_warmup",
    "first_rectified_step",
    "known_step",
    "largest_update",
    "rectification",
    "relative_spread",
    "rho",
    "rho_inf",
    "variance_analytic",
    "variance_and_spread",
    "variance_exact",
    "variance_first_order",
    "variance_log_psi",
    "variance_log_psi_exact",
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


def lowest_beta2(threshold: float) -> float:
    """1 - 2/(threshold + 1), where rho_inf is the threshold: rho_t passes it at some step only for a larger beta2."""
    return 1 - 2 / (threshold + 1)


def rho(t: ArrayLike, beta2: ArrayLike) -> FloatArray:
    """rho_t = rho_inf - 2 t beta2^t / (1 - beta2^t), the length of the equivalent simple average (Section 4.1).

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


def variance_log_psi(rho: ArrayLike) -> FloatArray:
    """Var[log psi] = trigamma(rho/2) / 4 for rho > 0, by the paper's scaled inverse chi-square for psi^2 (Section 3).

    rho v / sigma^2 is a chi-square of rho degrees, whose logarithm has variance trigamma(rho/2), and log psi is -1/2 of
    it. Finite from the first step on, and free of sigma: near Var[psi] / E[psi]^2 where both are small.
    """
    return (polygamma(1, check_rho(rho, above=0) / 2) / 4)[()]


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
    return _first_rectified_step(float(beta2), float(check_finite("threshold", threshold)))


@lru_cache(1024)  # pages ask for the same few settings again and again
def _first_rectified_step(beta2: float, threshold: float) -> int | None:
    if rho_inf(beta2) <= threshold:
        return None
    last = 1
    while rho(last, beta2) <= threshold:  # rho_t increases with t: double, then look between
        last *= 2
    between = np.arange(last // 2 + 1, last + 1)
    return int(between[np.searchsorted(rho(between, beta2), threshold, side="right")])


def effective_warmup(factors: ArrayLike) -> float:
    """T(w) = sum_t (1 - w_t), the full-rate steps that a warmup's factors w_1, ..., w_T cost (Ma & Yarats 2021)."""
    return float(np.sum(1.0 - check_finite("factors", factors)))


def known_step(beta2: float, mu: float = 0.0, within: float = 0.1) -> int | None:
    """The first t at which the relative spread of psi_t is at most `within`; None when its limit is above that."""
    doubled = FIRST_FINITE * 2.0 ** np.arange(20)  # the spread falls with t: double, then look between
    *early, limit = relative_spread([*doubled, np.inf], beta2, mu)
    if limit > within:
        return None
    last = int(doubled[np.argmax(np.array(early) <= within)])
    between = np.arange(max(FIRST_FINITE, last // 2 + 1), last + 1)
    return int(between[np.argmax(relative_spread(between, beta2, mu) <= within)])


def largest_update(t: ArrayLike, beta1: float, beta2: float) -> FloatArray:
    """The largest |m_hat_t psi_t| that any gradients give: sqrt(sum_i a_i^2 / w_i), by the Cauchy-Schwarz inequality.

    a_i and w_i are the weights of g_i in m_hat_t and of g_i^2 in v_hat_t. The sum is geometric with the ratio
    q = beta1^2 / beta2; gradients proportional to a_i / w_i reach it.
    """
    t, q = check_step(t), beta1 * beta1 / float(check_beta2(beta2))
    terms = t if q == 1 else (1 - np.power(q, t)) / (1 - q)
    weights = (1 - beta1) / bias_correction(t, beta1)
    return (weights * np.sqrt(bias_correction(t, beta2) / (1 - beta2) * terms))[()]


def stable_sharpness(lr: ArrayLike, beta1: float, adaptive: bool = True) -> FloatArray:
    """The curvature up to which a step of this learning rate is stable; inf where nothing moves.

    Gradient descent: 2/lr. Adam, on the Hessian preconditioned by sqrt(v-hat) + eps: (2 + 2 beta1) / ((1 - beta1) lr),
    which is 38/lr at beta1 = 0.9 (Cohen et al. 2022, "Adaptive gradient methods at the edge of stability").
    """
    limit = (2 + 2 * beta1) / (1 - beta1) if adaptive else 2.0
    lr = np.asarray(lr, dtype=float)
    return np.divide(limit, lr, out=np.full(lr.shape, np.inf), where=lr > 0)[()]
