"""Three ways to the same losses and gradients of K lanes: stacked layers, vectorised by torch.func, or one by one.

A way reads the rows of `Rows`, fills their gradients, and gives the losses [K]. All lanes of a step draw the same
random numbers, those that the plain model would draw in a loop of its own: so dropout has one mask for all lanes.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from radam_core.own.batches import with_tensors
from radam_core.own.masks import Order, SameMasks
from radam_core.own.rows import Rows
from radam_core.race.lane_layers import LaneBatchNorm2d
from radam_core.race.lanes import Lanes

Loss = Callable[[nn.Module, Any], Tensor]
PLAIN, VECTORISED, STACKED = "plain", "vectorised", "stacked"
IN_WORDS = {
    PLAIN: "plain models side by side",
    VECTORISED: "one model vectorised over the lanes by torch.func",
    STACKED: "stacked layers",
}


class Way(Protocol):
    name: str

    def run(self, batch: Any) -> Tensor: ...


def random_state(device: torch.device) -> tuple[Tensor, Tensor | None]:
    """Of torch on the CPU, and on the model's device where that is another."""
    other = None if device.type == "cpu" else torch.get_device_module(device).get_rng_state()
    return torch.get_rng_state(), other


def set_random_state(state: tuple[Tensor, Tensor | None], device: torch.device) -> None:
    torch.set_rng_state(state[0])
    if state[1] is not None:
        torch.get_device_module(device).set_rng_state(state[1])


class Plain:
    """Each lane's own module, as in any loop; a lane that has stopped is passed over."""

    name = PLAIN

    def __init__(self, rows: Rows, loss: Loss, alive: Sequence[bool]) -> None:
        self.rows, self.loss, self.alive = rows, loss, alive

    def run(self, batch: Any) -> Tensor:
        rows, device = self.rows, self.rows.buffer.device
        losses = [rows.buffer.new_tensor(torch.nan)] * len(rows.buffer)
        before, after = random_state(device), None
        for k, model in enumerate(rows.models):
            if not self.alive[k]:
                continue
            set_random_state(before, device)
            loss = self.loss(model, batch)
            after = after or random_state(device)
            rows.take(torch.autograd.grad(loss, rows.parameters[k], allow_unused=True), k)
            losses[k] = loss.detach().reshape(())
        if after is not None:
            set_random_state(after, device)
        return torch.stack(losses)


class _WithLoss(nn.Module):
    """The loss as a module's forward, so that torch.func can put a lane's tensors in the model's place."""

    def __init__(self, model: nn.Module, loss: Loss) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, batch: Any) -> Tensor:
        return self.loss(self.model, batch)


class Vectorised:
    """The forward pass under vmap; the backward pass is an ordinary one, and knows which parameters had no part."""

    name = VECTORISED

    def __init__(self, rows: Rows, loss: Loss, changing: Sequence[str], orders: Sequence[Order] | None) -> None:
        self.rows, self.orders = rows, orders
        self.model = _WithLoss(rows.models[0], loss)
        self.leaves = {f"model.{name}": rows.stacked(name) for name in rows.names}
        self.buffers = {f"model.{name}": rows.stacked_buffers[name] for name in changing}
        self.fixed = {name: value for name, value in rows.models[0].named_buffers() if name not in changing}

    def run(self, batch: Any) -> Tensor:
        versions = {name: value._version for name, value in self.fixed.items()}

        def one(leaves: dict[str, Tensor], buffers: dict[str, Tensor]) -> Tensor:
            given = {**leaves, **buffers}
            loss: Tensor = functional_call(self.model, given, (batch,))
            replaced = [name for name in buffers if given[name] is not buffers[name]]
            if replaced:
                raise ValueError(f"the model puts another tensor in place of its buffer {replaced[0][6:]}")
            return loss

        with SameMasks(self.orders) if self.orders is not None else nullcontext():
            losses = vmap(one, randomness="same")(self.leaves, self.buffers).reshape(len(self.rows.buffer))
        changed = [name for name, value in self.fixed.items() if value._version != versions[name]]
        if changed:
            raise ValueError(f"the model changes its buffer {changed[0]} in some steps only: set way={PLAIN!r}")
        grads = torch.autograd.grad(losses.sum(), list(self.leaves.values()), allow_unused=True)
        self.rows.take(grads)
        return losses.detach()


class Stacked:
    """The layers of `lane_layers`, for a model and a loss that are written as `race/lanes.py` says."""

    name = STACKED

    def __init__(self, rows: Rows, loss: Loss, model: nn.Module) -> None:
        self.rows, self.loss = rows, loss
        self.lanes = Lanes([model], len(rows.buffer))
        for name, leaf in self.lanes.parameters.items():
            leaf.data = rows.stacked(name).data
        self.lanes.buffer, self.lanes.grad = rows.buffer, rows.grad
        for path, layer in self.lanes.model.named_modules():
            if isinstance(layer, LaneBatchNorm2d) and layer.running_mean is not None:
                layer.running_mean = rows.stacked_buffers[f"{path}.running_mean"]
                layer.running_var = rows.stacked_buffers[f"{path}.running_var"]

    def run(self, batch: Any) -> Tensor:
        losses = self.loss(self.lanes.model, self.with_lanes(batch))
        self.lanes.backward(losses)
        self.rows.present = [[True] * len(self.rows.names)] * len(self.rows.buffer)
        return losses.detach()

    def with_lanes(self, batch: Any) -> Any:
        return with_tensors(batch, lambda x: x.expand(len(self.rows.buffer), *x.shape))
