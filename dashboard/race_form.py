"""The race's controls: a preset or a task, what all lanes share, and the rest; together they give a configuration.

The controls start from a configuration (`open_form`), a preset's or a link's, and their keys carry its number, so that
opening another one gives all of them its values.
"""

import re
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import controls
from dashboard.config import RaceConfig
from dashboard.presets import PRESETS, task_race
from dashboard.race_lanes import AS_THE_METHOD, Shared, lane_table, lanes_of, shared_settings
from dashboard.words import never_rectified
from demo_models import TASKS
from demo_models.task import Setting
from radam_core.methods import METHODS
from radam_core.schedules import WARMUPS
from radam_core.theory import first_rectified_step

_KINDS = (AS_THE_METHOD, *(kind for kind in WARMUPS if kind not in ("none", "radam")))
_BASE, _NUMBER, _CHOICE = "race-base", "race-number", "race-choice"
_CUSTOM = "from the link"


def plain(text: str) -> str:
    """Text that quotes a stranger, such as a link: shown as it is, with nothing in it taken for Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>$~:#|])", r"\\\1", text)


def choices() -> list[str]:
    return [*PRESETS, *(f"task: {name}" for name in TASKS)]


def config_of(choice: str) -> RaceConfig:
    return PRESETS[choice].config if choice in PRESETS else task_race(choice.removeprefix("task: "))


def open_form(config: RaceConfig) -> None:
    """Puts a configuration into the controls; call it before they are drawn."""
    state = st.session_state
    state[_BASE], state[_NUMBER] = config, state.get(_NUMBER, 0) + 1
    state[_CHOICE] = next((name for name in choices() if config_of(name) == config), _CUSTOM)


def race_controls(devices: tuple[str, ...]) -> RaceConfig | None:
    """The controls in one row, and the configuration that they describe; None, and a sentence, if it is none."""
    state = st.session_state
    if _BASE not in state:
        open_form(PRESETS["figure-1"].config)
    columns = st.columns([5, 5, 4, 4, 3], gap="small", vertical_alignment="bottom")
    with columns[0]:
        options = choices() if state[_CHOICE] in choices() else [_CUSTOM, *choices()]
        st.selectbox("Race", options, key=_CHOICE, on_change=_open_choice, help=_stories())
    base, number = state[_BASE], state[_NUMBER]
    common = shared_settings(base)
    with columns[1]:
        beta2 = _notch("$\\beta_2$, memory of the squares", "beta2", controls.BETA2S, common.beta2)
    with columns[2]:
        lr = _notch("Learning rate", "lr", controls.LEARNING_RATES, common.lr)
    with columns[3]:
        kind = st.selectbox("Warmup", _KINDS, key=f"kind-{number}", help="Of the lanes whose method has one to tune.")
    with columns[4]:
        length = st.number_input("Its steps", value=int(common.warmup_steps), step=50, key=f"length-{number}")
    with st.expander(_summary(base), icon=":material/tune:", key="race-more"):
        values = _more_controls(base, number, devices)
        table = _lanes_control(base, number)
    try:
        lanes = lanes_of(table, Shared(lr, beta2, kind, float(length)))
        config = RaceConfig.make({**base.model_dump(), **values, "lanes": lanes})
    except ValueError as problem:
        st.error(plain("\n\n".join(str(problem).splitlines()[:3])), icon=":material/error:")
        return None
    _warn_of_momentum(config)
    return config


def _warn_of_momentum(config: RaceConfig) -> None:
    """Says so, in place, if a lane that should rectify never will."""
    for lane in config.entry().lanes:
        beta2, threshold = lane.method.betas[1], lane.method.threshold
        if lane.method.rectify is not None and first_rectified_step(beta2, threshold) is None:
            st.warning(f"{plain(lane.label)}: {never_rectified(beta2, threshold)}", icon=":material/block:")
            return


def _open_choice() -> None:
    choice = st.session_state[_CHOICE]
    if choice != _CUSTOM:
        open_form(config_of(choice))


def _notch(label: str, name: str, listed: tuple[float, ...], value: float) -> float:
    """A slider over listed values, among them the configuration's own."""
    options = sorted({*listed, value})
    key = f"{name}-{st.session_state[_NUMBER]}"
    return st.select_slider(label, options, value, format_func=controls.compact, key=key)


def _summary(config: RaceConfig) -> str:
    names = [plain(lane.label) for lane in config.lanes]
    listed = ", ".join(names) if len(names) <= 7 else f"{', '.join(names[:6])} and {len(names) - 6} more"
    return f"Lanes and settings: {listed}"


def _stories() -> str:
    presets = [f"**{name}**: {preset.story}" for name, preset in PRESETS.items()]
    return "\n\n".join([*presets, *(f"**task: {name}**: {task.story}" for name, task in TASKS.items())])


def _more_controls(base: RaceConfig, number: int, devices: tuple[str, ...]) -> dict[str, Any]:
    """What holds for the race as a whole: its length, its seed, its device, and the task's own settings."""
    named = {"steps": "Steps", "batch_size": "Batch size", "seed": "Seed", "evaluate_every": "Measure every"}
    own = [setting for setting in TASKS[base.task].settings if not setting.local]
    columns = st.columns(len(named) + 1 + len(own), gap="small", vertical_alignment="bottom")
    values: dict[str, Any] = {}
    for column, (name, label) in zip(columns, named.items(), strict=False):
        values[name] = column.number_input(label, value=getattr(base, name), step=1, key=f"{name}-{number}")
    with columns[len(named)]:
        offered = list(dict.fromkeys(["auto", *devices, base.device]))
        at = offered.index(base.device)
        values["device"] = st.selectbox("Device", offered, index=at, key=f"device-{number}")
    settings = {
        setting.name: _setting_control(setting, base.settings[setting.name], column, f"{setting.name}-setting-{number}")
        for setting, column in zip(own, columns[len(named) + 1 :], strict=True)
    }
    return {**values, "settings": {**base.settings, **settings}}


def _setting_control(setting: Setting, value: Any, column: Any, key: str) -> Any:
    label, about = setting.name.replace("_", " ").capitalize(), f"{setting.help} ({setting.allowed})"
    if setting.choices:
        return column.selectbox(label, setting.choices, setting.choices.index(value), key=key, help=about)
    if isinstance(setting.default, bool):
        return column.checkbox(label, value, key=key, help=about)
    step = 1 if isinstance(setting.default, int) else None
    return column.number_input(label, value=value, step=step, format=None if step else "%g", key=key, help=about)


def _lanes_control(base: RaceConfig, number: int) -> pd.DataFrame:
    st.caption(
        "A row is a lane. An empty cell is as above, or as the method has it. Add a row at the end, or delete one."
    )
    number_column = st.column_config.NumberColumn
    return st.data_editor(
        lane_table(base),
        key=f"lanes-{number}",
        num_rows="dynamic",
        hide_index=True,
        alt="The lanes of the race",
        column_config={
            "label": st.column_config.TextColumn("lane", max_chars=60),
            "method": st.column_config.SelectboxColumn("method", options=list(METHODS), required=True),
            "lr": number_column("learning rate", format="%g"),
            "beta2": number_column("β₂", format="%g"),
            "warmup": st.column_config.SelectboxColumn("warmup", options=[k for k in WARMUPS if k != "radam"]),
            "warmup_steps": number_column("its steps", format="%g"),
            "eps": number_column("epsilon", format="%g"),
            "weight_decay": number_column("weight decay", format="%g"),
            "others": None,
        },
    )
