"""Who gets going? Optimizers race on one problem, live, and everything that the theory speaks of is measured."""

import pandas as pd
import streamlit as st

from dashboard import downloads
from dashboard.config import RaceConfig
from dashboard.engine import Engine, running_engine
from dashboard.live import Watched, live_race
from dashboard.race_form import plain, race_controls
from dashboard.race_run import (
    COMPARE,
    Link,
    attempt,
    comparable,
    follow_link,
    open_run,
    refused,
    run_name,
    shown_run,
    train,
)
from dashboard.store import Run


def cost(engine: Engine, config: RaceConfig) -> str:
    expected = engine.estimate(config)
    seconds = expected.seconds
    time = (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.0f} h"
    )
    where = "on this machine" if expected.measured else "on two laptop cores"
    return f"{expected.lane_steps:,} lane-steps, about {time} {where}"


def share(config: RaceConfig | None, run: Run | None, compared: Run | None) -> None:
    with st.popover("Share", icon=":material/link:", disabled=config is None and run is None):
        shared = run.config if run else config
        try:
            link = Link(shared.to_link() if shared else "", run.id if run else "", compared.id if compared else "")
            st.markdown("Opens this race anywhere; here it also finds the run.")
            st.code(link.url(), language=None, wrap_lines=True)
        except ValueError as problem:
            st.markdown(plain(str(problem)))


def download(engine: Engine, run: Run | None) -> None:
    with st.popover("Download", icon=":material/download:", disabled=run is None):
        if run is None:
            return
        identity, config, name = run.id, run.config, f"radam-lab-{run.id[:8]}"

        def table() -> pd.DataFrame:
            return downloads.records(config, [frame.body for frame in engine.store.frames(identity)])

        st.download_button("Configuration (JSON)", config.to_json(), f"{name}.json", "application/json")
        st.download_button("Records (Parquet)", lambda: downloads.as_parquet(table()), f"{name}.parquet")
        st.download_button("Records (CSV)", lambda: downloads.as_csv(table()), f"{name}.csv", "text/csv")


def recent(engine: Engine, shown: Run | None, config: RaceConfig | None) -> Run | None:
    """The runs of this server: one to open, one of the same task to lay over the race on screen."""
    with st.popover("Runs", icon=":material/history:"):
        runs = {run.id: run for run in engine.recent()}
        if not runs:
            st.markdown("Nothing was trained here yet.")
        chosen = st.selectbox(
            "Open a run", runs, None, format_func=lambda i: run_name(runs[i]), key="race-open", width=620
        )
        if st.button("Open", disabled=chosen is None) and chosen:
            open_run(runs[chosen])
            st.rerun()
        now = shown.config if shown else config
        others = comparable(engine, shown, now) if now else {}
        if st.session_state.get(COMPARE) not in others:
            st.session_state[COMPARE] = None
        compared = st.selectbox(
            "Compare with, dashed", others, key=COMPARE, format_func=lambda i: run_name(others[i]), width=620
        )
        return others[compared] if compared else None


def act() -> None:
    """A button inside the live charts, or the end of a race, which needs nothing but this rerun."""
    engine, run = running_engine(), st.session_state.get("race-shown", "")
    actions = {"pause": engine.pause, "resume": engine.resume, "stop": engine.stop} if engine else {}
    asked = st.session_state["race"].get("action")
    if asked in actions:
        actions[asked](run)


engine = running_engine()
follow_link(engine)
st.title("Who gets going?")
for problem in refused():
    st.warning(problem, icon=":material/link_off:")
config = race_controls((engine.devices() if engine else None) or ("cpu",))
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    pressed = st.button(
        "Train", type="primary", icon=":material/play_arrow:", disabled=config is None or engine is None
    )
    if engine and config and pressed:
        train(engine, config)
    run = shown_run(engine, config)
    if engine is None:
        st.caption("Training needs the app's own server.")
    else:
        st.caption(cost(engine, config) if config else "One of the settings above is not allowed.")
    compared = recent(engine, run, config) if engine else None
    share(config, run, compared)
    if engine:
        download(engine, run)
if run:
    Link(run.config.to_link(), run.id, compared.id if compared else "").to_address()
    st.session_state["race-shown"] = run.id
    if config and run.config != config:
        st.caption("Below is the race before you moved the controls. *Train* starts one with the settings above.")
shown = Watched(run.config, run.id, attempt()) if run else Watched(config) if config else None
if shown:
    live_race(shown, Watched(compared.config, compared.id) if compared else None, act)
