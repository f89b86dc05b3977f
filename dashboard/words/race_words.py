"""The words of the race page: what is raced here, and what its lanes, states and lines are called."""

import re
from collections.abc import Iterable

from dashboard.asked.config import RaceConfig
from dashboard.asked.lane_states import LOSS_STATES, STATES
from dashboard.asked.presets import PRESETS
from dashboard.figures.methods import METHOD_ROWS
from demo_models import TASKS
from radam_core.torch_methods import LANE_METHODS

TERMS = {
    "lane": "one optimizer with its settings. All lanes of a race start from the same weights and see the same batches "
    "in the same order, so what differs between them is the optimizer. A *lane-step* is one step of one lane.",
    "loss on a card": "the mean of the training loss over the last 20 steps; a single batch says little. The *best* is "
    "the smallest such mean so far.",
    "colours that take turns": "where lanes lie on one another, their colours alternate along the line, so that all are "
    "seen; a lane that is otherwise dashed is hollow there.",
    "held-out": "measured on data that no lane has trained on.",
    "ρₜ and rₜ": "how many gradients the average $v$ is worth at step $t$, and the factor that RAdam makes of it.",
}


def story(choice: str, config: RaceConfig, changed: bool = False) -> str:
    """What this race is about: the preset's story, if it is one, and the task's. What is said of a preset that was
    `changed` holds at its own settings alone."""
    task = TASKS[config.task]
    told = PRESETS.get(choice)
    name = f"**{choice}, changed.** At its own settings" if changed else f"**{choice}**"
    preset = [f"{name}: {told.story}"] if told else []
    if told and told.may:
        preset += [re.sub(r"(You may conclude|You may not):", r"**\1**:", told.may)]
    return "  \n".join([*preset, f"**{task.name}** is the task: {task.story}"])


def glossary(config: RaceConfig) -> str:
    """The page's words, and the methods that race in it."""
    methods = dict.fromkeys(lane.method for lane in config.lanes)
    named = [(LANE_METHODS[name].label, METHOD_ROWS[name].about) for name in methods]
    parts = {
        "The page": TERMS.items(),
        "Where a lane is": STATES.items(),
        "What its loss has done, told from step 20 on": LOSS_STATES.items(),
        "The methods in this race": named,
    }
    return "\n\n".join(f"**{head}**\n\n{_listed(rows)}" for head, rows in parts.items())


def _listed(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- **{name}**: {text}" for name, text in rows)
