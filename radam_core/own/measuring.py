"""What can be read of one step of any optimizer, around it and without changing anything: norms, sizes, histograms."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn, optim

from radam_core.own.rows import layer_groups
from radam_core.race.frames import BINS
from radam_core.race.probes import histogram
from radam_core.race.quantities import QUANTITIES, Step


class StepMeasure:
    """An optimizer's parameters in the model's order; `before` and `after` a step give the step's quantities."""

    def __init__(self, model: nn.Module, optimizer: optim.Optimizer) -> None:
        moved = {id(p) for group in optimizer.param_groups for p in group["params"]}
        named = {name: p for name, p in model.named_parameters() if id(p) in moved}
        known = {id(p) for p in named.values()}
        rest = [p for group in optimizer.param_groups for p in group["params"] if id(p) not in known]
        named |= {f"other.{i}": p for i, p in enumerate(rest)}
        self.optimizer = optimizer
        self.parameters: list[Tensor] = list(named.values())
        ends = np.cumsum([0, *(p.numel() for p in self.parameters)]).tolist()
        spans = {name: slice(*ends[i : i + 2]) for i, name in enumerate(named)}
        self.groups, self.size = layer_groups(spans), ends[-1]
        self._before: Tensor | None = None  # the parameters, between `before` and `after`
        self._norms: tuple[Tensor, Tensor]  # of the gradient and the parameters, before

    @torch.no_grad()
    def before(self, counting: bool) -> NDArray[np.uint32] | None:
        """With the gradient's counts by group, if they are asked for."""
        grad = self._gradient()
        counts = histogram(grad.unsqueeze(0), self.groups)[0] if counting else None
        grad_norm = torch.linalg.vector_norm(grad)
        theta = pooled(self.parameters)
        self._before, self._norms = theta, (grad_norm, torch.linalg.vector_norm(theta))
        return counts

    @torch.no_grad()
    def after(self, evaluated_within: bool) -> dict[str, float]:
        """By the names of `QUANTITIES`, but for the loss. A closure makes its gradients within the step."""
        if evaluated_within:
            self._norms = (torch.linalg.vector_norm(self._gradient()), self._norms[1])
        assert self._before is not None
        theta = pooled(self.parameters)
        update = self._before.sub_(theta)  # what the step took off
        self._before = None
        numbers = (
            *self._norms,
            torch.linalg.vector_norm(update),
            torch.dot(update, theta),
            torch.linalg.vector_norm(theta),
        )
        grad_norm, parameter_norm, update_norm, along, after_norm = torch.stack(numbers).tolist()
        step = Step(
            loss=math.nan,
            grad_norm=grad_norm,
            update_norm=update_norm,
            parameter_norm=parameter_norm or math.nan,
            angle=_angle(update_norm, along, after_norm),
            parameters=self.size,
        )
        return {name: float(one.measure(step)) for name, one in QUANTITIES.items() if name != "loss"}

    @torch.no_grad()
    def counts(self, gradient: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Of all three of `COUNTED`, [kind, group, bin]; nothing of a moment that the optimizer has not."""
        return np.stack([gradient, *(self._moment(name) for name in ("exp_avg", "exp_avg_sq"))])

    def _moment(self, name: str) -> NDArray[np.uint32]:
        states = [self.optimizer.state.get(p, {}).get(name) for p in self.parameters]
        found = [
            x if isinstance(x, Tensor) and x.shape == p.shape else None
            for x, p in zip(states, self.parameters, strict=True)
        ]
        if all(x is None for x in found):
            return np.zeros((len(self.groups), BINS), np.uint32)
        return histogram(self._filled(found).unsqueeze(0), self.groups)[0]

    def _gradient(self) -> Tensor:
        return self._filled([p.grad for p in self.parameters])

    def _filled(self, values: Sequence[Tensor | None]) -> Tensor:
        """One row of all, zeros for what there is none of."""
        full = [torch.zeros_like(p) if x is None else x for x, p in zip(values, self.parameters, strict=True)]
        return pooled([x.to_dense() if x.is_sparse else x for x in full])


def pooled(tensors: Sequence[Tensor]) -> Tensor:
    """A row of its own with all of them, at least in float32: one norm of it takes less time than many small ones."""
    flat: Tensor = torch._C._nn.flatten_dense_tensors(list(tensors))
    flat = flat.clone() if len(tensors) == 1 else flat  # which would be the tensor itself
    return flat if flat.dtype in (torch.float32, torch.float64) else flat.float()


def _angle(update_norm: float, along: float, after_norm: float) -> float:
    """Degrees between the parameters before and after, from the part of the update across them, as in a race."""
    if not after_norm > 0:
        return math.nan
    across = math.sqrt(max(0.0, update_norm**2 - (along / after_norm) ** 2))
    return math.degrees(math.atan2(across, after_norm + along / after_norm))
