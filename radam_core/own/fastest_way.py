"""The fastest way that is right: those that pass `same_model` take turns over the first steps, and the clock chooses.

The turns are steps of the race itself, so that timing costs nothing; which way was taken is told, with the times.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from radam_core.own.rows import Rows
from radam_core.own.same_model import Alone, difference
from radam_core.own.ways import (
    IN_WORDS,
    PLAIN,
    STACKED,
    VECTORISED,
    Loss,
    Plain,
    Stacked,
    Vectorised,
    Way,
    random_state,
    set_random_state,
)

TURNS = 3  # steps that each way is timed for


class FastestWay:
    """Runs a step, by one of the ways; `name` is the one in use, `why` says why."""

    def __init__(
        self,
        rows: Rows,
        loss: Loss,
        model: nn.Module,
        batch: Any,
        alone: Alone,
        alive: Sequence[bool],
        asked: str | None,
    ) -> None:
        self.rows, self._changing = rows, bool(alone.changing)
        self._plain = Plain(rows, loss, alive)
        self.refused: dict[str, str] = {}
        self.ways: list[Way] = [self._plain]
        self.times: dict[str, list[float]] = {}
        self._asked = asked
        others = (STACKED, VECTORISED) if len(rows.buffer) > 1 else ()
        for name in others:
            if asked in (None, name):
                self._try(name, loss, model, batch, alone)
        if asked is not None:
            if asked in self.refused:
                raise ValueError(f"way must be another one than {asked!r} for this model: {self.refused[asked]}")
            self.ways = [way for way in self.ways if way.name == asked] or [self._plain]

    def _try(self, name: str, loss: Loss, model: nn.Module, batch: Any, alone: Alone) -> None:
        reason = _not_for(name, model, alone)
        try:
            if reason is None:
                made = (
                    Stacked(self.rows, loss, model)
                    if name == STACKED
                    else Vectorised(self.rows, loss, alone.changing, alone.orders)
                )
                reason = difference(made, self.rows, loss, batch, alone)
                if reason is None:
                    self.ways.append(made)
        except ValueError as error:  # a layer that `lane_layers` does not have
            reason = str(error)
        if reason is not None:
            self.refused[name] = reason

    def run(self, batch: Any) -> Tensor:
        if len(self.ways) == 1:
            return self._run(self.ways[0], batch)
        way = min(self.ways, key=lambda one: len(self.times.get(one.name, ())))
        start = time.perf_counter()
        losses = self._run(way, batch)
        losses.cpu()  # what a device has in its queue counts, too
        self.times.setdefault(way.name, []).append(time.perf_counter() - start)
        if all(len(self.times.get(one.name, ())) >= TURNS for one in self.ways):
            self.ways = [min(self.ways, key=lambda one: min(self.times[one.name]))]
        return losses

    def _run(self, way: Way, batch: Any) -> Tensor:
        before = random_state(self.rows.buffer.device)
        try:
            return way.run(batch)
        except Exception as error:
            if way.name == PLAIN or self._changing or self._asked is not None:
                raise
            # This batch takes the model another way through its code: from here on as in any loop.
            text = str(error).strip().splitlines() or [type(error).__name__]
            self.refused[way.name] = f"it came to a step that does not run so ({text[0][:160]})"
            self.ways = [one for one in self.ways if one is not way] or [self._plain]
            set_random_state(before, self.rows.buffer.device)
            return self._run(self.ways[0], batch)

    @property
    def name(self) -> str:
        """The one in use; of those that still take turns, the fastest so far."""
        return min(self.ways, key=lambda one: min(self.times.get(one.name, [math.inf]))).name

    @property
    def why(self) -> str:
        """Which way was taken, and what was against the others, in words."""
        told = [f"{IN_WORDS[self.name][0].upper()}{IN_WORDS[self.name][1:]}"]
        if self._asked is not None:
            told.append("as asked")
        elif self.times:
            times = ", ".join(f"{name} {1e3 * min(values):.3g} ms" for name, values in self.times.items())
            told.append(f"the fastest of the first steps ({times})")
        elif len(self.rows.buffer) == 1:
            told.append("as there is one lane")
        told += [f"not {IN_WORDS[name]}: {reason}" for name, reason in self.refused.items()]
        return "; ".join(told) + "."


def _not_for(name: str, model: nn.Module, alone: Alone) -> str | None:
    """What speaks against a way before it is tried."""
    if name == STACKED and alone.orders is not None:
        return "the model draws random numbers"
    if name == STACKED and any(grad is None for grad in alone.grads):
        return "some parameters have no gradient"
    averages = ("running_mean", "running_var", "num_batches_tracked")
    if name == STACKED and any(path.rpartition(".")[2] not in averages for path in alone.changing):
        return "training changes buffers of the model"
    if any(isinstance(one, torch.jit.ScriptModule) for one in model.modules()):
        return "it is compiled by TorchScript"
    return None
