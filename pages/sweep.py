"""How forgiving is it? A grid of learning rates, warmup lengths and seeds, trained live: evidence in place of an anecdote."""

import pandas as pd
import streamlit as st

from dashboard.asked.sweep_config import SweepConfig
from dashboard.browser.sweep import live_sweep
from dashboard.engine.engine import Engine, running_engine
from dashboard.evidence.findings import Findings
from dashboard.forms.cost import duration
from dashboard.forms.race_form import plain
from dashboard.forms.sweep_form import last_allowed, sweep_controls
from dashboard.forms.sweep_run import (
    SweepLink,
    attempt,
    follow_link,
    link_to,
    named,
    race_of_cells,
    refused,
    remember_link,
    shown_run,
    start,
)
from dashboard.navigation import page_file
from dashboard.runs.downloads import as_csv, as_parquet
from dashboard.runs.store import Run
from dashboard.runs.sweep_feed import SweepFeed
from dashboard.server.visitor import visitor_id
from dashboard.words.sweep_words import glossary


def cost(engine: Engine, config: SweepConfig) -> str:
    expected, lanes = engine.estimate(config), config.size
    if not expected.new:
        return f"All {lanes} lanes were trained before: there is nothing to wait for"
    told = f"{lanes} lanes" if expected.new == lanes else f"{expected.new} of {lanes} lanes are new: {expected.new}"
    where = "on this machine" if expected.measured else "on two laptop cores"
    return f"{told} × {config.steps:,} steps, about {duration(expected.seconds)} {where}"


def act() -> None:
    """A button inside the charts, or the end of a sweep, which needs nothing but this rerun."""
    engine, run = running_engine(), st.session_state.get("sweep-shown", "")
    actions = {"pause": engine.pause, "resume": engine.resume, "stop": engine.stop} if engine else {}
    asked = st.session_state["sweep"].get("action")
    if asked in actions:
        actions[asked](run, visitor_id())


def open_cells() -> None:
    st.session_state["sweep-cells"] = st.session_state["sweep"].get("open") or []


def table(engine: Engine, run: Run[SweepConfig]) -> pd.DataFrame:
    feed = engine.feeds.open(run.id)
    assert isinstance(feed, SweepFeed)
    return pd.DataFrame(Findings.of(feed.config, feed.outcomes()).cells())


def share(link: SweepLink, config: SweepConfig) -> None:
    with st.popover("Share", icon=":material/link:", key="sweep-share", on_change="rerun") as menu:
        if not menu.open:
            return
        st.markdown("Opens what is on this page:")
        st.code(link.url(), language=None, wrap_lines=True)
        try:
            whole = named(config)
        except ValueError as problem:
            st.markdown(plain(str(problem)))
            return
        if link.run:
            st.markdown("Opens this sweep on any copy of RAdam Lab:")
            st.code(whole.url(), language=None, wrap_lines=True)


def download(engine: Engine, run: Run[SweepConfig] | None) -> None:
    with st.popover(
        "Download", icon=":material/download:", disabled=run is None, key="sweep-download", on_change="rerun"
    ) as menu:
        if run is None or not menu.open:
            return
        name, found = f"radam-lab-sweep-{run.id[:8]}", run
        st.download_button("Cells (CSV)", lambda: as_csv(table(engine, found)), f"{name}.csv", "text/csv")
        st.download_button("Cells (Parquet)", lambda: as_parquet(table(engine, found)), f"{name}.parquet")
        st.download_button("Configuration (JSON)", run.config.to_json(), f"{name}.json", "application/json")


engine = running_engine()
follow_link(engine)
st.title("How forgiving is it?")
with st.container():  # always there, as the one below: a sentence in it moves no chart to another place
    for problem in refused():
        st.warning(problem, icon=":material/link_off:")
config = sweep_controls()
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    pressed = st.button("Run", type="primary", icon=":material/play_arrow:", disabled=config is None or engine is None)
    if engine and config and pressed:
        start(engine, config)
    run = shown_run(engine, config)
    if engine is None:
        st.caption("Training needs the app's own server.")
    else:
        st.caption(cost(engine, config) if config else "One of the settings above is not allowed.")
    with st.popover("What is what", icon=":material/help:", key="sweep-words", on_change="rerun") as words:
        if words.open:
            st.markdown(glossary(last_allowed()), width=620)
    link = link_to(config or last_allowed(), run)
    share(link, config or last_allowed())
    if engine:
        download(engine, run)
remember_link(link)
link.to_address()
st.session_state["sweep-shown"] = run.id if run else ""
with st.container():
    if run and config and run.config != config:
        st.caption("Below is the sweep before you moved the controls. *Run* starts one with the settings above.")
    cells = st.session_state.pop("sweep-cells", None)
    if cells and engine and run:
        try:
            st.switch_page(page_file("race"), query_params={"run": race_of_cells(engine, run, cells)})
        except ValueError as refusal:
            st.warning(plain(str(refusal)), icon=":material/block:")
drawn = run.config if run else config or last_allowed()
wants = engine.wants(run.id, visitor_id()) if engine and run else None
live_sweep(drawn, run.id if run else None, attempt(), wants, act, open_cells)
