"""The sweep in the browser: maps that fill in by one event stream, and what was found; see scripts/sweep.js."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.asked.grid import Grid
from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.browser import embed
from dashboard.browser.assets import base_path, importing
from dashboard.browser.chart import for_charts
from dashboard.browser.sweep_findings import plain_figure
from dashboard.browser.told import told
from dashboard.evidence.steps import grid_steps
from dashboard.figures.sweep import maps_figure
from dashboard.remembered import shared
from dashboard.words.captions import of_own, of_sweep
from radam_core.evidence import LEARNED

STYLES = "\n".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("live.css", "sweep.css"))
CHARTS = ("maps", "rates", "courses", "signs")
_component = st.components.v2.component(
    "radam_lab_sweep",
    html='<div class="lab-sweep"></div>',
    css=STYLES,
    js=importing("sweep.js", ".lab-sweep"),
    isolate_styles=False,
)


def live_sweep(
    config: SweepConfig | OwnMapConfig,
    run: str | None,
    attempt: float,
    wants: str | None,
    recorded: str,
    on_action: Callable[[], None],
    on_open: Callable[[], None],
) -> None:
    """Draws a sweep, and its run if there is one. `on_action` is called when a visitor presses a button in it, or when
    the run has ended; `on_open` when they want to see the lanes of some cells."""
    embed.shows(*CHARTS)
    draw = drawn if isinstance(config, SweepConfig) else drawn_own_map
    data = for_charts(around(config, run, attempt, wants, recorded), drawn=draw(config.to_json()))
    _component(key="sweep", data=data, on_action_change=on_action, on_open_change=on_open)


def around(
    config: SweepConfig | OwnMapConfig,
    run: str | None,
    attempt: float = 0.0,
    wants: str | None = None,
    recorded: str = "",
) -> dict[str, Any]:
    """What a view of a sweep is told beside its drawing; of a recording also by which code it was made."""
    return {
        "base": base_path(),
        "run": {"id": run, "attempt": attempt, "wants": wants},
        **told(*(of_sweep(config) if isinstance(config, SweepConfig) else of_own(config)), recorded),
    }


@shared(20)
def drawn(text: str) -> bytes:
    """What follows from the configuration alone, as JSON; `revision` names it."""
    return _drawn(SweepConfig.make(text), text)


@shared(20)
def drawn_own_map(text: str) -> bytes:
    return _drawn(OwnMapConfig.make(text), text)


def _drawn(config: Grid, text: str) -> bytes:
    metrics = config.judged_by
    metric = next(iter(metrics), None)
    found = {
        "maps": {
            "mean": plain_figure(maps_figure(config)),
            "seeds": plain_figure(maps_figure(config, every_seed=True)) if len(config.seeds) > 1 else None,
        },
        "grid": grid_steps(config.steps),
        "labels": [cell.lane.label for cell in config.cells],
        "baselines": [config.baseline(cell.contender) for cell in config.cells],
        "learned": LEARNED,
        "metric": metric,
        "better": metrics[metric] if metric else "lower",
        "early": isinstance(config, SweepConfig),
        "revision": hashlib.sha256(text.encode()).hexdigest()[:12],
    }
    return json.dumps(found).encode()
