"""Which sweep the page shows: what an address asks for, what was run last, and the race that some cells make."""

import sqlite3
from dataclasses import dataclass
from typing import cast

import streamlit as st

from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.presets import named as named_race
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.engine.engine import Engine
from dashboard.forms import starting
from dashboard.forms.race_form import plain
from dashboard.forms.shown import PageLink, Shown
from dashboard.forms.sweep_form import DEFAULT, choice_of, chosen, open_form
from dashboard.runs.store import Run
from dashboard.server.visitor import visitor_id

SHOWN = Shown("sweep")
OWN = "sweep-own"  # the id of an own model's map, while the page shows one


@dataclass(frozen=True)
class SweepLink(PageLink):
    """A sweep by name, or written out beside the name it was changed from, or a run."""

    page = "sweep"
    preset: str = ""
    config: str = ""
    run: str = ""


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
    if not SHOWN.is_new(link):
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
        SHOWN.refuse(f"The link cannot be opened: {plain(str(problem).splitlines()[0])}")
    if link.run and not run:
        SHOWN.refuse(
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
    SHOWN.open(run.id)


def start(engine: Engine, config: SweepConfig) -> None:
    for run in starting.try_to_start(engine, config):
        SHOWN.started(run)


def obey(engine: Engine | None, run: str, asked: object) -> None:
    """Does what a button inside the charts asks for; what else they tell needs nothing but the rerun that it makes."""
    actions = {"pause": engine.pause, "resume": engine.resume, "stop": engine.stop} if engine else {}
    if isinstance(asked, str) and asked in actions:
        actions[asked](run, visitor_id())


def shown_run(engine: Engine | None, config: SweepConfig | None) -> Run[SweepConfig] | None:
    return SHOWN.run(config, engine.sweep, engine.recorded_sweep) if engine else None


def race_of_cells(engine: Engine, run: Run[SweepConfig], places: object) -> dict[str, str]:
    """The race that these lanes make, as the race page's address has it; `ValueError` says why there is none. Of a
    recording, which keeps outlines alone, it is a race to train: a look at it starts nothing.

    The places are a browser's word, and may be anything."""
    given = places if isinstance(places, list) else []
    known = {place for place in given if isinstance(place, int) and 0 <= place < run.config.size}
    race = run.config.race_of(sorted(known))
    if run.recorded and engine.estimate(race).new:
        return named_race(race)
    try:
        (started,) = starting.start(engine, race)
    except sqlite3.Error as problem:  # a full disk, say
        raise ValueError(f"The run cannot be stored: {problem}.") from None
    return {"run": started}
