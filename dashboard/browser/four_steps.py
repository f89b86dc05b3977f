"""Appendix C in the browser: a table that fills in by a sweep's event stream, and curves; see scripts/four_steps.js."""

import hashlib
from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.asked.sweep_config import SweepConfig
from dashboard.browser import embed
from dashboard.browser.assets import importing
from dashboard.browser.chart import for_charts, joined
from dashboard.browser.four_steps_findings import four_steps_json
from dashboard.browser.sweep import STYLES, around
from dashboard.evidence.findings import Findings
from dashboard.evidence.outcomes import Outcome
from dashboard.evidence.steps import grid_steps
from dashboard.remembered import shared

_component = st.components.v2.component(
    "radam_lab_four_steps",
    html='<div class="lab-sweep lab-four-steps"></div>',
    css=STYLES,
    js=importing("four_steps.js", ".lab-four-steps"),
    isolate_styles=False,
)


def live_four_steps(
    config: SweepConfig,
    known: Sequence[Outcome],
    run: str | None,
    attempt: float,
    wants: str | None,
    recorded: str,
    on_action: Callable[[], None],
    on_open: Callable[[], None],
) -> None:
    """Draws the table: of its run, or where there is none of what other runs have `known` of its lanes. `on_action` is
    called when a visitor presses a button in it, when the first steps of more lanes are there, and when the run has
    ended; `on_open` when they want lanes as a race."""
    embed.shows("courses")
    before = four_steps_json(Findings.of(config, known)) if known else b"null"
    data = for_charts(around(config, run, attempt, wants, recorded), drawn=drawn(config.to_json()), known=before)
    _component(key="four-steps", data=data, on_action_change=on_action, on_open_change=on_open)


@shared(20)
def drawn(text: str) -> bytes:
    """What follows from the configuration alone, as JSON: the table before anything was trained among it."""
    config = SweepConfig.make(text)
    own = {
        "lanes": config.size,
        "grid": grid_steps(config.steps),
        "revision": hashlib.sha256(text.encode()).hexdigest()[:12],
    }
    return joined(own, start=four_steps_json(Findings.of(config, [Outcome()] * config.size)))
