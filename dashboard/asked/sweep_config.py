"""A sweep's configuration: a grid of lanes, contender by learning rate by warmup length by whatever else, over seeds.

A cell of it is a lane like any other, with the same id: what a race has trained a sweep need not, and the other way
round. Each axis is for the contenders that have such a setting: RAdam has no warmup to tune, SGD no beta2.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from functools import cached_property, lru_cache
from itertools import product
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, field_validator, model_validator

from dashboard.asked.config import MOST_LANES, MOST_RECORDED, LaneConfig, RaceConfig, Seed, TaskConfig
from dashboard.asked.validated import Frozen
from demo_models import TASKS
from demo_models.task import Value
from radam_core.methods import METHODS, Method
from radam_core.torch_methods import LANE_METHODS, TorchMethod

MOST_CELLS, MOST_SEEDS, LONGEST_LABEL = 1000, 100, 60
LR, WARMUP = "lr", "warmup_steps"


LENGTHS = ("linear", "exponential")  # the warmups that have a length to choose


def has_warmup_length(method: Method) -> bool:
    return method.warmup in LENGTHS


def _has(name: str, ours: Callable[[Method], bool] = lambda method: True) -> Callable[[Method], bool]:
    """Whether a method has a setting: one of ours by a rule, one of torch's by its row."""
    return lambda method: name in method.row.has if isinstance(method, TorchMethod) else ours(method)


def _adapts(method: Method) -> bool:
    return method.first_moment != "heavy-ball"


# The settings of a lane that an axis may run over, and the methods that have them.
AXES: dict[str, Callable[[Method], bool]] = {
    LR: lambda method: True,
    WARMUP: has_warmup_length,
    "beta2": _has("beta2", _adapts),
    "beta1": _has("beta1"),
    "eps": _has("eps", _adapts),
    "weight_decay": _has("weight_decay"),
    "clip": lambda method: True,
    "threshold": _has("threshold", lambda method: method.rectify is not None),
    "frozen_steps": lambda method: method.frozen_steps > 0,
    "decay": _has("decay"),
}
_OWN = ("label", "method", "seed", LR)  # of a lane's settings: not a contender's


class Contender(Frozen):
    """A method as the sweep tries it. `lane` are settings that all its cells share, `settings` the task's own where
    they differ from the sweep's, such as where the layer norm stands."""

    label: Annotated[str, Field(min_length=1, max_length=40)]
    method: str
    lr_times: Annotated[float, Field(gt=0, le=1e4)] = 1.0  # its learning rates are these times the axis's
    lane: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, Value] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Self:
        if self.method not in LANE_METHODS:
            raise ValueError(f"method must be one of {', '.join(LANE_METHODS)}, got {self.method!r}")
        known = [name for name in LaneConfig.model_fields if name not in _OWN]
        for name in self.lane:
            if name not in known:
                raise ValueError(f"lane may set {', '.join(known)}, got {name!r}")
        return self

    def has(self, axis: str) -> bool:
        method = LANE_METHODS[self.method]
        if axis == WARMUP and "warmup" in self.lane:
            return axis not in self.lane and self.lane["warmup"] in LENGTHS
        return axis not in self.lane and AXES[axis](method)


@dataclass(frozen=True)
class Cell:
    """One lane of a sweep: where it stands in the grid, and its seed."""

    place: int
    contender: int
    values: Mapping[str, Any]  # by axis, as far as the contender has it; `lr` as it is trained
    at: Mapping[str, int]  # the same as places on the axes
    seed: int
    lane: LaneConfig


class SweepConfig(TaskConfig):
    """A task with its settings, and the grid of lanes that is tried on it."""

    kind: ClassVar[str] = "sweep"
    LISTS: ClassVar[Mapping[str, type[Frozen]]] = {"contenders": Contender}

    contenders: Annotated[tuple[Contender, ...], Field(max_length=20)]
    axes: dict[str, tuple[Any, ...]]
    seeds: Annotated[tuple[Seed, ...], Field(max_length=MOST_SEEDS)] = (0, 1, 2)

    @field_validator("axes", mode="before")
    @classmethod
    def _are_lists_of_settings(cls, axes: Any) -> Any:
        if not isinstance(axes, Mapping):
            raise ValueError(f"axes must be a mapping from settings of a lane to lists of values, got {axes!r}")
        for name, values in axes.items():
            if name not in AXES:
                raise ValueError(f"axes may be {', '.join(AXES)}, got {str(name)[:40]!r}")
            if not isinstance(values, Sequence) or isinstance(values, str):
                raise ValueError(f"axes.{name} must be a list of values, got {str(values)[:40]!r}")
            if len(values) > MOST_CELLS:
                raise ValueError(f"axes.{name} may have at most {MOST_CELLS:,} values, got {len(values):,}")
        return {name: tuple(_axis_value(name, value) for value in values) for name, values in axes.items()}

    @model_validator(mode="after")
    def _is_a_grid(self) -> Self:
        for name, values in (("contenders", self.contenders), ("seeds", self.seeds), *self._axes()):
            if not values:
                raise ValueError(f"{name} must hold at least one entry, got none: the grid is empty")
        if LR not in self.axes:
            raise ValueError("axes must have lr, the learning rates to try")
        for name, values in (("seeds", self.seeds), *self._axes()):
            twice = next((value for i, value in enumerate(values) if value in values[:i]), None)
            if twice is not None:
                raise ValueError(f"{name} must have different values, got {twice!r} twice")
        labels = [contender.label for contender in self.contenders]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"contenders must have labels of their own, got {label!r} twice")
        self._refuse_what_is_too_large()
        for contender in self.contenders:
            try:
                TASKS[self.task].check({**self.settings, **contender.settings})
            except ValueError as problem:
                raise ValueError(f"contender {contender.label!r}: {problem}") from None
        _cells(self)  # every lane must be one
        return self

    def _axes(self) -> list[tuple[str, tuple[Any, ...]]]:
        return [(f"axes.{name}", values) for name, values in self.axes.items()]

    def _refuse_what_is_too_large(self) -> None:
        if self.size > MOST_CELLS:
            raise ValueError(
                f"a sweep may have at most {MOST_CELLS:,} cells, got {self.size:,}: take fewer values or fewer seeds"
            )
        recorded = self.size * (self.steps // self.record_every)
        if recorded > MOST_RECORDED:
            raise ValueError(
                f"record_every must be larger: cells times recorded steps may be at most {MOST_RECORDED:,}, "
                f"got {recorded:,}"
            )

    @property
    def size(self) -> int:
        """How many lanes it has."""
        found = 0
        for contender in self.contenders:
            count = len(self.seeds)
            for name, values in self.axes.items():
                count *= len(values) if contender.has(name) else 1
            found += count
        return found

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        return _cells(self)

    def stack_key(self, place: int) -> tuple[Any, ...]:
        """Lanes with equal keys can be stacked: one seed, and the task at the same settings."""
        cell = self.cells[place]
        return cell.seed, json.dumps(self._race(self.contenders[cell.contender]).settings, sort_keys=True)

    def only(self, places: Sequence[int]) -> RaceConfig:
        """These cells as a race: lanes of one stack. Their seed is the race's."""
        first = self.cells[places[0]]
        base = self._race(self.contenders[first.contender])
        # Labels of their own, however long those of the cells: they are in no lane's id.
        lanes = tuple(self.cells[place].lane.model_copy(update={"label": f"cell {place}"}) for place in places)
        return base.model_copy(update={"lanes": lanes, "seed": first.seed})

    def race_of(self, places: Sequence[int]) -> RaceConfig:
        """The same for people to look at: lanes of any seed, each with its own in its label; `ValueError` if there are
        too many, or if the task's settings differ."""
        cells = [self.cells[place] for place in places]
        if not 0 < len(cells) <= MOST_LANES:
            raise ValueError(f"a race has from 1 to {MOST_LANES} lanes, got {len(cells)}")
        if len({self.stack_key(cell.place)[1] for cell in cells}) > 1:
            raise ValueError("lanes of one race need a task with the same settings: choose cells of one kind")
        base = self._race(self.contenders[cells[0].contender])
        lowest = min(cell.seed for cell in cells)
        labels = [cell.lane.label for cell in cells]
        lanes = [{**cell.lane.model_dump(exclude_none=True), "seed": cell.seed - lowest} for cell in cells]
        for lane, cell in zip(lanes, cells, strict=True):
            if labels.count(cell.lane.label) > 1:  # what tells them apart was cut off, or is beyond six digits
                tail = f" ({cell.place})"
                lane["label"] = cell.lane.label[: LONGEST_LABEL - len(tail)] + tail
        return RaceConfig.make({**base.model_dump(), "lanes": lanes, "seed": lowest})

    def refuse_local(self) -> None:
        super().refuse_local()
        for contender in self.contenders:
            self._race(contender).refuse_local()

    def lane_json(self, place: int) -> str:
        return self.only([place]).lane_json(0)

    def _race(self, contender: Contender) -> RaceConfig:
        return _race(self.model_copy(update={"contenders": (contender,)}))

    def baseline(self, contender: int) -> float | None:
        """What a model costs that ignores its input, where the task knows it."""
        task = TASKS[self.task]
        return task.baseline_at(task.check({**self.settings, **self.contenders[contender].settings}))


@lru_cache(256)
def _race(config: SweepConfig) -> RaceConfig:
    """A race with the first lane of a sweep's only contender."""
    own = {name: getattr(config, name) for name in TaskConfig.model_fields}
    settings = {**config.settings, **config.contenders[0].settings}
    lanes = [_cells(config)[0].lane]
    return RaceConfig.make({**own, "settings": settings, "lanes": lanes, "seed": 0})


@lru_cache(64)
def _cells(config: SweepConfig) -> tuple[Cell, ...]:
    """Contender by contender, along the axes in their order, seed by seed."""
    found: list[Cell] = []
    for number, contender in enumerate(config.contenders):
        names = [name for name in config.axes if contender.has(name)]
        for at in product(*(range(len(config.axes[name])) for name in names)):
            values = {name: config.axes[name][i] for name, i in zip(names, at, strict=True)}
            lane = _lane(contender, values)
            values[LR] = lane.lr
            for seed in config.seeds:
                own = [f"{_SHORT.get(name, name)} {_plain(value)}" for name, value in values.items()]
                tail = ", ".join([*own, *([f"seed {seed}"] if len(config.seeds) > 1 else [])])
                label = f"{contender.label[: max(0, LONGEST_LABEL - 2 - len(tail))]}, {tail}"[:LONGEST_LABEL]
                named = lane.model_copy(update={"label": label})
                found.append(Cell(len(found), number, values, dict(zip(names, at, strict=True)), seed, named))
    return tuple(found)


def _lane(contender: Contender, values: Mapping[str, Any]) -> LaneConfig:
    own = {**contender.lane, **values}
    method = contender.method
    if own.get(WARMUP) == 0 and has_warmup_length(LANE_METHODS[method]):  # no warmup is the method without one
        method = without_warmup(method)
        own = {name: value for name, value in own.items() if name not in (WARMUP, "warmup")}
    rate = own.get(LR)
    if isinstance(rate, int | float) and not isinstance(rate, bool):
        own[LR] = float(f"{rate * contender.lr_times:.12g}")  # 0.3, not 0.30000000000000004
    try:
        return LaneConfig.model_validate({**own, "label": contender.label, "method": method})
    except ValueError as error:
        raise ValueError(_reason(error, contender)) from None


def _reason(error: Any, contender: Contender) -> str:
    problem = error.errors()[0]
    where = ".".join(map(str, problem["loc"]))
    given = repr(problem["input"])[:60] if problem["loc"] else ""
    message = problem["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    field = f"{'lane' if where in contender.lane else 'axes'}.{where}"
    named = f"{field} {message[0].lower()}{message[1:]}, got {given}" if where else message
    return f"contender {contender.label!r}: {named}"


def _axis_value(name: str, value: Any) -> Any:
    """Equal values are written alike, so that equal sweeps have equal texts."""
    if name == "decay" or (name == "clip" and value is None):
        return value  # the lane checks it
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"axes.{name} must be numbers, got {str(value)[:40]!r}")
    try:
        real = float(value)
    except OverflowError:
        raise ValueError(f"axes.{name} must be at most 1e308, got {str(value)[:40]}...") from None
    if not math.isfinite(real):  # also where no contender takes it: JSON has no word for it
        raise ValueError(f"axes.{name} must be finite numbers, got {value}")
    return int(real) if real.is_integer() and abs(real) < 1e9 else real


@lru_cache
def without_warmup(method: str) -> str:
    """The name of the same method without its warmup: a warmup of no steps is that, and not another lane."""
    plain = replaced(METHODS[method], label="", warmup="none", warmup_steps=None)
    return next(name for name, known in METHODS.items() if replaced(known, label="") == plain)


_SHORT = {WARMUP: "warmup", "weight_decay": "wd", "frozen_steps": "frozen"}


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
