"""K plain copies of a model whose parameters are the rows of one buffer [K, N], as a race's `Lanes` has them.

Every way of computing losses reads the same rows, and every optimizer moves them, so that ways may take turns. Tied
weights are one parameter, and what is not trained (`requires_grad=False`) belongs to no row. The buffers of a model
(batch norm's averages) are rows, too: a lane's copy holds views of them.
"""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

MOST_GROUPS = 8  # of layers, in histograms


class Rows:
    """`buffer` and `grad` [K, N]; `models[k]` is a plain module on row k."""

    def __init__(self, model: nn.Module, lanes: int) -> None:
        trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self.names = tuple(trained)
        self.shapes = {name: p.shape for name, p in trained.items()}
        ends = torch.tensor([p.numel() for p in trained.values()]).cumsum(0).tolist()
        starts = [0, *ends[:-1]]
        self.spans = {
            name: slice(*ends_of) for name, ends_of in zip(trained, zip(starts, ends, strict=True), strict=True)
        }
        self.groups = self.layers = layer_groups(self.spans)
        self.buffer = torch.cat([p.detach().flatten() for p in trained.values()]).repeat(lanes, 1)
        self.grad, self._nothing = torch.zeros_like(self.buffer), self.buffer.new_zeros(())
        self.stacked_buffers = {
            name: value.detach().unsqueeze(0).repeat(lanes, *(1,) * value.dim())
            for name, value in model.named_buffers()
        }
        self.models = [copy.deepcopy(model) for _ in range(lanes)]
        self.parameters = [self._on_row(k) for k in range(lanes)]
        self.whole = [nn.Parameter(row) for row in self.buffer]  # all of a lane's as one
        # Which parameters have a gradient in this step, by lane: an optimizer passes over the others, as in any loop.
        self.present: list[Sequence[bool]] = [[True] * len(self.names)] * lanes

    def _on_row(self, k: int) -> list[nn.Parameter]:
        copied, found = self.models[k], []
        for name, p in copied.named_parameters():
            if name in self.spans:
                p.data = self.part(self.buffer, k, name)
                found.append(p)
            elif k:
                p.data = dict(self.models[0].named_parameters())[name].data
        for name in self.stacked_buffers:
            path, _, own = name.rpartition(".")
            copied.get_submodule(path)._buffers[own] = self.stacked_buffers[name][k]
        return found

    def part(self, values: Tensor, k: int, name: str) -> Tensor:
        """A parameter's place in a lane's row."""
        return values[k, self.spans[name]].view(self.shapes[name])

    def stacked(self, name: str) -> Tensor:
        """A parameter of all lanes, [K, ...], on the same memory: a leaf that takes a gradient."""
        whole = self.buffer[:, self.spans[name]].view(len(self.buffer), *self.shapes[name])
        return whole.detach().requires_grad_()

    @torch.no_grad()
    def take(self, grads: Sequence[Tensor | None], lane: int | None = None) -> None:
        """Puts gradients into a lane's row, or [K, ...] into those of all; what has none is zero and marked so."""
        present = [grad is not None for grad in grads]
        rows = self.grad if lane is None else self.grad[lane]
        shape = (len(self.buffer), -1) if lane is None else (-1,)
        sizes = (span.stop - span.start for span in self.spans.values())
        flat = [
            self._nothing.expand(*rows.shape[:-1], size) if grad is None else grad.reshape(shape)
            for grad, size in zip(grads, sizes, strict=True)
        ]
        torch.cat(flat, -1, out=rows)
        if lane is None:
            self.present = [present] * len(self.buffer)
        else:
            self.present[lane] = present

    def backward(self, losses: Tensor) -> None:
        """Nothing: a way fills `grad` together with the losses, lane by lane where it must."""


def layer_groups(spans: dict[str, slice]) -> dict[str, slice]:
    """The model's own parts, in their order; the smallest neighbours joined until there are few enough."""
    depth = 2 if len({name.split(".")[0] for name in spans}) < 2 else 1
    groups: dict[str, slice] = {}
    for name, span in spans.items():
        group = ".".join(name.split(".")[:depth])
        groups[group] = slice(groups[group].start if group in groups else span.start, span.stop)
    while len(groups) > MOST_GROUPS:
        names, sizes = list(groups), [span.stop - span.start for span in groups.values()]
        first = min(range(len(names) - 1), key=lambda i: sizes[i] + sizes[i + 1])
        joined = f"{names[first].split(' to ')[0]} to {names[first + 1].split(' to ')[-1]}"
        pairs = list(groups.items())
        both = slice(pairs[first][1].start, pairs[first + 1][1].stop)
        groups = dict([*pairs[:first], (joined, both), *pairs[first + 2 :]])
    return groups
