"""A lane's step by an optimizer of `torch.optim`, on the lane's own row of the race's buffers.

The class is torch's as it is, with plain parameters that are views of the row, so that nothing of another lane comes
in. Before every step the rate in force is put into its groups, as a scheduler of torch would.
"""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn, optim

from radam_core.race.lanes import Lanes
from radam_core.race.plan import Lane
from radam_core.single_steps import coefficients_at
from radam_core.torch_methods import TorchMethod

LR_TIMES = "lr_times"  # in a group: its rate as a part of the lane's
_PAIRS = {"etas": ("eta_minus", "eta_plus"), "step_sizes": ("step_min", "step_max")}  # of torch, by our names


class MuonAndAdamW(optim.Optimizer):
    """Muon for matrices, which is all it takes, and AdamW for everything else."""

    def __init__(self, parameters: Iterable[Tensor], muon: dict[str, Any], adamw: dict[str, Any]) -> None:
        given = list(parameters)
        matrices, others = ([p for p in given if (p.dim() == 2) is two] for two in (True, False))
        if not matrices:
            shapes = ", ".join(sorted({str(list(p.shape)) for p in given})[:4])
            raise ValueError(f"Muon takes matrices, of which this model has none, got shapes {shapes}")
        times = adamw.pop(LR_TIMES)
        self.parts: list[optim.Optimizer] = [optim.Muon(matrices, **muon)]
        if others:
            self.parts.append(optim.AdamW(others, **adamw))
        super().__init__([group for part in self.parts for group in part.param_groups], {})
        for part, share in zip(self.parts, (1.0, times), strict=False):
            part.state = self.state
            part.param_groups[0][LR_TIMES] = share

    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # lanes have no closure
        if closure is not None:
            raise ValueError("Muon and AdamW take their step together, without a closure")
        for part in self.parts:
            part.step()


def make_torch_optimizer(
    method: TorchMethod, parameters: Iterable[Tensor], lr: float, weight_decay: float = 0.0
) -> optim.Optimizer:
    """torch's own class with the method's settings."""
    row, own = method.row, dict(method.options)
    for name, pair in _PAIRS.items():
        if pair[0] in own:
            own[name] = tuple(own.pop(one) for one in pair)  # type: ignore[assignment]
    if "eps2" in own:
        own["eps"] = (None, own.pop("eps2"))  # type: ignore[assignment]
    shared: dict[str, Any] = {"lr": lr}
    if "weight_decay" in row.has:
        shared["weight_decay"] = weight_decay
    adam: dict[str, Any] = {"betas": method.betas} if "beta2" in row.has else {}
    adam |= {"eps": method.eps} if "eps" in row.has else {}
    if "decoupled_weight_decay" in row.has:
        adam["decoupled_weight_decay"] = method.decoupled_weight_decay
    if row.name == "Muon":
        times = own.pop("adamw_lr_times")
        beside = {**shared, **adam, "lr": lr * float(times), LR_TIMES: times}
        return MuonAndAdamW(parameters, {**shared, **own}, beside)
    kind = getattr(optim, row.name)
    return kind(parameters, **shared, **adam, **row.fixed, **own)


class TorchLane:
    """One lane's optimizer, its parameters and where their gradients come from."""

    def __init__(self, lane: Lane, method: TorchMethod, lanes: Lanes, row: int) -> None:
        self.lane, self.method = lane, method
        self.theta, self.grad = lanes.buffer[row], lanes.grad[row]
        whole = {"": (slice(None), self.theta.shape)}
        each = {name: (span, lanes.parameters[name].shape[1:]) for name, span in lanes.spans.items()}
        self._places = list((whole if method.row.by_element else each).values())
        self.parameters = [nn.Parameter(view) for view in self._views(self.theta)]
        for p, grad in zip(self.parameters, self._views(self.grad), strict=True):
            p.grad = grad
        self.optimizer = make_torch_optimizer(method, self.parameters, lane.lr, lane.weight_decay)

    def _views(self, row: Tensor) -> list[Tensor]:
        return [row[span].view(shape) for span, shape in self._places]

    def take_over(self, before: "TorchLane") -> None:
        """Goes on where another stands, which has the same settings."""
        for p, old in zip(self.parameters, before.parameters, strict=True):
            if old in before.optimizer.state:
                self.optimizer.state[p] = copy.deepcopy(before.optimizer.state[old])

    @torch.no_grad()
    def step(self, t: int, update: Tensor | None) -> None:
        """Step t; with `update`, what it takes off the parameters, without decoupled decay, is written there."""
        rate = self.lane.lr * coefficients_at(self.method, t).lr_factor
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group.get(LR_TIMES, 1.0)
        if update is not None:
            update.copy_(self.theta)
            self._decay(dict(zip(self.parameters, self._views(update), strict=True)))
        self.optimizer.step()
        if update is not None:
            update -= self.theta

    def _decay(self, views: dict[nn.Parameter, Tensor]) -> None:
        if not (self.lane.weight_decay and self.method.decoupled_weight_decay):
            return
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                views[p] *= 1 - group["lr"] * self.lane.weight_decay

    @torch.no_grad()
    def tell(self, first: Tensor, second: Tensor) -> None:
        """Copies its averages into these rows, as far as it keeps any of that kind."""
        for row, name in ((first, self.method.row.first), (second, self.method.row.second)):
            if name is not None:
                _copy(self._views(row), [self.optimizer.state[p].get(name) for p in self.parameters])


def _copy(places: Sequence[Tensor], values: Sequence[Tensor | None]) -> None:
    for place, value in zip(places, values, strict=True):
        if value is not None:
            place.copy_(value)
