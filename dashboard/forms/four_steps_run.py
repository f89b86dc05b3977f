"""Which run the page of Appendix C shows: its controls are the whole question, so it is the run that answers it."""

import time
from functools import partial

import streamlit as st

from dashboard.asked.four_steps import EIGHT
from dashboard.asked.sweep_config import SweepConfig
from dashboard.engine.engine import Engine
from dashboard.evidence.first_steps import FirstSteps
from dashboard.evidence.outcomes import Outcome
from dashboard.forms.shown import Watched
from dashboard.forms.starting import try_to_start
from dashboard.remembered import Remembered
from dashboard.runs.first_steps import first_steps
from dashboard.runs.identity import lane_ids, recorded_lane_ids, run_id
from dashboard.runs.outlines import from_json
from dashboard.runs.store import Run
from dashboard.server.visitor import visitor_id

_RUN, _ATTEMPT = "four-steps-run", "four-steps-attempt"
WATCHED = Watched("four-steps")
_FIRST: Remembered[FirstSteps] = Remembered(500)  # by lane and how far it has come: what is recorded stays as it is


def shown(engine: Engine | None, config: SweepConfig) -> Run[SweepConfig] | None:
    """The run of these settings, if there is something to see of it; else their recording, or how far somebody else's
    run came; None if there is none of them."""
    if engine is None:
        return None
    run = engine.sweep(run_id(config))
    return run if WATCHED.shows(run) else engine.recorded_sweep(config) or run


def known(engine: Engine | None, config: SweepConfig) -> tuple[list[Outcome], bool]:
    """By lane, what other runs have trained of it, or else what was recorded, and whether anything is of a recording: a
    choice of one's own changes one row. Empty if nothing is known."""
    if engine is None:
        return [], False
    own, recorded = lane_ids(config), recorded_lane_ids(config)
    outlines = engine.store.outlines(sorted({*own, *recorded}))
    texts = [outlines.get(mine) or outlines.get(other) for mine, other in zip(own, recorded, strict=True)]
    found = [(from_json(text) if text else None) or Outcome() for text in texts]
    if not any(outcome.over for outcome in found):
        return [], False
    return found, any(mine not in outlines and other in outlines for mine, other in zip(own, recorded, strict=True))


def start(engine: Engine, config: SweepConfig) -> None:
    for run in try_to_start(engine, config):
        st.session_state[_RUN], st.session_state[_ATTEMPT] = run, time.time()


def attempt() -> float:
    """When a run was last started here: a stream that has ended is opened again after another start."""
    return float(st.session_state.get(_ATTEMPT, 0.0))


def left_behind(engine: Engine | None, run: Run[SweepConfig] | None) -> str:
    """A run that the visitor started and has moved the controls away from while it goes on; empty if there is none."""
    before = str(st.session_state.get(_RUN, ""))
    if engine is None or not before or (run is not None and run.id == before):
        return ""
    return before if engine.wants(before, visitor_id()) else ""


def first_eight(engine: Engine | None, config: SweepConfig, seed: int) -> dict[str, FirstSteps]:
    """By variant, at one seed, as far as the store has it: a race may have trained the same lanes, or was recorded."""
    if engine is None:
        return {}
    either = [*zip(lane_ids(config), recorded_lane_ids(config), strict=True)]
    places = {place: either[place] for place in seed_places(config, seed)}
    reached = engine.store.reached([lane for both in places.values() for lane in both])
    found = {}
    for place, both in places.items():
        for lane in both:
            step = min(EIGHT, reached.get(lane, (0, False))[0])
            if step:
                label = config.contenders[config.cells[place].contender].label
                found[label] = _FIRST.get((lane, step), partial(_first_of, engine, lane))
                break
    return {label: lane for label, lane in found.items() if lane.steps}


def _first_of(engine: Engine, lane: str) -> FirstSteps:
    return first_steps((record.body for record in engine.store.records(lane)), EIGHT)


def seed_places(config: SweepConfig, seed: int) -> list[int]:
    return [cell.place for cell in config.cells if cell.seed == seed]
