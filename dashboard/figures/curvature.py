"""How sharply the loss bends, beside what a step of the lane's rate bears: the limits follow from the settings alone.

The rate in force is what warmup, decay and r_t leave of a lane's learning rate, so that a limit is a curve over the
steps, and not a line: a slow start is a high limit first.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.look import Style
from dashboard.figures.parts import line
from dashboard.figures.race_parts import add, panels, shown, traces
from dashboard.json_numbers import plain_numbers
from radam_core.domains import FloatArray
from radam_core.methods import ADAPTIVE
from radam_core.race.frames import SHARPNESS, schedule_columns
from radam_core.race.plan import Lane
from radam_core.simulation import log_spaced_steps
from radam_core.theory import stable_sharpness

PLAIN, PRECONDITIONED = SHARPNESS
MOST_POINTS = 300  # of a limit, beside its first steps
AXES = {PRECONDITIONED: "preconditioned<br>sharpness", PLAIN: "sharpness"}


def limits(lane: Lane, t: FloatArray, name: str) -> FloatArray:
    """The curvature that a step bears at its rate in force; nan where there is no such limit.

    Adam's, on the preconditioned sharpness, holds for steps that divide by sqrt(v-hat): not for momentum alone. On the
    plain one it is gradient descent's, 2/lr.
    """
    columns = schedule_columns([lane], t.astype(np.int64))
    rate, branch = lane.lr * columns["multiplier"][:, 0], columns["branch"][:, 0]
    adaptive = name == PRECONDITIONED
    there = (rate > 0) & ((branch == ADAPTIVE) & (not lane.method.by_torch) | (not adaptive))
    return np.where(there, stable_sharpness(rate, lane.method.betas[0], adaptive), np.nan)


def sharpness_traces(lanes: Sequence[Lane], styles: Sequence[Style], steps: int, name: str) -> list[go.Scatter]:
    """What is measured of each lane, and dotted in its colour what its rate bears."""
    measured = traces(lanes, styles, "", "sharpness", mode="lines+markers", marker={"size": 4})
    for trace in measured:
        trace.meta["place"] = SHARPNESS.index(name)
    every = -(-steps // MOST_POINTS)
    t = np.union1d(log_spaced_steps(1, max(steps, 2), 60), np.arange(every, steps + 1, every))
    borne = [
        line(
            (),
            (),
            f"limit of {shown(lane)}",
            replace(style, dash="dot", width=1.6),
            legendgroup=lane.label,
            showlegend=False,
            meta={"of": "limit", "lane": k},
        ).update(x=t.tolist(), y=plain_numbers(limits(lane, t, name)))
        for k, (lane, style) in enumerate(zip(lanes, styles, strict=True))
    ]
    return [*borne, *measured]


def curvature_figure(lanes: Sequence[Lane], styles: Sequence[Style], steps: int) -> go.Figure:
    """Both kinds of sharpness, a panel each."""
    figure = panels(list(AXES.values()))
    for row, name in enumerate(AXES, 1):
        add(figure, row, sharpness_traces(lanes, styles, steps, name))
    figure.update_yaxes(type="log")
    return figure
