"""The race: K optimizers on one problem, step by step, as a generator of frames.

The loop is the plain training loop (batch, loss, backward, step) on a stacked model. A lane whose loss or gradient is
no longer finite, or whose loss has grown beyond all measure, is stopped and marked; no operation mixes lanes, so the
others do not notice. Which lanes race beside it changes no bit of a lane's numbers, at one torch thread and one seed
(`lane_layers.py`). Kernels do round otherwise for a lane that is alone: it has a twin beside it, which no frame shows.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from radam_core.race.control import Control
from radam_core.race.frames import (
    DIVERGED,
    FINISHED,
    RUNNING,
    SHARPNESS,
    SPREAD,
    STOPPED,
    Frame,
    Histograms,
    frame_of,
    without,
)
from radam_core.race.lane_check import FEW, Original, check_lanes
from radam_core.race.lanes import Lanes
from radam_core.race.plan import LEAST_STACKED, RacePlan
from radam_core.race.probes import Probes
from radam_core.race.problem import Batch, Problem
from radam_core.race.quantities import BY_GROUP, QUANTITIES, Step
from radam_core.race.sharpness import PRECONDITIONED, Sharpness
from radam_core.race.spread import HalfBatches, rounding_only, spread_across
from radam_core.race.stacked import ALL, Sizes, StackedOptimizer

T = TypeVar("T")
# A Post-LN model keeps its losses finite at any weights: a loss this many times its first (or 1) has diverged, too.
DIVERGENCE_FACTOR = 100.0


def race(problem: Problem, plan: RacePlan, control: Control | None = None) -> Iterator[Frame]:
    """Frames of the race, each as soon as its steps are done; the last has no lane that is still running."""
    return Race(problem, plan).frames(control)


def choose_device(name: str) -> torch.device:
    """ "auto" is CUDA, else Apple's MPS, else the CPU."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, usable in there.items() if usable))
    if not there.get(name.split(":")[0], False):
        usable = ", ".join(["auto", *(kind for kind, works in there.items() if works)])
        raise ValueError(f"device must be one of {usable} on this machine, got {name!r}")
    return torch.device(name)


def _with_twin(lanes: Sequence[T]) -> list[T]:
    """The same, but for a lane that is alone."""
    return [*lanes, *[lanes[0]] * (LEAST_STACKED - len(lanes))]


def _seeds(plan: RacePlan) -> list[int]:
    """Of the lanes; a single one if they share it."""
    seeds = [plan.seed + lane.seed for lane in plan.lanes]
    return seeds if len(set(seeds)) > 1 else seeds[:1]


def _step(losses: Tensor, norms: Tensor, sizes: Sizes, part: int, parameters: int) -> Step:
    """What the quantities are measured of, in one of the parts whose sizes are known."""
    return Step(losses, norms, sizes.update[part], sizes.parameters[part], sizes.angle[part], parameters)


class Race:
    """A race's state: the stacked model, its optimizers, and what was recorded since the last frame."""

    def __init__(self, problem: Problem, plan: RacePlan) -> None:
        self.problem, self.shown = problem, len(plan.lanes)
        self.plan = plan = replace(plan, lanes=tuple(_with_twin(plan.lanes)))
        self.device = choose_device(plan.device)
        self.dtype = torch.float64 if plan.double else torch.float32
        self.seeds = _seeds(plan)
        # Plain models by seed, until the first step has shown that the lanes are what these are.
        self._models = {seed: problem.make_model(seed).to(self.device, self.dtype) for seed in self.seeds}
        layer = getattr(problem, "layer", None)
        self.lanes = Lanes([self._models[seed] for seed in self.seeds], len(plan.lanes), problem.group, layer)
        self.model = self.lanes.model
        self.optimizer = StackedOptimizer(self.lanes, plan.lanes)
        self.probes = Probes(self.lanes, self.optimizer)
        halved = plan.measure and plan.half_batch_steps
        self.halves = HalfBatches(self.lanes, self.optimizer) if halved else None
        self.sharpness = Sharpness(self.lanes)
        self._rounding: Tensor | None = None  # [K, N], once it was asked for: what is left out of psi's spread
        self.shadow: nn.Module | None = None  # on the lanes' parameters: what it computes leaves no trace
        self.diverged_at: list[int | None] = [None] * len(plan.lanes)
        self.limits: list[float] | None = None
        self.number = 0
        self.begin_frame(1)

    def keep(self, lanes: Sequence[int]) -> None:
        """Goes on with these lanes alone, between two frames: a lane's numbers do not depend on the others."""
        self.shown, rows = len(lanes), _with_twin(lanes)
        self.lanes.keep(rows)
        self.optimizer.keep(rows)
        if self.halves is not None:
            self.halves.keep(rows)
        self.sharpness.keep(rows)
        self._rounding = None if self._rounding is None else self._rounding[rows]
        self.shadow = None
        self.model = self.lanes.model
        self.plan = replace(self.plan, lanes=tuple(self.plan.lanes[row] for row in rows))
        self.seeds = _seeds(self.plan)
        self.diverged_at = [self.diverged_at[row] for row in rows]
        self.limits = [self.limits[row] for row in rows] if self.limits is not None else None

    def frames(self, control: Control | None = None) -> Iterator[Frame]:
        plan = self.plan
        for t in range(1, plan.steps + 1):
            if control is not None and not control.proceed(t):
                yield self._frame(t - 1, STOPPED)
                return
            self.step(t)
            lost = not any(self.optimizer.alive)
            if t == plan.steps or lost:
                yield self._frame(t, FINISHED)
                return
            if t == 1 or t % plan.steps_per_frame == 0:  # the first step at once: somebody waits for it
                yield self._frame(t, RUNNING)

    def step(self, t: int) -> None:
        """One step of all lanes, recorded."""
        plan, batch = self.plan, self.batch(t)
        losses = self.problem.loss(self.model, batch)
        self.lanes.backward(losses)
        if self._models:
            self._check_lanes(t, losses)
        norms = self.optimizer.grad_norms()
        self._stop_the_lost(t, losses, norms)
        if t > plan.half_batch_steps:
            self.halves = None
        if self.halves is not None:
            self.halves.take(self.problem, batch, plan.batch_size)
        if plan.measures_sharpness(t):
            self._sharpness[t] = self._measure_sharpness(t, norms, batch)
        probing = plan.measure and t in plan.histogram_steps
        gradient = self.probes.before() if probing else None
        sizes = self.optimizer.step(norms, self._parts(t, probing))
        if self.halves is not None:
            self.halves.average()
        if gradient is not None and sizes is not None:
            self._probe(t, gradient, sizes, self._critical(losses.detach(), batch))
        if plan.records(t):
            self._record(t, losses, norms, sizes)
        if plan.evaluates(t):
            self._metrics[t] = self.evaluate()

    def batch(self, t: int) -> Batch:
        """The step's batch with the lane axis: one for all lanes, or one for each if their seeds differ."""
        by_seed = [self.problem.batch(seed, t, self.plan.batch_size) for seed in self.seeds]
        stacked = (torch.stack(parts) for parts in zip(*by_seed, strict=True))
        return tuple(self._to_device(x).expand(len(self.plan.lanes), *x.shape[1:]) for x in stacked)

    def _to_device(self, x: Tensor) -> Tensor:
        return x.to(self.device, self.dtype if x.is_floating_point() else None)

    def _check_lanes(self, t: int, losses: Tensor) -> None:
        """Once, before the first update: are the lanes the plain models? See `lane_check`."""
        originals = {seed: Original(model, self._plain_batch(seed, t)) for seed, model in self._models.items()}
        few = self._plain_batch(self.seeds[0], t, FEW)
        labels = [lane.label for lane in self.plan.lanes]
        check_lanes(self.problem, [originals[seed] for seed in self.seeds], few, self.lanes, losses, labels)
        self._models = {}

    def _plain_batch(self, seed: int, t: int, most: int | None = None) -> Batch:
        size = self.plan.batch_size
        found = self.problem.batch(seed, t, size if most is None else min(size, most))
        return tuple(self._to_device(x) for x in found)

    def _stop_the_lost(self, t: int, losses: Tensor, norms: Tensor) -> None:
        values = losses.detach().tolist()
        if self.limits is None:
            self.limits = [DIVERGENCE_FACTOR * max(1.0, abs(value)) for value in values]
        for lane, (loss, norm, limit) in enumerate(zip(values, norms.tolist(), self.limits, strict=True)):
            if self.optimizer.alive[lane] and not (math.isfinite(norm) and abs(loss) <= limit):
                self.optimizer.stop(lane)
                self.diverged_at[lane] = t

    def _parts(self, t: int, probing: bool) -> tuple[slice, ...]:
        """Where a step is measured: over all parameters if it is recorded, and in every group at a histogram step."""
        if not self.plan.measure or not (probing or self.plan.records(t)):
            return ()
        return (*ALL, *self.lanes.groups.values()) if probing else ALL

    def _measure_sharpness(self, t: int, norms: Tensor, batch: Batch) -> Any:
        """Before the step, where its gradient was taken: [which of `SHARPNESS`, K]; nan for what was not measured, and
        for a lane that has stopped."""
        told = self.sharpness.measure(self.problem.loss, batch, self.optimizer.divisor(norms), ~self.rounding)
        unknown = np.full(len(self.plan.lanes), np.nan)
        found = np.stack([told.get(name, unknown) for name in SHARPNESS]).astype(np.float32)
        found[:, self._gone(t + 1)] = np.nan
        by_torch = [k for k, lane in enumerate(self.plan.lanes) if lane.method.by_torch]
        found[SHARPNESS.index(PRECONDITIONED), by_torch] = np.nan  # what they divide by is not known here
        return found

    def _shadow(self) -> nn.Module:
        self.shadow = self.shadow or self.lanes.another_model()
        return self.shadow

    @torch.no_grad()
    def _critical(self, losses: Tensor, batch: Batch) -> list[float]:
        """By lane, just after a step: which part of the critical step it was, at which the loss of its own batch would
        be back where it was. Along the step the loss is taken as a parabola, L + s a + c a^2 / 2 with a = 1 the step:
        it is back at a = -2 s / c, so the part is -c / (2 s) = 1 + change / |s|. Above 1 the step has raised its loss.
        nan for a step that goes uphill from the start, as momentum may."""
        slope = -(self.lanes.grad * self.optimizer.scratch).sum(1)
        change = self.problem.loss(self._shadow(), batch) - losses
        pairs = zip(change.tolist(), slope.tolist(), strict=True)
        parts = (1 + gained / -steep if steep < 0 else math.nan for gained, steep in pairs)
        return [float(f"{part:.3g}") for part in parts]  # it is a difference of losses, and has no more digits

    def _probe(self, t: int, gradient: tuple[Any, Tensor, Tensor], sizes: Sizes, critical: list[float]) -> None:
        """What a histogram step tells, after it."""
        counts, norms, by_layer = gradient
        layers = self.lanes.layers
        if t > self.plan.dense_steps:  # who looks closely at the first steps gets them by layer, too
            layers, by_layer = self.lanes.groups, norms
        unknown, by_group = torch.full_like(norms[0], math.nan), []
        for g, span in enumerate(self.lanes.groups.values(), 1):
            step = _step(unknown, norms[g - 1], sizes, g, span.stop - span.start)
            by_group.append(torch.stack([QUANTITIES[name].measure(step) for name in BY_GROUP]))
        values = torch.stack(by_group, 2).float().cpu().numpy()  # [quantity, K, group]
        found = Histograms(
            t,
            tuple(self.lanes.groups),
            self.probes.after(counts),
            dict(zip(BY_GROUP, values, strict=True)),
            tuple(layers),
            by_layer.T.float().cpu().numpy(),
            self._spread() | {"critical": np.array(critical, np.float32)},
        )
        self._histograms.append(without(found, self._gone(t + 1)))

    def _spread(self) -> dict[str, Any]:
        """Of psi after the step, by its names in `SPREAD`."""
        rounding = self.rounding
        told = spread_across(self.optimizer, rounding)
        if self.halves is not None:
            told |= self.halves.measure(rounding)
        unknown = [math.nan] * len(self.plan.lanes)
        return {name: np.array(told.get(name, unknown), np.float32) for name in SPREAD}

    @property
    def rounding(self) -> Tensor:
        """[K, N]: the coordinates whose gradient is rounding and nothing else; see `rounding_only`."""
        if self._rounding is None:
            with torch.random.fork_rng(devices=[]):  # a model that is made draws random numbers
                models = {seed: self.problem.make_model(seed) for seed in self.seeds}
            found = {seed: rounding_only(self.problem, model, seed, self.lanes) for seed, model in models.items()}
            by_lane = torch.stack([found[seed] for seed in self.seeds])
            self._rounding = by_lane.to(self.device).expand(len(self.plan.lanes), -1)
        return self._rounding

    def _record(self, t: int, losses: Tensor, norms: Tensor, sizes: Sizes | None) -> None:
        unknown = torch.full((1, len(norms)), math.nan, device=norms.device)
        step = _step(losses.detach(), norms, sizes or Sizes(unknown, unknown, unknown), 0, self.lanes.buffer.shape[1])
        row = torch.stack([quantity.measure(step) for quantity in QUANTITIES.values()]).float().cpu().numpy()
        gone = self._gone(t)
        row[:, gone] = np.nan
        self._steps.append(t)
        self._rows.append(row)
        if self.lanes.buffer.shape[1] == 2:
            place = self.lanes.buffer.float().cpu().numpy().copy()
            place[self._gone(t + 1)] = np.nan
            self._positions.append(place)

    def _gone(self, t: int) -> list[int]:
        """The lanes that were lost before step t: they rest at zero, which is no result of theirs."""
        return [lane for lane, at in enumerate(self.diverged_at) if at is not None and at < t]

    @torch.no_grad()
    def evaluate(self) -> dict[str, Any]:
        """The problem's metrics by lane; nan for a lane that has stopped."""
        self.model.eval()
        metrics = {name: values.float().cpu().numpy() for name, values in self.problem.evaluate(self.model).items()}
        self.model.train()
        alive = np.array(self.optimizer.alive)
        return {name: np.where(alive, values, np.float32(np.nan)) for name, values in metrics.items()}

    def _frame(self, last: int, status: str) -> Frame:
        empty = np.empty((0, len(QUANTITIES), len(self.plan.lanes)), np.float32)
        rows = np.stack(self._rows) if self._rows else empty
        steps = np.array(self._steps, dtype=np.int64)
        frame = Frame(
            number=self.number,
            first=self._first,
            last=last,
            steps=steps,
            columns={name: rows[:, i] for i, name in enumerate(QUANTITIES)},
            status=tuple(status if at is None else DIVERGED for at in self.diverged_at),
            diverged_at=tuple(self.diverged_at),
            histograms=tuple(self._histograms),
            metrics=self._metrics,
            positions=np.stack(self._positions) if self._positions else None,
            sharpness=self._sharpness,
        )
        self.number += 1
        self.begin_frame(last + 1)
        return frame_of(frame, slice(self.shown))

    def begin_frame(self, first: int) -> None:
        """Forgets what was recorded; the next frame starts with step `first`."""
        self._first = first
        self._steps: list[int] = []
        self._rows: list[Any] = []
        self._positions: list[Any] = []
        self._histograms: list[Histograms] = []
        self._metrics: dict[int, dict[str, Any]] = {}
        self._sharpness: dict[int, Any] = {}
