"""The figures of a race before its data: axes, and a trace for each lane with `meta` that says what will fill it.

The browser appends what arrives (`live_chart.js`), so a figure is built once for a race. A trace without `meta` keeps
what it is given here: theory, and the schedules, which follow from the settings alone.

    meta = {"of": "steps", "column": "loss", "lane": 0}     a column of the recorded steps; "smooth": drawn smoothed
    meta = {"of": "metrics", "column": "accuracy", ...}     at the evaluation steps
    meta = {"of": "spread", "column": "psi_across", ...}    at the histogram steps, of what was measured there
    meta = {"of": "sharpness", "place": 1, ...}             at the steps that measure it; the place in `SHARPNESS`
    meta = {"of": "layers", "step": 10, ...}                the gradient's norm at that step, against the layers' names
    meta = {"of": "plan", "lane": 0}                        its own values, as far as the race has come
    meta = {"of": "limit", "lane": 0}                       its own values, all of them, while its lane is shown

"run": 1 marks the lanes of a second run.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard.asked.config import RaceConfig
from dashboard.figures.curvature import curvature_figure
from dashboard.figures.look import GREY, Style, apart
from dashboard.figures.methods import STYLES
from dashboard.figures.parts import line
from dashboard.figures.race_parts import Labelled, add, faint, panels, planned, planned_traces, shown, traces
from demo_models import TASKS
from demo_models.landscapes import SURFACES
from radam_core.domains import FloatArray
from radam_core.race.plan import Lane
from radam_core.race.quantities import QUANTITIES
from radam_core.simulation import log_spaced_steps
from radam_core.theory import rectification, variance_log_psi_exact


def lane_styles(config: RaceConfig, beside: Sequence[Style] = ()) -> list[Style]:
    """Each lane in its method's colour; `beside`: of the run it is compared with."""
    return apart([STYLES[lane.method] for lane in config.lanes], beside)


def race_figures(
    config: RaceConfig, styles: Sequence[Style] | None = None, quantities: Mapping[str, Sequence[str]] | None = None
) -> dict[str, go.Figure]:
    """Every figure of a race, by name; `quantities` are those that show columns of `QUANTITIES` as they are."""
    lanes, styles = config.plan().lanes, lane_styles(config) if styles is None else styles
    metrics = list(TASKS[config.task].metrics)
    figures = {
        "loss": loss_figure(lanes, styles),
        "metric": metric_figure(lanes, styles, metrics),
        "schedule": schedule_figure(lanes, styles, config.steps),
        "rho": rho_figure(lanes, styles, config.steps),
        "variance": psi_figure(lanes, styles, config.steps, config.half_batch_steps),
    }
    figures |= {name: quantity_figure(lanes, styles, columns) for name, columns in (quantities or {}).items()}
    if config.sharpness_every:
        figures["curvature"] = curvature_figure(lanes, styles, config.steps)
    if config.task == "surfaces":
        figures["surface"] = surface_figure(lanes, styles, config.settings)
    return figures


def overlay(figures: dict[str, go.Figure], others: dict[str, go.Figure]) -> None:
    """Adds the lanes of another run to a run's figures, marked as those of run 1; nothing where the panels differ."""
    for name, figure in figures.items():
        titles = [axis.title.text for axis in figure.select_yaxes()]
        if name in others and titles == [axis.title.text for axis in others[name].select_yaxes()]:
            for trace in others[name].select_traces(lambda trace: trace.meta is not None):
                label = f"{trace.name} (compared)"
                figure.add_trace(trace.update(name=label, legendgroup=label, meta={**trace.meta, "run": 1}))


def loss_traces(lanes: Sequence[Labelled], styles: Sequence[Style]) -> list[go.Scatter]:
    """The training loss; behind each smoothed curve stands the raw one."""
    raw = traces(lanes, styles, "loss", showlegend=False, opacity=0.28, hoverinfo="skip")
    for trace in raw:
        trace.line.update(width=1, dash="solid")
        trace.meta["behind"] = True
    smooth = traces(lanes, styles, "loss")
    for trace in smooth:
        trace.meta["smooth"] = True
    return [*raw, *smooth]


def loss_figure(lanes: Sequence[Labelled], styles: Sequence[Style]) -> go.Figure:
    figure = go.Figure(loss_traces(lanes, styles))
    figure.update_layout(xaxis_title="step", yaxis={"title": "training loss", "type": "log"}, showlegend=True)
    return figure


def metric_figure(lanes: Sequence[Labelled], styles: Sequence[Style], metrics: Sequence[str]) -> go.Figure:
    """Held-out metrics, one panel each."""
    figure = panels(list(metrics))
    for row, name in enumerate(metrics, 1):
        add(figure, row, traces(lanes, styles, name, "metrics", mode="lines+markers", cliponaxis=False))
    figure.update_yaxes(rangemode="nonnegative")
    return figure


def schedule_figure(lanes: Sequence[Lane], styles: Sequence[Style], steps: int) -> go.Figure:
    """What warmup, decay and r_t leave of each lane's learning rate: as planned, and how far the race has come."""
    figure = panels(["multiplier w<sub>t</sub> r<sub>t</sub>", "learning rate α<sub>t</sub>"])
    t, columns = planned(lanes, steps)
    for row, column in enumerate(("multiplier", "lr"), 1):
        pairs = enumerate(zip(lanes, styles, strict=True))
        whole = [faint(t, columns[column][:, k], shown(lane), style) for k, (lane, style) in pairs]
        add(figure, row, [*whole, *planned_traces(lanes, styles, t, columns[column])])
    return figure


def rho_figure(lanes: Sequence[Lane], styles: Sequence[Style], steps: int) -> go.Figure:
    """rho_t of every beta2 in the race, and r_t: of the lanes that rectify, and faintly where a lane could have."""
    figure = panels(["ρ<sub>t</sub>", "r<sub>t</sub>"])
    t, columns = planned(lanes, steps)
    rows: tuple[list[go.Scatter], list[go.Scatter]] = ([], [])
    live = [planned_traces(lanes, styles, t, columns[name]) for name in ("rho", "r")]
    for k, lane in enumerate(lanes):
        if not lane.method.theory:
            continue  # no average of squares by a beta2: no rho_t
        beta2 = lane.method.betas[1]
        first = all(beta2 != other.method.betas[1] or not other.method.theory for other in lanes[:k])
        if first:
            rows[0].append(faint(t, columns["rho"][:, k], f"ρ, β₂ = {beta2:g}", Style(GREY)))
            rows[1].append(faint(t, rectification(t, beta2), f"r, β₂ = {beta2:g}", Style(GREY)))
        if first or lane.method.rectify is not None:
            rows[0].append(live[0][k])
        if lane.method.rectify is not None:
            rows[1].append(live[1][k])
    for row, found in enumerate(rows, 1):
        add(figure, row, found)
    return figure


def psi_figure(lanes: Sequence[Lane], styles: Sequence[Style], steps: int, half_batch_steps: int) -> go.Figure:
    """Var[log psi] within one parameter, beside its theory, and across a lane's parameters; never on one axis.

    Where half batches are measured, the kurtosis of their gradients stands between: the theory's is 3.
    """
    columns = {"psi_within": "Var[ln ψ]<br>within one"} | ({"kurtosis": "kurtosis"} if half_batch_steps else {})
    columns |= {"psi_across": "Var[ln ψ]<br>across"}
    figure = panels(list(columns.values()), [1.8, *[1.0] * (len(columns) - 1)])
    for row, column in enumerate(columns, 1):
        add(figure, row, traces(lanes, styles, column, "spread", mode="lines+markers"))
    t, plain = log_spaced_steps(1, max(steps, 2), 60), Style(GREY, "dot")
    # GI-Adam's average starts otherwise.
    methods = [one.method for one in lanes if one.method.adaptive and one.method.theory]
    for beta2 in sorted({method.betas[1] for method in methods if method.second_moment_start == "zero"}):
        theory = line(t, variance_log_psi_exact(t, beta2), f"theory, β₂ = {beta2:g}", plain)
        add(figure, 1, [theory])
    if half_batch_steps:
        add(figure, 2, [line(t[[0, -1]], np.array([3.0, 3.0]), "Gaussian", plain)])
    else:
        figure.add_annotation(
            text="Dotted: theory. To measure it, set<br>“Half batches” under “Lanes and settings”.",
            xref="x domain",
            yref="y domain",
            x=0.98,
            y=0.95,
            xanchor="right",
            yanchor="top",
            showarrow=False,
            align="right",
        )
    figure.update_yaxes(type="log")
    figure.update_yaxes(type="linear", rangemode="tozero", row=len(columns), col=1)
    return figure


def quantity_traces(lanes: Sequence[Lane], styles: Sequence[Style], name: str) -> list[go.Scatter]:
    """A quantity of the recorded steps; if it is known by groups of layers, too, of the group that is chosen."""
    lines = traces(lanes, styles, name)
    for trace in lines:
        trace.meta["grouped"] = QUANTITIES[name].by_group
    return lines


def quantity_figure(lanes: Sequence[Lane], styles: Sequence[Style], names: Sequence[str]) -> go.Figure:
    """Quantities of the recorded steps, a panel each; one by groups of layers, too, at the histogram steps."""
    figure = panels([QUANTITIES[name].axis for name in names])
    for row, name in enumerate(names, 1):
        add(figure, row, quantity_traces(lanes, styles, name))
    figure.update_yaxes(type="log")
    return figure


def surface_figure(lanes: Sequence[Lane], styles: Sequence[Style], settings: dict[str, Any]) -> go.Figure:
    """The landscape's contours, and where each lane walks on it."""
    surface = SURFACES[settings["surface"]]
    x, y, z = landscape_grid(settings)
    heights = go.Contour(
        x=x, y=y, z=z, ncontours=24, colorscale="Greys", opacity=0.5, showscale=False, hoverinfo="skip"
    )
    figure = go.Figure(heights.update(name="log10(1 + f)"))
    walks = traces(lanes, styles, "positions")
    for walk in walks:
        walk.meta["start"] = list(surface.start)
    figure.add_traces(walks)
    for name, (px, py), symbol in (("start", surface.start, "circle-open"), ("minimum", surface.minimum, "star")):
        marker = {"symbol": symbol, "size": 13, "color": GREY, "line": {"width": 2}}
        figure.add_trace(go.Scatter(x=[px], y=[py], name=name, mode="markers", marker=marker))
    figure.update_layout(
        xaxis={"title": "x", "range": [x[0], x[-1]]}, yaxis={"title": "y", "range": [y[0], y[-1]]}, hovermode="closest"
    )
    return figure


def landscape_grid(settings: dict[str, Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log10(1 + f) around the way from start to minimum."""
    surface = SURFACES[settings["surface"]]
    ends = np.array([surface.start, surface.minimum])
    middle, half = ends.mean(axis=0), np.maximum(np.ptp(ends, axis=0), np.ptp(ends) / 2) * 0.95
    x, y = (np.linspace(m - h, m + h, 81) for m, h in zip(middle, half, strict=True))
    grid = surface.f(x[None, :], y[:, None], float(settings["condition"]))
    return x, y, np.round(np.log10(1 + grid), 3)
