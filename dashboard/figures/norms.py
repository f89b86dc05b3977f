"""Post-LN beside Pre-LN: every figure has a column for each, with the same axes, so that what differs is the curve.

Traces of the left column belong to run 0, those of the right one to run 1; `meta` is as in `race.py`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.asked.config import RaceConfig
from dashboard.asked.norms import DENSE_STEPS, NORMS
from dashboard.evidence.findings import Findings
from dashboard.evidence.norms import lines_of_norm
from dashboard.figures.curvature import AXES, PLAIN, PRECONDITIONED, sharpness_traces
from dashboard.figures.look import GREY, Style, apart
from dashboard.figures.methods import STYLES
from dashboard.figures.parts import full_log_axis, log_axis, values_axis
from dashboard.figures.race import lane_styles, loss_traces, quantity_traces
from dashboard.figures.race_parts import add, traces
from dashboard.figures.sweep import POINTS, rate_traces
from demo_models import TASKS
from radam_core.race.plan import Lane
from radam_core.race.quantities import QUANTITIES

MOVES = ("relative_update", "angle")
LOOKED_AT = (1, DENSE_STEPS)  # the steps at which the gradient is shown by layer
Lines = Callable[[Sequence[Lane], Sequence[Style]], list[go.Scatter]]


def norm_figures(configs: Sequence[RaceConfig]) -> dict[str, go.Figure]:
    """Every figure of the page by name, for the two races of `norm_race`."""
    steps = configs[0].steps
    by_layer = {f"norm, step {step}": _layers_at(step) for step in LOOKED_AT}
    figures = {
        "loss": _columns(configs, {"training loss": loss_traces}),
        "by-layer": _columns(configs, by_layer, shared_xaxes="columns"),
        "moves": _columns(configs, {QUANTITIES[name].axis: _quantity(name) for name in MOVES}),
        "preconditioned": _columns(configs, {AXES[PRECONDITIONED]: _sharpness(steps, PRECONDITIONED)}),
        "plain": _columns(configs, {AXES[PLAIN]: _sharpness(steps, PLAIN)}),
    }
    figures["by-layer"].update_xaxes(type="category", title_text="", tickangle=-60)
    figures["by-layer"].update_yaxes(**full_log_axis(), row=1)  # at the start they span a decade or two
    baseline = TASKS[configs[0].task].baseline_at(configs[0].settings)
    if baseline is not None:
        figures["loss"].add_hline(y=baseline, row="all", col="all", line={"color": GREY, "dash": "dash", "width": 1})
    return figures


def rates_by_norm_figure(found: Findings) -> go.Figure:
    """The final loss against the learning rate, mean and range over the seeds: a column for each norm."""
    figure = make_subplots(
        cols=len(NORMS),
        shared_yaxes=True,
        horizontal_spacing=0.03,
        column_titles=[f"<b>{name}</b>" for name in NORMS.values()],
    )
    for column, norm in enumerate(NORMS, 1):
        own = lines_of_norm(found, norm)
        styles = apart([STYLES[found.config.contenders[one.contender].method] for one in own.values()])
        for (name, one), style, symbol in zip(own.items(), styles, POINTS, strict=False):
            curves = rate_traces(one, name, style, symbol)
            for curve in curves:
                curve.update(legendgroup=name, **({"showlegend": False} if column > 1 else {}))
            add(figure, 1, curves, column)
    rates = sorted({rate.lr for one in found.lines for rate in one.rates})
    figure.update_xaxes(title_text="learning rate", **values_axis(rates))
    figure.update_yaxes(**log_axis())
    figure.update_yaxes(title_text=f"final loss, {len(found.config.seeds)} seeds", col=1)
    figure.update_annotations(font_size=14)
    figure.update_layout(legend_y=1.09)  # above the columns' names
    baseline = found.config.baseline(0)
    if baseline is not None:
        figure.add_hline(y=baseline, row="all", col="all", line={"color": GREY, "dash": "dash", "width": 1})
    return figure


def _columns(configs: Sequence[RaceConfig], rows: dict[str, Lines], shared_xaxes: str = "all") -> go.Figure:
    """A row for each quantity and a column for each run, on the same axes."""
    shape: dict[str, Any] = {"rows": len(rows), "cols": len(configs), "vertical_spacing": 0.09}
    figure = make_subplots(
        **shape,
        shared_xaxes=shared_xaxes,
        shared_yaxes="rows",
        horizontal_spacing=0.03,
        column_titles=[f"<b>{NORMS[str(config.settings['norm'])]}</b>" for config in configs],
    )
    for column, config in enumerate(configs, 1):
        lanes, styles = config.plan().lanes, lane_styles(config)
        for row, lines in enumerate(rows.values(), 1):
            add(figure, row, [_of_run(trace, column - 1) for trace in lines(lanes, styles)], column)
        figure.update_xaxes(title_text="step", row=len(rows), col=column)
    for row, title in enumerate(rows, 1):
        figure.update_yaxes(title_text=title, row=row, col=1)
    figure.update_yaxes(type="log")
    figure.update_annotations(font_size=14)
    # The cards are the legend; a saved picture has one, above the columns' names.
    figure.update_layout(margin_t=28, legend_y=1.08, showlegend=False)
    return figure


def _of_run(trace: go.Scatter, run: int) -> go.Scatter:
    """One line of the legend speaks for both columns: a lane has the same colour in them."""
    return trace.update(meta={**trace.meta, "run": run}, **({"showlegend": False} if run else {}))


def _layers_at(step: int) -> Lines:
    def lines(lanes: Sequence[Lane], styles: Sequence[Style]) -> list[go.Scatter]:
        found = traces(lanes, styles, "", "layers", mode="lines+markers")
        for trace in found:
            trace.meta["step"] = step
        return found

    return lines


def _quantity(name: str) -> Lines:
    return lambda lanes, styles: quantity_traces(lanes, styles, name)


def _sharpness(steps: int, name: str) -> Lines:
    return lambda lanes, styles: sharpness_traces(lanes, styles, steps, name)
