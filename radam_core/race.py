"""The race: K optimizers on one problem, step by step, as a generator of frames.

The loop is the plain training loop (batch, loss, backward, step) on a stacked model. A lane whose loss or gradient is
no longer finite, or whose loss has grown beyond all measure, is stopped and marked; no operation mixes lanes, so the
others do not notice.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from radam_core.control import Control
from radam_core.entry import Entry
from radam_core.frames import DIVERGED, FINISHED, RUNNING, STOPPED, Frame, Histograms, schedule_columns
from radam_core.lanes import Lanes
from radam_core.probes import Probes
from radam_core.problem import Batch, Problem
from radam_core.stacked import Sizes, StackedOptimizer

# A Post-LN model keeps its losses finite at any weights: a loss this many times its first (or 1) has diverged, too.
LOST = 100.0


def race(problem: Problem, entry: Entry, control: Control | None = None) -> Iterator[Frame]:
    """Frames of the race, each as soon as its steps are done; the last has no lane that is still running."""
    return Race(problem, entry).frames(control)


def choose_device(name: str) -> torch.device:
    """ "auto" is CUDA, else Apple's MPS, else the CPU."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, usable in there.items() if usable))
    if not there.get(name.split(":")[0], False):
        usable = ", ".join(["auto", *(kind for kind, works in there.items() if works)])
        raise ValueError(f"device must be one of {usable} on this machine, got {name!r}")
    return torch.device(name)


class Race:
    """A race's state: the stacked model, its optimizers, and what was recorded since the last frame."""

    def __init__(self, problem: Problem, entry: Entry) -> None:
        self.problem, self.entry = problem, entry
        self.device = choose_device(entry.device)
        self.dtype = torch.float64 if entry.double else torch.float32
        seeds = [entry.seed + lane.seed for lane in entry.lanes]
        self.seeds = seeds if len(set(seeds)) > 1 else seeds[:1]
        models = [problem.make_model(seed).to(self.device, self.dtype) for seed in self.seeds]
        self.lanes = Lanes(models, len(entry.lanes), problem.group)
        self.model = self.lanes.model
        self.optimizer = StackedOptimizer(self.lanes, entry.lanes)
        self.probes = Probes(self.lanes, self.optimizer)
        self.diverged_at: list[int | None] = [None] * len(entry.lanes)
        self.limits: list[float] | None = None
        self.number = 0
        self.begin_frame(1)

    def frames(self, control: Control | None = None) -> Iterator[Frame]:
        entry = self.entry
        for t in range(1, entry.steps + 1):
            if control is not None and not control.proceed(t):
                yield self._frame(t - 1, STOPPED)
                return
            self.step(t)
            lost = not any(self.optimizer.alive)
            if t == entry.steps or lost:
                yield self._frame(t, FINISHED)
                return
            if t == 1 or t % entry.steps_per_frame == 0:  # the first step at once: somebody waits for it
                yield self._frame(t, RUNNING)

    def step(self, t: int) -> None:
        """One step of all lanes, recorded."""
        entry = self.entry
        losses = self.problem.loss(self.model, self.batch(t))
        self.lanes.backward(losses)
        norms = self.optimizer.grad_norms()
        self._stop_the_lost(t, losses, norms)
        probing = entry.measure and t in entry.histogram_steps
        gradient = self.probes.before() if probing else None
        sizes = self.optimizer.step(norms, entry.measure and entry.records(t))
        if gradient is not None:
            self._histograms.append(self.probes.after(gradient))
        if entry.records(t):
            self._record(t, losses, norms, sizes)
        if entry.evaluates(t):
            self._metrics[t] = self.evaluate()

    def batch(self, t: int) -> Batch:
        """The step's batch with the lane axis: one for all lanes, or one for each if their seeds differ."""
        by_seed = [self.problem.batch(seed, t, self.entry.batch_size) for seed in self.seeds]
        stacked = (torch.stack(parts) for parts in zip(*by_seed, strict=True))
        return tuple(self._to_device(x).expand(len(self.entry.lanes), *x.shape[1:]) for x in stacked)

    def _to_device(self, x: Tensor) -> Tensor:
        return x.to(self.device, self.dtype if x.is_floating_point() else None)

    def _stop_the_lost(self, t: int, losses: Tensor, norms: Tensor) -> None:
        values = losses.detach().tolist()
        if self.limits is None:
            self.limits = [LOST * max(1.0, abs(value)) for value in values]
        for lane, (loss, norm, limit) in enumerate(zip(values, norms.tolist(), self.limits, strict=True)):
            if self.optimizer.alive[lane] and not (math.isfinite(norm) and abs(loss) <= limit):
                self.optimizer.stop(lane)
                self.diverged_at[lane] = t

    def _record(self, t: int, losses: Tensor, norms: Tensor, sizes: Sizes | None) -> None:
        unknown = torch.full_like(norms, math.nan)
        update, parameters = (sizes.update, sizes.parameters) if sizes else (unknown, unknown)
        rms = update / math.sqrt(self.lanes.buffer.shape[1])
        row = torch.stack((losses.detach(), norms, rms, update / parameters)).float().cpu().numpy()
        stopped = [at is not None and at < t for at in self.diverged_at]
        row[:, stopped] = np.nan
        self._steps.append(t)
        self._rows.append(row)
        if self.lanes.buffer.shape[1] == 2:
            self._positions.append(self.lanes.buffer.float().cpu().numpy().copy())

    @torch.no_grad()
    def evaluate(self) -> dict[str, Any]:
        """The problem's metrics by lane; nan for a lane that has stopped."""
        self.model.eval()
        metrics = {name: values.float().cpu().numpy() for name, values in self.problem.evaluate(self.model).items()}
        self.model.train()
        alive = np.array(self.optimizer.alive)
        return {name: np.where(alive, values, np.float32(np.nan)) for name, values in metrics.items()}

    def _frame(self, last: int, status: str) -> Frame:
        rows = np.stack(self._rows) if self._rows else np.empty((0, 4, len(self.entry.lanes)), np.float32)
        steps = np.array(self._steps, dtype=np.int64)
        frame = Frame(
            number=self.number,
            first=self._first,
            last=last,
            steps=steps,
            loss=rows[:, 0],
            grad_norm=rows[:, 1],
            update_rms=rows[:, 2],
            relative_update=rows[:, 3],
            **schedule_columns(self.entry.lanes, steps),
            status=tuple(status if at is None else DIVERGED for at in self.diverged_at),
            diverged_at=tuple(self.diverged_at),
            histograms=tuple(self._histograms),
            metrics=self._metrics,
            positions=np.stack(self._positions) if self._positions else None,
        )
        self.number += 1
        self.begin_frame(last + 1)
        return frame

    def begin_frame(self, first: int) -> None:
        """Forgets what was recorded; the next frame starts with step `first`."""
        self._first = first
        self._steps: list[int] = []
        self._rows: list[Any] = []
        self._positions: list[Any] = []
        self._histograms: list[Histograms] = []
        self._metrics: dict[int, dict[str, Any]] = {}
