"""Figures of the pages "Is the variance really that large?" and "Variance or size?"."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.look import BLUE, GREEN, GREY, VARIANCE_STYLES, VERMILION, WIDE, Style
from dashboard.figures.methods import STYLES
from dashboard.figures.parts import band, line, log_axis, step_axis, x_axis, y_axis
from radam_core.domains import FloatArray
from radam_core.simulation import SimulatedVariance
from radam_core.theory import variance_analytic, variance_first_order

ROUTE_NAMES = {
    "exact": "exact",
    "analytic": "analytic at ρ<sub>t</sub> (Theorem 1)",
    "first-order": "first-order at ρ<sub>t</sub> (RAdam)",
    "simulated": "simulated",
}
_VARIANCE = "Var[ψ<sub>t</sub>], in units of 1/σ²"


def variance_figure(
    t: FloatArray, routes: Mapping[str, FloatArray], simulated_t: FloatArray, simulated: FloatArray, error: FloatArray
) -> go.Figure:
    """Var[psi_t] by every route; the simulation with a band of two standard errors."""
    low, high = np.maximum(simulated - 2 * error, simulated / 100), simulated + 2 * error
    figure = go.Figure([band(simulated_t, low, high, "simulated ± 2 standard errors", GREY)])
    figure.add_trace(line(simulated_t, simulated, ROUTE_NAMES["simulated"], VARIANCE_STYLES["simulated"]))
    for name, curve in routes.items():
        figure.add_trace(line(t, curve, ROUTE_NAMES[name], VARIANCE_STYLES[name]))
    step_axis(figure, log_t=True)
    y_axis(figure, _VARIANCE, **log_axis())
    return figure


def rectified_figure(t: FloatArray, unrectified: FloatArray, rectified: Mapping[str, FloatArray]) -> go.Figure:
    """r_t^2 Var[psi_t] for each choice of r_t: flat where that choice does what it promises."""
    figure = go.Figure([line(t, unrectified, "not rectified", Style(GREY))])
    for name, curve in rectified.items():
        figure.add_trace(line(t, curve, f"r<sub>t</sub> {ROUTE_NAMES[name].split(' at')[0]}", VARIANCE_STYLES[name]))
    step_axis(figure, log_t=True)
    y_axis(figure, "r<sub>t</sub>² Var[ψ<sub>t</sub>]", **log_axis())
    return figure


def error_figure(t: FloatArray, errors: Mapping[str, FloatArray]) -> go.Figure:
    """How far the two approximations are from the exact variance, in per cent of it."""
    figure = go.Figure(
        [line(t, 100 * curve, ROUTE_NAMES[name], VARIANCE_STYLES[name]) for name, curve in errors.items()]
    )
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    step_axis(figure, log_t=True)
    # The first-order form diverges where it begins; the axis is for what follows.
    later = np.concatenate([100 * curve[(t >= 8) & np.isfinite(curve)] for curve in errors.values()])
    margin = 0.1 * np.ptp(later) + 5
    y_axis(figure, "error, % of the exact variance", range=[later.min() - margin, later.max() + margin])
    return figure


def real_gradients_figure(t: FloatArray, quartiles: FloatArray, reference: FloatArray, name: str) -> go.Figure:
    """Var[psi_t] of a real network's gradients, in units of each coordinate's noise, over that of Gaussian ones."""
    figure = go.Figure(
        [
            band(t, reference[0], reference[2], "Gaussian gradients: middle half", GREY),
            band(t, quartiles[0], quartiles[2], f"{name}: middle half of the parameters", GREEN),
            line(t, reference[1], "Gaussian gradients: median", Style(GREY, "dash", width=4)),
            line(t, quartiles[1], f"{name}: median parameter", Style(GREEN, width=4)),
        ]
    )
    step_axis(figure, log_t=True)
    y_axis(figure, "Var[ψ<sub>t</sub>] σ²", **log_axis())
    return figure


def paper_approximation_figure() -> go.Figure:
    """The paper's approximation figure: Equations 2 and 5 and their difference for rho from 5 to 500."""
    rho = np.arange(5.0, 501.0)
    analytic, first_order = variance_analytic(rho), variance_first_order(rho)
    figure = go.Figure(
        [
            line(rho, analytic, "analytic (Equation 2)", VARIANCE_STYLES["analytic"]),
            line(rho, first_order, "first-order (Equation 5)", VARIANCE_STYLES["first-order"]),
            line(rho, np.abs(first_order - analytic), "difference", Style(GREY, "dashdot")),
        ]
    )
    x_axis(figure, "ρ")
    y_axis(figure, "variance", **log_axis())
    return figure


def paper_simulation_figure(simulation: SimulatedVariance) -> go.Figure:
    """The paper's six panels: the variance of the adaptive rate and of the rectified one, for each mean mu."""
    titles = [f"μ = {mu:g}" for mu in simulation.mus]
    figure = make_subplots(rows=2, cols=3, subplot_titles=titles, vertical_spacing=0.2, horizontal_spacing=0.1)
    for i in range(len(titles)):
        place = {"row": i // 3 + 1, "col": i % 3 + 1}
        curves = {
            "Var[ψ<sub>t</sub>]": (simulation.variance[i], Style(VERMILION, "dash")),
            "Var[r<sub>t</sub> ψ<sub>t</sub>]": (simulation.rectified[i], Style(BLUE)),
        }
        for name, (curve, style) in curves.items():
            figure.add_trace(line(simulation.t, curve, name, style, legendgroup=name, showlegend=i == 0), **place)
    figure.update_xaxes(**log_axis())
    figure.update_xaxes(title_text="step t", row=2)
    figure.update_yaxes(**log_axis())
    figure.update_layout(legend_y=1.08)
    return figure


SIZE_NAMES = {
    "variance": "Var[ψ<sub>t</sub>], variance of the adaptive rate",
    "spread": "its spread, √Var[ψ<sub>t</sub>] / E[ψ<sub>t</sub>]",
    "rectification": "r<sub>t</sub>",
    "median": "median of |m/√v|, size of Adam's update",
    "rms": "root mean square of m/√v",
}
_SIZE_STYLES = {
    "variance": Style(VERMILION, "dash"),
    "spread": Style(VERMILION, "dot"),
    "rectification": STYLES["radam"],
    "median": Style(GREEN, WIDE, 4),
    "rms": Style(GREEN, "dashdot"),
}


def variance_or_size_figure(curves: Mapping[str, tuple[FloatArray, FloatArray]]) -> go.Figure:
    """Variance and spread of the rate, r_t and the size of Adam's update on one axis; each curve with its own steps."""
    figure = go.Figure([line(t, y, SIZE_NAMES[name], _SIZE_STYLES[name]) for name, (t, y) in curves.items()])
    step_axis(figure, log_t=True)
    y_axis(figure, "variance, spread, factor or size", **log_axis())
    return figure
