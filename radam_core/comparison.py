"""RAdam beside what it is compared with: other warmups and their lengths, and the published implementations."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from radam_core import schedules
from radam_core.domains import FloatArray, check_beta2, check_whole_step
from radam_core.methods import ADAPTIVE, FROZEN, Method
from radam_core.theory import effective_warmup, rectification

Shape = Literal["linear", "exponential"]
_SHAPES = {"linear": schedules.linear_warmup, "exponential": schedules.exponential_warmup}


def settled_step(beta2: float) -> int:
    """A step by which r_t has come within 0.1% of 1: ten times the averages' memory of 1 / (1 - beta2)."""
    return int(np.ceil(10 / (1 - float(check_beta2(beta2)))))


def warmup_factors(
    t: ArrayLike, beta2: float, warmup_steps: float, tau: float, threshold: float = 4.0
) -> dict[str, FloatArray]:
    """The factor w_t of every warmup, by the name of the method that has it; RAdam's is nan until it rectifies."""
    return {
        "radam": rectification(t, beta2, threshold),
        "adam-linear": schedules.linear_warmup(warmup_steps)(t),
        "adam-untuned-linear": schedules.untuned_linear_warmup(beta2)(t),
        "adam-exponential": schedules.exponential_warmup(tau)(t),
        "adam-untuned-exponential": schedules.untuned_exponential_warmup(beta2)(t),
        "gi-adam": schedules.gi_adam_warmup(beta2)(t),
    }


def effective_warmups(beta2: float, warmup_steps: float, tau: float, threshold: float = 4.0) -> dict[str, float]:
    """T(w) of every warmup: the full-rate steps that it costs. RAdam's momentum-only steps count as w_t = 0, since none
    of them is an adaptive step; where there are no others it is infinite.
    """
    settled = settled_step(beta2)
    last = int(max(settled, warmup_steps, 15 * tau))
    factors = warmup_factors(np.arange(1, last + 1), beta2, warmup_steps, tau, threshold)
    factors["radam"] = factors["radam"][:settled]  # however long the others are
    return {
        name: effective_warmup(np.nan_to_num(factor)) if np.isfinite(factor).any() else np.inf
        for name, factor in factors.items()
    }


def linear_of_equal_cost(cost: float) -> float:
    """The length of the linear warmup with this T(w): over T_w whole steps it costs (T_w - 1) / 2."""
    return 2 * cost + 1


@dataclass(frozen=True)
class ClosestWarmup:
    """The length (T_w or tau, in steps) at which a warmup comes closest to r_t, and how far from it it stays."""

    length: float
    rms_difference: float
    largest_difference: float


def closest_warmup(beta2: float, shape: Shape, threshold: float = 4.0) -> ClosestWarmup | None:
    """Least squares over the steps from the first rectified one until r_t has settled; None when r_t never exists."""
    t = np.unique(np.round(np.linspace(1, settled_step(beta2), 4000)))
    r_t = rectification(t, beta2, threshold)
    t, r_t = t[np.isfinite(r_t)], r_t[np.isfinite(r_t)]
    if not t.size:
        return None

    def differences(log_length: float) -> FloatArray:
        return _SHAPES[shape](np.exp(log_length))(t) - r_t

    best = minimize_scalar(
        lambda log_length: np.mean(differences(log_length) ** 2), bounds=(0.0, np.log(t[-1])), method="bounded"
    )
    apart = differences(best.x)
    return ClosestWarmup(float(np.exp(best.x)), float(np.sqrt(np.mean(apart**2))), float(np.max(np.abs(apart))))


def momentum_multiplier(method: Method, t: ArrayLike, gradient_size: float) -> FloatArray:
    """What step t multiplies the average gradient by, relative to lr, when every gradient so far had this size.

    1 in a momentum step, 0 in no step, and r_t / (gradient_size + eps) in an adaptive one, with eps where the method
    puts it; what a method's v starts at, and what its phases leave to one another, is in it. Momentum as a heavy ball,
    which is no average, counts as it is.
    """
    t = check_whole_step(t)
    c = method.coefficients(np.arange(1, np.max(t) + 1))
    found, m, v = np.zeros_like(c.step), 0.0, 0.0
    for i in range(len(found)):
        m = c.m_keep[i] * m + c.m_gain[i] * gradient_size
        v = c.v_keep[i] * v + c.v_gain[i] * gradient_size**2
        divisor = np.sqrt(v) + c.eps[i] if c.branch[i] == ADAPTIVE else 1.0
        found[i] = c.step[i] * (1.0 if c.m_gain[i] == 1.0 else m / gradient_size) / divisor
    return np.asarray(np.where(c.branch == FROZEN, 0.0, found)[t.astype(int) - 1])
