"""Learning-rate schedules as functions from the step t (counted from 1) to a factor of the learning rate.

Warmups rise to 1, decays fall from 1, and `compose` multiplies any of them. None needs an optimizer, or torch.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from radam_core.domains import FloatArray, check_beta2, check_step
from radam_core.theory import bias_correction, first_rectified_step, rectification

Schedule = Callable[[ArrayLike], FloatArray]


def compose(*schedules: Schedule) -> Schedule:
    """The product of several schedules, such as a warmup and a decay."""
    return lambda t: np.prod([schedule(t) for schedule in (constant(), *schedules)], axis=0)[()]


def constant() -> Schedule:
    """w_t = 1: no warmup, no decay."""
    return lambda t: np.ones_like(check_step(t))[()]


def linear_warmup(warmup_steps: float) -> Schedule:
    """w_t = min(1, t / T_w); T_w = 0 is no warmup. (The paper's Section 2, which leaves out the division.)"""
    length = _at_least("warmup_steps", warmup_steps, 0)
    if length == 0:
        return constant()
    return lambda t: np.minimum(1.0, check_step(t) / length)[()]


def exponential_warmup(tau: float) -> Schedule:
    """w_t = 1 - exp(-t / tau); tau = 0 is no warmup (Ma & Yarats 2021)."""
    length = _at_least("tau", tau, 0)
    if length == 0:
        return constant()
    return lambda t: -np.expm1(-check_step(t) / length)[()]


def untuned_linear_warmup(beta2: float) -> Schedule:
    """Linear warmup over T_w = 2 / (1 - beta2) steps (Ma & Yarats 2021)."""
    return linear_warmup(2.0 / (1.0 - float(check_beta2(beta2))))


def untuned_exponential_warmup(beta2: float) -> Schedule:
    """Exponential warmup with tau = 1 / (1 - beta2) (Ma & Yarats 2021)."""
    return exponential_warmup(1.0 / (1.0 - float(check_beta2(beta2))))


def radam_warmup(beta2: float) -> Schedule:
    """RAdam's r_t as a warmup for plain Adam: w_t = r_{t+d-1}, d being the first step with rho_d > 4.

    The shift leaves out the momentum-only steps, in which r_t is not defined and plain Adam would stand still.
    """
    first = first_rectified_step(beta2)
    if first is None:
        raise ValueError(f"beta2 must be above 0.6 for a RAdam-shaped warmup (rho_inf > 4), got {beta2:g}")
    return lambda t: rectification(check_step(t) + (first - 1), beta2)


def gi_adam_warmup(beta2: float) -> Schedule:
    """w_t = sqrt(1 - beta2^t): what starting v at g_1^2 and keeping the bias correction does while |g| stays the same.

    In general the factor of Adam's step is 1 / sqrt(1 + beta2^t / (1 - beta2^t) g_1^2 / v_hat_t): smaller where the
    first gradient was large, near 1 where it was small (GI-Adam, Kalra & Barkeshli 2024).
    """
    check_beta2(beta2)
    return lambda t: np.sqrt(bias_correction(t, beta2))


def step_decay(milestones: Sequence[int], gamma: float = 0.1) -> Schedule:
    """w_t = gamma^k, k being how many of the milestones are complete, i.e. below t (the paper: 81 and 122 epochs)."""
    ordered = np.sort(np.asarray(milestones, dtype=np.float64))
    return lambda t: np.power(float(gamma), np.searchsorted(ordered, check_step(t), side="left"), dtype=np.float64)


def linear_decay(total_steps: float, end: float = 0.0) -> Schedule:
    """w_t falls from 1 at t = 1 by equal parts to `end` at t = total_steps + 1, and stays there."""
    return _progress(total_steps, lambda done: 1.0 + (end - 1.0) * done)


def cosine_decay(total_steps: float, end: float = 0.0) -> Schedule:
    """w_t = end + (1 - end) (1 + cos(pi (t-1) / T)) / 2, and `end` after T steps."""
    return _progress(total_steps, lambda done: end + (1.0 - end) * (1.0 + np.cos(np.pi * done)) / 2)


def inverse_sqrt_decay(hold_steps: float = 1) -> Schedule:
    """w_t = min(1, sqrt(hold_steps / t)), the usual companion of a warmup over as many steps."""
    hold = _at_least("hold_steps", hold_steps, 1)
    return lambda t: np.minimum(1.0, np.sqrt(hold / check_step(t)))[()]


def _progress(total_steps: float, shape: Callable[[FloatArray], FloatArray]) -> Schedule:
    total = _at_least("total_steps", total_steps, 1)
    return lambda t: shape(np.minimum(1.0, (check_step(t) - 1) / total))[()]


def _given(name: str, value: float | None) -> float:
    if value is None:
        raise ValueError(f"{name} must be given for this schedule: a number of steps")
    return value


def _at_least(name: str, value: float, least: float) -> float:
    if not least <= value < np.inf:
        raise ValueError(f"{name} must be a number of steps, at least {least:g}, got {value:g}")
    return float(value)


# By name, from what a method knows of itself: beta2 and the length the user set, if any. "warmup_steps" is T_w or tau.
WARMUPS: dict[str, Callable[[float, float | None], Schedule]] = {
    "none": lambda beta2, warmup_steps: constant(),
    "linear": lambda beta2, warmup_steps: linear_warmup(_given("warmup_steps", warmup_steps)),
    "exponential": lambda beta2, warmup_steps: exponential_warmup(_given("warmup_steps", warmup_steps)),
    "untuned-linear": lambda beta2, warmup_steps: untuned_linear_warmup(beta2),
    "untuned-exponential": lambda beta2, warmup_steps: untuned_exponential_warmup(beta2),
    "radam": lambda beta2, warmup_steps: radam_warmup(beta2),
}

# By name, from the run's length and its warmup's. "step" follows the paper's CIFAR-10 run: a tenth after 81 and again
# after 122 of 186 epochs.
DECAYS: dict[str, Callable[[float | None, float | None], Schedule]] = {
    "constant": lambda total_steps, warmup_steps: constant(),
    "step": lambda total_steps, warmup_steps: step_decay(
        [round(_given("total_steps", total_steps) * epochs / 186) for epochs in (81, 122)]
    ),
    "linear": lambda total_steps, warmup_steps: linear_decay(_given("total_steps", total_steps)),
    "cosine": lambda total_steps, warmup_steps: cosine_decay(_given("total_steps", total_steps)),
    "inverse-sqrt": lambda total_steps, warmup_steps: inverse_sqrt_decay(max(1.0, warmup_steps or 0.0)),
}
