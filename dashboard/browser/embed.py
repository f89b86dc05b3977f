"""A page in somebody else's: `?embed=true` is Streamlit's own and leaves out the menu; with `&chart=NAME` it is one
chart, as high as its frame.

The chart's settings are in the address as ever. All else of the page is hidden, not left out: its controls still say
what the chart shows, and a browser draws no chart that is hidden.
"""

import re
from dataclasses import dataclass, field

import streamlit as st

from dashboard.browser import address
from dashboard.browser.session import of_session

_NAME = re.compile(r"[a-z0-9-]{1,60}")
_WITHOUT_TITLE = """<style>
[data-testid=stHeader], [data-testid=stSidebar], [data-testid=stMain] h1 { display: none; }
[data-testid=stMainBlockContainer] { padding: 0.5rem 0.75rem !important; }
</style>"""
# A chart of its own, or a panel of the live ones; a sentence about a chart that is not there stays in sight.
_ONLY = """<style>
[data-testid=stHeader], [data-testid=stSidebar] { display: none; }
[data-testid=stMainBlockContainer] { padding: 1.4rem 0.5rem 0 !important; max-width: none; }
[data-testid=stMain] :is([data-testid=stElementContainer], [data-testid=stColumn], [data-testid=stLayoutWrapper]):not(
  CHART, :has(CHART), :has(.st-key-embed-problem), .st-key-embed-problem *) { display: none; }
[data-testid=stColumn]:has(CHART) { flex: 1 1 100%; min-width: 100%; }
.lab-race :is(.lab-bar, .lab-samples, .lab-panel:not(:has(CHART))),
.lab-sweep > :not(CHART, :has(CHART)), .lab-sweep .lab-panel:not(:has(CHART)) { display: none; }
.lab-race :is(.lab-top, .lab-grid), .lab-sweep :has(> .lab-panel) { grid-template-columns: minmax(0, 1fr); }
</style>"""


@dataclass
class _Charts:
    alone: str = ""  # the only one that is to be seen
    shown: list[str] = field(default_factory=list)  # by the page


def begin() -> None:
    """Call it before a page runs."""
    charts = of_session(_Charts)
    charts.shown = []
    if st.context.is_embedded is not True:  # under Streamlit's AppTest it is a mock
        return
    asked = "".join(address.asked("chart")[:1])
    if asked:
        charts.alone = asked if _NAME.fullmatch(asked) else "none"
    name = alone()
    if name:
        address.say("chart", [name])
    st.html(_ONLY.replace("CHART", f":is(.st-key-chart-{name}, [data-chart={name}])") if name else _WITHOUT_TITLE)


def alone() -> str:
    """The only chart that is to be seen, by its name; empty if it is a whole page."""
    return of_session(_Charts).alone


def shows(*names: str) -> None:
    """What the page has to offer."""
    of_session(_Charts).shown.extend(names)


def end() -> None:
    """Call it after a page has run: says so if it has no such chart."""
    name, there = alone(), of_session(_Charts).shown
    if name and name not in there:
        with st.container(key="embed-problem"):
            st.warning(f"This page shows {', '.join(there) or 'no chart'} here, and the address asks for `{name}`.")
