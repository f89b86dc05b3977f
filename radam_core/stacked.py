"""All lanes' optimizers as a few operations on the whole [K, N] buffers, each lane's scalars being a column.

The update is that of `methods`; per step only the columns change, and they come from the same `Method.coefficients` as
the drop-in optimizers' and the pages' curves.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from radam_core.domains import FloatArray
from radam_core.entry import Lane
from radam_core.lanes import Lanes
from radam_core.methods import ADAPTIVE, Coefficients

_BLOCK = 256  # steps whose columns are worked out at once
_CLIP_EPS = 1e-6  # in torch.nn.utils.clip_grad_norm_


class Sizes(NamedTuple):
    """Norms by lane, [K] each: the raw gradient's, the update's without decay, and the parameters' before it."""

    grad: Tensor
    update: Tensor
    parameters: Tensor


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
        self.lanes, self.entries, self.t = lanes, tuple(entries), 0
        self.exp_avg, self.exp_avg_sq = torch.zeros_like(lanes.buffer), torch.zeros_like(lanes.buffer)
        self.alive = [True] * len(self.entries)
        self.scratch = torch.empty_like(lanes.buffer)  # between two steps anyone's
        clips = [lane.clip or np.inf for lane in entries]
        coupled = [0.0 if lane.method.decoupled_weight_decay else lane.weight_decay for lane in entries]
        self._clips = self._columns([clips])[0] if min(clips) < np.inf else None
        self._coupled = self._columns([coupled])[0] if any(coupled) else None
        self._decays = any(lane.weight_decay and lane.method.decoupled_weight_decay for lane in entries)

    def stop(self, lane: int) -> None:
        """Takes a lane out of the race: its parameters and moments become zero and stay so."""
        self.alive[lane] = False
        for values in (self.lanes.buffer, self.lanes.grad, self.exp_avg, self.exp_avg_sq):
            values[lane] = 0.0

    def grad_norms(self) -> Tensor:
        return torch.linalg.vector_norm(self.lanes.grad, dim=1)

    @torch.no_grad()
    def step(self, grad_norms: Tensor, measure: bool = True) -> Sizes | None:
        """One step of every lane that is alive, given the norms of its gradients."""
        self.t += 1
        row = (self.t - 1) % _BLOCK
        if row == 0:
            self._begin_block()
        theta, g, m, v, size = self.lanes.buffer, self.lanes.grad, self.exp_avg, self.exp_avg_sq, self.scratch
        c = Columns(*self._block[row])
        parameters = torch.linalg.vector_norm(theta, dim=1) if measure else None

        if self._clips is not None:
            g *= (self._clips / (grad_norms.unsqueeze(1) + _CLIP_EPS)).clamp(max=1.0)
        if self._coupled is not None:
            g.addcmul_(theta, self._coupled)
        for lane, alive in enumerate(self.alive):
            if not alive:  # the gradient where it rests is of no use
                g[lane] = 0.0
        if self._decays:
            theta *= c.kept
        m.mul_(c.m_keep).addcmul_(g, c.m_gain)
        torch.mul(g, c.v_gain, out=size)
        v.mul_(c.v_keep).addcmul_(size, g)
        torch.sqrt(v, out=size).add_(c.eps)
        for lane, branch in enumerate(self.branches[row]):
            if branch != ADAPTIVE or not self.alive[lane]:
                size[lane] = 1.0
        torch.div(m, size, out=size).mul_(c.step)
        theta -= size
        if parameters is None:
            return None
        return Sizes(grad_norms, torch.linalg.vector_norm(size, dim=1), parameters)

    @property
    def eps(self) -> FloatArray:
        """What the latest step added to the square root of the stored v, by lane."""
        return self._eps[(self.t - 1) % _BLOCK]

    def _begin_block(self) -> None:
        steps = np.arange(self.t, self.t + _BLOCK)
        lanes = [lane.method.coefficients(steps) for lane in self.entries]
        c = Coefficients(*(np.stack(parts, 1) for parts in zip(*lanes, strict=True)))  # [step, lane] each
        lr = np.array([lane.lr for lane in self.entries])
        decay = np.array([lane.weight_decay * lane.method.decoupled_weight_decay for lane in self.entries])
        # In the order of `Columns`.
        by_name = (c.m_keep, c.m_gain, c.v_keep, c.v_gain, c.eps, lr * c.step, 1 - lr * c.lr_factor * decay)
        self._block = self._columns(np.stack(by_name, 1))  # [step, column, K, 1]
        self.branches, self._eps = c.branch.tolist(), c.eps

    def _columns(self, values: object) -> Tensor:
        buffer = self.lanes.buffer
        return torch.as_tensor(np.asarray(values), dtype=buffer.dtype, device=buffer.device).unsqueeze(-1)
