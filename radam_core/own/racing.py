"""`race_model`: any module, any loader, any optimizers, as lanes of one race with a race's measurements.

    recording = race_model(model, loss, loader, {"Adam": {"method": "adam", "lr": 1e-3},
                                                 "RAdam": lambda p: torch.optim.RAdam(p, lr=1e-3)}, steps=300)
    recording.column("loss")  # [step, lane]
    print(recording)          # how each lane ended, and which way it was run, and why

The model is copied, never trained itself, in the mode it was given in; `recording.models` has the trained copies. A
lane is what a loop of its own would be after `torch.manual_seed(seed)`: batch, loss, backward, step. What is measured
is what every race measures, but for the spread of psi and the critical step, which need more of a task than a loss.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from radam_core.domains import check_count
from radam_core.methods import METHODS
from radam_core.own.batches import Batches, BatchSource, not_finite
from radam_core.own.entrants import Entrant, LaneLike, Made, entrants
from radam_core.own.fastest_way import FastestWay
from radam_core.own.lane_optimizers import LaneOptimizers
from radam_core.own.recording import OwnRecording
from radam_core.own.refusals import Model, all_at_once, made_model, made_optimizers, refusals
from radam_core.own.rows import Rows
from radam_core.own.same_model import check_first_losses, run_alone
from radam_core.own.settings_told import method_of, optimizer_name, plain_settings
from radam_core.own.ways import Loss
from radam_core.race.frames import SPREAD
from radam_core.race.plan import Lane, RacePlan
from radam_core.race.probes import Probes
from radam_core.race.race import Race

Evaluate = Callable[[nn.Module], Mapping[str, float | Tensor]]


def race_model(
    model: Model,
    loss: Loss,
    batches: Batches,
    lanes: Mapping[str, LaneLike],
    *,
    steps: int,
    evaluate: Evaluate | None = None,
    evaluate_every: int = 100,
    record_every: int = 1,
    measure: bool = True,
    seed: int = 0,
    way: str | None = None,
) -> OwnRecording:
    """Races the lanes to the end. `evaluate(model)` gives metrics by name, in eval mode and without gradients; `way` is
    one of "stacked", "vectorised" and "plain" for those who want no clock to choose."""
    found, refused = entrants(lanes)
    refused += refusals(model, loss, batches, evaluate, way, steps=steps)
    if refused:
        raise ValueError(all_at_once(refused))
    with _seeded(seed):
        original = made_model(model)
        rows = Rows(original, len(found))
        made, refused = made_optimizers(found, rows)
        if refused:
            raise ValueError(all_at_once(refused))
        plan = RacePlan(
            lanes=tuple(Lane(label=one.label, method=METHODS["adam"], lr=0.0) for one in found),  # the labels alone
            steps=steps,
            evaluate_every=evaluate_every if evaluate else steps,
            record_every=record_every,
            measure=measure,
        )
        race = OwnRace(original, loss, BatchSource(batches, steps), plan, rows, found, made, evaluate, way)
        race.recording.seed = seed
        return race.run()


class OwnRace(Race):
    """A `Race` whose rows are computed by a `FastestWay` and moved by each lane's own optimizer."""

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        source: BatchSource,
        plan: RacePlan,
        rows: Rows,
        found: list[Entrant],
        made: list[Made],
        evaluate: Evaluate | None,
        way: str | None,
    ) -> None:
        self._original, self._loss, self._source, self._evaluate, self._asked = model, loss, source, evaluate, way
        self.plan, self.shown, self.problem = plan, len(plan.lanes), cast(Any, self)  # `loss` below is all it asks for
        self.device, self.dtype = rows.buffer.device, rows.buffer.dtype
        self.rows, self.own = rows, LaneOptimizers(rows, found, made)
        self.lanes, self.optimizer = cast(Any, rows), cast(Any, self.own)  # the same names for a race to use
        self.probes = Probes(self.lanes, self.optimizer)
        self.model, self.halves, self._models = model, None, {}
        self.diverged_at, self.limits, self.number = [None] * len(found), None, 0
        self.way: FastestWay | None = None
        self.recording = OwnRecording(
            tuple(one.label for one in found),
            tuple(optimizer_name(optimizer) for optimizer, _ in made),
            tuple(plain_settings(optimizer) for optimizer, _ in made),
            tuple(method_of(optimizer) for optimizer, _ in made),
            rows.buffer.shape[1],
        )
        self.begin_frame(1)

    def run(self) -> OwnRecording:
        started, told = time.perf_counter(), self.recording
        self._source.begin()
        for frame in self.frames():
            told.frames.append(frame)
        assert self.way is not None
        told.way, told.why, told.seconds = self.way.name, self.way.why, time.perf_counter() - started
        told.models = dict(zip(told.labels, self.rows.models, strict=True))
        return told

    def step(self, t: int) -> None:
        try:
            super().step(t)
        except Exception as error:
            error.add_note(f"at step {t} of {self.plan.steps}; the steps before it went well")
            raise
        self.recording.lrs[t] = self.own.lrs
        if self._evaluate is None:
            self._metrics = {}

    def batch(self, t: int) -> Any:
        batch = self._source.at(t)
        if t == 1:
            alone = run_alone(self._original, self._loss, batch, self.device)
            alive = self.own.alive
            self.way = FastestWay(self.rows, self._loss, self._original, batch, alone, alive, self._asked)
            self._alone = alone
        return batch

    def loss(self, _: nn.Module, batch: Any) -> Tensor:
        assert self.way is not None
        losses = self.way.run(batch)
        if not self.optimizer.t:
            labels = list(self.recording.labels)
            check_first_losses(labels, losses.tolist(), self._alone, self.dtype)
        self._latest = batch
        return losses

    def _stop_the_lost(self, t: int, losses: Tensor, norms: Tensor) -> None:
        super()._stop_the_lost(t, losses, norms)
        lost = [lane for lane, at in enumerate(self.diverged_at) if at == t]
        if lost:
            self.recording.notes.append(self._lost(t, lost, losses.tolist(), norms.tolist()))

    def _lost(self, t: int, lost: list[int], losses: list[float], norms: list[float]) -> str:
        labels = self.recording.labels
        who = "Every lane" if len(lost) == len(labels) else " and ".join(repr(labels[lane]) for lane in lost)
        told = f"{who} was lost at step {t}: loss {losses[lost[0]]:.4g}, gradient norm {norms[lost[0]]:.4g}."
        places = not_finite(self._latest)
        if places:
            told += (
                f" The batch of this step holds nan or inf in its tensor {places[0] + 1}: look at the data, "
                "not at the optimizer."
            )
        elif len(lost) < len(labels):
            told += " The others go on: a lower learning rate, a warmup or clipping is what to try."
        return told

    def _critical(self, losses: Tensor, batch: Any) -> list[float]:  # noqa: ARG002 - a race's form
        return [math.nan] * len(self.plan.lanes)

    def _spread(self) -> dict[str, Any]:
        return {name: np.full(len(self.plan.lanes), np.nan, np.float32) for name in SPREAD}

    @torch.no_grad()
    def evaluate(self) -> dict[str, Any]:
        """By lane, each as a plain model."""
        if self._evaluate is None:
            return {}
        found = [
            _evaluated(self._evaluate, model) if alive else {}
            for model, alive in zip(self.rows.models, self.optimizer.alive, strict=True)
        ]
        names = dict.fromkeys(name for one in found for name in one)
        return {name: np.array([one.get(name, math.nan) for one in found], np.float32) for name in names}


def _evaluated(evaluate: Evaluate, model: nn.Module) -> dict[str, float]:
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        found = evaluate(model)
    finally:
        for module, mode in modes.items():
            module.training = mode
    if not isinstance(found, Mapping):
        raise ValueError(
            f'evaluate must return metrics by name, such as {{"accuracy": 0.9}}, got {type(found).__name__}'
        )
    return {str(name): float(value) for name, value in found.items()}


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """torch's random numbers as after `manual_seed`, and afterwards as they were before."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(check_count("seed", seed, least=0))
        yield
