"""What a race tells the world: numbered frames of plain numpy arrays.

A frame holds what the data decide (losses, norms, histograms, metrics). What the step and a lane's settings decide
(lr, rho_t, r_t, the multiplier, the branch) is a function of both, `schedule_columns`, for whoever wants it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radam_core.race.plan import Lane
from radam_core.theory import rho

RUNNING, DIVERGED, FINISHED, STOPPED = "running", "diverged", "finished", "stopped"
COUNTED = ("gradient", "first moment", "second moment")  # whose powers of two the histograms count
BINS = 256  # bin e counts 2^(e - 127) <= |x| < 2^(e - 126), bin 0 what is below 2^-126, zeros too
BIN_OF_ONE = 127
# Of the adaptive rate psi (`spread.py`): Var[log psi] across a lane's parameters and within one of them, the kurtosis
# of a half batch's gradient, and how many parameters are left out: for rounding, and for want of a gradient so far.
# And of the step itself: which part of the critical one it was (`Race._critical`).
SPREAD = ("psi_across", "psi_within", "kurtosis", "rounding", "no_gradient", "critical")

# The largest eigenvalue of the Hessian on a step's batch, plain and as Adam sees it: the measured steps take them by
# turns, and the other is nan (`sharpness.py`).
SHARPNESS = ("sharpness", "preconditioned_sharpness")


@dataclass(frozen=True)
class Histograms:
    """Taken at step t: counts by powers of two, [of `COUNTED`, lane, group, bin]; the groups add up to all."""

    t: int
    groups: tuple[str, ...]
    counts: NDArray[np.uint32]
    by_group: Mapping[str, NDArray[np.float32]]  # by the names of `BY_GROUP`, [lane, group] each
    layers: tuple[str, ...]
    by_layer: NDArray[np.float32]  # [lane, layer]: the gradient's norm
    spread: Mapping[str, NDArray[np.float32]]  # by the names of `SPREAD`, [lane] each; nan where it is not measured


@dataclass(frozen=True)
class Frame:
    """Steps `first` to `last` of a race."""

    number: int
    first: int
    last: int
    steps: NDArray[np.int64]  # the recorded ones
    columns: Mapping[str, NDArray[np.float32]]  # by the names of `QUANTITIES`, [step, lane] each
    status: tuple[str, ...]  # by lane
    diverged_at: tuple[int | None, ...]
    histograms: tuple[Histograms, ...] = ()
    metrics: dict[int, dict[str, NDArray[np.float32]]] = field(default_factory=dict)  # step -> name -> [lane]
    positions: NDArray[np.float32] | None = None  # [step, lane, 2]: where a model of two parameters stands
    sharpness: dict[int, NDArray[np.float32]] = field(default_factory=dict)  # step -> [of `SHARPNESS`, lane]

    @property
    def loss(self) -> NDArray[np.float32]:
        return self.columns["loss"]

    @property
    def finished(self) -> bool:
        return RUNNING not in self.status


def schedule_columns(lanes: Sequence[Lane], steps: Sequence[int] | NDArray[np.int64]) -> dict[str, Any]:
    """What each step does by its settings alone: lr in force, rho_t, r_t, w_t r_t and the branch, [step, lane] each.

    `multiplier` is what warmup, decay and rectification leave of the learning rate: 0 in a step that moves nothing.
    """
    t = np.asarray(steps, dtype=np.int64)
    shape = (len(t), len(lanes))
    columns: dict[str, Any] = {name: np.empty(shape) for name in ("lr", "rho", "r", "multiplier")}
    columns["branch"] = np.empty(shape, dtype=np.int64)
    for k, lane in enumerate(lanes if len(t) else ()):
        c = lane.method.coefficients(t)
        columns["lr"][:, k] = lane.lr * c.lr_factor
        columns["rho"][:, k] = rho(t, lane.method.betas[1]) if lane.method.theory else np.nan
        columns["r"][:, k] = c.rectification
        columns["multiplier"][:, k] = c.lr_factor * np.where(np.isnan(c.rectification), 1.0, c.rectification)
        columns["branch"][:, k] = c.branch
    return columns


def without(histograms: Histograms, lanes: Sequence[int]) -> Histograms:
    """With nothing said of these lanes."""
    if not lanes:
        return histograms
    counts = histograms.counts.copy()
    counts[:, lanes] = 0
    gone = np.isin(np.arange(counts.shape[1]), lanes)
    by_group = {name: np.where(gone[:, None], _UNKNOWN, values) for name, values in histograms.by_group.items()}
    spread = {name: np.where(gone, _UNKNOWN, values) for name, values in histograms.spread.items()}
    by_layer = np.where(gone[:, None], _UNKNOWN, histograms.by_layer)
    return replace(histograms, counts=counts, by_group=by_group, by_layer=by_layer, spread=spread)


_UNKNOWN = np.float32(np.nan)


def frame_of(frame: Frame, lanes: slice) -> Frame:
    """What the frame tells of these lanes, as if they had raced alone."""
    histograms = tuple(
        replace(
            h,
            counts=h.counts[:, lanes],
            by_group={name: values[lanes] for name, values in h.by_group.items()},
            by_layer=h.by_layer[lanes],
            spread={name: values[lanes] for name, values in h.spread.items()},
        )
        for h in frame.histograms
    )
    return replace(
        frame,
        columns={name: column[:, lanes] for name, column in frame.columns.items()},
        status=frame.status[lanes],
        diverged_at=frame.diverged_at[lanes],
        histograms=histograms,
        metrics={t: {name: values[lanes] for name, values in found.items()} for t, found in frame.metrics.items()},
        positions=None if frame.positions is None else frame.positions[:, lanes],
        sharpness={t: values[:, lanes] for t, values in frame.sharpness.items()},
    )
