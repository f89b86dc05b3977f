"""Figures of the guided tour: a visitor's prediction, their class's, and what came out, on one chart.

A visitor's own prediction is purple and dashed, or a diamond; a class's is grey, or a circle with how many said so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.look import BLUE, GREEN, GREY, PURPLE, VERMILION, Style
from dashboard.figures.methods import STYLES
from dashboard.figures.parts import band, level, line, log_axis, step_axis, x_axis, y_axis
from radam_core.domains import FloatArray

OWN, CLASS = "your prediction", "your class"
PREDICTED = Style(PURPLE, "dash", 3.0)
MOST_DRAWN = 60  # curves of a class


@dataclass(frozen=True)
class Curve:
    name: str
    t: FloatArray
    y: FloatArray
    style: Style
    low: FloatArray | None = None  # the range over seeds, where there are several
    high: FloatArray | None = None


def _curves(curves: Sequence[Curve]) -> list[go.Scatter]:
    traces = []
    for one in curves:
        if one.low is not None and one.high is not None:
            shade = band(one.t, one.low, one.high, one.name, one.style.color)
            traces.append(shade.update(showlegend=False, opacity=0.18))
        traces.append(line(one.t, one.y, escape(one.name, quote=False), one.style))
    return traces


def _said(
    x: Sequence[float | str], y: Sequence[float | str], counts: Sequence[int], beside: str = "middle right"
) -> go.Scatter:
    """How many of a class said what, as circles with the number `beside` them."""
    return go.Scatter(
        x=list(x),
        y=list(y),
        name=CLASS,
        mode="markers+text",
        text=[str(count) for count in counts],
        textposition=beside,
        marker={
            "symbol": "circle-open",
            "color": GREY,
            "size": [18 + 4 * float(np.sqrt(count)) for count in counts],
            "line": {"width": 2},
        },
        hovertemplate="%{text} said so<extra></extra>",
    )


def _diamond(x: Sequence[float | str], y: Sequence[float | str], name: str) -> go.Scatter:
    diamond = {"symbol": "diamond", "color": PURPLE, "size": 15}
    return go.Scatter(x=list(x), y=list(y), name=name, mode="markers", marker=diamond)


def starts_figure(curves: Sequence[Curve]) -> go.Figure:
    """What the settings leave of the learning rate at each step."""
    figure = go.Figure(_curves(curves))
    step_axis(figure, log_t=False, title="step")
    y_axis(figure, "share of the learning rate in force", range=[-0.03, 1.05])
    figure.layout.showlegend = True  # one curve, too, has a name
    return figure


def learned_figure(
    labels: Sequence[str],
    colors: Sequence[str],
    outcome: Sequence[tuple[int, int]] | None,
    own: Sequence[bool | None] | None,
    shares: Sequence[float] | None,
    by: str = "",
) -> go.Figure:
    """Bars: at how many seeds each learns. Diamonds: what was predicted, or follows `by` what was chosen; circles: the
    class's share that says so."""
    # Names stand below an empty chart, too, where something is drawn at them.
    figure = go.Figure(go.Scatter(x=list(labels), y=[0] * len(labels), opacity=0, showlegend=False, hoverinfo="skip"))
    if outcome is not None:
        figure.add_trace(
            go.Bar(
                x=list(labels),
                y=[count / seeds for count, seeds in outcome],
                name="learned, share of the seeds",
                marker={"color": list(colors)},
                width=0.5,
                showlegend=False,
            )
        )
        told = [f"<b>{count} of {seeds}</b>" for count, seeds in outcome]
        row = go.Scatter(x=list(labels), y=[1.13] * len(labels), text=told, mode="text", name="", hoverinfo="skip")
        figure.add_trace(row.update(showlegend=False))
    if shares is not None:
        text = [f"{share:.0%}" for share in shares]
        circles = go.Scatter(
            x=list(labels),
            y=list(shares),
            name=f"{CLASS}: it learns",
            mode="markers+text",
            text=text,
            textposition="middle right",
            marker={"symbol": "circle-open", "color": GREY, "size": 18, "line": {"width": 3}},
        )
        figure.add_trace(circles)
    if own is not None:
        said = [(label, float(one)) for label, one in zip(labels, own, strict=True) if one is not None]
        figure.add_trace(_diamond([label for label, _ in said], [one for _, one in said], OWN + by))
    figure.layout.xaxis = {"categoryorder": "array", "categoryarray": list(labels), "range": [-0.6, len(labels) - 0.4]}
    y_axis(
        figure, "learns: share of the seeds", range=[-0.08, 1.22], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1]
    )
    figure.layout.showlegend = True  # one curve, too, has a name
    return figure


def votes_figure(options: Sequence[str], counts: Sequence[int], own: int | None) -> go.Figure:
    """A vote before its answer."""
    colors = [PURPLE if place == own else GREY for place in range(len(options))]
    figure = go.Figure(
        go.Bar(x=list(options), y=list(counts), marker={"color": colors}, text=list(counts), showlegend=False)
    )
    most = max(4, *counts)
    y_axis(figure, "votes", tickformat=",d", range=[0, most * 1.15], dtick=-(-most // 5))
    return figure


def loss_curve_figure(
    known: Sequence[Curve],
    outcome: Curve | None,
    own: tuple[Sequence[float], Sequence[float]] | None,
    drawn: Sequence[Sequence[float]],
    steps: Sequence[int],
    axis: tuple[float, float],
    baseline: float | None,
) -> go.Figure:
    """Curves that are known, those that were drawn, and the one that came out."""
    figure = go.Figure()
    for place, curve in enumerate(drawn[:MOST_DRAWN]):
        thin = Style(GREY, width=1.6)
        figure.add_trace(
            line(steps, curve, CLASS, thin, opacity=0.8, showlegend=place == 0, legendgroup=CLASS, hoverinfo="skip")
        )
    figure.add_traces(_curves([*known, *([outcome] if outcome else [])]))
    if own is not None:
        figure.add_trace(line(*own, OWN, PREDICTED).update(mode="lines+markers"))
    step_axis(figure, log_t=False, title="step")
    figure.layout.xaxis.range = [0, steps[-1]]
    y_axis(figure, "training loss", **log_axis(), range=list(axis))
    if baseline is not None:
        level(figure, baseline, "ignores its input", above=True)
    return figure


def gradient_figure(
    curves: Sequence[Curve], start: float, at: int, own: float | None, said: Sequence[tuple[float, int]]
) -> go.Figure:
    """The median gradient over the first steps; a guess is how many powers of ten it has lost at step `at`."""
    figure = go.Figure(_curves(curves))
    if said:
        x = [at * 0.7 ** (place % 2) for place in range(len(said))]
        figure.add_trace(_said(x, [start - fall for fall, _ in said], [count for _, count in said]))
    if own is not None:
        figure.add_trace(line([1, at], [start, start - own], OWN, PREDICTED).update(mode="lines+markers"))
    step_axis(figure, log_t=True, title="step")
    figure.layout.xaxis.range = [-0.05, 2.05]
    y_axis(figure, "median log<sub>10</sub> |g|", range=[start - 6.6, start + 0.5])
    figure.layout.showlegend = True  # one curve, too, has a name
    return figure


def fan_figure(
    t: FloatArray, rates: FloatArray, at: int, own: float | None, said: Sequence[tuple[float, int]], revealed: bool
) -> go.Figure:
    """Trajectories of 1/sqrt(v) that begin far apart and come together; before the answer only the first of them.

    A guess is a ratio of the largest to the smallest rate at step `at`: a bracket around the middle one.
    """
    figure = go.Figure()
    shown = rates.T if revealed else rates.T[:1]
    for place, own_rate in enumerate(shown):
        style = Style(BLUE, width=3.0) if place == 0 else Style(GREEN, width=1.2)
        name = "one weight" if place == 0 else f"{len(shown) - 1} others"
        figure.add_trace(line(t, own_rate, name, style, showlegend=place < 2, legendgroup=name, hoverinfo="skip"))
    middle = float(np.median(rates[t == at]))
    brackets = [(own, OWN, Style(PURPLE, width=5.0))] if own is not None else []
    if revealed:
        found = rates[t == at]
        x, y = [at, at], [float(found.min()), float(found.max())]
        came = f"at step {at}: {y[1] / y[0]:.1f} times"
        figure.add_trace(line(x, y, came, Style(VERMILION, width=5.0)).update(mode="lines+markers"))
    for ratio, name, style in brackets:
        beside = [at * 1.15] * 2
        ends = [middle / np.sqrt(ratio), middle * np.sqrt(ratio)]
        figure.add_trace(line(beside, ends, f"{name}: {ratio:g} times", style).update(mode="lines+markers"))
    if said:
        upper = [middle * float(np.sqrt(ratio)) for ratio, _ in said]
        beside = [at * 0.85 * 0.6 ** (place % 3) for place in range(len(said))]  # neighbours are apart
        figure.add_trace(_said(beside, upper, [count for _, count in said], "middle left"))
    step_axis(figure, log_t=True)
    figure.layout.xaxis.range = [-0.03, float(np.log10(t[-1]))]
    y_axis(figure, "1/√v̂<sub>t</sub>, in units of 1/σ", **log_axis(), range=[-0.6, 1.1])
    figure.layout.showlegend = True  # one curve, too, has a name
    return figure


def length_figure(
    curves: Sequence[Curve], share: float, own: float | None, said: Sequence[tuple[float, int]], came: float | None
) -> go.Figure:
    """r_t over the steps, and where it is predicted to come to a share of 1."""
    figure = go.Figure(_curves(curves))
    if came is not None:
        star = {"symbol": "star", "color": VERMILION, "size": 16}
        figure.add_trace(go.Scatter(x=[came], y=[share], name=f"step {came:,.0f}", mode="markers", marker=star))
    if said:
        figure.add_trace(
            _said([value for value, _ in said], [share] * len(said), [count for _, count in said], "bottom center")
        )
    if own is not None:
        figure.add_trace(line([own, own], [0, share], f"{OWN}: {own:,.0f}", PREDICTED).update(mode="lines+markers"))
    step_axis(figure, log_t=True)
    y_axis(figure, "r<sub>t</sub>", range=[0, 1.08])
    level(figure, share, f"{share:g}", above=True, left=True)
    figure.layout.showlegend = True  # one curve, too, has a name
    return figure


def seeds_figure(
    ends: Mapping[str, Sequence[float]],
    styles: Mapping[str, Style],
    own: tuple[float, float] | None,
    said: Sequence[tuple[tuple[float, float], int]],
    axis: tuple[float, float],
    learned: float,
) -> go.Figure:
    """The final losses of a contender at its seeds, a row each; predicted ranges as lines below them."""
    figure = go.Figure()
    for label, values in ends.items():
        marker = {"color": styles[label].color, "size": 14, "opacity": 0.85}
        dots = go.Scatter(x=list(values), y=[label] * len(values), mode="markers", name=label, marker=marker)
        figure.add_trace(dots.update(showlegend=False))
    rows = list(ends)
    if said:
        rows.append(CLASS)
        for place, ((low, high), count) in enumerate(said):
            one = line([low, high], [CLASS, CLASS], CLASS, Style(GREY, width=2.0 + 2 * count), opacity=0.5)
            figure.add_trace(one.update(mode="lines+markers", showlegend=place == 0, legendgroup=CLASS))
    if own is not None:
        rows.append(OWN)
        figure.add_trace(line(list(own), [OWN, OWN], OWN, Style(PURPLE, width=6.0)).update(mode="lines+markers"))
    x_axis(figure, "final loss", **log_axis(), range=list(axis))
    figure.layout.yaxis = {"categoryorder": "array", "categoryarray": rows[::-1], "type": "category"}
    figure.layout.yaxis.range = [-0.7, len(rows) - 0.3]
    figure.add_vline(x=learned, line={"dash": "dash", "color": GREY})
    figure.add_annotation(
        x=np.log10(learned), y=1, yref="paper", text="learned ←", showarrow=False, xanchor="right", xshift=-4
    )
    return figure


def in_force_figure(lines: Sequence[tuple[str, str, FloatArray, Sequence[Sequence[float]]]]) -> go.Figure:
    """The final loss over the mean rate that was in force: label, method, rates, and the ends at each."""
    figure = go.Figure()
    for label, method, rates, ends in lines:
        low, high, mean = (np.array([pick(values) for values in ends]) for pick in (min, max, np.mean))
        style = STYLES[method]
        figure.add_trace(band(rates, low, high, label, style.color).update(showlegend=False, opacity=0.18))
        figure.add_trace(line(rates, mean, label, Style(style.color, style.dash, 3.0)).update(mode="lines+markers"))
    x_axis(figure, "mean learning rate in force", **log_axis())
    y_axis(figure, "final loss", **log_axis())
    return figure
