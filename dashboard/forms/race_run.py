"""Which run the race page shows, and which lanes of it; and what an address that was opened asks for."""

import re
import time

import streamlit as st

from dashboard.asked.config import RaceConfig
from dashboard.asked.own_config import OwnConfig
from dashboard.asked.presets import PRESETS
from dashboard.engine.engine import Engine
from dashboard.forms.race_form import TASK_PREFIX, choices, open_form, plain
from dashboard.forms.race_link import Link, hidden_keys
from dashboard.forms.shown import Shown
from dashboard.forms.starting import try_to_start
from dashboard.runs.states import FINISHED
from dashboard.runs.store import Run
from demo_models import TASKS

LANE_KEY = re.compile(r"[01]:[0-9]{1,2}")
COMPARE = "race-compare"  # the control's own key
OWN = "race-own"  # the id of an own model's run, while the page shows one
SHOWN = Shown("race")
_HIDDEN, _HIDDEN_OF = "race-hidden", "race-hidden-of"


def follow_link(engine: Engine | None) -> None:
    """Opens what the address asks for; a sentence says what of it cannot be opened."""
    link = Link.from_address()
    if not SHOWN.is_new(link):
        return
    own = engine.own(link.run) if engine and link.run else None
    show_own(own.id if own else "")
    if own:  # it holds all that can be shown, and no race stands behind it
        st.session_state[_HIDDEN], st.session_state[_HIDDEN_OF] = _hidden(link), None
        return
    st.session_state[COMPARE] = link.compare or None
    run = engine.run(link.run) if engine and link.run else None
    if run:
        open_run(run)
    try:
        asked = _asked_for(link)
        if asked:
            open_form(asked)
        st.session_state[_HIDDEN], st.session_state[_HIDDEN_OF] = hidden_keys(link.hide), None
    except ValueError as problem:
        SHOWN.refuse(f"The link cannot be opened: {plain(str(problem).splitlines()[0])}")
    if link.run and not run:
        there = "press *Train* to run it here" if link.config else "runs that nobody uses are dropped"
        SHOWN.refuse(f"This server does not have the run {plain(link.run[:20])} of the link: {there}.")
    if link.compare and not (engine and engine.run(link.compare)):
        SHOWN.refuse(f"This server does not have the run {plain(link.compare[:20])} that the link compares with.")


def show_own(run: str) -> None:
    """From now on the page shows this run of an own model; with "", races again."""
    st.session_state[OWN] = run


def _hidden(link: Link) -> list[str]:
    try:
        return hidden_keys(link.hide)
    except ValueError as problem:
        SHOWN.refuse(f"The link cannot be opened: {plain(str(problem))}")
        return []


def _asked_for(link: Link) -> RaceConfig | None:
    if link.config:
        return RaceConfig.from_link(link.config)
    for field, value, allowed in (("preset", link.preset, PRESETS), ("task", link.task, TASKS)):
        if value and value not in allowed:
            raise ValueError(f"{field} must be one of {', '.join(allowed)}, got {value[:40]!r}")
    name = link.preset or (f"{TASK_PREFIX}{link.task}" if link.task else "")
    return choices()[name] if name else None


def comparable(engine: Engine, shown: Run[RaceConfig] | None, config: RaceConfig) -> dict[str, Run[RaceConfig]]:
    """Other runs of the same task by id: the recent ones, and the one that was asked for, however old."""
    asked = engine.run(st.session_state.get(COMPARE) or "")
    runs = {run.id: run for run in [*engine.recent(), *([asked] if asked else [])]}
    task, own = config.task, shown.id if shown else ""
    return {identity: run for identity, run in runs.items() if run.config.task == task and identity != own}


def open_run(run: Run[RaceConfig]) -> None:
    show_own("")
    open_form(run.config)
    SHOWN.open(run.id)


def open_kept(run: Run[RaceConfig] | Run[OwnConfig]) -> None:
    """One of the server's runs, of either kind."""
    if isinstance(run.config, OwnConfig):
        show_own(run.id)
    else:
        open_run(run)


def train(engine: Engine, config: RaceConfig) -> None:
    for run in try_to_start(engine, config):
        SHOWN.started(run)


def shown_run(engine: Engine | None, config: RaceConfig | None) -> Run[RaceConfig] | None:
    return SHOWN.run(config, engine.run, engine.recorded_race) if engine else None


def hidden_lanes(config: RaceConfig | OwnConfig, compared: RaceConfig | None) -> list[str]:
    """The lanes that the visitor hid, as "run:lane": forgotten once the charts show other lanes."""
    runs = [[lane.label for lane in one.lanes] for one in (config, *([compared] if compared else []))]
    known = st.session_state.get(_HIDDEN_OF)
    if known not in (None, runs):
        st.session_state[_HIDDEN] = []
    st.session_state[_HIDDEN_OF] = runs
    keys = {f"{run}:{lane}" for run, labels in enumerate(runs) for lane in range(len(labels))}
    return [key for key in st.session_state.get(_HIDDEN, []) if key in keys]


def hide_lanes(keys: object) -> None:
    """What the browser says is hidden: its page shows nothing else, so what is no lane's key is no lane."""
    st.session_state[_HIDDEN] = [
        key for key in map(str, keys if isinstance(keys, list) else []) if LANE_KEY.fullmatch(key)
    ]


def run_name(run: Run[RaceConfig] | Run[OwnConfig]) -> str:
    """A run in a line of a list."""
    config = run.config
    if isinstance(config, OwnConfig):
        name = f"own model, {config.title[:60]}"
    else:
        preset = next((name for name, preset in PRESETS.items() if preset.config == config), None)
        name = preset or f"{config.task}, {len(config.lanes)} lanes, {config.steps} steps, seed {config.seed}"
    minutes = (time.time() - run.updated) / 60
    ago = "just now" if minutes < 1 else f"{minutes:.0f} min ago" if minutes < 90 else f"{minutes / 60:.0f} h ago"
    state = run.state if run.state == FINISHED else f"{run.state} at step {run.step}"
    return f"{name}: {state}, {ago}"
