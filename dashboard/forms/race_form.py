"""The race's controls: a preset or a task, what all lanes share, and the rest; together they give a configuration.

The controls start from a configuration (`open_form`), a preset's or a link's, and their keys carry its number, so that
opening another one gives all of them its values. What is set survives a change of page: Streamlit keeps the value of a
control that asks for it (`persist_state`); the table of lanes cannot ask, so we keep what it was edited to.
"""

import re
from functools import cache
from typing import Any, Literal

import pandas as pd
import streamlit as st

from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS, task_race
from dashboard.forms import controls
from dashboard.forms.race_lanes import AS_THE_METHOD, OPTIONS, Shared, lane_table, lanes_of, shared_settings
from dashboard.hosting.bounds import helped
from dashboard.remembered import shared
from dashboard.words.race_words import story
from dashboard.words.sentences import never_rectified
from demo_models import TASKS
from demo_models.task import Setting
from radam_core.schedules import WARMUPS
from radam_core.theory import first_rectified_step
from radam_core.torch_methods import LANE_METHODS

DEFAULT = next(iter(PRESETS))
TASK_PREFIX = "task: "
_KINDS = (AS_THE_METHOD, *(kind for kind in WARMUPS if kind not in ("none", "radam")))
_BASE, _NUMBER, _CHOICE = "race-base", "race-number", "race-choice"
_TABLE, _EDITED, _SET, _ALLOWED = "race-table", "race-edited", "race-set", "race-allowed"
MORE = "race-more"
_CUSTOM = "from the link"
_KEPT: Literal["session"] = "session"


def plain(text: str) -> str:
    """Text that quotes a stranger, such as a link: shown as it is, with nothing in it taken for Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>$~:#|])", r"\\\1", text)


@cache
def choices() -> dict[str, RaceConfig]:
    """The races that can be chosen by name: the presets, and every task as it comes."""
    tasks = {f"{TASK_PREFIX}{name}": task_race(name) for name in TASKS}
    return {name: preset.config for name, preset in PRESETS.items()} | tasks


def choice_of(config: RaceConfig) -> str | None:
    """The name under which a configuration can be chosen."""
    return next((name for name, known in choices().items() if known == config), None)


def open_form(config: RaceConfig) -> None:
    """Puts a configuration into the controls; call it before they are drawn."""
    state = st.session_state
    for key in [key for key in state if str(key).startswith(_key(""))]:
        del state[key]
    state[_BASE], state[_NUMBER] = config, state.get(_NUMBER, 0) + 1
    state[_TABLE] = state[_EDITED] = lane_table(config)
    state[_SET] = {}
    state[_ALLOWED] = config
    state[_CHOICE] = choice_of(config) or _CUSTOM


def last_allowed() -> RaceConfig:
    """The configuration that the controls described when they last described one."""
    return st.session_state[_ALLOWED]


def race_controls(devices: tuple[str, ...]) -> RaceConfig | None:
    """The controls in one row, and the configuration that they describe; None, and a sentence, if it is none."""
    state = st.session_state
    if _BASE not in state:
        open_form(choices()[DEFAULT])
    columns = st.columns([5, 5, 4, 4, 3], gap="small", vertical_alignment="bottom")
    with columns[0]:
        options = [*choices()] if state[_CHOICE] in choices() else [_CUSTOM, *choices()]
        st.selectbox("Race", options, key=_CHOICE, on_change=_open_choice, persist_state=_KEPT)
    base = state[_BASE]
    common = shared_settings(base)
    with columns[1]:
        beta2 = _notch("β₂, memory of the squares", "beta2", controls.BETA2S, common.beta2)
    with columns[2]:
        lr = _notch("Learning rate", "lr", controls.LEARNING_RATES, common.lr)
    with columns[3]:
        about = "Of the lanes whose method has one to tune."
        kind = st.selectbox("Warmup", _KINDS, key=_key("kind"), help=about, persist_state=_KEPT)
    with columns[4]:
        length = _number(st, "Warmup steps", "length", int(common.warmup_steps), step=50)
    above = st.container()
    # Half of the page's work is behind this door: it is done for those who open it.
    with st.expander("Lanes and settings", icon=":material/tune:", key=MORE, on_change="rerun") as more:
        if more.open:
            state[_SET] = _more_controls(base, devices)
            _lanes_control()
    below = st.container()  # always there, so that a sentence in it moves no chart to another place
    try:
        config = _described(base, Shared(lr, beta2, kind, float(length)), state[_SET], state[_EDITED])
    except ValueError as problem:
        above.caption(story(state[_CHOICE], base))  # also now: what is below it stays in its place
        below.error(plain("\n\n".join(str(problem).splitlines()[:3])), icon=":material/error:")
        return None
    state[_ALLOWED] = config
    above.caption(story(state[_CHOICE], base, config != base))
    if warning := _momentum_alone(config):
        below.warning(warning, icon=":material/block:")
    return config


def _described(base: RaceConfig, common: Shared, values: dict[str, Any], table: pd.DataFrame) -> RaceConfig:
    """The configuration that the controls describe; `ValueError` if they describe none."""
    if not values and table is lane_table(base):
        return _with_shared(base, common)
    return RaceConfig.make({**base.model_dump(), **values, "lanes": lanes_of(table, common)})


@shared(64)
def _with_shared(base: RaceConfig, common: Shared) -> RaceConfig:
    """Of those who left the door closed: in a class that opens the page, of all."""
    return RaceConfig.make({**base.model_dump(), "lanes": lanes_of(lane_table(base), common)})


@shared(64)
def _momentum_alone(config: RaceConfig) -> str:
    """Says so if a lane that should rectify never will; else empty."""
    for lane in config.plan().lanes:
        beta2, threshold = lane.method.betas[1], lane.method.threshold
        if lane.method.rectify is not None and first_rectified_step(beta2, threshold) is None:
            return f"{plain(lane.label)}: {never_rectified(beta2, threshold)}"
    return ""


def _open_choice() -> None:
    chosen = choices().get(st.session_state[_CHOICE])  # none for one's own race, and for what a list never offered
    if chosen is not None:
        open_form(chosen)


def _key(name: str) -> str:
    """A control's key. A new configuration has new ones, so that its values are not the old one's."""
    return f"race-form-{st.session_state.get(_NUMBER, 0)}-{name}"


def _notch(label: str, name: str, listed: tuple[float, ...], value: float) -> float:
    """A slider over listed values, among them the configuration's own."""
    options = sorted({*listed, value})
    return st.select_slider(label, options, value, format_func=controls.compact, key=_key(name), persist_state=_KEPT)


def _number(place: Any, label: str, name: str, value: float, **settings: Any) -> Any:
    return place.number_input(label, value=value, key=_key(name), persist_state=_KEPT, **settings)


_OPTIONS = "What an optimizer of torch has beyond the other columns: momentum_decay=0.01 for torch.NAdam, say."

# What a label cannot say.
_HELP = {
    "half_batch_steps": "The first N steps (0 to 1,000) run each half of their batch, too, and take 2.2 to 2.6 times "
    "as long. Two halves tell how much of ψ is the luck of the draw: see “Spread of the adaptive rate ψ” below. The "
    "training itself stays the same to the bit.",
    "sharpness_every": "Every N steps (0 = never) the largest curvature of the loss is measured on the step’s batch: "
    "see “Curvature” below. It takes three more gradients of float64 at each measured step, as long as six steps. From "
    "one to the next it comes closer, so that a large N tells less. The training itself stays the same to the bit.",
}


def _more_controls(base: RaceConfig, devices: tuple[str, ...]) -> dict[str, Any]:
    """What holds for the race as a whole: its length, its seed, its device, and the task's own settings."""
    named = {
        "steps": "Steps",
        "batch_size": "Batch size",
        "seed": "Seed",
        "evaluate_every": "Evaluate every",
        "half_batch_steps": "Half batches: first N steps",
        "sharpness_every": "Sharpness: every N steps",
    }
    own = [setting for setting in TASKS[base.task].settings if not setting.local]
    columns = st.columns(len(named) + 1, gap="small", vertical_alignment="bottom")
    values: dict[str, Any] = {}
    for column, (name, label) in zip(columns, named.items(), strict=False):
        values[name] = _number(column, label, name, getattr(base, name), step=1, help=helped(_HELP.get(name), name))
    with columns[len(named)]:
        offered = list(dict.fromkeys(["auto", *devices, base.device]))
        at = offered.index(base.device)
        values["device"] = st.selectbox("Device", offered, index=at, key=_key("device"), persist_state=_KEPT)
    # In a row of their own: all in one, and a label would break inside its words.
    below = st.columns(max(len(named) + 1, len(own)), gap="small", vertical_alignment="bottom") if own else []
    settings = {
        setting.name: _setting_control(base.task, setting, base.settings[setting.name], column)
        for setting, column in zip(own, below, strict=False)
    }
    return {**values, "settings": {**base.settings, **settings}}


def _setting_control(task: str, setting: Setting, value: Any, column: Any) -> Any:
    label = setting.name.replace("_", " ").capitalize()
    about = helped(f"{setting.help} ({setting.allowed})", f"{task}.{setting.name}")
    name = f"setting-{setting.name}"
    if setting.choices:
        at = setting.choices.index(value)
        return column.selectbox(label, setting.choices, at, key=_key(name), help=about, persist_state=_KEPT)
    if isinstance(setting.default, bool):
        return column.checkbox(label, value, key=_key(name), help=about, persist_state=_KEPT)
    step = 1 if isinstance(setting.default, int) else None
    return _number(column, label, name, value, step=step, format=None if step else "%g", help=about)


def _lanes_control() -> None:
    st.caption(
        "A row is a lane. An empty cell is as above, or as the method has it. Add a row at the end, or delete one."
    )
    state, key = st.session_state, _key("lanes")
    if key not in state:  # just opened, or the page was left: the editor starts from what it was edited to
        state[_TABLE] = state[_EDITED].reset_index(drop=True)
    number_column = st.column_config.NumberColumn
    state[_EDITED] = st.data_editor(
        state[_TABLE],
        key=key,
        num_rows="dynamic",
        hide_index=True,
        placeholder="",
        alt="The lanes of the race",
        column_config={
            "label": st.column_config.TextColumn("lane", max_chars=60),
            "method": st.column_config.SelectboxColumn("method", options=list(LANE_METHODS), required=True),
            "lr": number_column("learning rate", format="%g"),
            "beta2": number_column("β₂", format="%g"),
            "warmup": st.column_config.SelectboxColumn("warmup", options=[k for k in WARMUPS if k != "radam"]),
            "warmup_steps": number_column("its steps", format="%g"),
            "eps": number_column("epsilon", format="%g"),
            "weight_decay": number_column("weight decay", format="%g"),
            OPTIONS: st.column_config.TextColumn("torch’s options", help=_OPTIONS, max_chars=200),
            "others": None,
        },
    )
