"""The figures of the page "Do four steps matter?": the first eight steps of each variant, from plain numbers."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from dashboard.evidence.first_steps import FirstSteps
from dashboard.figures.look import Style
from dashboard.figures.parts import escaped, fitted_log_axis, x_axis, y_axis

APART = 0.13  # of a step: between the marks of two variants, whose bars would else cover each other


def quartiles_figure(found: Mapping[str, FirstSteps], styles: Mapping[str, Style]) -> go.Figure:
    """Median and quartiles of log10|g| at each step, the variants side by side."""
    figure = go.Figure()
    for place, (label, lane) in enumerate(found.items()):
        shift = APART * (place - (len(found) - 1) / 2)
        medians = [median for _, median, _ in lane.quartiles]
        figure.add_trace(
            go.Scatter(
                x=[step + shift for step in lane.steps],
                y=medians,
                name=escaped(label),
                mode="lines+markers",
                line={**styles[label].line(), "width": 1.5},
                marker={"color": styles[label].color, "size": 8},
                error_y={
                    "array": [high - median for _, median, high in lane.quartiles],
                    "arrayminus": [median - low for low, median, _ in lane.quartiles],
                    "thickness": 2,
                    "width": 0,
                    "color": styles[label].color,
                },
                customdata=[[step, low, high] for step, (low, _, high) in zip(lane.steps, lane.quartiles, strict=True)],
                hovertemplate="step %{customdata[0]}: %{y:.2f} (%{customdata[1]:.2f} to %{customdata[2]:.2f})",
            )
        )
    _steps(figure, found)
    y_axis(figure, "log₁₀|g|, median and quartiles")
    figure.layout.hovermode = "closest"
    return figure


def updates_figure(found: Mapping[str, FirstSteps], styles: Mapping[str, Style]) -> go.Figure:
    """How far each step moved the parameters, root mean square."""
    figure = go.Figure()
    for label, lane in found.items():
        figure.add_trace(_marked(lane.steps, _positive(lane.update_rms), label, styles[label]))
    _steps(figure, found)
    fitted_log_axis(figure, "update, RMS")
    return figure


def layers_figure(found: Mapping[str, FirstSteps], styles: Mapping[str, Style], step: int) -> go.Figure:
    """The gradient's norm in each layer at one step, from the input to the output."""
    figure = go.Figure()
    for label, lane in found.items():
        norms = lane.norms_at(step)
        if norms:
            figure.add_trace(_marked(lane.layers, _positive(norms), label, styles[label]))
    x_axis(figure, "layer, from input to output", type="category")
    fitted_log_axis(figure, f"gradient norm at step {step}")
    return figure


def _marked(x: Sequence[object], y: Sequence[object], label: str, style: Style) -> go.Scatter:
    return go.Scatter(
        x=list(x),
        y=list(y),
        name=escaped(label),
        mode="lines+markers",
        line=style.line(),
        marker={"color": style.color, "size": 8},
        hovertemplate="%{y:.3g}",
        connectgaps=False,
    )


def _positive(values: Sequence[float]) -> list[float | None]:
    """On a log axis: a step that moves nothing has no place."""
    return [value if 0 < value < float("inf") else None for value in values]


def _steps(figure: go.Figure, found: Mapping[str, FirstSteps]) -> None:
    last = max((lane.steps[-1] for lane in found.values() if lane.steps), default=1)
    x_axis(figure, "step t", dtick=1, range=[0.4, last + 0.6])
    for edge in (4.5, 8.5):
        if edge < last + 0.5:
            figure.add_vline(x=edge, line={"dash": "dot", "width": 1})
