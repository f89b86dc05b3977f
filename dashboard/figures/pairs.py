"""What a verdict rests on: the two sides of a claim, seed by seed, as points that a line joins."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.look import GREY
from dashboard.figures.parts import escaped, log_axis, x_axis, y_axis

WIDEST_NAME, WIDEST_TITLE = 22, 30  # letters in a line of a side's name, and of the axis's
WIDE = 30  # times the smallest value: a log axis over less would have a single number, or none
HOLDS, HOLDS_NOT, MEAN = "a seed: it holds", "it does not", "mean"
_LINES = {HOLDS: {"color": GREY, "width": 2}, HOLDS_NOT: {"color": GREY, "width": 2, "dash": "dot"}}
ROWS = (1, 0)  # the first side stands above the second


@dataclass(frozen=True)
class Side:
    name: str
    color: str
    values: tuple[float, ...]  # by seed


@dataclass(frozen=True)
class Pair:
    measure: str
    one: Side
    other: Side
    seeds: tuple[object, ...]
    holds: tuple[bool, ...]  # by seed
    scale: str = "linear"  # of the axis; or "log", or "per cent"


def pair_figure(pair: Pair) -> go.Figure:
    """Where the first is claimed to lie below the second, the line of a seed that bears it out leans to the right
    downwards."""
    figure = go.Figure([*_lines(pair), *_points(pair), _means(pair)])
    x_axis(figure, _in_lines(pair.measure, WIDEST_TITLE), **_range([*pair.one.values, *pair.other.values], pair.scale))
    names = [_in_lines(side.name, WIDEST_NAME) for side in (pair.one, pair.other)]
    y_axis(figure, "", tickmode="array", tickvals=list(ROWS), ticktext=names, range=[-0.6, 1.6], zeroline=False)
    figure.layout.hovermode = "closest"
    return figure


def _lines(pair: Pair) -> list[go.Scatter]:
    found = []
    for name, line in _LINES.items():
        ends = [
            (one, other, None)
            for one, other, holds in zip(pair.one.values, pair.other.values, pair.holds, strict=True)
            if holds == (name == HOLDS)
        ]
        if ends:
            x, y = [value for end in ends for value in end], [*ROWS, None] * len(ends)
            again = {"again": True}  # the points' numbers, which a table has once
            found.append(go.Scatter(x=x, y=y, name=name, mode="lines", line=line, hoverinfo="skip", meta=again))
    return found


def _points(pair: Pair) -> list[go.Scatter]:
    return [
        go.Scatter(
            x=side.values,
            y=[row] * len(side.values),
            name=escaped(side.name),
            mode="markers",
            marker={"color": side.color, "size": 10},
            customdata=[str(seed) for seed in pair.seeds],
            hovertemplate=f"seed %{{customdata}}: %{{x:{_digits(pair)}}}",
            showlegend=False,  # its name stands beside it
        )
        for row, side in zip(ROWS, (pair.one, pair.other), strict=True)
    ]


def _means(pair: Pair) -> go.Scatter:
    return go.Scatter(
        x=[float(np.mean(side.values)) for side in (pair.one, pair.other)],
        y=list(ROWS),
        name=MEAN,
        mode="markers",
        marker={"color": GREY, "symbol": "line-ns-open", "size": 24, "line": {"width": 3}},
        hovertemplate=f"mean: %{{x:{_digits(pair)}}}<extra></extra>",
    )


def _digits(pair: Pair) -> str:
    return ".1%" if pair.scale == "per cent" else ".3g"


def _range(values: Sequence[float], scale: str) -> dict[str, Any]:
    """Where the axis begins and ends, also where all values are the same, and how it is numbered."""
    known = [value for value in values if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if scale == "log" and 0 < WIDE * low < high:
        return {**log_axis(), "range": [math.log10(low) - 0.08, math.log10(high) + 0.08]}
    spread = max(high - low, 0.02 if scale == "per cent" else 0.1 * abs(high), 1e-9)
    room = (1.12 * spread - (high - low)) / 2
    return {"range": [low - room, high + room], **({"tickformat": ".1~%"} if scale == "per cent" else {})}


def _in_lines(text: str, width: int) -> str:
    return "<br>".join(map(escaped, wrap(text, width)))
