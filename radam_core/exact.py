"""The exact variance and spread of Adam's adaptive rate: of the exponential average itself, not of a simple one.

v_hat_t = sum_j w_j g_{t-j}^2 with w_j = c_t beta2^j, c_t = (1-beta2)/(1-beta2^t), j < t and g ~ N(mu, 1) is a sum of
scaled noncentral chi-squares, so its Laplace transform is a product,

    M_t(s) = prod_j (1 + 2 s w_j)^(-1/2) exp(-mu^2 s w_j / (1 + 2 s w_j)),

and E[1/v] = int M ds, E[v^(-1/2)] = pi^(-1/2) int s^(-1/2) M ds. No paper or library that we know of has this.

The logarithm is as near: with S ~ Exp(1) on its own, P(S / v > s) = E[exp(-s v)] = M_t(s), so T = log S - log v has
the survival function M_t(e^tau), and Var[log v] = Var[T] - Var[log S].
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal

from radam_core.domains import FloatArray, check_beta2, check_finite, check_whole_step

FIRST_FINITE = 3  # the first step at which psi_t has a variance: E[1/v] needs three gradients

_SPACING = 0.2  # of the trapezoid rule in log s, whose error is exp(-pi^2 / spacing) for these integrands
_VANISHED = 100.0  # weights below exp(-100) of the newest no longer count
_ROWS = 512  # steps held in memory at a time
_NODES = 12  # of the quadrature over one block of weights, which spans at most a factor e


def variance_exact(t: ArrayLike, beta2: ArrayLike, mu: ArrayLike = 0.0) -> FloatArray:
    """Var[psi_t] for g ~ N(mu, 1) and whole t >= 1 or infinite t, the limit; infinite for t < 3, where E[1/v] is."""
    return variance_and_spread(t, beta2, mu)[0]


def relative_spread(t: ArrayLike, beta2: ArrayLike, mu: ArrayLike = 0.0) -> FloatArray:
    """sqrt(Var[psi_t]) / E[psi_t]: how well the rate is known at step t, in parts of itself; infinite for t < 3."""
    return variance_and_spread(t, beta2, mu)[1]


def variance_and_spread(t: ArrayLike, beta2: ArrayLike, mu: ArrayLike = 0.0) -> tuple[FloatArray, FloatArray]:
    """`variance_exact` and `relative_spread` in one computation."""
    variance, spread = _from_step(FIRST_FINITE, 2, _variance_and_spread, t, beta2, mu)
    return variance, spread


def variance_log_psi_exact(t: ArrayLike, beta2: ArrayLike, mu: ArrayLike = 0.0) -> FloatArray:
    """Var[log psi_t] for g ~ N(mu, 1) and whole t >= 1 or infinite t, the limit; psi = v^(-1/2), so Var[log v] / 4."""
    return _from_step(1, 1, _log_variance, t, beta2, mu)[0]


_Moments = Callable[[FloatArray, FloatArray, float], list[FloatArray]]


def _from_step(
    first: int, count: int, moments: _Moments, t: ArrayLike, beta2: ArrayLike, mu: ArrayLike
) -> tuple[FloatArray, ...]:
    """So many moments at whole steps t from the first at which they are finite, and infinity before it."""
    steps, betas, means = np.broadcast_arrays(check_whole_step(t), check_beta2(beta2), check_finite("mu", mu))
    out = np.full((count, *steps.shape), np.inf)
    for pair in {*zip(betas.flat, means.flat, strict=True)}:
        chosen = (steps >= first) & (betas == pair[0]) & (means == pair[1])
        if chosen.any():
            unique, back = np.unique(steps[chosen], return_inverse=True)
            found = np.concatenate([moments(*rows) for rows in _differences(unique, *pair)], axis=1)
            out[:, chosen] = found[:, back]
    return tuple(values[()] for values in out)


def _variance_and_spread(difference: FloatArray, s: FloatArray, m: float) -> list[FloatArray]:
    """Var[psi] and sqrt(Var[psi]) / E[psi], from what its moments differ by from those of a constant v = m."""
    mean_inverse = _SPACING * np.sum(difference * s, axis=1)
    mean_rate = _SPACING * np.sum(difference * np.sqrt(s / np.pi), axis=1)
    variance = np.asarray(mean_inverse - 2 * mean_rate / np.sqrt(m) - mean_rate**2)
    return [variance, np.sqrt(variance) / (1 / np.sqrt(m) + mean_rate)]


def _log_variance(difference: FloatArray, s: FloatArray, m: float) -> list[FloatArray]:
    """Var[T] - Var[log S] over 4; T is counted from its mean under a constant v = m, which is -gamma - log m."""
    mean = _SPACING * np.sum(difference, axis=1)
    mean_square = _SPACING * np.sum(2 * difference * (np.log(m * s) + np.euler_gamma), axis=1)
    return [np.asarray((mean_square - mean**2) / 4)]


def _differences(t: FloatArray, beta2: float, mu: float) -> Iterator[tuple[FloatArray, FloatArray, float]]:
    """At increasing steps t, some at a time: M_t(s) - exp(-m s) on a grid of s for each, [step, s], s itself, and m.

    In z = c_t s the product for t is the product for t - 1 times one more factor, so one grid of z serves every t and
    log M_t accumulates over the blocks of weights between the steps asked for. To subtract nothing of size one, both
    expectations are taken as differences from a constant v = m = 1 + mu^2, whose transform is exp(-m s).
    """
    x, m = -np.log(beta2), 1.0 + mu * mu
    c = (1 - beta2) / -np.expm1(-t * x)
    # The integrands fall off like z^2 to the left and at least like (beta2^3 z)^(-1/2) to the right.
    z = np.exp(np.arange(np.log(c.min() / m) - 18, np.log(c.max() / m) + 80 + 3 * x, _SPACING))
    rows = _accumulate(t, x, mu, z)
    for first in range(0, len(t), _ROWS):
        log_m, excess = np.array(list(islice(rows, _ROWS))).swapaxes(0, 1)
        s = z / c[first : first + _ROWS, None]
        reference = np.exp(-m * s)
        close = excess < 1
        yield np.where(close, reference * np.expm1(np.where(close, excess, 0.0)), np.exp(log_m) - reference), s, m


def _accumulate(t: FloatArray, x: float, mu: float, z: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """For every t: log M_t(z), and its excess over that of a constant v, log M_t(z) + m s."""
    counted = np.minimum(t, np.ceil(_VANISHED / x))
    longest = max(1, int(1 / x))
    log_m, excess = np.zeros(z.shape), np.zeros(z.shape)
    start = 0
    for end in counted.astype(int):
        while start < end:
            size = min(longest, end - start)
            nodes, weights = _sum_rule(size)
            y = z * np.exp(-x * (start + nodes))[:, None]
            log_m += weights @ (-0.5 * np.log1p(2 * y) - mu * mu * y / (1 + 2 * y))
            excess += weights @ (_log_excess(y) + 2 * (mu * y) ** 2 / (1 + 2 * y))
            start += size
        yield log_m.copy(), excess.copy()


def _log_excess(y: FloatArray) -> FloatArray:
    """y - log(1 + 2y)/2 for y >= 0, by its series y^2 - 4/3 y^3 + ... where the two would cancel."""
    small = np.minimum(y, 0.02)
    series = np.zeros_like(y)
    for k in range(11, 1, -1):
        series = small * series + (-2.0) ** k / (2 * k)
    return np.where(y < 0.02, small * small * series, y - 0.5 * np.log1p(2 * y))


@lru_cache
def _sum_rule(size: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights with sum_{j<size} f(j) = weights @ f(nodes): Gauss quadrature of a sum, not an integral.

    Its orthogonal polynomials are Gram's, with recurrence b_k = k^2 (size^2 - k^2) / (4 (4 k^2 - 1)) about the middle.
    Exact for polynomials up to degree 2 _NODES - 1, and for every f when size <= _NODES.
    """
    count = min(size, _NODES)
    k = np.arange(1.0, count)
    off_diagonal = np.sqrt(k**2 * (size**2 - k**2) / (4 * (4 * k**2 - 1)))
    nodes, vectors = eigh_tridiagonal(np.full(count, (size - 1) / 2), off_diagonal)
    return nodes.astype(np.float64), size * vectors[0] ** 2
