"""What stands behind the buttons beside *Train*: the runs of this server, a link to share, and the records to take.

Each is made for those who open it (`on_change="rerun"`): a class of 100 that opens the page does not wait for it.
"""

import pandas as pd
import streamlit as st

from dashboard.asked.config import RaceConfig
from dashboard.asked.own_config import OwnConfig
from dashboard.engine.engine import Engine
from dashboard.forms.race_form import plain
from dashboard.forms.race_link import Link
from dashboard.forms.race_run import COMPARE, comparable, open_kept, run_name
from dashboard.hosting.bounds import kept
from dashboard.runs import downloads
from dashboard.runs.store import Run


def recent(engine: Engine, shown: Run[RaceConfig] | None, config: RaceConfig | None) -> Run[RaceConfig] | None:
    """The runs of this server: one to open, one of the same task to lay over the race on screen."""
    now = shown.config if shown else config
    with st.popover("Runs", icon=":material/history:", key="race-runs", on_change="rerun") as menu:
        if not menu.open:
            asked = st.session_state.get(COMPARE)
            return comparable(engine, shown, now).get(asked) if asked and now else None
        known: list[Run[RaceConfig] | Run[OwnConfig]] = [*engine.recent(), *engine.recent_own()]
        runs = {run.id: run for run in sorted(known, key=lambda run: -run.used)}
        if not runs:
            st.markdown("Nothing was trained here yet.")
        if kept():
            st.caption(kept())
        if engine.store.moved:
            st.caption(engine.store.moved)
        chosen = st.selectbox(
            "Open a run", runs, None, format_func=lambda i: run_name(runs[i]), key="race-open", width=620
        )
        # Before the script runs again: a control cannot be given a value once it is drawn.
        if chosen:
            st.button("Open", on_click=open_kept, args=(runs[chosen],))
        else:
            st.button("Open", disabled=True)
        others = comparable(engine, shown, now) if now else {}
        if st.session_state.get(COMPARE) not in others:
            st.session_state[COMPARE] = None
        compared = st.selectbox(
            "Compare with, dashed",
            others,
            key=COMPARE,
            format_func=lambda i: run_name(others[i]),
            width=620,
            persist_state="session",
        )
        return others[compared] if compared else None


def share(link: Link, config: RaceConfig | None) -> None:
    """The short link, and the one that needs nothing of this server."""
    with st.popover("Share", icon=":material/link:", key="race-share", on_change="rerun") as menu:
        if not menu.open:
            return
        st.markdown("Opens what is on this page:")
        st.code(link.url(), language=None, wrap_lines=True)
        if config is None or not (link.run or link.compare):
            return
        try:
            whole = Link(config=config.to_link(), hide=link.hide)
            st.markdown("Opens this race, to be trained anew, on any copy of RAdam Lab:")
            st.code(whole.url(), language=None, wrap_lines=True)
        except ValueError as problem:
            st.markdown(plain(str(problem)))


def download(engine: Engine, run: Run[RaceConfig] | None) -> None:
    with st.popover(
        "Download", icon=":material/download:", disabled=run is None, key="race-download", on_change="rerun"
    ) as menu:
        if run is None or not menu.open:
            return
        identity, config, name = run.id, run.config, f"radam-lab-{run.id[:8]}"

        def table() -> pd.DataFrame:
            return downloads.records(config, engine.records(identity))

        st.download_button("Configuration (JSON)", config.to_json(), f"{name}.json", "application/json")
        st.download_button("Records (Parquet)", lambda: downloads.as_parquet(table()), f"{name}.parquet")
        st.download_button("Records (CSV)", lambda: downloads.as_csv(table()), f"{name}.csv", "text/csv")
