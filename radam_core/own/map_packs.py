"""What a map of an own model trains: its lanes, in packs that share a step; each may be trained by itself, anywhere."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import nn

from radam_core.domains import check_count
from radam_core.own.batches import Batches, BatchSource
from radam_core.own.racing import race_model
from radam_core.own.recording import OwnRecording
from radam_core.own.refusals import Model, all_at_once
from radam_core.own.ways import Loss
from radam_core.race.plan import FINAL_STEPS
from radam_core.torch_methods import LANE_METHODS, TorchMethod

LRS, WARMUPS, AT_ONCE = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2), (0, 25, 100, 300), 12
RADAM = "RAdam"
Place = tuple[float, int | None]  # a rate, and the steps of its warmup; None is RAdam


@dataclass(frozen=True)
class Pack:
    seed: int
    places: tuple[Place, ...]


@dataclass(frozen=True)
class Grid:
    """The same values give the same packs."""

    steps: int
    lrs: tuple[float, ...]
    warmups: tuple[int, ...]
    seeds: int
    method: str
    settings: Mapping[str, Any]
    radam: bool = True
    at_once: int = AT_ONCE

    @cached_property
    def lanes(self) -> dict[Place, dict[str, Any]]:
        own, rates = dict(self.settings), sorted(set(self.lrs))
        found: dict[Place, dict[str, Any]] = {
            (lr, length): {"method": self.method, "lr": lr, **own, **(_warmup(length))}
            for lr in rates
            for length in sorted(set(self.warmups))
        }
        kept = {name: value for name, value in own.items() if name in ("betas", "eps", "weight_decay", "clip")}
        return found | {(lr, None): {"method": "radam", "lr": lr, **kept} for lr in rates if self.radam}

    @cached_property
    def packs(self) -> tuple[Pack, ...]:
        """As even as can be: a pack of one lane would be as slow as a loop."""
        places = list(self.lanes)
        count = math.ceil(len(places) / self.at_once)
        return tuple(Pack(seed, tuple(places[k::count])) for seed in range(self.seeds) for k in range(count))

    @property
    def beta2(self) -> float:
        return float(self.settings.get("betas", LANE_METHODS[self.method].betas)[1])


def train(grid: Grid, number: int, model: Model, loss: Loss, batches: Batches, way: str | None) -> OwnRecording:
    """One pack of it."""
    pack = grid.packs[number]
    named = {_label(*place): grid.lanes[place] for place in pack.places}
    return race_model(model, loss, batches, named, steps=grid.steps, measure=False, seed=pack.seed, way=way)


def refuse(grid: Grid, model: object, batches: Batches) -> None:
    """`ValueError` with all that is wrong, before anything is trained."""
    refused = [*_refusals(grid, model, batches)]
    if refused:
        raise ValueError(all_at_once(refused))


def _warmup(length: int) -> dict[str, Any]:
    return {"warmup": "linear", "warmup_steps": length} if length else {"warmup": "none", "warmup_steps": None}


def _label(lr: float, length: int | None) -> str:
    return f"{RADAM}, lr {lr:g}" if length is None else f"lr {lr:g}, warmup {length}"


def _can_warm(name: str) -> bool:
    """Whether a method has no warmup of its own, and may be given one."""
    method = LANE_METHODS.get(name)
    if method is None or method.warmup != "none" or method.rectify is not None:
        return False
    return not isinstance(method, TorchMethod) or "warmup" in method.row.has


def _refusals(grid: Grid, model: object, batches: Batches) -> Iterable[str]:
    if not grid.lrs or not all(0 < lr < math.inf for lr in grid.lrs):
        yield f"lrs must be learning rates above 0, got {list(grid.lrs)}"
    if not grid.warmups or not all(length >= 0 and length == int(length) for length in grid.warmups):
        yield f"warmups must be whole numbers of steps, 0 for none, got {list(grid.warmups)}"
    if not _can_warm(grid.method):
        plain = [name for name in LANE_METHODS if _can_warm(name)]
        yield f"method must be one of {', '.join(plain)}, which have no warmup of their own, got {grid.method!r}"
    for name, count, least in (
        ("seeds", grid.seeds, 1),
        ("steps", grid.steps, FINAL_STEPS),
        ("at_once", grid.at_once, 1),
    ):
        try:
            check_count(name, count, least)
        except (TypeError, ValueError) as error:
            yield str(error)
    if grid.seeds != 1 and isinstance(model, nn.Module):
        yield "model must be a function that makes it where seeds are several: each begins with weights of its own"
    if not BatchSource(batches, 1).replays:
        yield "batches must be a DataLoader, a list or a function of the step: a sweep goes through them several times"
