"""Which run the race page shows, and what its link says. A link is anybody's: what it asks for is checked."""

import time
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from dashboard.config import RaceConfig
from dashboard.engine import Engine
from dashboard.presets import PRESETS
from dashboard.race_form import open_form, plain
from dashboard.store import FINISHED, Run, run_id

COMPARE = "race-compare"  # the control's own key
_RUN, _ATTEMPT, _LINK, _SEEN, _REFUSED = "race-run", "race-attempt", "race-link", "race-seen", "race-refused"


@dataclass(frozen=True)
class Link:
    """What the page's address holds: a configuration, a run, and a run to compare it with."""

    config: str = ""
    run: str = ""
    compare: str = ""

    @classmethod
    def from_address(cls) -> "Link":
        return cls(*(st.query_params.get(name, "") for name in ("config", "run", "compare")))

    def to_address(self) -> None:
        """Writes it into the address bar, so that a refresh comes back here."""
        for name, value in vars(self).items():
            if value:
                st.query_params[name] = value
            else:
                st.query_params.pop(name, None)
        st.session_state[_LINK] = self

    def url(self) -> str:
        page = str(st.context.url or "/race").split("?")[0]
        return f"{page}?{urlencode({name: value for name, value in vars(self).items() if value})}"


def follow_link(engine: Engine | None) -> None:
    """Opens what the address asks for, once; a sentence says what of it cannot be opened."""
    link = Link.from_address()
    if link == st.session_state.get(_LINK, Link()):
        return
    st.session_state[_LINK] = link
    st.session_state[COMPARE] = link.compare or None
    run = engine.run(link.run) if engine and link.run else None
    if run:
        open_run(run)
    elif link.config:
        try:
            open_form(RaceConfig.from_link(link.config))
        except ValueError as problem:
            _refuse(f"The link cannot be opened: {plain(str(problem).splitlines()[0])}")
            return
    if link.run and not run:
        there = "its configuration is below; press *Train*" if link.config else "runs that nobody uses are dropped"
        _refuse(f"This server does not have the run {plain(link.run[:20])} of the link: {there}.")
    if link.compare and not (engine and engine.run(link.compare)):
        _refuse(f"This server does not have the run {plain(link.compare[:20])} that the link compares with.")


def _refuse(sentence: str) -> None:
    st.session_state[_REFUSED] = [*st.session_state.get(_REFUSED, []), sentence]


def refused() -> list[str]:
    """What of the link could not be opened, said once."""
    return list(st.session_state.pop(_REFUSED, []))


def comparable(engine: Engine, shown: Run | None, config: RaceConfig) -> dict[str, Run]:
    """Other runs of the same task by id: the recent ones, and the one that was asked for, however old."""
    asked = engine.run(st.session_state.get(COMPARE) or "")
    runs = {run.id: run for run in [*engine.recent(), *([asked] if asked else [])]}
    task, own = config.task, shown.id if shown else ""
    return {identity: run for identity, run in runs.items() if run.config.task == task and identity != own}


def open_run(run: Run) -> None:
    open_form(run.config)
    st.session_state[_RUN] = run.id


def train(engine: Engine, config: RaceConfig) -> None:
    st.session_state[_RUN] = engine.submit(config)
    st.session_state[_ATTEMPT] = time.time()


def attempt() -> float:
    """When a run was last started here: a stream that has ended is opened again after another start.

    A count would not do: a server that was started again counts from zero, while the browser remembers.
    """
    return float(st.session_state.get(_ATTEMPT, 0.0))


def shown_run(engine: Engine | None, config: RaceConfig | None) -> Run | None:
    """The run that was trained or opened last, until it is over and a control is moved; then that of the controls."""
    if engine is None:
        return None
    moved = st.session_state.get(_SEEN) != config
    st.session_state[_SEEN] = config
    run = engine.run(st.session_state.get(_RUN, ""))
    if run and (config is None or not moved or not run.over or run.config == config):
        return run
    st.session_state[_RUN] = ""
    return engine.run(run_id(config)) if config else None


def run_name(run: Run) -> str:
    """A run in a line of a list."""
    config = run.config
    preset = next((name for name, preset in PRESETS.items() if preset.config == config), None)
    name = preset or f"{config.task}, {len(config.lanes)} lanes, {config.steps} steps, seed {config.seed}"
    minutes = (time.time() - run.updated) / 60
    ago = "just now" if minutes < 1 else f"{minutes:.0f} min ago" if minutes < 90 else f"{minutes / 60:.0f} h ago"
    state = run.state if run.state == FINISHED else f"{run.state} at step {run.step}"
    return f"{name}: {state}, {ago}"
