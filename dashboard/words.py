"""Sentences that depend on numbers."""

import numpy as np

from radam_core.comparison import ClosestWarmup, Shape
from radam_core.domains import FloatArray
from radam_core.theory import rho_inf


def never_rectified(beta2: float, threshold: float) -> str:
    """Why there is no r_t at this beta2, and what each implementation then does."""
    bound = "0.6" if threshold == 4 else "2/3"
    return (
        f"At β₂ = {beta2:g} the average never holds enough gradients: ρₜ stays below ρ∞ = {float(rho_inf(beta2)):.3g}, "
        f"and the threshold is {threshold:g}. So $r_t$ never starts and RAdam stays **SGD with momentum for ever**; an "
        f"implementation that takes *no step* below the threshold never trains at all. Choose β₂ above {bound}."
    )


def closest_sentence(shape: Shape, closest: ClosestWarmup | None, beta2: float) -> str:
    """The length at which a warmup comes closest to r_t, its distance, and the rule of thumb beside it."""
    symbol, rule, per = ("T_w", "2/(1-\\beta_2)", 2) if shape == "linear" else ("\\tau", "1/(1-\\beta_2)", 1)
    if closest is None:
        return f"**{shape.capitalize()}**: there is no $r_t$ to come close to."
    return (
        f"**{shape.capitalize()}**: ${symbol}$ = **{closest.length:,.0f} steps**. On average it is "
        f"{closest.rms_difference:.3f} away from $r_t$ (root mean square), at most {closest.largest_difference:.2f}. "
        f"The untuned rule ${rule}$ says {per / (1 - beta2):,.0f}."
    )


def variance_sentence(t: FloatArray, exact: FloatArray) -> str:
    """How much larger the variance is early on than at the end of the axis."""
    at = {int(step): value for step, value in zip(t, exact, strict=True)}
    early = min(step for step in at if step >= 5)
    return (
        f"At step {early} the variance is **{at[early] / exact[-1]:,.0f} times** that at step {int(t[-1]):,}; at steps 1 and "
        "2 it is infinite, for every $\\beta_2$ and $\\mu$."
    )


def size_sentence(t: FloatArray, median: FloatArray, r_t: FloatArray) -> str:
    """Where the update's size settles, and how far r_t has come by then."""
    settled = int(t[np.argmax(median <= 1.1 * np.median(median[-20:]))])
    r_then = r_t[list(t).index(settled)]
    then = "RAdam does not rectify yet" if np.isnan(r_then) else f"$r_t$ is **{r_then:.2g}**"
    return (
        f"The median update falls from {median[0]:.2g} at step 1 to within a tenth of its final {np.median(median[-20:]):.2g} "
        f"by **step {settled:,}**; there {then}."
    )
