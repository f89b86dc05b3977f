"""A race's configuration: validated, frozen, and the same after a trip through JSON or a link. No torch here.

What a configuration leaves out is filled in from its task when it is made, so that it holds everything that decides
the run: the same values give the same frames.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from dashboard.asked.validated import Frozen, Validated
from demo_models import TASKS
from demo_models.task import Value
from radam_core.methods import METHODS, PROFILES, Method
from radam_core.race.plan import Lane, RacePlan, check_halves
from radam_core.schedules import DECAYS, WARMUPS
from radam_core.torch_methods import LANE_METHODS, TORCH_METHODS, TorchMethod

MOST_LANES = 64
MOST_HALVED = 1000  # steps with half batches: each takes 2.2 to 2.6 times as long
MOST_DENSE = 50  # steps that all have a histogram
MOST_RECORDED = 1_000_000  # lanes times recorded steps: all of them are held in memory for the viewers

LearningRate = Annotated[float, Field(gt=0, le=1e4)]
Beta1 = Annotated[float, Field(ge=0, lt=1)]
Beta2 = Annotated[float, Field(gt=0, lt=1)]
Steps = Annotated[int, Field(ge=1, le=100_000)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]


PHASE_ENDS = (4, 8)  # the paper's Appendix C
# Methods that can hand over to one another, since they keep the same averages: not heavy-ball momentum.
PHASES = tuple(name for name, method in METHODS.items() if method.first_moment == "average" and not method.phases)


class _FrozenDict(dict[str, Value]):
    """A dict that stays as it is, as the configuration around it does."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise TypeError("a configuration's settings are frozen: use config.changed(settings={...})")

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _refuse

    def __reduce__(self) -> tuple[Any, ...]:  # copies and pickles are made whole, not filled item by item
        return _FrozenDict, (dict(self),)


class LaneConfig(Frozen):
    """One lane. What is None is as the method has it in `LANE_METHODS`."""

    label: Annotated[str, Field(min_length=1, max_length=60)]
    method: Literal[tuple(LANE_METHODS)]  # type: ignore[valid-type]
    lr: LearningRate
    weight_decay: Annotated[float, Field(ge=0, le=1e3)] = 0.0
    clip: Annotated[float, Field(gt=0, le=1e9)] | None = None
    seed: Seed = 0
    profile: Literal[tuple(PROFILES)] | None = None  # type: ignore[valid-type]
    beta1: Beta1 | None = None
    beta2: Beta2 | None = None
    eps: Annotated[float, Field(ge=0, le=1e3)] | None = None
    eps_placement: Literal["before", "after"] | None = None
    threshold: Annotated[float, Field(ge=2, le=1e6)] | None = None
    below: Literal["momentum", "skip"] | None = None
    decoupled_weight_decay: bool | None = None
    frozen_steps: Annotated[int, Field(ge=0, le=100_000)] | None = None
    warmup: Literal[tuple(WARMUPS)] | None = None  # type: ignore[valid-type]
    warmup_steps: Annotated[float, Field(ge=0, le=1e6)] | None = None
    decay: Literal[tuple(DECAYS)] | None = None  # type: ignore[valid-type]
    steps_1_4: Literal[PHASES] | None = None  # type: ignore[valid-type]  # by another method: Appendix C
    steps_5_8: Literal[PHASES] | None = None  # type: ignore[valid-type]
    options: dict[str, Value] | None = None  # of an optimizer of torch: what our methods do not have

    @model_validator(mode="after")
    def _is_a_method(self) -> Self:
        if (self.steps_1_4 or self.steps_5_8) and self.method not in PHASES:
            raise ValueError(
                f"steps_1_4 and steps_5_8 are for lanes whose method is one of {', '.join(PHASES)}, got {self.method}"
            )
        if self.options is not None and self.method not in TORCH_METHODS:
            raise ValueError(f"options are for lanes by an optimizer of torch, got {self.method}")
        method = self.as_lane(1).method
        if self.options is not None and isinstance(method, TorchMethod):  # equal values are written alike
            checked = dict(method.options)
            self.__dict__["options"] = _FrozenDict({name: checked[name] for name in sorted(self.options)}) or None
        return self

    def as_lane(self, total_steps: int) -> Lane:
        if self.method in TORCH_METHODS:
            method: Method = _by_torch(TORCH_METHODS[self.method], self, total_steps)
        else:
            method = _adapted(self._phased(METHODS[self.method]), self, total_steps)
        return Lane(
            label=self.label,
            method=method,
            lr=self.lr,
            weight_decay=self.weight_decay,
            clip=self.clip,
            seed=self.seed,
        )

    def _phased(self, method: Method) -> Method:
        """With other methods in its first eight steps, where the lane has some."""
        given = ((last, name) for last, name in zip(PHASE_ENDS, (self.steps_1_4, self.steps_5_8), strict=True) if name)
        phases = {last: METHODS[name] for last, name in given}
        if len(phases) == 1 and PHASE_ENDS[1] in phases:  # steps 1 to 4 are its own then
            phases = {PHASE_ENDS[0]: method, **phases}
        return replace(method, phases=tuple(phases.items())) if phases else method


def _adapted(method: Method, lane: LaneConfig, total_steps: int) -> Method:
    """The method with what the lane sets; its phases take the same betas, epsilon, schedule and kind of decay."""
    names = ("eps", "eps_placement", "decoupled_weight_decay", "warmup", "warmup_steps", "decay")
    own = names if method.rectify is None else (*names, "threshold", "below")
    knobs: dict[str, Any] = dict(PROFILES[lane.profile]) if lane.profile is not None else {}
    knobs |= {name: getattr(lane, name) for name in own if getattr(lane, name) is not None}
    beta1, beta2 = method.betas
    betas = (beta1 if lane.beta1 is None else lane.beta1, beta2 if lane.beta2 is None else lane.beta2)
    if lane.frozen_steps is not None and method.frozen_steps:
        knobs["frozen_steps"] = lane.frozen_steps
    phases = tuple((last, _adapted(inner, lane, total_steps)) for last, inner in method.phases)
    return replace(method, **knobs, betas=betas, total_steps=total_steps, phases=phases)


def _by_torch(method: TorchMethod, lane: LaneConfig, total_steps: int) -> TorchMethod:
    """torch's optimizer with what the lane sets; a setting that it does not have is refused."""
    every = {"label", "method", "lr", "clip", "seed", "options"}
    given = lane.model_dump(exclude=every, exclude_defaults=True, exclude_none=True)
    method.refuse(given)
    knobs = {
        name: given[name]
        for name in ("eps", "decoupled_weight_decay", "warmup", "warmup_steps", "decay")
        if name in given
    }
    betas = tuple(given.get(f"beta{i}", beta) for i, beta in enumerate(method.betas, 1))
    return replace(method, **knobs, betas=betas, total_steps=total_steps).with_options(lane.options or {})


class TaskConfig(Validated):
    """A task with its settings, and how long and in which steps lanes are trained on it and recorded."""

    task: Literal[tuple(TASKS)]  # type: ignore[valid-type]
    settings: dict[str, Value] = Field(default_factory=dict)
    steps: Steps
    batch_size: Annotated[int, Field(ge=1, le=1024)]
    evaluate_every: Steps
    steps_per_frame: Annotated[int, Field(ge=1, le=1000)]
    record_every: Annotated[int, Field(ge=1, le=1000)]
    half_batch_steps: Annotated[int, Field(ge=0, le=MOST_HALVED)] = 0
    dense_steps: Annotated[int, Field(ge=0, le=MOST_DENSE)] = 0
    sharpness_every: Annotated[int, Field(ge=0, le=1000)] = 0
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise ValueError(f"a configuration must be a mapping from names to values, got {data!r}")
        task = TASKS.get(str(data.get("task")))
        if task is None:
            raise ValueError(f"task must be one of {', '.join(TASKS)}, got {data.get('task')!r}")
        names = ("steps", "batch_size", "evaluate_every", "steps_per_frame", "record_every")
        return {name: getattr(task, name) for name in names} | dict(data)

    @field_validator("settings", mode="plain")
    @classmethod
    def _is_a_mapping(cls, settings: Any) -> Any:
        if not isinstance(settings, Mapping):
            raise ValueError(f"settings must be a mapping from names to values, got {settings!r}")
        return dict(settings)

    @model_validator(mode="after")
    def _settings_fit_the_task(self) -> Self:
        self.__dict__["settings"] = _FrozenDict(TASKS[self.task].check(self.settings))
        check_halves(self.half_batch_steps, self.batch_size)
        return self

    @property
    def judged_by(self) -> Mapping[str, str]:
        """The task's metrics, and which of their values are better."""
        return TASKS[self.task].metrics

    def changed(self, **changes: Any) -> Self:
        """With other values, checked again; settings are merged with those there are."""
        settings = {**self.settings, **changes.pop("settings", {})}
        return self.make({**self.model_dump(), **changes, "settings": settings})

    def refuse_local(self) -> None:
        for setting in TASKS[self.task].settings:
            if setting.local and self.settings[setting.name] != setting.default:
                raise ValueError(
                    f"{self.task}.{setting.name} must be empty in a link, which may not name files of the machine "
                    f"that opens it, got {self.settings[setting.name]!r}"
                )


class RaceConfig(TaskConfig):
    """The lanes that race on a task."""

    kind: ClassVar[str] = "race"
    LISTS: ClassVar[Mapping[str, type[Frozen]]] = {"lanes": LaneConfig}

    lanes: Annotated[tuple[LaneConfig, ...], Field(max_length=MOST_LANES)]
    seed: Seed = 0

    @model_validator(mode="after")
    def _are_lanes_of_their_own(self) -> Self:
        if not self.lanes:
            raise ValueError(f"lanes must be from 1 to {MOST_LANES}, got 0")
        recorded = len(self.lanes) * (self.steps // self.record_every)
        if recorded > MOST_RECORDED:
            raise ValueError(
                f"record_every must be larger: lanes times recorded steps may be at most {MOST_RECORDED:,}, "
                f"got {recorded:,}"
            )
        labels = [lane.label for lane in self.lanes]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"lanes must have labels of their own, got {label!r} twice")
        return self

    @property
    def size(self) -> int:
        """How many lanes it has."""
        return len(self.lanes)

    def plan(self, measure: bool = True) -> RacePlan:
        """What `radam_core.race` runs."""
        return RacePlan(
            lanes=tuple(lane.as_lane(self.steps) for lane in self.lanes),
            steps=self.steps,
            batch_size=self.batch_size,
            seed=self.seed,
            evaluate_every=self.evaluate_every,
            steps_per_frame=self.steps_per_frame,
            record_every=self.record_every,
            half_batch_steps=self.half_batch_steps,
            dense_steps=self.dense_steps,
            sharpness_every=self.sharpness_every,
            measure=measure,
            device=self.device,
        )

    def lane_json(self, place: int) -> str:
        """All that decides a lane's numbers, canonical: not its label, and not which lanes race beside it."""
        lane = self.lanes[place].as_lane(self.steps)
        method = {name: value for name, value in lane.method.settings().items() if name != "label"}
        own = {"lr": lane.lr, "weight_decay": lane.weight_decay, "clip": lane.clip, "method": method}
        shared = self.model_dump(mode="json", exclude={"lanes", "seed"})
        return json.dumps({**shared, **own, "seed": self.seed + lane.seed}, sort_keys=True, separators=(",", ":"))

    def only(self, places: Sequence[int]) -> Self:
        """The same race with these lanes alone."""
        return self.model_copy(update={"lanes": tuple(self.lanes[place] for place in places)})

    def stack_key(self, place: int) -> tuple[Any, ...]:
        """Lanes with equal keys can be stacked: those of one seed."""
        return (self.lanes[place].seed,)
