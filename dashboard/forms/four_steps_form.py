"""The controls of the page of Appendix C, each in the address: a task and its rate, three methods, and seeds."""

import streamlit as st

from dashboard.asked.config import PHASES
from dashboard.asked.four_steps import DEFAULT, EIGHT, Choice, four_steps, usual_rate
from dashboard.asked.sweep_config import SweepConfig
from dashboard.browser import address
from dashboard.forms import controls
from demo_models import TASKS
from radam_core.methods import METHODS

SEEDS = (1, 2, 3, 5, 10)
TASK_NAMES = ("digits", *(name for name in TASKS if name != "digits"))


def four_steps_controls() -> tuple[SweepConfig, Choice]:
    """What the controls ask for. Every rate of the list, every method and every task makes a sweep."""
    columns = st.columns([4, 5, 5, 5, 5, 7], gap="small", vertical_alignment="bottom")
    with columns[0]:
        task = controls.choose_from_list("Task", "task", TASK_NAMES, TASK_NAMES[0])
    with columns[1]:  # each task keeps its own
        lr = controls.pick("Learning rate", f"lr-{task}", controls.LEARNING_RATES, usual_rate(task))
    with columns[2]:
        first = _method("Steps 1-4", "first", DEFAULT.first)
    with columns[3]:
        second = _method("Steps 5-8", "second", DEFAULT.second)
    with columns[4]:
        after = _method("Then", "then", DEFAULT.after)
    with columns[5]:
        seeds = controls.choose("Seeds", "seeds", SEEDS, 5)
    choice = Choice(first, second, after)
    return four_steps(task, lr, choice, seeds), choice


def _method(label: str, name: str, default: str) -> str:
    return controls.choose_from_list(label, name, PHASES, default, show=lambda key: METHODS[key].label)


def seed_and_step_controls(config: SweepConfig) -> tuple[int, int]:
    """Whose first steps are drawn, and the step whose layers are."""
    left, right = st.columns(2, gap="medium")
    key = address.key("seed")
    if st.session_state.get(key, 0) not in config.seeds:  # there are fewer than there were
        st.session_state[key] = config.seeds[0]
    with left:
        seed = controls.choose("Seed", "seed", config.seeds, config.seeds[0])
    with right:
        step = controls.choose("Layers at step", "step", tuple(range(1, EIGHT + 1)), EIGHT)
    return seed, step
