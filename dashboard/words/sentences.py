"""Sentences that depend on numbers."""

from collections.abc import Sequence

import numpy as np

from dashboard.figures.results import Settling
from dashboard.remembered import shared
from dashboard.words.tables import PROFILE_NAMES
from radam_core.comparison import ClosestWarmup, Shape
from radam_core.domains import FloatArray
from radam_core.methods import PROFILES
from radam_core.theory import (
    FIRST_FINITE,
    first_rectified_step,
    largest_update,
    lowest_beta2,
    rectification,
    rho_inf,
    variance_exact,
)


def never_rectified(beta2: float, threshold: float) -> str:
    """Why there is no r_t at this beta2, and what each implementation then does."""
    return (
        f"At β₂ = {beta2:g} the average never holds enough gradients: ρₜ stays below ρ∞ = {float(rho_inf(beta2)):.3g}, "
        f"and the threshold is {threshold:g}. So $r_t$ never starts and RAdam stays **SGD with momentum for ever**; an "
        f"implementation that takes *no step* below the threshold never trains at all. Choose β₂ above "
        f"1 − 2/({threshold:g} + 1) = {lowest_beta2(threshold):.4g}."
    )


# What an implementation does for ever when it never rectifies, by its `below`.
_FOR_EVER = {"momentum": "takes momentum steps for ever", "skip": "never takes a step"}


def never_rectified_profiles(beta2: float, profiles: Sequence[str]) -> str | None:
    """A sentence for each of these implementations that never rectifies at this beta2; None when all of them do."""
    sentences = [
        f"**{PROFILE_NAMES[name]}** waits for $\\rho_t$ to reach {knobs['threshold']:g} and {_FOR_EVER[knobs['below']]}."
        for name, knobs in ((name, PROFILES[name]) for name in profiles)
        if first_rectified_step(beta2, knobs["threshold"]) is None
    ]
    if not sentences:
        return None
    limit = f"$\\rho_t$ stays below $\\rho_\\infty$ = {float(rho_inf(beta2)):.3g}"
    return " ".join([f"At $\\beta_2$ = {beta2:g}, {limit}.", *sentences])


def closest_sentence(shape: Shape, closest: ClosestWarmup | None, beta2: float) -> str:
    """The length at which a warmup comes closest to r_t, its distance, and the rule of thumb beside it."""
    symbol, rule, per = ("T_w", "2/(1-\\beta_2)", 2) if shape == "linear" else ("\\tau", "1/(1-\\beta_2)", 1)
    if closest is None:
        return f"**{shape.capitalize()}**: $r_t$ never starts, so there is nothing to come close to."
    return (
        f"**{shape.capitalize()}**: ${symbol}$ = **{closest.length:,.0f} steps**. On average it is "
        f"{closest.rms_difference:.3f} away from $r_t$ (root mean square), at most {closest.largest_difference:.2f}. "
        f"The untuned rule ${rule}$ says {per / (1 - beta2):,.0f}."
    )


def rise_sentence(beta2: float, threshold: float) -> str:
    """Where r_t starts and how it rises, at this beta2."""
    first = first_rectified_step(beta2, threshold)
    if first is None:
        return f"At $\\beta_2$ = {beta2:g} $r_t$ never starts."
    later = round(1 / (1 - beta2))
    reached = f", has reached {float(rectification(later, beta2)):.2g} by step {later:,}" if later > first else ""
    return (
        f"At $\\beta_2$ = {beta2:g}, $r_t$ starts at {float(rectification(first, beta2)):.2g} in step {first}{reached} and "
        "goes on towards 1."
    )


def variance_sentence(t: FloatArray, exact: FloatArray) -> str:
    """How much larger the variance is early on than at the end of the axis."""
    at = {int(step): value for step, value in zip(t, exact, strict=True)}
    early = min(step for step in at if step >= 5)
    times = at[early] / exact[-1]
    return (
        f"At step {early} the variance is **{times:{',.0f' if times >= 10 else '.2g'}} times** that at step {int(t[-1]):,}; "
        "at steps 1 and 2 it is infinite, for every $\\beta_2$ and $\\mu$."
    )


@shared(200)
def rectified_sentence(beta2: float) -> str:
    """What RAdam's own r_t makes of the exact variance at its first step, as a part of what it aims at."""
    first = first_rectified_step(beta2)
    if first is None:
        return "At this $\\beta_2$ RAdam has no $r_t$."
    left = float(rectification(first, beta2) ** 2 * variance_exact(first, beta2) / variance_exact(np.inf, beta2))
    return (
        f"RAdam's first-order choice overdoes it at first: at step {first} it leaves {left:.2g} of that ($\\mu = 0$)."
    )


def real_gradients_sentence(t: FloatArray, ratio: FloatArray) -> str:
    """How the median variance of real gradients compares with that of Gaussian ones, over all measured steps."""
    return (
        f"At the median parameter the variance is **{ratio.min():.2f} to {ratio.max():.2f} times** that of Gaussian gradients "
        f"with the same mean and noise (steps {int(t[0])} to {int(t[-1])}; {ratio[-1]:.2f} at the last)."
    )


def means_sentence(step: float, mean: float, theory: float, signal: float) -> str:
    """The mean over the parameters beside that of each one's own theory; late, as a few parameters carry it early on."""
    return (
        f"The mean over the parameters is {mean:.2g} at step {int(step)}, and that of the exact variance at each one's own "
        f"$\\mu/\\sigma$ is {theory:.2g}. The median $\\mu/\\sigma$ is {signal:.2g}, where the paper assumes 0."
    )


def left_out_sentence(coordinates: int, left_out: int, step: float) -> str:
    """Which parameters were measured."""
    if not left_out:
        return f"All {coordinates:,} parameters are in it."
    whole = coordinates + left_out
    return (
        f"{left_out:,} of the {whole:,} parameters (**{100 * left_out / whole:.2g}%**) are left out, because some stream had "
        f"brought them no gradient by step {int(step)}."
    )


def size_sentence(size: Settling, variance: Settling, known: int | None, beta2: float) -> str:
    """How soon the update's size and the adaptive rate settle, by two yardsticks, and how far r_t has come by then."""
    return " ".join(
        [
            _size_settles(size),
            f"How soon the adaptive rate settles depends on the yardstick. {_rate_known(known)}",
            _variance_settles(variance),
            _r_by_then(size.step, known, beta2),
            "**Which of them settles first is no evidence of which does the harm.**",
        ]
    )


def _size_settles(size: Settling) -> str:
    if size.hardly_changes:
        return (
            f"The median update **hardly changes**: from step 1 on it is within a tenth of its final {size.final:.2g}."
        )
    return (
        f"The median update falls from {size.start:.2g} at step 1 to within a tenth of its final {size.final:.2g} by about "
        f"**step {size.step:,}**."
    )


def _rate_known(known: int | None) -> str:
    spread = "Its spread, the standard deviation over the mean,"
    if known is None:
        return f"{spread} **never falls to a tenth** at this $\\beta_2$ and $\\mu$."
    if known <= FIRST_FINITE:
        return f"{spread} is below a tenth from **step {known}** on, where it first is finite."
    return f"{spread} is below a tenth from **step {known:,}** on."


def _variance_settles(variance: Settling) -> str:
    if variance.step is None:
        return f"Its variance, infinite at steps 1 and 2, is **still falling at step {variance.last:,}**."
    return (
        f"Its variance, infinite at steps 1 and 2, comes within a tenth of its limit {variance.final:.2g} by "
        f"**step {variance.step:,}**."
    )


def _r_by_then(size: int | None, known: int | None, beta2: float) -> str:
    """r_t at the steps by which the size has settled and the rate is known, if it has started by then."""
    first = first_rectified_step(beta2)
    if first is None:
        return "At this $\\beta_2$ RAdam never rectifies: there is no $r_t$."
    steps = sorted({step for step in (size, known) if step is not None and step > first})
    values = [f"{float(rectification(step, beta2)):.2g} at step {step:,}" for step in steps]
    risen = f" and is {' and '.join(values)}" if values else ""
    return f"This last one is what $r_t$ goes by: it starts at step {first}{risen}."


def bound_sentence(beta1: float, beta2: float) -> str:
    """How long Adam's update can be at all, whatever the gradients."""
    early, limit = 5, float(largest_update(np.inf, beta1, beta2))
    end = f"{limit:.2g} in the limit" if limit < np.inf else "without a limit later"
    return (
        "But what moves the weights is $\\hat m_t\\psi_t$, and these two go together: with $a_i$, $w_i$ the weights of "
        "$g_i$ in $\\hat m_t$ and of $g_i^2$ in $\\hat v_t$, $|\\hat m_t\\psi_t| \\le \\sqrt{\\sum_i a_i^2/w_i}$ for any "
        f"gradients. That is 1 at step 1, {float(largest_update(early, beta1, beta2)):.3g} at step {early}, {end} (at these "
        "$\\beta_1$, $\\beta_2$)."
    )
