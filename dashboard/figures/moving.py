"""A race as a moving picture: its losses as they grew, frame by frame."""

import math
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from dashboard.figures.look import GREY, Style
from dashboard.figures.parts import line, log_axis, step_axis, y_axis

MOST_FRAMES = 30


def moving_race_figure(
    labels: Sequence[str],
    styles: Sequence[Style],
    steps: Sequence[int],
    losses: Sequence[Sequence[float | None]],
    baseline: float | None,
) -> go.Figure:
    """Each lane's loss at these steps. It shows the whole race; its frames play it from the start."""
    figure = go.Figure(
        [
            line(steps, own, escape(label, quote=False), style, cliponaxis=False)
            for label, style, own in zip(labels, styles, losses, strict=True)
        ]
    )
    known = [value for own in losses for value in own if value]
    low, high = math.log10(min(known)) - 0.1, math.log10(max(known)) + 0.1
    step_axis(figure, log_t=False, title="step")
    figure.layout.xaxis.range = [0, steps[-1]]
    y_axis(figure, "training loss", **log_axis(), range=[low, high])
    if baseline is not None:
        figure.add_hline(y=baseline, line={"dash": "dash", "color": GREY}, annotation={"text": "ignores its input"})
    every = -(-len(steps) // MOST_FRAMES)
    ends = [*range(every, len(steps), every), len(steps)]
    figure.frames = [
        go.Frame(
            name=str(steps[end - 1]),
            data=[{"y": [*own[:end], *[None] * (len(own) - end)]} for own in losses],
            traces=list(range(len(losses))),
        )
        for end in ends
    ]
    return figure
