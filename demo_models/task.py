"""A task as the server sees it: a name, a story and the bounds of its settings; no torch until it is opened.

`TASKS` holds these descriptions. `Task.open(settings)` checks the settings, imports the task's module and calls its
`open_problem(**settings)`, which gives the model, batches, loss and metrics in the form that
`radam_core/race/problem.py` describes (by shape, not by import: a task knows nothing of the race).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

Value = int | float | str | bool


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One knob of a task. Its type is its default's; numbers have `low` and `high`, the others their `choices`."""

    name: str
    default: Value
    help: str
    low: float = 0
    high: float = 0
    choices: tuple[Value, ...] = ()
    local: bool = False  # a path on the user's own machine: a shared link may not set it
    changes_baseline: bool = False  # the task's baseline holds at this setting's default only

    @property
    def allowed(self) -> str:
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, str):
            return "a path, or nothing"
        return f"{'a whole number' if isinstance(self.default, int) else 'a number'} from {self.low:g} to {self.high:g}"

    def check(self, value: object) -> Value:
        """The value in the setting's own type, or an error that says what is allowed."""
        kind = type(self.default)
        kinds = (int, float) if kind is float else kind
        fits = isinstance(value, kinds) and isinstance(value, bool) == isinstance(self.default, bool)
        if fits and isinstance(value, int | float | str):
            if self.choices:
                fits = value in self.choices
            elif isinstance(value, str):
                fits = len(value) <= 4096 and "\0" not in value
            elif not isinstance(value, bool):
                fits = self.low <= value <= self.high  # false for nan
            if fits:
                return kind(value)
        given = repr(value)
        raise ValueError(f"{self.name} must be {self.allowed}, got {given if len(given) < 80 else given[:77] + '...'}")


@dataclass(frozen=True, kw_only=True)
class Task:
    """What there is to know of a task before any of it is computed."""

    name: str
    story: str
    module: str  # has open_problem(**settings)
    metrics: Mapping[str, str] = field(default_factory=dict)  # name -> "higher" or "lower", whichever is better
    settings: tuple[Setting, ...] = ()
    batch_size: int = 32  # the defaults of a race on it
    steps: int = 500
    lr: float = 1e-3
    evaluate_every: int = 100
    steps_per_frame: int = 5
    record_every: int = 1
    lane_steps_per_second: float = 30.0  # on two laptop cores: what to expect of a machine that has run nothing yet
    baseline: float | None = None  # the loss of a model that ignores its input
    # Settings at which the gradient-variance probe measures it, 16 models at once; None: it is not offered.
    probe_settings: Mapping[str, Value] | None = None

    def baseline_at(self, settings: Mapping[str, Value]) -> float | None:
        """The baseline with these settings, where it is known."""
        fixed = [setting for setting in self.settings if setting.changes_baseline]
        return self.baseline if all(settings[one.name] == one.default for one in fixed) else None

    def check(self, settings: Mapping[str, object]) -> dict[str, Value]:
        """Every setting of the task: those given, checked, and the defaults of the others."""
        known = {setting.name: setting for setting in self.settings}
        unknown = sorted(set(settings) - set(known))
        if unknown:
            raise ValueError(f"{self.name} has no setting {unknown[0]!r}; it has {', '.join(known) or 'none'}")
        checked: dict[str, Value] = {}
        for name, setting in known.items():
            try:
                checked[name] = setting.check(settings.get(name, setting.default))
            except ValueError as error:
                raise ValueError(f"{self.name}.{error}") from None
        return checked

    def open(self, settings: Mapping[str, Any] | None = None) -> Any:
        """The task ready to be raced: data read, nothing trained. Imports torch."""
        return import_module(self.module).open_problem(**self.check(settings or {}))
