"""Who gets going? Optimizers race on one problem, live, and everything that the theory speaks of is measured."""

import streamlit as st

from dashboard.asked.config import RaceConfig
from dashboard.browser.live import ShownRun, live_race
from dashboard.engine.engine import Engine, running_engine
from dashboard.forms import starting
from dashboard.forms.cost import duration
from dashboard.forms.own_run import own_page, own_run
from dashboard.forms.race_form import last_allowed, plain, race_controls
from dashboard.forms.race_link import link_to
from dashboard.forms.race_menus import download, recent, share
from dashboard.forms.race_run import (
    SHOWN,
    follow_link,
    hidden_lanes,
    hide_lanes,
    shown_run,
    train,
)
from dashboard.recorded.loading import made_by, told
from dashboard.server.visitor import visitor_id
from dashboard.words.race_words import glossary


def cost(engine: Engine, config: RaceConfig) -> str:
    expected = engine.estimate(config)
    where = "on this machine" if expected.measured else "on two laptop cores"
    lanes, new = len(config.lanes), expected.new
    if not new:
        return f"All {lanes} lanes were trained before: there is nothing to wait for"
    told = f"{lanes} lanes" if new == lanes else f"{new} of {lanes} lanes {'is' if new == 1 else 'are'} new: {new}"
    return f"{told} × {config.steps:,} steps = {expected.lane_steps:,} lane-steps, about {duration(expected.seconds)} {where}"


def act() -> None:
    """A button inside the live charts, or the end of a race, which needs nothing but this rerun."""
    engine, run = running_engine(), st.session_state.get("race-shown", "")
    actions = {"pause": engine.pause, "resume": engine.resume, "stop": engine.stop} if engine else {}
    asked = st.session_state["race"].get("action")
    if str(asked) in actions:
        actions[str(asked)](run, visitor_id())


def hide() -> None:
    hide_lanes(st.session_state["race"].get("hidden"))


def race_page(engine: Engine | None) -> None:
    SHOWN.headed("Who gets going?")
    config = race_controls((engine.devices() if engine else None) or ("cpu",))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        closed = starting.why_not(engine, config)
        pressed = st.button(
            "Train", type="primary", icon=":material/play_arrow:", disabled=config is None or bool(closed)
        )
        if engine and config and pressed:
            train(engine, config)
        run = shown_run(engine, config)
        if engine is None or closed:
            st.caption(plain(closed))
        else:
            st.caption(cost(engine, config) if config else "One of the settings above is not allowed.")
        with st.popover("What is what", icon=":material/help:", key="race-words", on_change="rerun") as words:
            if words.open:
                st.markdown(glossary(last_allowed()), width=620)
        compared = recent(engine, run, config) if engine else None
        drawn = run.config if run else last_allowed()
        hidden = hidden_lanes(drawn, compared.config if compared else None)
        link = link_to(config or last_allowed(), run, compared, hidden)
        share(link, drawn)
        if engine:
            download(engine, run)
    SHOWN.remember_link(link)
    link.to_address()
    st.session_state["race-shown"] = run.id if run else ""
    with st.container():
        starting.show_limits(drawn)
        if run and run.recorded:
            st.caption(told(run.recorded, "Train" if engine and engine.trains else ""))
        if run and config and run.config != config:
            st.caption("Below is the race before you moved the controls. *Train* starts one with the settings above.")
    wants = engine.wants(run.id, visitor_id()) if engine and run else None
    shown = ShownRun(run.config, run.id, SHOWN.attempt(), made_by(run.recorded), wants) if run else ShownRun(drawn)
    live_race(shown, ShownRun(compared.config, compared.id) if compared else None, hidden, act, hide)


engine = running_engine()
follow_link(engine)
own = own_run(engine)
if engine and own:
    own_page(engine, own)
else:
    race_page(engine)
