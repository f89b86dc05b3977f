"""The figures of an own model's run: those of a race that its file has something for, every curve as recorded."""

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from dashboard.asked.own_config import OwnConfig
from dashboard.figures.look import OCHRE, ORANGE, PURPLE, SKY, Style, apart
from dashboard.figures.methods import STYLES
from dashboard.figures.race import loss_figure, metric_figure
from dashboard.figures.race_parts import add, panels, traces
from radam_core.methods import METHODS
from radam_core.race.quantities import QUANTITIES
from radam_core.torch_methods import PREFIX, TORCH_METHODS

# Optimizers of torch in the colours of what they are, and a method of ours by its name.
BY_OPTIMIZER = {method.name.removeprefix(PREFIX): STYLES[name] for name, method in TORCH_METHODS.items()}
BY_OPTIMIZER |= {method.label: STYLES[name] for name, method in METHODS.items()} | {
    "RAdam": STYLES["radam"],
    "Adam": STYLES["adam"],
    "AdamW": STYLES["adam"],
    "SGD": STYLES["sgd"],
}
OTHERS = (Style(PURPLE), Style(ORANGE), Style(SKY), Style(OCHRE))
# Panels of what a race plans: here it is told, step by step.
TOLD_PANELS = {
    "schedule": {"multiplier": "multiplier w<sub>t</sub> r<sub>t</sub>", "lr": "learning rate α<sub>t</sub>"},
    "rho": {"rho": "ρ<sub>t</sub>", "r": "r<sub>t</sub>"},
}


def own_styles(config: OwnConfig) -> list[Style]:
    """In the colour of its method where the optimizer is a known one; each other optimizer in one of its own."""
    unknown = list(dict.fromkeys(lane.optimizer for lane in config.lanes if lane.optimizer not in BY_OPTIMIZER))
    others = {name: OTHERS[k % len(OTHERS)] for k, name in enumerate(unknown)}
    return apart([BY_OPTIMIZER.get(lane.optimizer) or others[lane.optimizer] for lane in config.lanes])


def own_figures(
    config: OwnConfig, styles: Sequence[Style], quantities: Mapping[str, Sequence[str]]
) -> dict[str, go.Figure]:
    """By name; `quantities` are the panels that show columns of `QUANTITIES` as they are."""
    figures = {}
    if "loss" in config.columns:
        figures["loss"] = loss_figure(config.lanes, styles)
    if config.metrics:
        figures["metric"] = metric_figure(config.lanes, styles, config.metrics)
        for name, axis in zip(config.metrics, figures["metric"].select_yaxes(), strict=True):
            axis.title.text = escape(name, quote=False)  # a stranger's file: a chart must not take a tag for one
    axes = {name: {column: QUANTITIES[column].axis for column in columns} for name, columns in quantities.items()}
    for name, columns in {**TOLD_PANELS, **axes}.items():
        known = {column: axis for column, axis in columns.items() if column in config.columns}
        if known:
            figures[name] = _columns_figure(config, styles, known)
    for name in axes.keys() & figures.keys():
        figures[name].update_yaxes(type="log")
    for figure in figures.values():
        figure.update_traces(connectgaps=True)  # a watched loop does not measure every step
    return figures


def _columns_figure(config: OwnConfig, styles: Sequence[Style], columns: Mapping[str, str]) -> go.Figure:
    figure = panels(list(columns.values()))
    for row, column in enumerate(columns, 1):
        add(figure, row, traces(config.lanes, styles, column))
    return figure
