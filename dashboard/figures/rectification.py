"""Figures of the page "What does r_t do?" and of the first page."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard.figures.look import BETA2_STYLES
from dashboard.figures.methods import STYLES, WARMUP_CURVES
from dashboard.figures.parts import level, line, log_axis, shade_momentum_phase, step_axis, y_axis
from radam_core.comparison import settled_step
from radam_core.domains import FloatArray
from radam_core.schedules import untuned_linear_warmup
from radam_core.simulation import log_spaced_steps
from radam_core.theory import rectification, rho, rho_inf


def steps_to_draw(last: float, log_t: bool) -> FloatArray:
    """About 300 steps to draw a curve at, every one of the first ten among them."""
    spaced = log_spaced_steps(1, last, 300) if log_t else np.unique(np.round(np.linspace(1, last, 300)))
    return np.union1d(spaced, np.arange(1, min(last, 10) + 1))


def warmup_figure(t: FloatArray, factors: Mapping[str, FloatArray], first: int | None, log_t: bool) -> go.Figure:
    """The factor of every warmup against the step; RAdam's is drawn last, on top."""
    order = [name for name in factors if name != "radam"] + ["radam"]
    figure = go.Figure([line(t, factors[name], WARMUP_CURVES[name].name, STYLES[name]) for name in order])
    step_axis(figure, log_t)
    y_axis(figure, "factor of the learning rate", range=[0, 1.04])
    figure.update_layout(legend_traceorder="reversed")
    shade_momentum_phase(figure, first, float(t[-1]))
    return figure


def rho_figure(t: FloatArray, beta2: float, threshold: float, first: int | None, log_t: bool) -> go.Figure:
    """rho_t against the step, up to its limit, with the threshold it has to pass."""
    limit = float(rho_inf(beta2))
    figure = go.Figure([line(t, rho(t, beta2), "ρ<sub>t</sub>", STYLES["radam"])])
    step_axis(figure, log_t)
    y_axis(figure, "ρ<sub>t</sub>, samples in the equivalent average", **log_axis())
    if limit == threshold:
        level(figure, limit, f"ρ<sub>∞</sub> = {limit:g}, the threshold", above=False, left=True)
    else:
        level(figure, limit, f"ρ<sub>∞</sub> = {limit:,.4g}", above=limit < threshold, left=True)
        level(figure, threshold, f"threshold {threshold:g}", above=True)
    shade_momentum_phase(figure, first, float(t[-1]), low=True)
    figure.update_layout(showlegend=False)
    return figure


def learning_rate_figure(
    t: FloatArray, lr: float, factors: Mapping[str, FloatArray], decay: FloatArray, log_t: bool
) -> go.Figure:
    """The learning rate in force, lr times warmup times decay."""
    figure = go.Figure(
        [
            line(t, lr * factors[name] * decay, WARMUP_CURVES[name].name, STYLES[name])
            for name in reversed(list(factors))
        ]
        + [line(t, lr * decay, "no warmup", STYLES["adam"])]
    )
    step_axis(figure, log_t)
    y_axis(figure, "α<sub>t</sub> r<sub>t</sub>, learning rate in force", rangemode="tozero")
    figure.update_layout(legend_traceorder="reversed")
    return figure


def beta2_figure(beta2s: Sequence[float], threshold: float) -> go.Figure:
    """r_t for several beta2 at once."""
    t = steps_to_draw(settled_step(max(beta2s)), log_t=True)
    most = len(BETA2_STYLES) - 1
    styles = [BETA2_STYLES[round(i * most / max(1, len(beta2s) - 1))] for i in range(len(beta2s))]
    figure = go.Figure(
        [
            line(t, rectification(t, beta2, threshold), f"β<sub>2</sub> = {beta2:g}", style)
            for beta2, style in zip(sorted(beta2s), styles, strict=True)
        ]
    )
    step_axis(figure, log_t=True)
    y_axis(figure, "r<sub>t</sub>", range=[0, 1.04])
    return figure


def untuned_figure(beta2s: ArrayLike) -> go.Figure:
    """r_t and the untuned warmup moving together as beta2 sweeps: the answer that the first page opens with."""
    t = log_spaced_steps(1, 100_000, 220)

    def curves(beta2: float) -> list[go.Scatter]:
        return [
            line(
                t,
                untuned_linear_warmup(beta2)(t),
                "linear warmup over 2/(1 − β<sub>2</sub>) steps",
                STYLES["adam-untuned-linear"],
            ),
            line(t, rectification(t, beta2), "RAdam's r<sub>t</sub>", STYLES["radam"]),
        ]

    names = [f"{beta2:.5g}" for beta2 in np.asarray(beta2s)]
    frames = [
        go.Frame(data=curves(float(beta2)), name=name) for beta2, name in zip(np.asarray(beta2s), names, strict=True)
    ]
    shown = names.index("0.999")
    figure = go.Figure(curves(0.999), frames=frames)
    steps = [
        {"label": name, "method": "animate", "args": [[name], {"mode": "immediate", "transition": {"duration": 0}}]}
        for name in names
    ]
    slider = {
        "active": shown,
        "steps": steps,
        "currentvalue": {"prefix": "β<sub>2</sub> = ", "font": {"size": 18, "color": "#2E8BC9"}},
        "pad": {"t": 34},
        "ticklen": 0,
        "minorticklen": 0,
        "font": {"color": "rgba(0,0,0,0)", "size": 1},
    }
    figure.update_layout(sliders=[slider], legend_traceorder="reversed")
    step_axis(figure, log_t=True)
    y_axis(figure, "factor of the learning rate", range=[0, 1.04])
    return figure
