"""A race's configuration: validated, frozen, and the same after a trip through JSON or a link. No torch here.

What a configuration leaves out is filled in from its task when it is made, so that it holds everything that decides
the run: the same values give the same frames.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from demo_models import TASKS
from demo_models.task import Value
from radam_core.methods import METHODS, PROFILES, Method
from radam_core.race.plan import Lane, RacePlan, check_halves
from radam_core.schedules import DECAYS, WARMUPS

MOST_LANES, LONGEST_LINK = 64, 1 << 16
MOST_HALVED = 1000  # steps with half batches: each takes 2.2 to 2.6 times as long
MOST_RECORDED = 1_000_000  # lanes times recorded steps: all of them are held in memory for the viewers

LearningRate = Annotated[float, Field(gt=0, le=1e4)]
Beta1 = Annotated[float, Field(ge=0, lt=1)]
Beta2 = Annotated[float, Field(gt=0, lt=1)]
Steps = Annotated[int, Field(ge=1, le=100_000)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=False)


class LaneConfig(_Frozen):
    """One lane. What is None is as the method has it in `METHODS`."""

    label: Annotated[str, Field(min_length=1, max_length=60)]
    method: Literal[tuple(METHODS)]  # type: ignore[valid-type]
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

    @model_validator(mode="after")
    def _is_a_method(self) -> Self:
        self.as_lane(1)
        return self

    def as_lane(self, total_steps: int) -> Lane:
        method = _adapted(METHODS[self.method], self, total_steps)
        return Lane(
            label=self.label,
            method=method,
            lr=self.lr,
            weight_decay=self.weight_decay,
            clip=self.clip,
            seed=self.seed,
        )


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


class _FrozenDict(dict[str, Value]):
    """A dict that stays as it is, as the configuration around it does."""

    def _refuse(self, *_: object, **__: object) -> Any:
        raise TypeError("a configuration's settings are frozen: use config.changed(settings={...})")

    __setitem__ = __delitem__ = __ior__ = update = pop = popitem = clear = setdefault = _refuse

    def __reduce__(self) -> tuple[Any, ...]:  # copies and pickles are made whole, not filled item by item
        return _FrozenDict, (dict(self),)


class RaceConfig(_Frozen):
    """A task with its settings, and the lanes that race on it."""

    task: Literal[tuple(TASKS)]  # type: ignore[valid-type]
    settings: dict[str, Value] = Field(default_factory=dict)
    lanes: Annotated[tuple[LaneConfig, ...], Field(max_length=MOST_LANES)]
    seed: Seed = 0
    steps: Steps
    batch_size: Annotated[int, Field(ge=1, le=1024)]
    evaluate_every: Steps
    steps_per_frame: Annotated[int, Field(ge=1, le=1000)]
    record_every: Annotated[int, Field(ge=1, le=1000)]
    half_batch_steps: Annotated[int, Field(ge=0, le=MOST_HALVED)] = 0
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

    def __hash__(self) -> int:
        return hash(self.to_json())

    @classmethod
    def make(cls, values: Mapping[str, Any] | str) -> Self:
        """From a mapping or JSON text; a `ValueError` names each field, what was given and what is allowed."""
        try:
            return cls.model_validate_json(values) if isinstance(values, str) else cls.model_validate(values)
        except ValidationError as error:
            raise ValueError("\n".join(_explained(problem, values) for problem in error.errors())) from None

    def changed(self, **changes: Any) -> Self:
        """With other values, checked again; settings are merged with those there are."""
        settings = {**self.settings, **changes.pop("settings", {})}
        return self.make({**self.model_dump(), **changes, "settings": settings})

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

    def to_json(self) -> str:
        """Canonical: keys in order, nothing that says nothing. Two equal configurations have equal texts."""
        return json.dumps(self.model_dump(mode="json", exclude_none=True), sort_keys=True, separators=(",", ":"))

    def to_link(self) -> str:
        """Text of letters, digits, - and _ that `from_link` turns back; it goes into a URL as it is."""
        self._refuse_local()
        return base64.urlsafe_b64encode(zlib.compress(self.to_json().encode(), 9)).decode().rstrip("=")

    @classmethod
    def from_link(cls, text: str) -> Self:
        """From a link, which is untrusted: bounded in size, and no files of this machine may be named."""
        if len(text) > LONGEST_LINK:
            raise ValueError(f"a link's configuration must have at most {LONGEST_LINK} characters, got {len(text)}")
        try:
            packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            inflater = zlib.decompressobj()
            plain = inflater.decompress(packed, LONGEST_LINK)
            if inflater.unconsumed_tail or not inflater.eof:
                raise ValueError("it is cut off or too long")
            json_text = plain.decode("utf-8")
        except (binascii.Error, zlib.error, ValueError) as error:
            raise ValueError(
                f"a link's configuration must be whole and unchanged, got {text[:40]!r}: {error}"
            ) from None
        config = cls.make(json_text)
        config._refuse_local()
        return config

    def _refuse_local(self) -> None:
        for setting in TASKS[self.task].settings:
            if setting.local and self.settings[setting.name] != setting.default:
                raise ValueError(
                    f"{self.task}.{setting.name} must be empty in a link, which may not name files of the machine "
                    f"that opens it, got {self.settings[setting.name]!r}"
                )


_BOUNDS = {"exclusiveMinimum": "above", "minimum": "at least", "exclusiveMaximum": "below", "maximum": "at most"}


def _explained(problem: Any, values: Mapping[str, Any] | str) -> str:
    """One of pydantic's errors in a line: where, what is allowed, and what was given."""
    where, path = _place(problem["loc"], values)
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return f"{where}{path}: {message}" if path and not message.startswith(path) else f"{where}{message}"
    given = repr(problem["input"])
    given = given if len(given) < 80 else f"{given[:77]}..."
    allowed = _range(problem["loc"]) if problem["type"].startswith(("greater", "less")) else ""
    message = f"must be {allowed}" if allowed else message.replace("Input should be", "must be")
    return f"{where}{path or 'configuration'} {message[0].lower()}{message[1:]}, got {given}"


def _place(loc: tuple[int | str, ...], values: Mapping[str, Any] | str) -> tuple[str, str]:
    """Where an error is: which lane, by its label or else its number from 1, and the path from there."""
    where = ""
    if len(loc) > 1 and loc[0] == "lanes" and isinstance(loc[1], int):
        given = json.loads(values) if isinstance(values, str) else values
        lane = given["lanes"][loc[1]]
        label = lane.get("label") if isinstance(lane, Mapping) else getattr(lane, "label", None)
        where, loc = f"lane {repr(label[:60]) if isinstance(label, str) and label else loc[1] + 1}: ", loc[2:]
    return where, "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")


def _range(path: tuple[int | str, ...]) -> str:
    """The bounds of the field that a path leads to, in words."""
    names = [part for part in path if isinstance(part, str)]
    model = LaneConfig if names[0] == "lanes" else RaceConfig
    schema = model.model_json_schema()["properties"][names[1] if names[0] == "lanes" else names[0]]
    schema = next(iter(schema.get("anyOf", ())), schema)
    return " and ".join(f"{words} {_plain(schema[key])}" for key, words in _BOUNDS.items() if key in schema)


def _plain(bound: float) -> str:
    """A bound as people write it: 2,147,483,648, 0.5."""
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"
