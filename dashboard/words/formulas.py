"""The paper's formulas with the numbers of the moment put in, as LaTeX."""

from dashboard.figures.methods import WARMUP_CURVES
from radam_core.theory import LOWEST_THRESHOLD, rectification, rho, rho_inf


def rho_formula(t: int, beta2: float) -> str:
    """rho_t at one step (Section 4.1)."""
    return (
        r"\rho_t = \rho_\infty - \frac{2 t \beta_2^t}{1 - \beta_2^t}"
        rf" = {_number(rho_inf(beta2))} - \frac{{2 \cdot {t} \cdot {beta2:g}^{{{t}}}}}{{1 - {beta2:g}^{{{t}}}}}"
        rf" = {_number(rho(t, beta2))}, \qquad"
        rf"\rho_\infty = \frac{{2}}{{1 - {beta2:g}}} - 1 = {_number(rho_inf(beta2))}"
    )


def rectification_formula(t: int, beta2: float, threshold: float) -> str:
    """r_t at one step, or why there is none (Section 4.2)."""
    general = r"\sqrt{\frac{(\rho_t - 4)(\rho_t - 2)\,\rho_\infty}{(\rho_\infty - 4)(\rho_\infty - 2)\,\rho_t}}"
    rho_t, limit, lowest = float(rho(t, beta2)), float(rho_inf(beta2)), LOWEST_THRESHOLD["first-order"]
    if rho_t <= lowest:
        return rf"r_t = {general} \quad \text{{is not defined: }} \rho_t = {_number(rho_t)} \le {lowest:g}"
    a, b = _number(rho_t), _number(limit)
    numbers = rf"\sqrt{{\frac{{({a} - 4)({a} - 2) \cdot {b}}}{{({b} - 4)({b} - 2) \cdot {a}}}}}"
    unused = rf"\quad \text{{but is not used yet: }} \rho_t \le {threshold:g}" if rho_t <= threshold else ""
    return rf"r_t = {general} = {numbers} = {float(rectification(t, beta2)):.4f}{unused}"


def warmup_lines() -> str:
    """A line for each warmup: its name as in the legend, formula, idea and source."""
    return "\n".join(
        f"- **{one.name.replace('<sub>t</sub>', 'ₜ')}**, ${one.formula}$: {one.idea}. *{one.source}*"
        for one in WARMUP_CURVES.values()
    )


def _number(value: object) -> str:
    return f"{float(value):,.5g}".replace(",", r"{,}")  # type: ignore[arg-type]
