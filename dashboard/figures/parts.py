"""What the figures share: lines, axes in steps, and the shaded phase without rectification."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard.figures.look import GREY, Style
from radam_core.domains import FloatArray


def escaped(text: str) -> str:
    """A label is no tag."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def line(t: ArrayLike, y: ArrayLike, name: str, style: Style, **settings: Any) -> go.Scatter:
    return go.Scatter(
        x=np.asarray(t), y=np.asarray(y), name=name, mode="lines", line=style.line(), connectgaps=False, **settings
    )


def band(t: FloatArray, low: FloatArray, high: FloatArray, name: str, color: str) -> go.Scatter:
    """A filled region between two curves."""
    return go.Scatter(
        x=np.concatenate([t, t[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        name=name,
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=color,
        opacity=0.3,
        hoverinfo="skip",
    )


MOST_LABELLED = 8  # values of an axis
_LINEAR = {"type": "linear", "rangemode": "tozero", "tickformat": ",d"}


def x_axis(figure: go.Figure, title: str, **settings: Any) -> None:
    """Of a figure with one panel. To assign an axis takes a quarter of the time that `update_xaxes` takes."""
    figure.layout.xaxis = {"title": {"text": title}, **settings}


def y_axis(figure: go.Figure, title: str, **settings: Any) -> None:
    figure.layout.yaxis = {"title": {"text": title}, **settings}


def step_axis(figure: go.Figure, log_t: bool, title: str = "step t") -> None:
    x_axis(figure, title, **(log_axis() if log_t else _LINEAR))


def log_axis() -> dict[str, Any]:
    """Whole powers of ten are labelled and the rest has small ticks, on axes of any span."""
    return {"type": "log", "dtick": 1, "minor": {"ticks": "outside", "ticklen": 3, "dtick": "D1", "showgrid": False}}


def full_log_axis(dtick: str = "D2") -> dict[str, Any]:
    """Numbers at 1, 2 and 5 of each power of ten ("D1": at all digits), written out: Plotly's own are single digits."""
    return {"type": "log", "dtick": dtick, "tickformat": "~g", "minor": {}}


def values_axis(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis on which the values that were tried are labelled, where they are few enough to be read."""
    if len(values) > MOST_LABELLED:
        return log_axis()
    return {"type": "log", "tickvals": list(values), "ticktext": [f"{value:g}" for value in values]}


def fitted_log_axis(figure: go.Figure, title: str) -> None:
    """A logarithmic y axis for what is drawn in it. Values within a power of ten and a half would have a single number,
    or none: they have more."""
    values = [value for trace in figure.data for value in np.asarray(trace.y, dtype=float) if value > 0]
    span = max(values) / min(values) if values else 1.0
    y_axis(figure, title, **(log_axis() if span >= 30 else full_log_axis("D1" if span < 4 else "D2")))


def level(figure: go.Figure, y: float, text: str, above: bool, left: bool = False) -> None:
    """A dashed line across the figure with its name at the right end, or at the left."""
    figure.add_hline(y=y, line={"dash": "dash", "color": GREY})
    figure.add_annotation(
        x=0 if left else 1,
        xref="paper",
        xshift=6 if left else 0,
        y=np.log10(y) if figure.layout.yaxis.type == "log" else y,
        text=text,
        showarrow=False,
        xanchor="left" if left else "right",
        yanchor="bottom" if above else "top",
    )


def shade_momentum_phase(figure: go.Figure, first: int | None, last: float, low: bool = False) -> None:
    """Grey over the steps that RAdam takes by momentum alone, and words where r_t starts: at the top, or low down."""
    never = first is None
    end = last if first is None else first - 0.5
    figure.add_vrect(x0=0.9, x1=end, fillcolor=GREY, opacity=0.18, line_width=0, layer="below")
    log_t = figure.layout.xaxis.type == "log"
    figure.add_annotation(
        x=1 if never else np.log10(end) if log_t else end,
        xref="paper" if never else "x",
        y=0.04 if never or low else 0.98,
        yref="paper",
        text="momentum only, for ever" if never else f"r<sub>t</sub> starts at step {first}",
        showarrow=False,
        xanchor="right" if never else "left",
        xshift=-6 if never else 6,
    )
