"""Starting a run, from whichever page: all of them start theirs here, where a hosted copy says what it allows.

What needs no training is free for everybody: lanes that are known, and runs that are under way, to which one more
visitor is added. So a class may press *Train* on the same race at once.
"""

import sqlite3

import streamlit as st

from dashboard.asked.kinds import RunConfig
from dashboard.engine.engine import NO_TRAINING, Engine
from dashboard.forms.race_form import plain
from dashboard.hosting.bounds import allowed, refusal
from dashboard.hosting.settings import hosting
from dashboard.hosting.starts import Who, starts, who
from dashboard.runs.identity import run_id
from dashboard.server.visitor import cookie_id, visitor_id

_REFUSED = "start-refused"


def why_not(engine: Engine | None, *configs: RunConfig | None) -> str:
    """Why this cannot be trained here, in a sentence; empty if it can."""
    if engine is None:
        return "Training needs the app's own server."
    if not engine.trains:
        return NO_TRAINING
    limits = hosting()
    new = [config for config in configs if config is not None and limits and engine.estimate(config).new]
    return next((told for config in new if limits and (told := refusal(limits, config))), "")


def start(engine: Engine, *configs: RunConfig) -> list[str]:
    """Their runs' ids. `ValueError` says why they cannot be started now: all of them, or none."""
    counted = starts()
    if counted is None:
        return [engine.submit(config, visitor_id()) for config in configs]
    with counted.lock:
        new = [config for config in configs if _is_new(engine, config)]
        problem = why_not(engine, *new) or (counted.refusal(asks(), engine.under_way, len(new)) if new else "")
        if problem:
            raise ValueError(problem)
        runs = [engine.submit(config, visitor_id()) for config in configs]
        for config in new:
            counted.began(asks(), run_id(config))
    return runs


def try_to_start(engine: Engine, *configs: RunConfig) -> list[str]:
    """The same for a button: none of them where `refused` then says why."""
    try:
        return start(engine, *configs)
    except ValueError as problem:
        st.session_state[_REFUSED] = str(problem)
    except sqlite3.Error as problem:  # a full disk, say
        st.session_state[_REFUSED] = f"The run cannot be stored: {problem}."
    return []


def refused() -> str:
    """Why the last click started nothing, said once."""
    return str(st.session_state.pop(_REFUSED, ""))


def show_limits(config: RunConfig) -> None:
    """What a hosted copy allows, and why the last click started nothing."""
    limits, problem = allowed(config.kind, config.task), refused()
    if limits:
        st.caption(limits)
    if problem:
        st.warning(plain(problem), icon=":material/hourglass_empty:")


def may_measure(engine: Engine | None) -> str:
    """Why no worker may be asked for a measurement now; empty if one may, and it is counted then."""
    counted = starts()
    if counted is None or engine is None or not engine.trains:
        return ""
    with counted.lock:
        problem = counted.refusal(asks(), engine.under_way)
        if not problem:
            counted.count(asks())
    return problem


def asks() -> Who:
    """Streamlit has no word for the address of this machine itself."""
    return who(cookie_id(), str(st.context.ip_address or "127.0.0.1"))


def _is_new(engine: Engine, config: RunConfig) -> bool:
    return not engine.under_way(run_id(config)) and engine.estimate(config).new > 0
