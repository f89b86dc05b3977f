"""What a race tells the world: numbered frames of plain numpy arrays, and a compact text form of them.

A frame's numbers are of two kinds. What the data decide (losses, norms, histograms, metrics) travels; what the step
and the lane's settings decide (lr, rho_t, r_t, the multiplier, the branch) is a function of both, `schedule_columns`,
and is computed again where a frame is read. That, float32, and deflated histograms keep the default race far below
8 KB a second.
"""

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radam_core.domains import FloatArray
from radam_core.entry import Lane
from radam_core.theory import rho

RUNNING, DIVERGED, FINISHED, STOPPED = "running", "diverged", "finished", "stopped"
_BY_LETTER = {status[0]: status for status in (RUNNING, DIVERGED, FINISHED, STOPPED)}
QUANTITIES = ("gradient", "first moment", "second moment")  # whose powers of two the histograms count
PSI_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
BINS = 256  # bin e counts 2^(e - 127) <= |x| < 2^(e - 126), bin 0 what is below 2^-126, zeros too
BIN_OF_ONE = 127


@dataclass(frozen=True)
class Histograms:
    """Taken at step t: counts by powers of two, [quantity, lane, group, bin]; the groups add up to the whole."""

    t: int
    groups: tuple[str, ...]
    counts: NDArray[np.uint32]
    group_norms: NDArray[np.float32]  # of the gradient, [lane, group]
    psi_quantiles: NDArray[np.float32]  # of the adaptive rate over coordinates, [lane, PSI_QUANTILES]; nan without one
    psi_relative_variance: NDArray[np.float32]  # Var[psi] / E[psi]^2 over coordinates, [lane]


@dataclass(frozen=True)
class Frame:
    """Steps `first` to `last` of a race; arrays by recorded step and lane are [step, lane]."""

    number: int
    first: int
    last: int
    steps: NDArray[np.int64]  # the recorded ones
    loss: NDArray[np.float32]
    grad_norm: NDArray[np.float32]
    update_rms: NDArray[np.float32]
    relative_update: NDArray[np.float32]
    lr: FloatArray
    rho: FloatArray
    r: FloatArray
    multiplier: FloatArray
    branch: NDArray[np.int64]
    status: tuple[str, ...]  # by lane
    diverged_at: tuple[int | None, ...]
    histograms: tuple[Histograms, ...] = ()
    metrics: dict[int, dict[str, NDArray[np.float32]]] = field(default_factory=dict)  # step -> name -> [lane]
    positions: NDArray[np.float32] | None = None  # [step, lane, 2]: where a model of two parameters stands

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
        columns["rho"][:, k] = rho(t, lane.method.betas[1])
        columns["r"][:, k] = c.rectification
        columns["multiplier"][:, k] = c.lr_factor * np.where(np.isnan(c.rectification), 1.0, c.rectification)
        columns["branch"][:, k] = c.branch
    return columns


_TRAVELLING = ("loss", "grad_norm", "update_rms", "relative_update", "positions")


def encode_frame(frame: Frame) -> str:
    """One line of JSON, with arrays as base64."""
    plain: dict[str, Any] = {name: getattr(frame, name) for name in ("number", "first", "last")}
    plain |= {"status": "".join(status[0] for status in frame.status), "steps": frame.steps.tolist()}
    plain["diverged_at"] = [at for at in frame.diverged_at if at is not None]
    plain |= {name: _pack(getattr(frame, name)) for name in _TRAVELLING if getattr(frame, name) is not None}
    if frame.histograms:
        plain["histograms"] = [
            {f.name: _pack_any(getattr(histograms, f.name)) for f in fields(histograms)}
            for histograms in frame.histograms
        ]
    if frame.metrics:
        plain["metrics"] = {str(t): {k: _pack(v) for k, v in values.items()} for t, values in frame.metrics.items()}
    return json.dumps(plain, separators=(",", ":"))


def decode_frame(text: str, lanes: Sequence[Lane]) -> Frame:
    """The frame again, its schedule columns computed from the lanes that raced."""
    plain = json.loads(text)
    steps = np.array(plain["steps"], dtype=np.int64)
    histograms = tuple(
        Histograms(**{name: _unpack_any(value) for name, value in stored.items()})
        for stored in plain.pop("histograms", ())
    )
    metrics = {
        int(t): {name: _unpack(value) for name, value in values.items()}
        for t, values in plain.pop("metrics", {}).items()
    }
    arrays: dict[str, Any] = {name: _unpack(plain.pop(name)) for name in _TRAVELLING if name in plain}
    status, lost = tuple(_BY_LETTER[letter] for letter in plain["status"]), iter(plain["diverged_at"])
    diverged_at = tuple(next(lost) if one == DIVERGED else None for one in status)
    plain |= {"steps": steps, "status": status, "diverged_at": diverged_at}
    return Frame(**plain, **arrays, **schedule_columns(lanes, steps), histograms=histograms, metrics=metrics)


def _pack(array: NDArray[Any]) -> list[Any]:
    """Type, shape and bytes; deflated if that is shorter, the first bytes of all numbers first: they often agree."""
    raw = array.tobytes()
    by_place = np.frombuffer(raw, dtype=np.uint8).reshape(-1, array.itemsize).T.tobytes()
    deflated = zlib.compress(by_place, 9)
    data = deflated if len(deflated) < len(raw) else raw
    return [array.dtype.str, list(array.shape), int(data is deflated), base64.b64encode(data).decode()]


def _unpack(packed: list[Any]) -> NDArray[Any]:
    dtype, shape, deflated, text = packed
    data = base64.b64decode(text)
    if deflated:
        places = np.frombuffer(zlib.decompress(data), dtype=np.uint8).reshape(np.dtype(dtype).itemsize, -1)
        data = places.T.tobytes()
    return np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape)


def _pack_any(value: Any) -> Any:
    return {"array": _pack(value)} if isinstance(value, np.ndarray) else value


def _unpack_any(value: Any) -> Any:
    if isinstance(value, dict):
        return _unpack(value["array"])
    return tuple(value) if isinstance(value, list) else value
