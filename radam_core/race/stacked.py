"""All lanes' optimizers as a few operations on the whole [K, N] buffers, each lane's scalars being a column.

The update is that of `methods`; per step only the columns change, and they come from the same `Method.coefficients` as
the drop-in optimizers' and the pages' curves. A lane by an optimizer of torch has columns that move nothing, and its
own step after that of the others.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from radam_core.averages import bias_correction
from radam_core.methods import ADAPTIVE, Coefficients
from radam_core.race.lanes import Lanes
from radam_core.race.plan import Lane
from radam_core.race.torch_lane import TorchLane
from radam_core.torch_methods import TorchMethod

_BLOCK = 256  # steps whose columns are worked out at once
_CLIP_EPS = 1e-6  # in torch.nn.utils.clip_grad_norm_
ALL = (slice(None),)  # the parameters in one part
# A lane of as many parameters is moved by itself: what one operation has read is then still near the processor for the
# next. Lanes of fewer are moved together, or to call the operations would take most of the time.
_LARGE = 1 << 15


class Sizes(NamedTuple):
    """Of parts of the parameters, [part, K] each: norms of the update without decoupled decay and of the parameters
    before it, and the angle in degrees by which the whole step turns them, decay and all."""

    update: Tensor
    parameters: Tensor
    angle: Tensor


class Columns(NamedTuple):
    """A step's scalars as columns [K, 1]: `Coefficients` with each lane's lr and decay multiplied in."""

    m_keep: Tensor
    m_gain: Tensor
    v_keep: Tensor
    v_gain: Tensor
    eps: Tensor
    step: Tensor
    kept: Tensor  # of theta, after decoupled decay


class StackedOptimizer:
    """Moments of all lanes and the step that moves them. A stopped lane rests at zero, where everything is finite."""

    def __init__(self, lanes: Lanes, entries: Sequence[Lane]) -> None:
        self.lanes, self.t = lanes, 0
        self.exp_avg, self.exp_avg_sq = torch.zeros_like(lanes.buffer), torch.zeros_like(lanes.buffer)
        self.alive = [True] * len(entries)
        self._block = torch.empty(0)  # of the steps in hand: `_begin_block`
        self.branches: list[list[int]] = []
        self._set_lanes(entries)

    def _set_lanes(self, entries: Sequence[Lane]) -> None:
        self.entries = tuple(entries)
        self.scratch = torch.empty_like(self.lanes.buffer)  # between two steps anyone's
        clips = [lane.clip or np.inf for lane in entries]
        coupled = [_decay(lane, decoupled=False) for lane in entries]
        self._clips = self._columns([clips])[0] if min(clips) < np.inf else None
        self._coupled = self._columns([coupled])[0] if any(coupled) else None
        self._decays = any(_decay(lane, decoupled=True) for lane in entries)
        self._by_torch = {
            row: TorchLane(lane, lane.method, self.lanes, row)
            for row, lane in enumerate(entries)
            if isinstance(lane.method, TorchMethod)
        }

    def keep(self, rows: Sequence[int]) -> None:
        """Goes on with these lanes alone, which `lanes` has kept, too."""
        rows = list(rows)
        self.exp_avg, self.exp_avg_sq = self.exp_avg[rows].clone(), self.exp_avg_sq[rows].clone()
        self.alive = [self.alive[row] for row in rows]
        before = self._by_torch
        self._set_lanes([self.entries[row] for row in rows])
        for place, lane in self._by_torch.items():
            lane.take_over(before[rows[place]])
        self._block = self._block[:, :, rows]
        self.branches = [[branches[row] for row in rows] for branches in self.branches]

    def stop(self, lane: int) -> None:
        """Takes a lane out of the race: its parameters and moments become zero and stay so."""
        self.alive[lane] = False
        for values in (self.lanes.buffer, self.lanes.grad, self.exp_avg, self.exp_avg_sq):
            values[lane] = 0.0

    def grad_norms(self) -> Tensor:
        return torch.linalg.vector_norm(self.lanes.grad, dim=1)

    @torch.no_grad()
    def prepare(self, grad: Tensor, grad_norms: Tensor) -> None:
        """Makes of a gradient what the moments take, in place: clipped, and with coupled decay."""
        if self._clips is not None:
            grad *= (self._clips / (grad_norms.unsqueeze(1) + _CLIP_EPS)).clamp(max=1.0)
        if self._coupled is not None:
            grad.addcmul_(self.lanes.buffer, self._coupled)

    @torch.no_grad()
    def divisor(self, grad_norms: Tensor) -> Tensor:
        """P of the coming step, sqrt(v-hat) + eps, [K, N]: what an adaptive step divides by. 1 where there is no v."""
        t = self.t + 1
        methods = [lane.method for lane in self.entries]
        c = Coefficients(*(np.stack(parts) for parts in zip(*(m.coefficients(t) for m in methods), strict=True)))
        correction = [math.sqrt(bias_correction(t, method.betas[1])) for method in methods]
        v_keep, v_gain, eps, correct = self._columns([c.v_keep, c.v_gain, c.eps, correction])
        grad = self.lanes.grad.clone()
        self.prepare(grad, grad_norms)
        found = grad.square_().mul_(v_gain).addcmul_(self.exp_avg_sq, v_keep).sqrt_().add_(eps).div_(correct)
        for lane, method in enumerate(methods):
            if method.first_moment == "heavy-ball" or method.by_torch:
                found[lane] = 1.0
        return found

    def average_squares(self, v: Tensor, grad: Tensor, scratch: Tensor) -> None:
        """v <- beta2 v + (1 - beta2) grad^2, with the latest step's coefficients."""
        _average_squares(self._now, v, grad, scratch)

    @torch.no_grad()
    def step(self, grad_norms: Tensor, parts: Sequence[slice] = ALL) -> Sizes | None:
        """One step of every lane that is alive, given the norms of its gradients; measured in these parts, if any."""
        self.t += 1
        row = (self.t - 1) % _BLOCK
        if row == 0:
            self._begin_block()
        g = self.lanes.grad
        self.prepare(g, grad_norms)
        for lane, alive in enumerate(self.alive):
            if not alive:  # the gradient where it rests is of no use
                g[lane] = 0.0
        blocks = range(len(g)) if g.shape[1] >= _LARGE else [slice(None)]
        measured = [self._move(slice(k, k + 1) if isinstance(k, int) else k, row, parts) for k in blocks]
        if not parts:
            return None
        update, parameters, across, along = (torch.cat(found, 1) for found in zip(*measured, strict=True))
        return Sizes(update, parameters, _degrees(across, along))

    def _move(self, lanes: slice, row: int, parts: Sequence[slice]) -> tuple[Tensor, ...]:
        """The step of these lanes. By part and lane: the norms of the update and of the parameters before it, and the
        sides of the angle between those and what they are now."""
        c = Columns(*(column[lanes] for column in self._now))
        buffers = (self.lanes.buffer, self.lanes.grad, self.exp_avg, self.exp_avg_sq, self.scratch)
        theta, g, m, v, size = (buffer[lanes] for buffer in buffers)
        parameters = [torch.linalg.vector_norm(theta[:, part], dim=1) for part in parts]
        if self._decays:
            theta *= c.kept
        torch.mul(g, c.m_gain, out=size)
        m.mul_(c.m_keep).add_(size)
        _average_squares(c, v, g, size)
        torch.sqrt(v, out=size).add_(c.eps)
        first = lanes.start or 0
        for lane, (branch, alive) in enumerate(zip(self.branches[row][lanes], self.alive[lanes], strict=True)):
            if branch != ADAPTIVE or not alive or first + lane in self._by_torch:
                size[lane] = 1.0
        torch.div(m, size, out=size).mul_(c.step)
        theta -= size
        for lane in range(len(theta)):
            by_torch = self._by_torch.get(first + lane)
            if by_torch and self.alive[first + lane]:
                by_torch.step(self.t, size[lane] if parts else None)
                if parts:
                    by_torch.tell(m[lane], v[lane])
        if not parts:
            return ()
        updates = [torch.linalg.vector_norm(size[:, part], dim=1) for part in parts]
        sides = zip(*(_sides(theta[:, part], size[:, part]) for part in parts), strict=True)
        return tuple(torch.stack(found) for found in (updates, parameters, *map(list, sides)))

    @property
    def _now(self) -> Columns:
        """Of the latest step, or of the one under way."""
        return Columns(*self._block[(self.t - 1) % _BLOCK])

    def _begin_block(self) -> None:
        steps = np.arange(self.t, self.t + _BLOCK)
        lanes = [lane.method.coefficients(steps) for lane in self.entries]
        c = Coefficients(*(np.stack(parts, 1) for parts in zip(*lanes, strict=True)))  # [step, lane] each
        lr = np.array([lane.lr for lane in self.entries])
        decay = np.array([_decay(lane, decoupled=True) for lane in self.entries])
        # In the order of `Columns`.
        by_name = (c.m_keep, c.m_gain, c.v_keep, c.v_gain, c.eps, lr * c.step, 1 - lr * c.lr_factor * decay)
        self._block = self._columns(np.stack(by_name, 1))  # [step, column, K, 1]
        self.branches = c.branch.tolist()

    def _columns(self, values: object) -> Tensor:
        buffer = self.lanes.buffer
        return torch.as_tensor(np.asarray(values), dtype=buffer.dtype, device=buffer.device).unsqueeze(-1)


def _decay(lane: Lane, decoupled: bool) -> float:
    """Its weight decay of this kind, where it is ours to take off: torch's optimizers do it themselves."""
    return lane.weight_decay if lane.method.decoupled_weight_decay is decoupled and not lane.method.by_torch else 0.0


def _average_squares(c: Columns, v: Tensor, grad: Tensor, scratch: Tensor) -> None:
    torch.mul(grad, c.v_gain, out=scratch)
    v.mul_(c.v_keep).addcmul_(scratch, grad)


def angle(theta: Tensor, update: Tensor) -> Tensor:
    """Degrees between theta, [K, n], and theta + update, by lane: from the part of the update across theta.

    The cosine would be 1 to all digits of a float32 below 0.02 degrees. Decoupled decay only shortens what it finds:
    with theta after the step this is the angle of the whole step.
    """
    return _degrees(*_sides(theta, update))


def _sides(theta: Tensor, update: Tensor) -> tuple[Tensor, Tensor]:
    """By lane, of the angle: across theta, and along it."""
    length = torch.linalg.vector_norm(theta, dim=1)
    along = (update * theta).sum(1) / length
    across = torch.mul(theta, (along / length).unsqueeze(1)).sub_(update)
    return torch.linalg.vector_norm(across, dim=1), length + along


def _degrees(across: Tensor, along: Tensor) -> Tensor:
    """Number by number: of eight lanes at once torch's atan2 has other last digits than of one."""
    pairs = zip(across.flatten().tolist(), along.flatten().tolist(), strict=True)
    return across.new_tensor([math.degrees(math.atan2(*pair)) for pair in pairs]).view(across.shape)
