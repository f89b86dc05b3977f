"""The race page while it shows a run of an own model: the same charts, and nothing that could be trained here."""

import streamlit as st

from dashboard.asked.own_config import OwnConfig
from dashboard.browser.live import ShownRun
from dashboard.browser.own import live_own
from dashboard.engine.engine import Engine
from dashboard.forms.race_form import plain
from dashboard.forms.race_link import Link, hidden_text
from dashboard.forms.race_run import OWN, SHOWN, hidden_lanes, hide_lanes, show_own
from dashboard.runs.downloads import as_csv, own_records
from dashboard.runs.store import Run

NO_TRAINING = "An own model's run, as it was recorded: this app has no model to train again, so *Train* is off."


def own_run(engine: Engine | None) -> Run[OwnConfig] | None:
    """The one that the page shows, if it shows one."""
    asked = st.session_state.get(OWN)
    return engine.own(asked) if engine and asked else None


def own_page(engine: Engine, run: Run[OwnConfig]) -> None:
    config = run.config
    SHOWN.headed("Who gets going?")
    with st.container():
        st.markdown(f"**Your own model:** {plain(config.title)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Train", type="primary", icon=":material/play_arrow:", disabled=True)
        st.caption(NO_TRAINING)
        with st.popover("Lanes", icon=":material/table_rows:", key="own-lanes", on_change="rerun") as menu:
            if menu.open:
                st.dataframe([config.about(lane) for lane in config.lanes], hide_index=True, width=620)
        _download(engine, run)
        st.button("Back to the races", icon=":material/arrow_back:", on_click=show_own, args=("",))
    for note in config.notes:
        st.caption(plain(note))
    hidden = hidden_lanes(config, None)
    link = Link(run=run.id, hide=hidden_text(hidden))
    SHOWN.remember_link(link)
    link.to_address()
    st.session_state["race-shown"] = ""
    live_own(ShownRun(config, run.id), hidden, _nothing_to_do, _hide)


def _download(engine: Engine, run: Run[OwnConfig]) -> None:
    with st.popover("Download", icon=":material/download:", key="own-download", on_change="rerun") as menu:
        if menu.open:
            name = f"radam-lab-{run.id[:8]}.csv"
            st.download_button("Records (CSV)", lambda: as_csv(own_records(run.config, engine.records(run.id))), name)


def _nothing_to_do() -> None:
    """The charts' buttons are those of a run that is under way, which this one never is."""


def _hide() -> None:
    hide_lanes(st.session_state["race"].get("hidden"))
