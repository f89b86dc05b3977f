"""What the figures of lanes share: an empty line for each, what their settings plan, and panels above each other."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, Protocol

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures.look import Style
from dashboard.figures.parts import line
from dashboard.json_numbers import plain_numbers
from radam_core.domains import FloatArray
from radam_core.race.frames import schedule_columns
from radam_core.race.plan import Lane
from radam_core.simulation import log_spaced_steps

_EMPTY: tuple[float, ...] = ()


class Labelled(Protocol):
    """All that an empty line must know of its lane."""

    @property
    def label(self) -> str: ...


def traces(
    lanes: Sequence[Labelled], styles: Sequence[Style], column: str, of: str = "steps", **settings: Any
) -> list[go.Scatter]:
    """An empty line for each lane, to be filled with `column`."""
    return [
        line(
            _EMPTY, _EMPTY, shown(lane), style, legendgroup=lane.label, meta={"of": of, "column": column, "lane": k}
        ).update(settings)
        for k, (lane, style) in enumerate(zip(lanes, styles, strict=True))
    ]


def shown(lane: Labelled) -> str:
    """A label may come from a stranger's link: a chart must not take a tag in it for one."""
    return escape(lane.label, quote=False)


def planned_traces(
    lanes: Sequence[Lane], styles: Sequence[Style], t: FloatArray, column: FloatArray
) -> list[go.Scatter]:
    """A line for each lane with all that its settings plan, of which the browser draws what has been raced."""
    return [
        trace.update(x=t.tolist(), y=plain_numbers(column[:, k]), meta={"of": "plan", "lane": k})
        for k, trace in enumerate(traces(lanes, styles, ""))
    ]


def panels(titles: list[str], heights: list[float] | None = None) -> go.Figure:
    """Panels above each other on one axis of steps, of these heights relative to each other, or all alike."""
    figure = make_subplots(rows=len(titles), cols=1, shared_xaxes=True, vertical_spacing=0.09, row_heights=heights)
    for row, title in enumerate(titles, 1):
        figure.update_yaxes(title_text=title, row=row, col=1)
    figure.update_xaxes(title_text="step", row=len(titles), col=1)
    return figure


def add(figure: go.Figure, row: int, lines: list[go.Scatter], column: int = 1) -> None:
    figure.add_traces(lines, rows=[row] * len(lines), cols=[column] * len(lines))


def planned(lanes: Sequence[Lane], steps: int) -> tuple[FloatArray, dict[str, Any]]:
    """The schedules at the first steps, one by one, at ever fewer later ones, and wherever a curve bends or jumps."""
    spaced = log_spaced_steps(1, max(steps, 2), 90)
    every = max(1, steps // 5000)  # finer than a screen is wide
    t = np.union1d(spaced, np.arange(every, steps + 1, every))
    columns = schedule_columns(lanes, t.astype(np.int64))
    kept = np.isin(t, spaced)
    for column in columns.values():
        curves = np.nan_to_num(column)
        bends = np.abs(np.diff(curves, 2, axis=0)) > 1e-5 * np.abs(curves).max(axis=0)
        kept[1:-1] |= bends.any(axis=1)
    return t[kept], {name: column[kept] for name, column in columns.items()}


def faint(t: FloatArray, y: FloatArray, name: str, style: Style) -> go.Scatter:
    return line(t, y, name, replace(style, width=1.2), opacity=0.45, hoverinfo="skip", legendgroup=name)
