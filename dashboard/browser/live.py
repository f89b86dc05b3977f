"""Live charts of lanes in the browser: every one drawn once, and fed by a run's event stream; see scripts/live.js."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.asked.config import RaceConfig
from dashboard.asked.lane_phases import lane_phases
from dashboard.asked.own_config import OwnConfig
from dashboard.asked.validated import Validated
from dashboard.browser import embed
from dashboard.browser.assets import base_path, importing
from dashboard.browser.chart import for_charts
from dashboard.browser.panel import Panel
from dashboard.browser.race_panels import PANELS, panel_figures
from dashboard.browser.told import told
from dashboard.figures.look import Style
from dashboard.figures.race import lane_styles, overlay
from dashboard.remembered import shared
from dashboard.words.captions import of_run
from demo_models import TASKS
from radam_core.race.quantities import QUANTITIES

BY_BROWSER = {"ridges", "overlay", "layers"}  # panels whose figures the browser makes of the histograms

_component = st.components.v2.component(
    "radam_lab_race",
    html='<div class="lab-race"></div>',
    css=Path(__file__).with_name("live.css").read_text(encoding="utf-8"),
    js=importing("live.js", ".lab-race"),
    isolate_styles=False,
)


@dataclass(frozen=True)
class ShownRun:
    """A run to draw: its configuration, its id if there is one yet, and when it was last started."""

    config: RaceConfig | OwnConfig
    id: str | None = None
    attempt: float = 0.0
    recorded: str = ""  # the code that made it, of a recording
    wants: str | None = None  # what the visitor wants of it, "go" or "pause": only then is there something to stop


def live_race(
    shown: ShownRun,
    compared: ShownRun | None,
    hidden: Sequence[str],
    on_action: Callable[[], None],
    on_hidden: Callable[[], None],
) -> None:
    """Draws a race without its `hidden` lanes ("run:lane", counted from 0).

    `on_action` is called when a visitor presses a button in it, or when a race has ended; `on_hidden` when they hide or
    show a lane.
    """
    embed.shows(*(panel.name for panel in PANELS))
    drawn = _drawn(shown.config.to_json(), compared.config.to_json() if compared else None)
    watched = (shown, *([compared] if compared else []))
    live_charts("race", watched, drawn, hidden, on_action, on_hidden)


def live_charts(
    key: str,
    watched: Sequence[ShownRun],
    drawn: bytes,
    hidden: Sequence[str],
    on_action: Callable[[], None],
    on_hidden: Callable[[], None],
) -> None:
    """Draws what `drawn_lanes` made of these runs; what is pressed in it is in the session under `key`."""
    data = message(watched, drawn, hidden)
    _component(key=key, data=data, on_action_change=on_action, on_hidden_change=on_hidden)


def message(watched: Sequence[ShownRun], drawn: bytes, hidden: Sequence[str] = ()) -> bytes:
    """What the browser is sent."""
    runs = [{"id": run.id, "attempt": run.attempt, "wants": run.wants} for run in watched]
    captions = [of_run(run.config) for run in watched]
    words, slug = "; ".join(words for words, _ in captions), "-and-".join(slug for _, slug in captions)
    own = {
        "base": base_path(),
        "runs": runs,
        "hidden": hidden,
        **told(words, slug, watched[0].recorded),
    }
    return for_charts(own, drawn=drawn)


@shared(50)  # of some 150 kB each
def _drawn(config: str, compared: str | None) -> bytes:
    """What follows from the race's configurations."""
    configs = [RaceConfig.make(config), *([RaceConfig.make(compared)] if compared else [])]
    styles = [lane_styles(configs[0])]
    figures = panel_figures(configs[0], styles[0])
    if compared:
        styles.append(lane_styles(configs[1], beside=styles[0]))
        overlay(figures, panel_figures(configs[1], styles[1]))
    titles = ("This race", "Compared, thinner and dashed")
    specs = [
        spec(one, own, title, suffix)
        for one, own, title, suffix in zip(configs, styles, titles, ("", " (compared)"), strict=False)
    ]
    return drawn_lanes(configs, PANELS, figures, specs)


def drawn_lanes(
    configs: Sequence[Validated],
    panels: Sequence[Panel],
    figures: Mapping[str, go.Figure],
    specs: Sequence[dict[str, Any]],
    together: bool = False,
) -> bytes:
    """All of a page that follows from its configurations, as JSON; `revision` names it.

    A panel without a figure is left out, unless the browser makes it. Runs that are `together` are one to the visitor:
    trained, paused and stopped at once.
    """
    plain = {name: json.loads(figure.to_json()) for name, figure in figures.items()}
    for figure in plain.values():
        figure["layout"].pop("template", None)
    drawn = {
        "columns": list(QUANTITIES),
        "figures": plain,
        "panels": [vars(panel) for panel in panels if panel.name in BY_BROWSER or panel.name in plain],
        "specs": specs,
        "together": together,
        "revision": hashlib.sha256("\n".join(config.to_json() for config in configs).encode()).hexdigest()[:12],
    }
    return json.dumps(drawn).encode()


def spec(config: RaceConfig, styles: Sequence[Style], title: str, suffix: str = "") -> dict[str, Any]:
    """What the browser must know of a run beside its figures; `suffix` sets its lanes apart from another run's."""
    return {
        "title": title,
        "lanes": [
            {
                "name": lane.label,
                "label": lane.label + suffix,
                "line": style.line(),
                "phases": lane_phases(lane, config.steps),
            }
            for lane, style in zip(config.plan().lanes, styles, strict=True)
        ],
        "steps": config.steps,
        "metrics": dict(TASKS[config.task].metrics),
        "baseline": TASKS[config.task].baseline_at(config.settings),
    }
