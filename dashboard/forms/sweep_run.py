"""Which sweep the page shows: what an address asks for, what was run last, and the race that some cells make."""

import sqlite3
import time
from dataclasses import dataclass, fields
from typing import cast
from urllib.parse import urlencode

import streamlit as st

from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.browser import address
from dashboard.engine.engine import Engine
from dashboard.forms import starting
from dashboard.forms.race_form import plain
from dashboard.forms.sweep_form import DEFAULT, choice_of, chosen, open_form
from dashboard.runs.identity import run_id
from dashboard.runs.states import FINISHED
from dashboard.runs.store import Run
from dashboard.server.visitor import visitor_id

_RUN, _ATTEMPT, _LINK, _SEEN, _REFUSED = "sweep-run", "sweep-attempt", "sweep-link", "sweep-seen", "sweep-refused"
OWN = "sweep-own"  # the id of an own model's map, while the page shows one


@dataclass(frozen=True)
class SweepLink:
    """What the page's address holds: a sweep by name, or written out beside the name it was changed from, or a run.
    It is anybody's: nothing trusts it."""

    preset: str = ""
    config: str = ""
    run: str = ""

    @classmethod
    def from_address(cls) -> "SweepLink":
        return cls(*("".join(address.asked(field.name)[:1]) for field in fields(cls)))

    def given(self) -> dict[str, str]:
        return {name: value for name, value in vars(self).items() if value}

    def to_address(self) -> None:
        for name, value in self.given().items():
            address.say(name, [value])

    def url(self) -> str:
        page = str(st.context.url or "/sweep").split("?")[0]
        return f"{page}?{urlencode(self.given())}".rstrip("?")


def named(config: SweepConfig) -> SweepLink:
    """The shortest link to a configuration; `ValueError` if it names files of this machine."""
    choice = choice_of(config)
    return SweepLink(preset=choice) if choice else SweepLink(config=config.to_link())


def link_to(config: SweepConfig, run: Run[SweepConfig] | None) -> SweepLink:
    if run is not None and run.recorded and run.config == config:
        run = None  # its name says it, and finds what is trained here, too
    if run is not None and run.config == config:
        return SweepLink(run=run.id)
    if run is None and choice_of(config) == DEFAULT:
        return SweepLink()
    try:
        found = named(config)
    except ValueError:
        found = SweepLink()
    return SweepLink(found.preset or chosen(), found.config, run.id if run else "")


def follow_link(engine: Engine | None) -> None:
    """Opens what the address asks for; a sentence says what of it cannot be opened."""
    link = SweepLink.from_address()
    if link in (SweepLink(), st.session_state.get(_LINK)):
        return
    run = engine.sweep(link.run) if engine and link.run else None
    own = engine.own_map(link.run) if engine and link.run and not run else None
    show_own(own.id if own else "")
    if own:  # it holds all that can be shown, and no sweep stands behind it
        return
    if run:
        open_run(run)
    try:
        if link.config:
            open_form(SweepConfig.from_link(link.config), link.preset)
        elif link.preset:
            if link.preset not in SWEEPS:
                raise ValueError(f"preset must be one of {', '.join(SWEEPS)}, got {link.preset[:40]!r}")
            open_form(SWEEPS[link.preset].config)
    except ValueError as problem:
        _refuse(f"The link cannot be opened: {plain(str(problem).splitlines()[0])}")
    if link.run and not run:
        _refuse(
            f"This server does not have the run {plain(link.run[:20])} of the link: runs that nobody uses are dropped."
        )


def show_own(run: str) -> None:
    """From now on the page shows this map of an own model; with "", sweeps again."""
    st.session_state[OWN] = run


def open_kept(run: Run[SweepConfig] | Run[OwnMapConfig]) -> None:
    """One of the server's sweeps, of either kind."""
    if run.config.kind == OwnMapConfig.kind:
        show_own(run.id)
    else:
        open_run(cast(Run[SweepConfig], run))


def open_run(run: Run[SweepConfig]) -> None:
    open_form(run.config)
    st.session_state[_RUN] = run.id


def remember_link(link: SweepLink) -> None:
    st.session_state[_LINK] = link


def _refuse(sentence: str) -> None:
    st.session_state[_REFUSED] = [*st.session_state.get(_REFUSED, []), sentence]


def refused() -> list[str]:
    """What of the link could not be opened, said once."""
    return list(st.session_state.pop(_REFUSED, []))


def start(engine: Engine, config: SweepConfig) -> None:
    for run in starting.try_to_start(engine, config):
        st.session_state[_RUN], st.session_state[_ATTEMPT] = run, time.time()


def obey(engine: Engine | None, run: str, asked: object) -> None:
    """Does what a button inside the charts asks for; what else they tell needs nothing but the rerun that it makes."""
    actions = {"pause": engine.pause, "resume": engine.resume, "stop": engine.stop} if engine else {}
    if isinstance(asked, str) and asked in actions:
        actions[asked](run, visitor_id())


def attempt() -> float:
    return float(st.session_state.get(_ATTEMPT, 0.0))


def shown_run(engine: Engine | None, config: SweepConfig | None) -> Run[SweepConfig] | None:
    """The run that was started or opened last, until it is over and a control is moved; then that of the controls."""
    if engine is None:
        return None
    moved = st.session_state.get(_SEEN) != config
    st.session_state[_SEEN] = config
    run = engine.sweep(st.session_state.get(_RUN, ""))
    if run and (config is None or not moved or not run.over or run.config == config):
        return run
    st.session_state[_RUN] = ""
    same = engine.sweep(run_id(config)) if config else None
    if same and (same.state == FINISHED or not same.over):
        return same
    return engine.recorded_sweep(config) if config else None


def race_of_cells(engine: Engine, run: Run[SweepConfig], places: object) -> str:
    """The run of the race that these lanes make, for the race page; `ValueError` says why there is none.

    The places are a browser's word, and may be anything."""
    given = places if isinstance(places, list) else []
    known = {place for place in given if isinstance(place, int) and 0 <= place < run.config.size}
    try:
        (race,) = starting.start(engine, run.config.race_of(sorted(known)))
    except sqlite3.Error as problem:  # a full disk, say
        raise ValueError(f"The run cannot be stored: {problem}.") from None
    return race
