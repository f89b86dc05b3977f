"""What the variants of Appendix C came to, as JSON for the browser: the table beside the paper's, and the curves."""

import json
from typing import Any

import plotly.graph_objects as go

from dashboard.asked.grid import GridContender
from dashboard.asked.sweep_config import LR
from dashboard.browser.sweep_findings import plain_figure
from dashboard.evidence.findings import Findings
from dashboard.evidence.four_steps import paired, spread, variants
from dashboard.evidence.steps import grid_steps
from dashboard.figures.sweep import courses_figure
from dashboard.words.four_steps_words import PAPER, comparison_sentences, spread_text


def four_steps_json(found: Findings) -> bytes:
    plain = {
        "figures": {"courses": plain_figure(_courses(found))},
        "table": _table(found),
        "sentences": comparison_sentences(found),
    }
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def _courses(found: Findings) -> go.Figure:
    """The curves; before there are any, a place that says so."""
    figure = courses_figure(found, grid_steps(found.config.steps), under_way=True)
    if not figure.data:
        centre = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5, "showarrow": False}
        figure.add_annotation(text="learning curves: mean and range over the seeds", **centre)
        figure.layout.yaxis.showticklabels = False
        figure.layout.xaxis.range = [0, found.config.steps]
    return figure


def _table(found: Findings) -> dict[str, Any]:
    """`places` are the lanes of each row, which open as a race."""
    first, percent = variants(found)[0], found.better == "higher"
    metric = f"{found.metric}, %" if percent else found.metric or ""
    rate = f"{found.config.axes[LR][0]:g}"
    rows = []
    for one in variants(found):
        own = one is first or one.contender == first.contender
        contender = found.config.contenders[one.contender]
        rows.append(
            [
                one.label,
                spread_text(spread(one.metrics), percent),
                "–" if own else spread_text(paired(one.metrics, first.metrics), percent, signed=True),
                spread_text(spread(one.losses), False),
                "–" if own else spread_text(paired(one.losses, first.losses), False, signed=True),
                f"{one.over} of {len(one.places)}" + (f", {one.diverged} diverged" if one.diverged else ""),
                *_paper(contender),
            ]
        )
    beside = f"minus {first.label}, by seed"
    return {
        "groups": [["", 1], [f"here: {found.config.task}, lr {rate}, mean and range over seeds", 5], ["the paper", 3]],
        "head": ["", metric, beside, "final loss", beside, "seeds", "accuracy, %", "train loss", "train error, %"],
        "rows": rows,
        "places": [list(one.places) for one in variants(found)],
    }


def _paper(contender: GridContender) -> tuple[str, str, str]:
    changed = "steps_1_4" in contender.lane or "steps_5_8" in contender.lane
    return ("–", "–", "–") if changed else PAPER.get(contender.method, ("–", "–", "–"))
