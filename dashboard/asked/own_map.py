"""The map of an own model's sweep: lanes of its files as cells of learning rate by warmup length, as /sweep draws them.

A file says of every lane which optimizer it had, its rate, its warmup and its seed (`radam_core/own/run_file.py`);
where a cell stands follows from that.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import Field

from dashboard.asked.own_config import MOST_OWN_LANES, OwnConfig, OwnLane, Text
from dashboard.asked.sweep_config import LR, WARMUP
from radam_core.methods import METHODS
from radam_core.race.plan import Lane
from radam_core.torch_methods import LANE_METHODS

MOST_MAP_LANES = 1000  # as a sweep of ours
_BY_LABEL = {method.label: name for name, method in LANE_METHODS.items()}


@dataclass(frozen=True)
class OwnContender:
    """An optimizer of a file."""

    label: str
    method: str  # ours by that name, or ""
    file: int
    warms: bool  # it was tried with warmups
    lr_times: ClassVar[float] = 1.0
    lane: ClassVar[Mapping[str, Any]] = {}

    def has(self, axis: str) -> bool:
        return axis == LR or (axis == WARMUP and self.warms)


@dataclass(frozen=True)
class OwnCellLane:
    label: str
    method: str
    lr: float

    def as_lane(self, total_steps: int) -> Lane:  # noqa: ARG002 - the form of a lane's configuration
        return Lane(label=self.label, method=LANE_METHODS.get(self.method, METHODS["adam"]), lr=self.lr)


@dataclass(frozen=True)
class OwnCell:
    place: int
    contender: int
    values: Mapping[str, Any]
    at: Mapping[str, int]
    seed: int
    lane: OwnCellLane


class OwnMapConfig(OwnConfig):
    """Files of one grid, over each other."""

    kind: ClassVar[str] = "own-map"
    task: ClassVar[str] = "own model"

    lanes: Annotated[tuple[OwnLane, ...], Field(min_length=1, max_length=MOST_MAP_LANES)]
    files: tuple[Text, ...]  # their names
    file_of: tuple[int, ...]  # by lane
    baselines: tuple[float | None, ...]  # by file: the loss of a model that ignores its input, where it is known

    judged_by: ClassVar[Mapping[str, str]] = {}  # a sweep of an own model has its losses alone

    def baseline(self, contender: int) -> float | None:
        return self.baselines[self.contenders[contender].file]

    @cached_property
    def contenders(self) -> tuple[OwnContender, ...]:
        found: dict[tuple[int, str], list[OwnLane]] = {}
        for file, lane in zip(self.file_of, self.lanes, strict=True):
            found.setdefault((file, lane.optimizer), []).append(lane)
        return tuple(
            OwnContender(
                f"{optimizer} ({self.files[file]})" if len(self.files) > 1 else optimizer,
                _BY_LABEL.get(optimizer, ""),
                file,
                any(warmup_of(lane) for lane in lanes),
            )
            for (file, optimizer), lanes in found.items()
        )

    @cached_property
    def axes(self) -> dict[str, tuple[float, ...]]:
        lengths = {warmup_of(lane) for lane, one in zip(self.lanes, self._contender_of, strict=True) if one.warms}
        axes = {LR: tuple(sorted({rate_of(lane) for lane in self.lanes}))}
        return axes | ({WARMUP: tuple(sorted(lengths))} if lengths else {})

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted({seed_of(lane) for lane in self.lanes}))

    @cached_property
    def cells(self) -> tuple[OwnCell, ...]:
        found = []
        for place, (lane, contender) in enumerate(zip(self.lanes, self._contender_of, strict=True)):
            values = {LR: rate_of(lane), **({WARMUP: warmup_of(lane)} if contender.warms else {})}
            at = {name: self.axes[name].index(value) for name, value in values.items()}
            own = OwnCellLane(lane.label, contender.method, values[LR])
            found.append(OwnCell(place, self.contenders.index(contender), values, at, seed_of(lane), own))
        return tuple(found)

    @cached_property
    def _contender_of(self) -> tuple[OwnContender, ...]:
        """By lane."""
        known: dict[tuple[int, str], OwnContender] = {}
        pairs = [(file, lane.optimizer) for file, lane in zip(self.file_of, self.lanes, strict=True)]
        for pair in dict.fromkeys(pairs):
            known[pair] = self.contenders[len(known)]
        return tuple(known[pair] for pair in pairs)

    @property
    def grid(self) -> tuple[Any, ...]:
        """Files with the same may lie over each other."""
        return self.steps, self.axes[LR], self.axes.get(WARMUP, ())

    def chosen(self, places: Sequence[int]) -> OwnConfig:
        """These lanes alone, for the page of an own model's run; `ValueError` if they are none, or too many."""
        if not 0 < len(places) <= MOST_OWN_LANES:
            raise ValueError(f"a page shows from 1 to {MOST_OWN_LANES} lanes, got {len(places)}")
        own = {name: getattr(self, name) for name in OwnConfig.model_fields}
        lanes = [self.lanes[place] for place in places]
        return OwnConfig.make({**own, "lanes": lanes, "places": tuple(places), "of": self.size})


def rate_of(lane: OwnLane) -> float:
    """`ValueError` where a file says none."""
    rate = lane.settings.get("lr")
    if not isinstance(rate, float | int) or not 0 < rate < math.inf:
        raise ValueError(f"a lane of a sweep must have a learning rate above 0, got {rate!r} for {lane.label[:40]!r}")
    return float(rate)


def warmup_of(lane: OwnLane) -> float:
    length = lane.settings.get("warmup_steps")
    warms = lane.settings.get("warmup", "none") != "none"
    return float(length) if warms and isinstance(length, float | int) and 0 <= length < math.inf else 0.0


def seed_of(lane: OwnLane) -> int:
    seed = lane.settings.get("seed")
    return int(seed) if isinstance(seed, float | int) and 0 <= seed < 2**31 else 0
