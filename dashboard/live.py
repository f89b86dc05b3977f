"""The live race in the browser: every chart drawn once, and fed by one event stream; see live.js."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard.assets import base_path, plotly_url, script
from dashboard.config import RaceConfig
from dashboard.figures.race import lane_styles, overlay, race_figures
from dashboard.lane_phases import lane_phases
from dashboard.look import TEMPLATES
from dashboard.race_panels import PANELS
from demo_models import TASKS

# What predicting how often each token occurs costs, in nats: the entropy of the target tokens, the end included.
FREQUENCY_LOSS = {"numbers": 2.8207}

_PARTS = ("history", "stream", "states", "view", "tools", "charts")
_component = st.components.v2.component(
    "radam_lab_race",
    html='<div class="lab-race"></div>',
    css=script("live.css"),
    js=script("plot_parts.js", *(f"live_{part}.js" for part in _PARTS), "live.js"),
    isolate_styles=False,
)


@dataclass(frozen=True)
class Watched:
    """A run to draw: its configuration, its id if there is one yet, and when it was last started."""

    config: RaceConfig
    id: str | None = None
    attempt: float = 0.0


def live_race(shown: Watched, compared: Watched | None, on_action: Callable[[], None]) -> None:
    """Draws a race. `on_action` is called when a visitor presses a button in it, or when a race has ended."""
    drawn = _drawn(shown.config.to_json(), compared.config.to_json() if compared else None)
    runs = [shown, *([compared] if compared else [])]
    specs = [{**spec, "id": run.id, "attempt": run.attempt} for spec, run in zip(drawn["specs"], runs, strict=True)]
    data = {key: value for key, value in drawn.items() if key != "specs"}
    shared = {"base": base_path(), "plotlyUrl": plotly_url(), "templates": TEMPLATES}
    _component(key="race", data={**data, **shared, "runs": specs}, on_action_change=on_action)


@st.cache_data(max_entries=50, show_spinner=False)
def _drawn(config: str, compared: str | None) -> dict[str, Any]:
    """What follows from the configurations alone, as plain values; `revision` names it."""
    configs = [RaceConfig.make(config), *([RaceConfig.make(compared)] if compared else [])]
    figures = race_figures(configs[0])
    if compared:
        overlay(figures, race_figures(configs[1], compared=True))
    plain = {name: json.loads(figure.to_json()) for name, figure in figures.items()}
    for figure in plain.values():
        figure["layout"].pop("template", None)
    by_browser = {"ridges", "overlay", "layers"}
    return {
        "figures": plain,
        "panels": [vars(panel) for panel in PANELS if panel.name in by_browser or panel.name in plain],
        "specs": [_spec(one, compared=i > 0) for i, one in enumerate(configs)],
        "revision": hashlib.sha256(f"{config}\n{compared}".encode()).hexdigest()[:12],
    }


def _spec(config: RaceConfig, compared: bool) -> dict[str, Any]:
    suffix = " (compared)" if compared else ""
    styles = lane_styles(config, compared)
    return {
        "lanes": [
            {"label": lane.label + suffix, "line": style.line(), "phases": lane_phases(lane, config.steps)}
            for lane, style in zip(config.entry().lanes, styles, strict=True)
        ],
        "steps": config.steps,
        "metrics": dict(TASKS[config.task].metrics),
        "baseline": frequency_loss(config),
    }


def frequency_loss(config: RaceConfig) -> float | None:
    """The loss of predicting token frequencies, where a task has one: not for a smoothed loss or another corpus."""
    standard = TASKS[config.task].check({})
    same = all(
        config.settings[name] == standard[name] for name in config.settings if "file" in name or "smooth" in name
    )
    return FREQUENCY_LOSS.get(config.task) if same else None
