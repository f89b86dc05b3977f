"""K copies of one plain `nn.Module` trained at once: every parameter gains a leading lane axis, in one [K, N] buffer.

`Lanes(model, K)` keeps the model's own `forward` code and replaces its leaves by those of `LANE_LAYERS`, which compute
the same on tensors with one more axis in front. So a plain module is the one definition of a model, if it is written
like this:

- Axes are counted from the end: `x.transpose(-2, -3)`, `x.mean((-2, -1))`, `x[..., 0, :]`, `x.unflatten(-1, (h, d))`,
  `torch.cat(..., -1)`. What is [batch, time, width] in the plain run is [lane, batch, time, width] in the stacked one.
  Never `x.view(batch, ...)`, `flatten(0, 1)` or a sum over axis 0; `x.flatten(-3)` is fine.
- Batches come with the lane axis too, as tensors of [K, batch, ...] (often an expanded view: do not write into them).
- Parameters live in these leaves: `nn.Linear`, `nn.LayerNorm` (over the last axis), `nn.Embedding`, `nn.Conv2d`
  (zero padding, one group), `nn.BatchNorm2d`, `nn.LSTM` (batch_first=True, unidirectional, no dropout or projection).
  Subclasses, parameters shared between two leaves, and reading `layer.weight` from outside are not supported.
  Parameter-free layers (`nn.ReLU`, `nn.Identity`) and `torch.nn.functional` on the last axes need nothing.
- A parameter that a parent module holds itself, as `self.p = nn.Parameter(...)` of shape [...], is [K, ...] in the
  stacked run, and the parent's code must do for both; so it needs the same number of axes as what it meets, as in
  `p.unsqueeze(-2)`. Buffers of a parent (positions, masks) are shared by the lanes and keep their shape.
- `nn.LSTM` is called as `lstm(x)` or `lstm(x, (h, c))` with x of [..., batch, time, width], h and c of
  [..., layers, batch, width] (the layers' axis comes before the batch's, as in torch, after the lane's).
- Convolutions: [..., batch, channels, height, width], as in torch. In the stacked run that tensor lies in memory with
  the lanes folded into the channels, so grouped convolution and batch norm run on it as it is. Elementwise operations
  keep that order. Pool with `x.mean((-2, -1))`; pad channels with `F.pad(x, (0, 0, 0, 0, before, after))`; stride by
  `x[..., ::2, ::2]`. `F.max_pool2d` and friends take four axes only: do not use them.
- Batch norm's running averages are kept per lane, and `model.eval()` uses them.
- An adaptive softmax is a module of `nn.Linear`s (a head over the frequent words and one column per cluster; a
  projection and an output for each cluster) that gives the log-probability of each target. Lanes may have different
  targets, so which rows need a cluster is the union over lanes: with hidden as [..., rows, width] and target as
  [..., rows], take `needed = inside.reshape(-1, rows).any(0).nonzero().squeeze(-1)`, compute the cluster on
  `hidden.index_select(-2, needed)`, and put a value where `inside` holds with `torch.where`.
- A loss is -log p gathered on the last axis, then `.mean((-2, -1))` or the like: one number per lane. `F.cross_entropy`
  wants the classes on axis 1: use `log_softmax(x, -1)` and `gather(-1, target.unsqueeze(-1))`.
- No operation may mix lanes, and nothing may depend on the values of all lanes (`x.max()`, `.item()`, `x.any()`).
- Nothing random in a forward pass: each lane would draw its own. Dropout is refused here by name, until its masks are
  the same in all lanes; set p to 0.

What is written otherwise often runs all the same, and trains something else. So before a race trains anything,
`lane_check.py` compares every lane's first loss and gradient with the plain model's, and says where they differ.
"""

import copy
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd  # all kinds of dropout

from radam_core.race.lane_layers import LANE_LAYERS, LaneBatchNorm2d


class Lanes:
    """The stacked model, its parameters as one buffer [K, N], and the gradients of one backward pass as another.

    `models` are the plain models whose weights the lanes start from: one for all, or one each. Parameters lie in the
    order of their groups, so that a group is one slice of a row: `groups[name]`. Layers are finer, and lie so, too.
    """

    def __init__(
        self,
        models: Sequence[nn.Module],
        lanes: int,
        group: Callable[[str], str] = lambda name: "all",
        layer: Callable[[str], str] | None = None,
    ) -> None:
        if len(models) not in (1, lanes):
            raise ValueError(f"models must be 1 or one for each of the {lanes} lanes, got {len(models)}")
        shapes = _shapes(models[0])
        names = sorted(shapes, key=_order(group, shapes))
        sizes = [shapes[name].numel() for name in names]
        ends = torch.tensor(sizes).cumsum(0).tolist()
        self.spans = {name: slice(end - size, end) for name, size, end in zip(names, sizes, ends, strict=True)}
        self.groups, self.layers = (_slices(names, self.spans, kind) for kind in (group, layer or group))
        self.buffer = torch.stack([self.row(dict(model.named_parameters())) for model in models])
        self.buffer = self.buffer.expand(lanes, -1).clone()
        self._shapes, self._plain = shapes, copy.deepcopy(models[0])
        self._stack()

    def _stack(self) -> None:
        """The model whose parameters are the buffer's."""
        self.grad = torch.zeros_like(self.buffer)
        self.parameters = {
            name: self.buffer[:, span].view(len(self.buffer), *self._shapes[name]).detach().requires_grad_()
            for name, span in self.spans.items()
        }
        self.model = self.another_model()

    def another_model(self) -> nn.Module:
        """A model on the same parameters, with running averages of its own: what it computes leaves no trace."""
        return _stacked(copy.deepcopy(self._plain), "", self.parameters)

    def in_double(self) -> "Lanes":
        """The same lanes with parameters of float64, of their own: what it computes leaves no trace."""
        device = "cpu" if self.buffer.device.type == "mps" else self.buffer.device  # Apple's has no float64
        twin = copy.copy(self)
        twin.buffer = self.buffer.to(device, torch.float64, copy=True)
        twin._plain = copy.deepcopy(self._plain).to(device, torch.float64)
        twin._stack()
        return twin

    def keep(self, rows: Sequence[int]) -> None:
        """Goes on with these lanes alone, in this order, between two steps: each as it stands."""
        self.buffer, before = self.buffer[list(rows)].clone(), self.model
        self._stack()
        for old, new in zip(before.modules(), self.model.modules(), strict=True):
            if isinstance(old, LaneBatchNorm2d) and isinstance(new, LaneBatchNorm2d):
                new.take_averages(old, rows)

    def row(self, by_name: Mapping[str, Tensor]) -> Tensor:
        """A plain model's parameters, or their gradients, as a lane has them in its row of `buffer` or `grad`."""
        return torch.cat([by_name[name].detach().flatten() for name in self.spans])

    def backward(self, losses: Tensor, out: Tensor | None = None) -> None:
        """Fills `grad`, or `out`, with each lane's gradient of its own loss: one pass, as the sum's parts share no
        parameter."""
        if losses.shape != self.buffer.shape[:1]:
            raise ValueError(
                f"the loss must be one number per lane, shape {[len(self.buffer)]}, got shape {list(losses.shape)}: "
                "take its mean over all axes but the lanes', which is the first, counting axes from the end"
            )
        grads = torch.autograd.grad(losses.sum(), list(self.parameters.values()))
        torch.cat([grad.flatten(1) for grad in grads], 1, out=self.grad if out is None else out)


def _shapes(model: nn.Module) -> dict[str, torch.Size]:
    names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    shapes = {name: p.shape for name, p in model.named_parameters()}
    if not shapes:
        raise ValueError(f"a model must have parameters to be raced, got a {type(model).__name__} with none")
    if len(names) != len(shapes):
        shared = next(name for name in names if name not in shapes)
        raise ValueError(f"parameters must not be shared between layers in lanes, but {shared} is")
    frozen = next((name for name, p in model.named_parameters() if not p.requires_grad), None)
    if frozen is not None:
        raise ValueError(f"every parameter is trained in lanes, but {frozen} has requires_grad=False")
    return shapes


def _order(group: Callable[[str], str], names: dict[str, torch.Size]) -> Callable[[str], int]:
    """Groups in the order in which they first appear; `sorted` keeps the names' order within one."""
    first = {name: i for i, name in reversed(list(enumerate(group(name) for name in names)))}
    return lambda name: first[group(name)]


def _slices(names: list[str], spans: dict[str, slice], group: Callable[[str], str]) -> dict[str, slice]:
    slices: dict[str, slice] = {}
    for name in names:
        start = slices[group(name)].start if group(name) in slices else spans[name].start
        slices[group(name)] = slice(start, spans[name].stop)
    if sum(span.stop - span.start for span in slices.values()) != max(span.stop for span in spans.values()):
        raise ValueError(f"the parameters of a layer must follow one another, got layers {', '.join(slices)}")
    return slices


def _stacked(module: nn.Module, path: str, parameters: dict[str, Tensor]) -> nn.Module:
    """The module with its leaves replaced by those for lanes; other modules keep their code and get stacked values."""
    own = {name: parameters[path + name] for name, _ in module.named_parameters(recurse=False)}
    if isinstance(module, _DropoutNd) and module.p > 0:
        raise ValueError(
            f"{path.rstrip('.') or 'the model'} is nn.{type(module).__name__} with p={module.p:g}, which would drop "
            "other units in every lane, so that equal lanes would train differently: set its p to 0, or take it out"
        )
    if type(module) in LANE_LAYERS:
        return LANE_LAYERS[type(module)](module, own)
    if own and (isinstance(module, tuple(LANE_LAYERS)) or type(module).__module__.startswith("torch.")):
        known = ", ".join(f"nn.{kind.__name__}" for kind in LANE_LAYERS)
        raise ValueError(f"{path.rstrip('.') or 'the model'} must be one of {known}, got {type(module).__name__}")
    for name, value in own.items():
        delattr(module, name)
        setattr(module, name, value)
    for name, child in module.named_children():
        setattr(module, name, _stacked(child, f"{path}{name}.", parameters))
    return module
