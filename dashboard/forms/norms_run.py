"""Which two runs the page on Post-LN and Pre-LN shows, what they cost, and how they are started."""

import time
from collections.abc import Sequence

import streamlit as st

from dashboard.asked.config import RaceConfig
from dashboard.asked.norms import NORMS, STEPS, norm_race
from dashboard.asked.protocol import LR, UNTUNED
from dashboard.browser import address
from dashboard.engine.engine import Engine
from dashboard.forms import controls
from dashboard.forms.cost import duration
from dashboard.forms.race_form import plain
from dashboard.forms.race_link import hidden_keys, hidden_text
from dashboard.forms.race_run import LANE_KEY
from dashboard.forms.shown import Watched
from dashboard.forms.starting import try_to_start
from dashboard.runs.identity import run_id
from dashboard.runs.store import Run
from dashboard.server.visitor import visitor_id

DEPTHS = tuple(range(1, 13))
WARMUPS = (10, 20, 50, 100, 200, 300)
SEEDS = tuple(range(10))
LENGTHS = (20, 50, 100, STEPS, 1_000)
_STARTED, _ATTEMPT, _HIDDEN = "norms-started", "norms-attempt", "norms-hidden"
WATCHED = Watched("norms")
Pair = tuple[RaceConfig, ...]


def norm_controls() -> Pair:
    """The controls in one row, and the two races that they describe."""
    columns = st.columns([4, 5, 4, 3, 3], gap="medium")
    with columns[0]:
        depth = controls.pick("Depth", "depth", DEPTHS, 6, help="Layers of the encoder, and as many of the decoder.")
    with columns[1]:
        lr = controls.pick("Learning rate of all lanes", "lr", controls.LEARNING_RATES, LR)
    with columns[2]:
        warmup = controls.pick("Warmup, steps", "warmup", WARMUPS, UNTUNED, help="Of the lane that has one.")
    with columns[3]:
        seed = controls.pick("Seed", "seed", SEEDS, 0, help="Of the weights and of the order of the batches.")
    with columns[4]:
        steps = controls.pick("Steps", "steps", LENGTHS, STEPS, help="The rate decays to 0 over these.")
    return tuple(norm_race(norm, depth, lr, warmup, seed, steps) for norm in NORMS)


def cost(engine: Engine, pair: Pair) -> str:
    """Both races share the cores, so that their times add up."""
    expected = [engine.estimate(config) for config in pair]
    lanes, new = sum(config.size for config in pair), sum(one.new for one in expected)
    if not new:
        return f"All {lanes} lanes were trained before: there is nothing to wait for"
    told = f"{lanes} lanes" if new == lanes else f"{new} of {lanes} lanes {'is' if new == 1 else 'are'} new: {new}"
    where = "on this machine" if all(one.measured for one in expected if one.new) else "on two laptop cores"
    total, seconds = sum(one.lane_steps for one in expected), sum(one.seconds for one in expected)
    return f"{told} × {pair[0].steps:,} steps = {total:,} lane-steps, about {duration(seconds)} {where}"


def train(engine: Engine, pair: Pair) -> None:
    if try_to_start(engine, *pair):
        st.session_state[_STARTED], st.session_state[_ATTEMPT] = pair, time.time()


def attempt() -> float:
    """When they were last started here, as in `race_run.attempt`."""
    return float(st.session_state.get(_ATTEMPT, 0.0))


def shown(engine: Engine, config: RaceConfig) -> Run[RaceConfig] | None:
    """A configuration's run, if there is something to see of it; else its recording."""
    run = engine.run(run_id(config))
    return run if WATCHED.shows(run) else engine.recorded_race(config)


def shown_pair(engine: Engine | None, pair: Pair) -> tuple[Pair, list[Run[RaceConfig] | None]]:
    """The races to draw and their runs: those of the controls, but what was started here stays until it is over."""
    if engine is None:
        return pair, [None] * len(pair)
    started: Pair = st.session_state.get(_STARTED, pair)
    runs = [shown(engine, config) for config in started]
    if started != pair and all(run is None or run.over for run in runs):
        st.session_state[_STARTED] = pair
        return pair, [shown(engine, config) for config in pair]
    return started, runs


def act(engine: Engine | None, asked: object, runs: Sequence[str]) -> None:
    """A button inside the charts is for both runs; their end needs nothing but the rerun."""
    actions = {"pause": engine.pause, "resume": engine.resume, "stop": engine.stop} if engine else {}
    if str(asked) in actions:
        for run in runs:
            actions[str(asked)](run, visitor_id())


def hidden_lanes() -> list[str]:
    """The lanes that the visitor or the link hid, as "run:lane"; all settings have the same lanes. The address says
    them."""
    try:
        for text in address.asked("hide"):
            st.session_state[_HIDDEN] = hidden_keys(text)
    except ValueError as problem:
        address.refuse(str(problem), f"The link asked for lanes that are none: {plain(str(problem))}.")
    hidden = list(st.session_state.get(_HIDDEN, []))
    if hidden:
        address.say("hide", [hidden_text(hidden)])
    return hidden


def hide_lanes(keys: object) -> None:
    st.session_state[_HIDDEN] = [
        key for key in map(str, keys if isinstance(keys, list) else []) if LANE_KEY.fullmatch(key)
    ]
