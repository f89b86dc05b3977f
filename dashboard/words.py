"""Sentences that depend on numbers."""

from collections.abc import Sequence

from dashboard.results import Settling
from dashboard.tables import PROFILE_NAMES
from radam_core.comparison import ClosestWarmup, Shape
from radam_core.domains import FloatArray
from radam_core.methods import PROFILES
from radam_core.theory import first_rectified_step, rectification, rho_inf


def never_rectified(beta2: float, threshold: float) -> str:
    """Why there is no r_t at this beta2, and what each implementation then does."""
    bound = "0.6" if threshold == 4 else "2/3"
    return (
        f"At β₂ = {beta2:g} the average never holds enough gradients: ρₜ stays below ρ∞ = {float(rho_inf(beta2)):.3g}, "
        f"and the threshold is {threshold:g}. So $r_t$ never starts and RAdam stays **SGD with momentum for ever**; an "
        f"implementation that takes *no step* below the threshold never trains at all. Choose β₂ above {bound}."
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


def variance_sentence(t: FloatArray, exact: FloatArray) -> str:
    """How much larger the variance is early on than at the end of the axis."""
    at = {int(step): value for step, value in zip(t, exact, strict=True)}
    early = min(step for step in at if step >= 5)
    times = at[early] / exact[-1]
    return (
        f"At step {early} the variance is **{times:{',.0f' if times >= 10 else '.2g'}} times** that at step {int(t[-1]):,}; "
        "at steps 1 and 2 it is infinite, for every $\\beta_2$ and $\\mu$."
    )


def size_sentence(size: Settling, variance: Settling, beta2: float) -> str:
    """Where the update's size and the variance settle, which of them does so first, and how far r_t has come by then."""
    return " ".join(
        [_size_settles(size), _variance_settles(variance), _settles_first(size, variance), _r_by_then(size, beta2)]
    )


def _size_settles(size: Settling) -> str:
    if size.hardly_changes:
        return (
            f"The median update **hardly changes**: from step 1 on it is within a tenth of its final {size.final:.2g}."
        )
    return (
        f"The median update falls from {size.start:.2g} at step 1 to within a tenth of its final {size.final:.2g} by "
        f"**step {size.step:,}**."
    )


def _variance_settles(variance: Settling) -> str:
    if variance.step is None:
        return f"The variance is infinite at steps 1 and 2, and **still falling at step {variance.last:,}**."
    return (
        f"The variance is infinite at steps 1 and 2, and within a tenth of its final {variance.final:.2g} by "
        f"**step {variance.step:,}**."
    )


def _settles_first(size: Settling, variance: Settling) -> str:
    if size.hardly_changes:
        return "So here only the variance has far to fall."
    if size.step == variance.step:
        return "So here both settle at once."
    size_first = variance.step is None or (size.step is not None and size.step < variance.step)
    return f"So here **the {'size' if size_first else 'variance'} settles first**."


def _r_by_then(size: Settling, beta2: float) -> str:
    first = first_rectified_step(beta2)
    if first is None:
        return "At this $\\beta_2$ RAdam never rectifies: there is no $r_t$."
    if size.step is None or size.step < first:
        return f"$r_t$ starts at step {first}."
    return f"At step {size.step:,}, $r_t$ is **{float(rectification(size.step, beta2)):.2g}**."
