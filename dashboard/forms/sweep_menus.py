"""What stands behind the buttons beside *Run*: the sweeps of this server, a link to share, and the cells to take."""

import time

import pandas as pd
import streamlit as st

from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.engine.engine import Engine
from dashboard.evidence.findings import Findings
from dashboard.forms.race_form import plain
from dashboard.forms.sweep_form import choice_of
from dashboard.forms.sweep_run import SweepLink, named, open_kept
from dashboard.hosting.bounds import kept
from dashboard.runs.downloads import as_csv, as_parquet
from dashboard.runs.store import Run
from dashboard.runs.sweep_feed import SweepFeed


def recent(engine: Engine) -> None:
    """The sweeps of this server, one to open."""
    with st.popover("Runs", icon=":material/history:", key="sweep-runs", on_change="rerun") as menu:
        if not menu.open:
            return
        known: list[Run[SweepConfig] | Run[OwnMapConfig]] = [*engine.recent_sweeps(), *engine.recent_own_maps()]
        runs = {run.id: run for run in sorted(known, key=lambda run: -run.used)}
        if not runs:
            st.markdown("No sweep was run here yet.")
        if kept():
            st.caption(kept())
        chosen = st.selectbox(
            "Open a sweep", runs, None, format_func=lambda i: run_name(runs[i]), key="sweep-open", width=620
        )
        if chosen:
            st.button("Open", on_click=open_kept, args=(runs[chosen],))
        else:
            st.button("Open", disabled=True)


def run_name(run: Run[SweepConfig] | Run[OwnMapConfig]) -> str:
    """A sweep in a line of a list."""
    config = run.config
    if isinstance(config, OwnMapConfig):
        name = f"own model, {config.title[:60]}"
    else:
        name = choice_of(config) or f"{config.task}, {config.size} lanes, {config.steps} steps"
    minutes = (time.time() - run.updated) / 60
    ago = "just now" if minutes < 1 else f"{minutes:.0f} min ago" if minutes < 90 else f"{minutes / 60:.0f} h ago"
    return f"{name}: {run.state}, {ago}"


def share(link: SweepLink, config: SweepConfig) -> None:
    """The short link, and the one that needs nothing of this server."""
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
        name, identity = f"radam-lab-sweep-{run.id[:8]}", run.id

        def table() -> pd.DataFrame:
            feed = engine.feeds.open(identity)
            assert isinstance(feed, SweepFeed)
            return Findings.of(feed.config, feed.outcomes()).table()

        st.download_button("Configuration (JSON)", run.config.to_json(), f"{name}.json", "application/json")
        st.download_button("Cells (Parquet)", lambda: as_parquet(table()), f"{name}.parquet")
        st.download_button("Cells (CSV)", lambda: as_csv(table()), f"{name}.csv", "text/csv")
