"""The live charts of an own model's run: the race's panels, as far as its files have something for them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dashboard.asked.lane_phases import TRAINING
from dashboard.asked.own_config import OwnConfig
from dashboard.browser.live import BY_BROWSER, ShownRun, drawn_lanes, live_charts
from dashboard.browser.race_panels import PANELS
from dashboard.figures.look import Style
from dashboard.figures.own import own_figures, own_styles
from dashboard.remembered import shared

# Where a race's panel speaks of what its settings plan, or of what a file does not have.
NOTES = {
    "schedule": "As recorded: the rate that warmup, schedulers and r<sub>t</sub> left, and above it which part of the "
    "optimizer’s own rate that is, as far as the optimizer tells it.",
    "rho": "As recorded, by the optimizer’s own β<sub>2</sub>. ρ<sub>t</sub>: how many gradients of equal weight the "
    "average v is worth; r<sub>t</sub> where the optimizer rectifies.",
    "norms": "Of all layers together, before clipping.",
    "updates": "Of all layers together. Root mean square of the update over parameters, its length relative to that of "
    "the parameters θ, and the angle between θ before and after the step.",
}
BY_LAYER = {"layers"}  # a file has histograms by layer, and no norms


def live_own(
    run: ShownRun, hidden: Sequence[str], on_action: Callable[[], None], on_hidden: Callable[[], None]
) -> None:
    """Draws it under the race page's own key, without its `hidden` lanes."""
    live_charts("race", [run], drawn_own(run.config.to_json()), hidden, on_action, on_hidden)


@shared(50)
def drawn_own(config: str) -> bytes:
    """What follows from the configuration."""
    own = OwnConfig.make(config)
    styles = own_styles(own)
    figures = own_figures(own, styles, {panel.name: panel.columns for panel in PANELS if panel.columns})
    missing = BY_LAYER if own.histograms else BY_BROWSER
    panels = [replace(one, note=NOTES.get(one.name, one.note)) for one in PANELS if one.name not in missing]
    return drawn_lanes([own], panels, figures, [_spec(own, styles)])


def _spec(config: OwnConfig, styles: Sequence[Style]) -> dict[str, Any]:
    return {
        "title": config.title,
        "lanes": [
            {
                "name": lane.label,
                "label": lane.label,
                "line": style.line(),
                "phases": [(1, TRAINING)],
                "steps": lane.last,
            }
            for lane, style in zip(config.lanes, styles, strict=True)
        ],
        "steps": config.steps,
        "metrics": dict.fromkeys(config.metrics, ""),
        "baseline": None,
    }
