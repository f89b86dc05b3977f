"""Figures of the page "Which RAdam is yours?"."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard.figures.look import Style
from dashboard.figures.parts import full_log_axis, x_axis, y_axis
from radam_core.domains import FloatArray


def multiplier_figure(t: ArrayLike, multipliers: Mapping[str, FloatArray], styles: Mapping[str, Style]) -> go.Figure:
    """What each implementation multiplies the momentum by, a mark a step; smaller marks lie on larger ones."""
    figure = go.Figure()
    for place, (name, values) in enumerate(multipliers.items()):
        style = styles[name]
        figure.add_trace(
            go.Scatter(
                x=np.asarray(t),
                y=[float(value) if value > 0 else None for value in values],
                name=name,
                mode="lines+markers",
                line={**style.line(), "shape": "linear"},
                marker={"color": style.color, "size": max(6, 18 - 3 * place)},
                connectgaps=False,
            )
        )
    x_axis(figure, "step t", dtick=1, range=[0.4, float(np.max(t)) + 0.6])
    y_axis(figure, "multiplier of the momentum", **full_log_axis(), range=_at_least_a_decade(multipliers))
    return figure


def _at_least_a_decade(multipliers: Mapping[str, FloatArray]) -> list[float]:
    """The range of a log axis around the values: a narrower one would draw the rounding of equal values as steps."""
    logs = [np.log10(value) for values in multipliers.values() for value in values if value > 0] or [0.0]
    middle, half = (min(logs) + max(logs)) / 2, max(0.5, 0.54 * (max(logs) - min(logs)))
    return [middle - half, middle + half]
