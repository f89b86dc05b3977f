"""The live charts of the page that sets Post-LN beside Pre-LN: two runs that are one to the visitor."""

from collections.abc import Callable, Sequence

from dashboard.asked.config import RaceConfig
from dashboard.asked.norms import NORMS
from dashboard.browser import embed
from dashboard.browser.live import ShownRun, drawn_lanes, live_charts, spec
from dashboard.browser.norm_panels import NORM_PANELS
from dashboard.figures.norms import norm_figures
from dashboard.figures.race import lane_styles
from dashboard.remembered import shared


def live_norms(
    runs: Sequence[ShownRun], hidden: Sequence[str], on_action: Callable[[], None], on_hidden: Callable[[], None]
) -> None:
    """Draws the two runs; `hidden` lanes and the two calls are as in `live_race`."""
    embed.shows(*(panel.name for panel in NORM_PANELS))
    drawn = _drawn(*(run.config.to_json() for run in runs))
    live_charts("norms", runs, drawn, hidden, on_action, on_hidden)


@shared(50)
def _drawn(*texts: str) -> bytes:
    configs = [RaceConfig.make(text) for text in texts]
    names = [NORMS[str(config.settings["norm"])] for config in configs]
    specs = [spec(config, lane_styles(config), name, f", {name}") for config, name in zip(configs, names, strict=True)]
    return drawn_lanes(configs, NORM_PANELS, norm_figures(configs), specs, together=True)
