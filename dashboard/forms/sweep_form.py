"""The sweep's controls: a preset, the axes of its grid, its seeds and its length; together they give a configuration.

As on the race page the controls start from a configuration (`open_form`), and their keys carry its number.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

import streamlit as st

from dashboard.asked.axis_text import axis_text, axis_values
from dashboard.asked.sweep_config import LR, WARMUP, SweepConfig, has_warmup_length
from dashboard.asked.sweep_presets import SWEEPS, contender
from dashboard.forms.race_form import plain
from dashboard.hosting.bounds import helped
from demo_models import TASKS
from radam_core.torch_methods import LANE_METHODS

DEFAULT = next(iter(SWEEPS))
CUSTOM = "from the link"
_BASE, _NUMBER, _CHOICE, _ALLOWED, MORE = "sweep-base", "sweep-number", "sweep-choice", "sweep-allowed", "sweep-more"
_KEPT: Literal["session"] = "session"
_LABELS = {LR: "Learning rates", WARMUP: "Warmup lengths, steps", "beta2": "β₂"}
_HELP = "Numbers with commas, such as 0.001, 0.003, 0.01, or a log range: 0.001 to 0.02 in 8."
_LISTED = "{} values: {}"


def choice_of(config: SweepConfig) -> str | None:
    return next((name for name, preset in SWEEPS.items() if preset.config == config), None)


def open_form(config: SweepConfig, changed_from: str = "") -> None:
    """Puts a configuration into the controls, perhaps one changed from a preset; call it before they are drawn."""
    state = st.session_state
    for key in [key for key in state if str(key).startswith("sweep-form-")]:
        del state[key]
    state[_BASE], state[_NUMBER] = config, state.get(_NUMBER, 0) + 1
    state[_ALLOWED] = config
    state[_CHOICE] = choice_of(config) or (changed_from if changed_from in SWEEPS else CUSTOM)


def chosen() -> str:
    """The preset that the controls began with, if it was one."""
    choice = str(st.session_state.get(_CHOICE, ""))
    return choice if choice in SWEEPS else ""


def last_allowed() -> SweepConfig:
    """The configuration that the controls described when they last described one."""
    found: SweepConfig = st.session_state[_ALLOWED]
    return found


def sweep_controls() -> SweepConfig | None:
    """The controls, and the configuration that they describe; None, and a sentence, if it is none."""
    state = st.session_state
    if _BASE not in state:
        open_form(SWEEPS[DEFAULT].config)
    columns = st.columns([4, 5, 5, 4, 2, 2], gap="small", vertical_alignment="bottom")
    with columns[0]:
        options = [*SWEEPS] if state[_CHOICE] in SWEEPS else [CUSTOM, *SWEEPS]
        st.selectbox("Sweep", options, key=_CHOICE, on_change=_open_choice, persist_state=_KEPT)
    base: SweepConfig = state[_BASE]
    texts = {}
    for column, axis in zip(columns[1:4], (LR, WARMUP, "beta2"), strict=True):
        texts[axis] = _axis_control(column, base, axis)
    with columns[4]:
        seeds = st.number_input("Seeds", value=len(base.seeds), step=1, key=_key("seeds"), persist_state=_KEPT)
    with columns[5]:
        steps = st.number_input(
            "Steps", value=base.steps, step=100, key=_key("steps"), help=helped(None, "steps"), persist_state=_KEPT
        )
    above = st.container()
    with st.expander("Methods and settings", icon=":material/tune:", key=MORE, on_change="rerun") as more:
        if more.open:
            state[_key("set")] = _more_controls(base)
    others = state.get(_key("set"), {})
    below = st.container()
    above.caption(_story(state[_CHOICE], base))
    try:
        config = _made(base, texts, seeds, steps, others)
    except ValueError as problem:
        below.error(plain("\n\n".join(str(problem).splitlines()[:3])), icon=":material/error:")
        return None
    state[_ALLOWED] = config
    return config


def _made(
    base: SweepConfig, texts: Mapping[str, str], seeds: int, steps: int, others: Mapping[str, Any]
) -> SweepConfig:
    axes: dict[str, Any] = dict(base.axes)
    for axis, text in texts.items():
        values = axis_values(axis, text)
        if values or axis == LR:
            axes[axis] = values
        else:
            axes.pop(axis, None)
    if not 1 <= seeds <= 100:
        raise ValueError(f"seeds must be from 1 to 100, got {seeds}")
    wanted = base.seeds if len(base.seeds) == seeds else tuple(range(int(seeds)))
    return SweepConfig.make({**base.model_dump(), **others, "axes": axes, "seeds": wanted, "steps": int(steps)})


def _axis_control(place: Any, base: SweepConfig, axis: str) -> str:
    given = axis_text(base.axes.get(axis, ()))
    unused = "" if axis == LR else "as each method has it"
    return str(
        place.text_input(
            _LABELS[axis],
            given,
            key=_key(f"axis-{axis}"),
            help=_HELP + (" 0 is no warmup." if axis == WARMUP else ""),
            placeholder=unused,
            max_chars=400,
            persist_state=_KEPT,
        )
    )


def _story(choice: str, base: SweepConfig) -> str:
    told = SWEEPS[choice].story if choice in SWEEPS else "A sweep from a link."
    return f"{told} **Task:** {TASKS[base.task].story}"


def _more_controls(base: SweepConfig) -> dict[str, Any]:
    """The methods, and the task with its settings."""
    named = {one.label: one.model_dump() for one in base.contenders}
    offered = [*named, *(method.label for method in LANE_METHODS.values() if method.label not in named)]
    chosen = st.multiselect("Methods", offered, list(named), key=_key("methods"), persist_state=_KEPT)
    by_label = {method.label: name for name, method in LANE_METHODS.items()}
    contenders = [named[label] if label in named else contender(by_label[label]) for label in chosen]
    for one in contenders:
        method = LANE_METHODS[one["method"]]
        if has_warmup_length(method) and WARMUP not in base.axes and WARMUP not in one["lane"]:
            one["lane"] = {**one["lane"], WARMUP: 200}
    own = [setting for setting in TASKS[base.task].settings if not setting.local]
    columns = st.columns(max(1, len(own) + 1), gap="small", vertical_alignment="bottom")
    batch = columns[0].number_input("Batch size", value=base.batch_size, key=_key("batch"), persist_state=_KEPT)
    settings = dict(base.settings)
    for setting, column in zip(own, columns[1:], strict=True):
        label = setting.name.replace("_", " ").capitalize()
        about = helped(f"{setting.help} ({setting.allowed})", f"{base.task}.{setting.name}")
        key, value = _key(f"setting-{setting.name}"), cast(Any, base.settings[setting.name])
        if setting.choices:
            at = setting.choices.index(value)
            settings[setting.name] = column.selectbox(
                label, setting.choices, at, key=key, help=about, persist_state=_KEPT
            )
        else:
            settings[setting.name] = column.number_input(label, value=value, key=key, help=about, persist_state=_KEPT)
    return {"contenders": contenders, "settings": settings, "batch_size": int(batch)}


def _open_choice() -> None:
    choice = st.session_state[_CHOICE]
    if choice in SWEEPS:
        open_form(SWEEPS[choice].config)


def _key(name: str) -> str:
    return f"sweep-form-{st.session_state.get(_NUMBER, 0)}-{name}"
