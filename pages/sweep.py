"""How forgiving is it? Learning rates, warmup lengths and seeds, trained live: evidence in place of an anecdote."""

import streamlit as st

from dashboard.browser.sweep import live_sweep
from dashboard.engine.engine import Engine, running_engine
from dashboard.forms import starting
from dashboard.forms.cost import sweep_cost
from dashboard.forms.own_map import own_map, own_map_page
from dashboard.forms.race_form import plain
from dashboard.forms.sweep_form import last_allowed, sweep_controls
from dashboard.forms.sweep_menus import download, recent, share
from dashboard.forms.sweep_run import (
    SHOWN,
    follow_link,
    link_to,
    obey,
    race_of_cells,
    shown_run,
    start,
)
from dashboard.navigation import page_file
from dashboard.recorded.loading import made_by, told
from dashboard.server.visitor import visitor_id
from dashboard.words.sweep_words import glossary


def act() -> None:
    """A button inside the charts, or the end of a sweep, which needs nothing but this rerun."""
    obey(running_engine(), st.session_state.get("sweep-shown", ""), st.session_state["sweep"].get("action"))


def open_cells() -> None:
    st.session_state["sweep-cells"] = st.session_state["sweep"].get("open")


def show_race(address: dict[str, str]) -> None:
    st.switch_page(page_file("race"), query_params=address)


def sweep_page(engine: Engine | None) -> None:
    SHOWN.headed("How forgiving is it?")
    config = sweep_controls()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        closed = starting.why_not(engine, config)
        pressed = st.button(
            "Run", type="primary", icon=":material/play_arrow:", disabled=config is None or bool(closed)
        )
        if engine and config and pressed:
            start(engine, config)
        run = shown_run(engine, config)
        if engine is None or closed:
            st.caption(plain(closed))
        else:
            st.caption(sweep_cost(engine, config) if config else "One of the settings above is not allowed.")
        with st.popover("What is what", icon=":material/help:", key="sweep-words", on_change="rerun") as words:
            if words.open:
                st.markdown(glossary(last_allowed()), width=620)
        link = link_to(config or last_allowed(), run)
        if engine:
            recent(engine)
        share(link, config or last_allowed())
        if engine:
            download(engine, run)
    SHOWN.remember_link(link)
    link.to_address()
    st.session_state["sweep-shown"] = run.id if run else ""
    with st.container():
        starting.show_limits(config or last_allowed())
        if run and run.recorded:
            st.caption(told(run.recorded, "Run" if engine and engine.trains else ""))
        if run and config and run.config != config:
            st.caption("Below is the sweep before you moved the controls. *Run* starts one with the settings above.")
        cells = st.session_state.pop("sweep-cells", None)
        if cells and engine and run:
            try:
                show_race(race_of_cells(engine, run, cells))
            except ValueError as refusal:
                st.warning(plain(str(refusal)), icon=":material/block:")
    wants = engine.wants(run.id, visitor_id()) if engine and run else None
    code = made_by(run.recorded) if run else ""
    live_sweep(
        run.config if run else last_allowed(), run.id if run else None, SHOWN.attempt(), wants, code, act, open_cells
    )


engine = running_engine()
follow_link(engine)
own = own_map(engine)
if engine and own:
    own_map_page(engine, own, lambda run: show_race({"run": run}))
else:
    sweep_page(engine)
