"""`watch`: two lines around a loop that is already there, and a file with what a race would have measured.

    with radam_core.watch(model, optimizer, "run.jsonl") as watched:
        for batch in loader:
            ...                       # zero_grad, loss, backward, optimizer.step(), as ever
            watched.loss(loss)        # before or after the step, where the loss is to be had

Without `with` it lasts until the process ends. It reads around the optimizer's step, by torch's own hooks, and changes
nothing: a watched and an unwatched loop are equal bit for bit. Every one of the first 200 steps is kept, later ones are
thinned (`thinning.py`); a kill loses half a second of it at most. A step is measured where that keeps the whole below
`most` of the time, beyond the first 20 ms of measuring, which are free: a very small model has later steps with a loss
alone. Two more copies of the parameters, while a step is measured, are all the memory it takes. An error of its own
ends the watching with a warning, never the training.
"""

import atexit
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn, optim

from radam_core.own import run_file
from radam_core.own.measuring import StepMeasure
from radam_core.own.refusals import all_at_once
from radam_core.own.settings_told import optimizer_name, plain_settings, told
from radam_core.own.thinning import KEPT_ALL, Row, Thinned
from radam_core.race.plan import EARLY_STEPS

MOST, FREE_SECONDS, FLUSH_SECONDS = 0.03, 0.02, 0.5  # 3%, as what it reads leaves the caches to nobody else
_HISTOGRAM_RATIO = 1.25  # between two histogram steps, after the early ones


def watch(model: nn.Module, optimizer: optim.Optimizer, file: str | Path, *, most: float = MOST) -> "Watched":
    """Watches from now on, into a new file. `most` is the part of the time that measuring may take."""
    refused = []
    if not isinstance(model, nn.Module):
        refused.append(f"model must be a torch module, got {type(model).__name__}")
    if not isinstance(optimizer, optim.Optimizer):
        refused.append(f"optimizer must be a torch.optim.Optimizer, got {type(optimizer).__name__}")
    if not 0 < most <= 1:
        refused.append(f"most must be above 0 and at most 1, got {most!r}")
    try:
        run_file.check_new(Path(file))
    except ValueError as error:
        refused.append(str(error))
    if refused:
        raise ValueError(all_at_once(refused))
    return Watched(model, optimizer, Path(file), most)


class Watched:
    def __init__(self, model: nn.Module, optimizer: optim.Optimizer, file: Path, most: float) -> None:
        self.optimizer, self.most = optimizer, most
        self._measure = StepMeasure(model, optimizer)
        self._writer = run_file.RunWriter(file)
        lane = {"label": optimizer_name(optimizer), "optimizer": optimizer_name(optimizer)}
        self._writer.write(
            run_file.head("watch", [{**lane, "settings": plain_settings(optimizer)}], self._measure.size)
        )
        self._kept = Thinned()
        self._rows: list[Row] = []  # that stay, and are not written yet
        self._taken = _steps_taken(optimizer)  # before it was watched
        self.steps = 0
        self._losses: list[Tensor | float] = []  # told, and of no row yet
        self._before_step = True  # whether a loss is told before its step: the first one shows
        self._values: dict[str, float] | None = None  # of the latest step, until its loss is known
        self._measuring, self._next_histogram = False, 1
        self._counts: NDArray[np.uint32] | None = None
        self._spent, self._cost, self._started, self._written = 0.0, 0.0, time.perf_counter(), 0.0
        self._hooks = [
            optimizer.register_step_pre_hook(self._guarded(self._pre)),
            optimizer.register_step_post_hook(self._guarded(self._post)),
        ]
        atexit.register(self.close)

    def loss(self, value: Tensor | float) -> None:
        """The loss of a step, told before the step or after it; of several for one step their mean."""
        if isinstance(value, Tensor):
            if value.numel() != 1:
                raise ValueError(f"loss must be one number, got shape {list(value.shape)}: take its mean")
            # Where a number is at hand it is taken at once; elsewhere that would wait for the device.
            value = value.item() if value.device.type == "cpu" else value.detach().clone()
        if self._hooks:
            self._losses.append(value)

    def close(self, why: str = "closed") -> None:
        """Ends the watching; what is pending is written."""
        if not self._hooks:
            return
        self._unhook()
        try:
            self._finish_row()
            self._rows += self._kept.finish()
            self._flush()
            self._writer.write(run_file.end(self._taken + self.steps, why))
        except OSError as error:  # a full disk: the loop that ends here has done its work
            warnings.warn(f"the end of the run could not be written: {error}", stacklevel=2)
        finally:
            self._writer.close()

    def _unhook(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        atexit.unregister(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close("closed" if kind is None else f"{kind.__name__} in the loop, after step {self._taken + self.steps}")

    def _guarded(self, run: Callable[[bool], None]) -> Callable[..., None]:
        """A hook whose own errors end the watching, and are told; its time is counted."""

        def hook(_: optim.Optimizer, args: Any, kwargs: Any) -> None:
            start = time.perf_counter()
            try:
                run(any(one is not None for one in (*args[1:], *kwargs.values())))  # a step takes nothing but a closure
            except Exception as error:
                self._unhook()
                self._writer.close()
                warnings.warn(f"watching ended, training goes on: {type(error).__name__}: {error}", stacklevel=2)
            self._spent += time.perf_counter() - start

        return hook

    def _pre(self, closure: bool) -> None:
        if not self.steps:
            self._before_step = bool(self._losses)
        if not self._before_step:
            self._finish_row()
        self.steps += 1
        now = time.perf_counter()
        allowed = FREE_SECONDS + self.most * (now - self._started)
        self._measuring = self._spent + self._cost <= allowed
        self._values = {}
        if self._measuring or self.steps <= KEPT_ALL:
            self._values = told(self.optimizer, self._taken + self.steps)._asdict()
        if self._measuring:
            counting = self.steps >= self._next_histogram and not closure
            self._counts = self._measure.before(counting)
            if counting:
                self._next_histogram = _next_histogram(self.steps)
            self._cost = time.perf_counter() - now

    def _post(self, closure: bool) -> None:
        now = time.perf_counter()
        if self._measuring and self._values is not None:
            self._values |= self._measure.after(closure)
            if self._counts is not None:
                counts = self._measure.counts(self._counts)
                self._writer.write(run_file.histogram(self._taken + self.steps, self._measure.groups, counts))
                self._counts = None
            self._cost += time.perf_counter() - now
        if self._before_step:
            self._finish_row()

    def _finish_row(self) -> None:
        """Of the latest step, once its loss is known or will not be told."""
        if self._values is None:
            return
        if self._losses:
            self._values["loss"] = sum(float(one) for one in self._losses) / len(self._losses)
        self._rows += self._kept.add(self._taken + self.steps, self._values)
        self._values, self._losses = None, []
        now = time.perf_counter()
        if now - self._written > FLUSH_SECONDS:
            self._flush()
            self._writer.tail("".join(run_file.row(*row) for row in self._kept.pending()))
            self._written = now

    def _flush(self) -> None:
        """Several rows at a time: alone each would find the caches full of the model."""
        self._writer.write("".join(run_file.row(*row) for row in self._rows))
        self._rows = []


def _steps_taken(optimizer: optim.Optimizer) -> int:
    """Of an optimizer that goes on from a checkpoint: its own count decides r_t."""
    counts = [state["step"] for state in optimizer.state.values() if "step" in state]
    return max((int(count) for count in counts), default=0)


def _next_histogram(step: int) -> int:
    """1, 5, 10, 25, ..., 200 as in a race, and then ever further apart: forty of them in a million steps."""
    return next((early for early in EARLY_STEPS if early > step), math.ceil(_HISTOGRAM_RATIO * step))
