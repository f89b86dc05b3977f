"""The figures of a sweep. Its maps are built before the data: each cell knows its lanes, and the browser colours it.

meta = {"cells": [[[3, 4, 5], ...], ...]}     of a map: the lanes behind each cell, by row and column
meta = {"needs": 0}                           the line of the shortest warmup that works, of a contender
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.asked.grid import Grid, GridCell
from dashboard.asked.sweep_config import LR, WARMUP
from dashboard.evidence.findings import Findings, Line, Rate
from dashboard.evidence.outcomes import CellOutcome
from dashboard.figures.look import GREY, VERMILION, Style, apart, shade
from dashboard.figures.methods import STYLES
from dashboard.figures.parts import band, escaped, fitted_log_axis, level, line, step_axis, values_axis, x_axis, y_axis

POINTS = ("circle", "square", "diamond", "x", "triangle-up", "cross", "star", "triangle-down")
RANGE_OPACITY, FEW = 0.18, 3  # of the ranges over seeds; those of many lines of a colour would hide one another
UNKNOWN = Style(GREY)  # of an own model's file, by an optimizer that is none of ours
ROW_PIXELS, GAP_PIXELS, AROUND_PIXELS = 30, 44, 110
MOST_WRITTEN = 14  # columns of a map whose cells have their number written into them
SYMBOLS = {LR: "lr", WARMUP: "warmup", "beta2": "β₂", "beta1": "β₁", "eps": "ε", "frozen_steps": "frozen"}


def row_name(config: Grid, cell: GridCell, every_seed: bool) -> str:
    """A row of a map: where the cell stands on all axes but that of the learning rates."""
    own = [f"{SYMBOLS.get(name, name)} {_plain(value)}" for name, value in cell.values.items() if name != LR]
    own = [text for name, text in zip([n for n in cell.values if n != LR], own, strict=True) if _runs(config, name)]
    seed = [f"seed {cell.seed}"] if every_seed and len(config.seeds) > 1 else []
    return ", ".join([*own, *seed])


def _runs(config: Grid, axis: str) -> bool:
    return len(config.axes[axis]) > 1


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def maps_figure(config: Grid, every_seed: bool = False) -> go.Figure:
    """A map a contender, one above the other: learning rates from left to right, the other axes upwards."""
    panels = [_panel(config, number, every_seed) for number in range(len(config.contenders))]
    heights = [ROW_PIXELS * len(rows) for rows, _ in panels]
    titles = [_title(config, number) for number in range(len(panels))]
    inner = sum(heights) + GAP_PIXELS * (len(panels) - 1)
    spacing = GAP_PIXELS / inner if len(panels) > 1 else 0
    figure = make_subplots(len(panels), 1, row_heights=heights, vertical_spacing=spacing, subplot_titles=titles)
    figure.update_annotations(x=0, xanchor="left", font={"size": 14})
    figure.layout.height = inner + AROUND_PIXELS
    figure.layout.margin = {"l": 10, "r": 10, "t": 34, "b": 10}
    figure.layout.hovermode = "closest"
    figure.layout.plot_bgcolor = "rgba(128, 136, 144, 0.13)"  # a cell that has not begun
    figure.layout.coloraxis = {"colorscale": "Viridis", "colorbar": {"thickness": 14, "outlinewidth": 0, "len": 1}}
    for number, (rows, cells) in enumerate(panels):
        columns = len(config.axes[LR])
        figure.add_trace(
            go.Heatmap(
                z=[[None] * columns for _ in rows],
                coloraxis="coloraxis",
                xgap=2,
                ygap=2,
                hoverongaps=False,
                meta={"cells": cells},
                showscale=False,
                hovertemplate="%{customdata}<extra></extra>",
                texttemplate="%{text}" if columns <= MOST_WRITTEN else None,
                name=config.contenders[number].label,
            ),
            row=number + 1,
            col=1,
        )
        rates = [config.contenders[number].lr_times * rate for rate in config.axes[LR]]
        labelled = number == len(panels) - 1 or _other_rates(config, number)
        _axes(figure, number, len(panels), rates, rows, labelled)
        if config.contenders[number].has(WARMUP) and _has_lengths(config) and not every_seed:
            figure.add_trace(_needs(number), row=number + 1, col=1)
    return figure


def _has_lengths(config: Grid) -> bool:
    """Whether the rows of a map are warmup lengths and nothing else."""
    return [name for name in config.axes if name != LR and _runs(config, name)] == [WARMUP]


def _other_rates(config: Grid, number: int) -> bool:
    return config.contenders[number].lr_times != 1 or (
        number + 1 < len(config.contenders) and config.contenders[number + 1].lr_times != 1
    )


def _title(config: Grid, number: int) -> str:
    return f"<b>{escaped(config.contenders[number].label)}</b>"


def _panel(config: Grid, number: int, every_seed: bool) -> tuple[list[str], list[list[list[int]]]]:
    """The names of a contender's rows, and the places of the lanes in each of its cells."""
    rows: dict[str, list[list[int]]] = {}
    for cell in sorted(config.cells, key=lambda cell: _upwards(config, cell)):
        if cell.contender == number:
            name = row_name(config, cell, every_seed)
            row = rows.setdefault(name, [[] for _ in config.axes[LR]])
            row[cell.at.get(LR, 0)].append(cell.place)
    return list(rows), list(rows.values())


def _upwards(config: Grid, cell: GridCell) -> tuple[list[int], int]:
    """Where a cell's row stands: own models' lanes come in the order in which they were trained."""
    return [cell.at.get(name, 0) for name in config.axes if name != LR], list(config.seeds).index(cell.seed)


def _axes(
    figure: go.Figure, number: int, panels: int, rates: Sequence[float], rows: Sequence[str], labelled: bool
) -> None:
    suffix = str(number + 1) if number else ""
    shown = {"showgrid": False, "zeroline": False, "showline": False, "ticks": ""}
    figure.layout[f"xaxis{suffix}"].update(
        {
            **shown,
            "tickmode": "array",
            "tickvals": list(range(len(rates))),
            "ticktext": [_plain(float(f"{rate:.6g}")) for rate in rates],
            "showticklabels": labelled,
            "range": [-0.5, len(rates) - 0.5],
            "title": {"text": "learning rate" if number == panels - 1 else ""},
        }
    )
    figure.layout[f"yaxis{suffix}"].update(
        {
            **shown,
            "tickmode": "array",
            "tickvals": list(range(len(rows))),
            "ticktext": list(rows),
            "range": [-0.5, len(rows) - 0.5],
        }
    )


def _needs(number: int) -> go.Scatter:
    return go.Scatter(
        x=[],
        y=[],
        mode="lines",
        line={"color": VERMILION, "width": 4},
        meta={"needs": number},
        hoverinfo="skip",
        showlegend=False,
        name="shortest warmup that works",
    )


def contender_styles(config: Grid) -> list[Style]:
    return apart([STYLES.get(contender.method) or UNKNOWN for contender in config.contenders])


def line_styles(found: Findings) -> list[Style]:
    """Each line in its contender's colour: several of one contender in shades of it, the last in its own."""
    styles: list[Style] = []
    for number, style in enumerate(contender_styles(found.config)):
        count = len(found.lines_of(number))
        styles += [Style(shade(style.color, 1 - (k + 1) / count), style.dash, 3.0) for k in range(count)]
    return styles


def _symbols(found: Findings) -> list[str]:
    """The lines of a contender differ in their points, too: a shade alone is hard to tell."""
    return [
        POINTS[k % len(POINTS)]
        for number in range(len(found.config.contenders))
        for k, _ in enumerate(found.lines_of(number))
    ]


def rates_figure(found: Findings) -> go.Figure:
    """The paper's robustness figure: the final loss against the learning rate, mean and range over the seeds."""
    figure = go.Figure()
    for one, style, symbol in zip(found.lines, line_styles(found), _symbols(found), strict=True):
        crowd = max(1.0, len(found.lines_of(one.contender)) / FEW)
        figure.add_traces(rate_traces(one, one.name, style, symbol, RANGE_OPACITY / crowd))
    x_axis(figure, "learning rate", **values_axis(sorted({rate.lr for one in found.lines for rate in one.rates})))
    fitted_log_axis(figure, "final loss")
    _baseline(figure, found)
    return figure


def rate_traces(one: Line, name: str, style: Style, symbol: str, opacity: float = RANGE_OPACITY) -> list[go.Scatter]:
    """The final loss of a line at each learning rate that is known: the range over the seeds, and the mean."""
    known = [rate for rate in one.known if np.isfinite(rate.ends).all()]
    if not known:
        return []
    lrs, ends = np.array([rate.lr for rate in known]), [rate.ends for rate in known]
    means = [float(np.mean(values)) for values in ends]
    curve = line(lrs, means, escaped(name), style, hovertemplate="lr %{x}: %{y:.3g}")
    curve.update(mode="lines+markers", marker={"symbol": symbol, "size": 8})
    if max(map(len, ends)) == 1:
        return [curve]
    low, high = (np.array([pick(values) for values in ends]) for pick in (min, max))
    return [band(lrs, low, high, name, style.color).update(showlegend=False, opacity=opacity), curve]


def courses_figure(found: Findings, steps: Sequence[int], under_way: bool = False) -> go.Figure:
    """Each contender at its best cell: the loss over the steps, mean and range over the seeds that are over; with
    `under_way` a thin line for each lane that is not."""
    figure = go.Figure()
    styles = dict(zip(map(id, found.lines), line_styles(found), strict=True))
    if under_way:
        for one in found.lines:
            figure.add_traces([_growing(cell, one, styles[id(one)], steps) for cell in _open_cells(one)])
    best = [best_cell(found.lines_of(number)) for number in range(len(found.config.contenders))]
    known = [pair for pair in best if pair is not None]
    rates = {rate.lr for _, rate in known}
    same = next(iter(rates)) if len(known) > 1 and len(rates) == 1 else None  # said once, below the axis
    for one, rate in known:
        losses = [[np.nan if value is None else value for value in cell.outcome.losses] for cell in rate.over]
        length = min(map(len, losses))
        if not length:
            continue
        values, t = np.array([row[:length] for row in losses]), np.array(steps[:length], dtype=float)
        style, name = styles[id(one)], escaped(one.name) + ("" if same else f", lr {rate.lr:g}")
        if len(values) > 1:
            shade = band(t, np.nanmin(values, 0), np.nanmax(values, 0), name, style.color)
            figure.add_trace(shade.update(showlegend=False, opacity=0.18))
        figure.add_trace(line(t, np.nanmean(values, 0), name, style))
    step_axis(figure, log_t=False, title=f"step, all at lr {same:g}" if same else "step")
    fitted_log_axis(figure, "loss, mean of 20 steps")
    _baseline(figure, found)
    return figure


def gradients_figure(found: Findings) -> go.Figure:
    """The median size of the gradients over the steps, mean and range over the seeds, of each contender."""
    figure = go.Figure()
    for one, style, symbol in zip(found.lines, line_styles(found), _symbols(found), strict=True):
        cells = [cell.outcome.gradients for rate in one.rates for cell in rate.over]
        steps = sorted(set.intersection(*map(set, cells))) if cells else []
        if not steps:
            continue
        t, values = np.array(steps, dtype=float), np.array([[own[step] for step in steps] for own in cells])
        name = escaped(one.name)
        if len(values) > 1:
            shade = band(t, values.min(0), values.max(0), name, style.color)
            figure.add_trace(shade.update(showlegend=False, opacity=0.18))
        curve = line(t, values.mean(0), name, style)
        figure.add_trace(curve.update(mode="lines+markers", marker={"symbol": symbol, "size": 8}))
    step_axis(figure, log_t=True, title="step")
    y_axis(figure, "median log<sub>10</sub> |g|")
    return figure


def _open_cells(one: Line) -> list[CellOutcome]:
    return [cell for rate in one.rates for cell in rate.cells if cell.outcome.losses and not cell.outcome.over]


def _growing(cell: CellOutcome, one: Line, style: Style, steps: Sequence[int]) -> go.Scatter:
    losses = [np.nan if loss is None else loss for loss in cell.outcome.losses]
    name = f"{escaped(one.name)}, seed {cell.cell.seed}, under way"
    thin = Style(style.color, style.dash, 1.2)
    return line(steps[: len(losses)], losses, name, thin, showlegend=False, opacity=0.6)


def best_cell(lines: Sequence[Line]) -> tuple[Line, Rate] | None:
    """Of a contender: the lowest mean end of all its lines and rates that are over."""
    known = [(one, one.best) for one in lines]
    best = [(one, rate) for one, rate in known if rate is not None]
    return min(best, key=lambda pair: float(np.mean(pair[1].ends)), default=None)


def _baseline(figure: go.Figure, found: Findings) -> None:
    baseline = found.config.baseline(0)
    if baseline is not None and figure.data:
        level(figure, baseline, "ignores its input", above=True)
