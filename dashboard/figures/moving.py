"""A race as a moving picture: its losses as they grew, frame by frame."""

import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape

import plotly.graph_objects as go

from dashboard.figures.look import Style
from dashboard.figures.parts import level, line, log_axis, step_axis, y_axis

MOST_FRAMES = 30
NEAR, WIDER = 0.03, 4.0  # decades between curves that lie on one another; pixels by which the lower one is wider


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
            line(steps, _numbers(own), escape(label, quote=False), style, cliponaxis=False)
            for label, style, own in zip(labels, _all_seen(styles, losses), losses, strict=True)
        ]
    )
    known = [value for own in losses for value in own if value]
    low, high = math.log10(min(known)) - 0.1, math.log10(max(known)) + 0.1
    step_axis(figure, log_t=False, title="step")
    figure.layout.xaxis.range = [0, steps[-1]]
    y_axis(figure, "training loss", **log_axis(), range=[low, high])
    if baseline is not None:
        level(figure, baseline, "ignores its input", above=True)
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


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def _all_seen(styles: Sequence[Style], losses: Sequence[Sequence[float | None]]) -> list[Style]:
    """A lane that lies under others is a wider band, so that both are seen; the dashes of one would be blocks."""
    above = [sum(_coincide(own, other) for other in losses[place + 1 :]) for place, own in enumerate(losses)]
    return [
        replace(style, width=style.width + WIDER * count, dash="solid") if count else style
        for style, count in zip(styles, above, strict=True)
    ]


def _coincide(one: Sequence[float | None], other: Sequence[float | None]) -> bool:
    """At more than half of the steps."""
    near = [bool(a and b) and abs(math.log10(a / b)) < NEAR for a, b in zip(one, other, strict=False) if a and b]
    return 2 * sum(near) > len(one)
