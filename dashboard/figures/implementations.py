"""Figures of the page "Which RAdam is yours?"."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from dashboard.figures.parts import log_axis
from dashboard.look import Style
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
    figure.update_xaxes(title_text="step t", dtick=1, range=[0.4, float(np.max(t)) + 0.6])
    figure.update_yaxes(title_text="multiplier of the momentum", **{**log_axis(), "dtick": "D2", "minor": {}})
    return figure
