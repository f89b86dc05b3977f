"""Histograms of log10|x| one behind the other, step 1 at the back: the paper's Figures 2 and 3, a panel for each lane.

The race page draws the same from what streams in (`RidgeChart` in `browser/scripts/live_histograms.js`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from radam_core.race.frames import BIN_OF_ONE

_LOG10_2 = math.log10(2)
_HEIGHT = 2.2  # of the highest ridge, in steps
Curve = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class LaneRidges:
    label: str
    color: str
    counts: Mapping[int, NDArray[np.int64]]  # by step: of powers of two, as a histogram counts them


def distribution(counts: NDArray[np.int64]) -> Curve:
    """log10 of the middle of each power of two in use, and its share of all; an empty one on either side. Zeros count
    in the whole, and are not drawn."""
    used = np.flatnonzero(counts[1:]) + 1
    if not len(used):
        return np.empty(0), np.empty(0)
    bins = np.arange(used[0] - 1, used[-1] + 2)
    inside = np.where((bins > 0) & (bins < len(counts)), counts[np.clip(bins, 0, len(counts) - 1)], 0)
    return (bins + 0.5 - BIN_OF_ONE) * _LOG10_2, inside / counts.sum()


def ridges_figure(lanes: Sequence[LaneRidges], columns: int = 4) -> go.Figure:
    steps = sorted({t for lane in lanes for t in lane.counts})
    curves = [{t: distribution(counts) for t, counts in lane.counts.items()} for lane in lanes]
    highest = max((float(y.max()) for own in curves for _, y in own.values() if len(y)), default=1.0)
    rows, columns = -(-len(lanes) // columns), min(columns, len(lanes))
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[f"<b>{escape(lane.label, quote=False)}</b>" for lane in lanes],
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.02,
        vertical_spacing=0.12,
    )
    for k, (lane, own) in enumerate(zip(lanes, curves, strict=True)):
        x, y = _path(own, steps, highest)
        trace = go.Scatter(
            x=x,
            y=y,
            name=lane.label,
            mode="lines",
            line={"color": lane.color, "width": 1},
            fill="toself",
            fillcolor=f"{lane.color}50",
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_trace(trace, row=k // columns + 1, col=k % columns + 1)
    figure.update_yaxes(
        range=[0.4 - max(len(steps), 1), _HEIGHT + 0.2],
        tickvals=[-j for j in range(len(steps))],
        ticktext=[str(t) for t in steps],
        zeroline=False,
    )
    figure.update_layout(margin={"t": 36})  # room for the first row's titles
    figure.update_xaxes(title_text="log<sub>10</sub> |g|", row=rows)
    figure.update_yaxes(title_text="step", col=1)
    return figure


def _path(
    own: Mapping[int, Curve], steps: Sequence[int], highest: float
) -> tuple[list[float | None], list[float | None]]:
    """All ridges of a lane as one line in pieces, each closed along its base."""
    x: list[float | None] = []
    y: list[float | None] = []
    for t, (places, shares) in own.items():
        if not len(places):
            continue
        base = float(-steps.index(t))
        heights = base + _HEIGHT * shares / highest
        gap: list[float | None] = [None] if x else []
        x += [*gap, places[0], *places.tolist(), places[-1]]
        y += [*gap, base, *heights.tolist(), base]
    return x, y
