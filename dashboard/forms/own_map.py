"""The sweep page while it shows the map of an own model: the same maps and sentences, and nothing to train here."""

from collections.abc import Callable

import streamlit as st

from dashboard.asked.own_map import OwnMapConfig
from dashboard.browser.sweep import live_sweep
from dashboard.engine.engine import Engine
from dashboard.evidence.findings import Findings
from dashboard.forms.race_form import plain
from dashboard.forms.sweep_run import OWN, SHOWN, SweepLink, show_own
from dashboard.runs.downloads import as_csv
from dashboard.runs.store import Run
from dashboard.runs.sweep_feed import SweepFeed
from dashboard.words.sweep_words import glossary

NO_TRAINING = (
    "An own model's sweep, as it was recorded: a click on a cell opens its lanes, and nothing is trained here."
)
_CELLS = "own-map-cells"


def own_map(engine: Engine | None) -> Run[OwnMapConfig] | None:
    """The one that the page shows, if it shows one."""
    asked = st.session_state.get(OWN)
    return engine.own_map(asked) if engine and asked else None


def own_map_page(engine: Engine, run: Run[OwnMapConfig], show_lanes: Callable[[str], object]) -> None:
    """`show_lanes` leads to the race page, on a run of some of the map's lanes."""
    config = run.config
    SHOWN.headed("How forgiving is it?")
    with st.container():
        st.markdown(f"**Your own model:** {plain(config.title)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Run", type="primary", icon=":material/play_arrow:", disabled=True)
        st.caption(NO_TRAINING)
        with st.popover("What is what", icon=":material/help:", key="own-map-words", on_change="rerun") as words:
            if words.open:
                st.markdown(glossary(config), width=620)
        _download(engine, run)
        st.button("Back to the sweeps", icon=":material/arrow_back:", on_click=show_own, args=("",))
    with st.container():
        for note in config.notes:
            st.caption(plain(note))
        _open_cells(engine, run, show_lanes)
    link = SweepLink(run=run.id)
    SHOWN.remember_link(link)
    link.to_address()
    st.session_state["sweep-shown"] = ""
    live_sweep(config, run.id, 0.0, None, "", _nothing_to_do, _choose)


def _open_cells(engine: Engine, run: Run[OwnMapConfig], show_lanes: Callable[[str], object]) -> None:
    """The lanes of the cells that were clicked, on the page of an own model's run: their records are there already."""
    asked = st.session_state.pop(_CELLS, None)
    if not asked:
        return
    try:
        places = sorted({place for place in asked if isinstance(place, int) and 0 <= place < run.config.size})
        chosen = engine.store.add(run.config.chosen(places), run.state, run.message)
    except ValueError as refusal:
        st.warning(plain(str(refusal)), icon=":material/block:")
    else:
        show_lanes(chosen.id)


def _download(engine: Engine, run: Run[OwnMapConfig]) -> None:
    with st.popover("Download", icon=":material/download:", key="own-map-download", on_change="rerun") as menu:
        if menu.open:
            feed = engine.feeds.open(run.id)
            assert isinstance(feed, SweepFeed)
            cells = Findings.of(feed.config, feed.outcomes())
            st.download_button(
                "Cells (CSV)", lambda: as_csv(cells.table()), f"radam-lab-map-{run.id[:8]}.csv", "text/csv"
            )


def _nothing_to_do() -> None:
    """The buttons in the maps are those of a sweep that is under way, which this one never is."""


def _choose() -> None:
    st.session_state[_CELLS] = st.session_state["sweep"].get("open") or []
