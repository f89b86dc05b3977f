"""The leaves of a model for K lanes at once: each computes what its torch namesake does, with the lane axis in front.

Parameters are views [K, ...] into the lanes' buffer. Nothing here mixes lanes: matrix products are batched over them,
convolutions grouped by them, and batch norm sees them as more channels. Nor does a lane's rounding depend on how many
others there are, or on its place among them, if there is at least one other and torch has one thread.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Parameters = Mapping[str, Tensor]  # by the leaf's own names, [K, ...]
State = tuple[Tensor, Tensor]

# MKL rounds a product by where in memory its operands begin, which is another place for every lane of a stack, unless
# it is asked not to before its first product (its "conditional numerical reproducibility"; no cost was measured).
os.environ.setdefault("MKL_CBWR", "AUTO")
# oneDNN takes another kernel where all groups of a convolution together have fewer channels than this (with AVX2).
_FEW_CHANNELS = 8
# Floats that a processor takes at once, if it has AVX-512. Batch norm takes a channel's planes one by one: those that
# are smaller are faster with the channels last. But a lane's channels must fill whole vectors then: what is left over
# rounds otherwise, and whose that is would hang on the number of lanes.
_VECTOR = 16


class LaneLinear(nn.Module):
    """[K, ..., in] -> [K, ..., out] by one batched product."""

    def __init__(self, _: nn.Linear, parameters: Parameters) -> None:
        super().__init__()
        self.weight, self.bias = parameters["weight"], parameters.get("bias")

    def forward(self, x: Tensor) -> Tensor:
        return _product(x, self.weight, self.bias)


def _product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out: Tensor = _Product.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return out


class _Product(torch.autograd.Function):
    """x weight^T + bias by lane. The gradient of the weights comes as they lie, where autograd has its transpose; and
    to add the bias to a product takes less than to copy it to every row before."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        rows = x.reshape(x.shape[0], -1, x.shape[-1])
        ctx.save_for_backward(rows, weight)
        ctx.shape = x.shape
        out = torch.bmm(rows, weight.transpose(1, 2))
        if bias is not None:
            out += bias.unsqueeze(1)
        return out.view(*x.shape[:-1], weight.shape[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        rows, weight = ctx.saved_tensors
        for_x, for_weight, for_bias = ctx.needs_input_grad
        g = grad.reshape(grad.shape[0], -1, grad.shape[-1])
        return (
            torch.bmm(g, weight).view(ctx.shape) if for_x else None,
            torch.bmm(g.transpose(1, 2), rows) if for_weight else None,
            g.sum(1) if for_bias else None,
        )


class LaneLayerNorm(nn.Module):
    """Normalises the last axis; weight and bias by lane."""

    def __init__(self, layer: nn.LayerNorm, parameters: Parameters) -> None:
        super().__init__()
        if len(layer.normalized_shape) != 1:
            raise ValueError(f"nn.LayerNorm must be over the last axis, got normalized_shape {layer.normalized_shape}")
        self.eps, self.weight, self.bias = layer.eps, parameters.get("weight"), parameters.get("bias")

    def forward(self, x: Tensor) -> Tensor:
        if self.weight is None:
            return functional.layer_norm(x, x.shape[-1:], eps=self.eps)
        bias = torch.zeros_like(self.weight) if self.bias is None else self.bias
        out: Tensor = _LayerNorm.apply(x, self.weight, bias, self.eps)  # type: ignore[no-untyped-call]
        return out


class _LayerNorm(torch.autograd.Function):
    """torch's own, which knows one weight for all, between ones and zeros; then each lane's. In autograd's hands the
    latter would be copied once more."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        ones, zeros = x.new_ones(x.shape[-1:]), x.new_zeros(x.shape[-1:])  # without any it takes half as long again
        out, mean, scale = torch.native_layer_norm(x, x.shape[-1:], ones, zeros, eps)
        ctx.save_for_backward(x, out, mean, scale, ones, zeros, weight)
        return torch.addcmul(_beside(bias, x), out, _beside(weight, x))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, out, mean, scale, ones, zeros, weight = ctx.saved_tensors
        inner = grad * _beside(weight, x)
        size, wanted = list(x.shape[-1:]), [True, False, False]
        dx = torch.ops.aten.native_layer_norm_backward(inner, x, size, mean, scale, ones, zeros, wanted)[0]
        by_lane = (len(x), -1, x.shape[-1])  # what is [d] in the plain model has no rows to sum, and gets one
        return dx, torch.mul(grad, out, out=inner).view(by_lane).sum(1), grad.reshape(by_lane).sum(1), None


def _beside(parameter: Tensor, x: Tensor) -> Tensor:
    """[K, d] as [K, 1, ..., 1, d], to meet x of [K, ..., d]."""
    return parameter.view(parameter.shape[0], *(1,) * (x.dim() - 2), parameter.shape[1])


class LaneEmbedding(nn.Module):
    """Indices [K, ...] -> rows [K, ..., d]: the tables lie one after the other, a lane's indices start at its own."""

    def __init__(self, layer: nn.Embedding, parameters: Parameters) -> None:
        super().__init__()
        if layer.max_norm is not None or layer.sparse or layer.padding_idx is not None or layer.scale_grad_by_freq:
            raise ValueError("nn.Embedding must have no max_norm, padding_idx, sparse or scale_grad_by_freq in lanes")
        self.weight = parameters["weight"]

    def forward(self, index: Tensor) -> Tensor:
        lanes, words, width = self.weight.shape
        first = words * torch.arange(lanes, device=index.device).view(lanes, *(1,) * (index.dim() - 1))
        return functional.embedding(index + first, self.weight.reshape(lanes * words, width))


class LaneConv2d(nn.Module):
    """[K, B, C, H, W] by one convolution with K groups; the result lies in memory as [B, K C, H, W].

    A layer of so few channels that the number of lanes would decide the kernel is computed in pairs of lanes instead.
    """

    def __init__(self, layer: nn.Conv2d, parameters: Parameters) -> None:
        super().__init__()
        if layer.groups != 1 or layer.padding_mode != "zeros":
            raise ValueError(
                f"nn.Conv2d must have one group and zero padding in lanes, got {layer.groups} groups "
                f"and padding_mode {layer.padding_mode!r}"
            )
        self.stride, self.padding, self.dilation = layer.stride, layer.padding, layer.dilation
        self.weight, self.bias = parameters["weight"], parameters.get("bias")
        self.in_pairs = 2 * layer.in_channels < _FEW_CHANNELS

    def forward(self, x: Tensor) -> Tensor:
        lanes = self.weight.shape[0]
        parts = [part for part in (x, self.weight, self.bias) if part is not None]
        if not self.in_pairs:
            return _unfold(self._grouped(*parts), lanes)
        pairs = zip(*(torch.split(part, 2) for part in parts), strict=True)
        return _unfold(torch.cat([self._pair(*pair) for pair in pairs], 1), lanes)

    def _pair(self, *parts: Tensor) -> Tensor:
        """Of two lanes, or of one beside itself."""
        channels = parts[1].shape[:2].numel()
        return self._grouped(*(part.expand(2, *part.shape[1:]) for part in parts))[:, :channels]

    def _grouped(self, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        bias = None if bias is None else bias.flatten()
        stride, padding, dilation = self.stride, self.padding, self.dilation
        return functional.conv2d(_fold(x), weight.flatten(0, 1), bias, stride, padding, dilation, len(weight))


def _fold(x: Tensor) -> Tensor:
    """[K, B, C, H, W] -> [B, K C, H, W], without a copy if x came from `_unfold`."""
    return x.transpose(0, 1).flatten(1, 2)


def _unfold(x: Tensor, lanes: int) -> Tensor:
    return x.view(x.shape[0], lanes, -1, *x.shape[2:]).transpose(0, 1)


class LaneBatchNorm2d(nn.Module):
    """Statistics over batch and place for each lane's channels; running averages by lane."""

    running_mean: Tensor | None
    running_var: Tensor | None

    def __init__(self, layer: nn.BatchNorm2d, parameters: Parameters) -> None:
        super().__init__()
        if not layer.affine or (layer.track_running_stats and layer.momentum is None):
            raise ValueError("nn.BatchNorm2d must be affine and have a momentum in lanes")
        self.eps, self.momentum = layer.eps, layer.momentum or 0.0
        self.weight, self.bias = parameters["weight"], parameters["bias"]
        self.lanes = lanes = self.weight.shape[0]
        for name in ("running_mean", "running_var"):
            value = getattr(layer, name)
            self.register_buffer(name, None if value is None else value.repeat(lanes, 1))

    def take_averages(self, other: "LaneBatchNorm2d", rows: Sequence[int]) -> None:
        """Those of the other's lanes."""
        for own, theirs in ((self.running_mean, other.running_mean), (self.running_var, other.running_var)):
            if own is not None and theirs is not None:
                own.copy_(theirs[list(rows)])

    def forward(self, x: Tensor) -> Tensor:
        mean, var = (None if s is None else s.view(-1) for s in (self.running_mean, self.running_var))
        weight, bias = self.weight.flatten(), self.bias.flatten()
        by_batch = self.training or mean is None
        folded = _fold(x)
        batch, channels, *plane = folded.shape
        small = folded[0, 0].numel() < _VECTOR and self.weight.shape[1] % _VECTOR == 0
        rows = folded.permute(0, 2, 3, 1).reshape(-1, channels) if small else folded
        out = functional.batch_norm(rows, mean, var, weight, bias, by_batch, self.momentum, self.eps)
        if small:
            out = out.view(batch, *plane, channels).permute(0, 3, 1, 2).contiguous()
        return _unfold(out, self.lanes)


class LaneLSTM(nn.Module):
    """x [K, B, T, in] -> ([K, B, T, H], (h, c)) with h, c of [K, layers, B, H]; gates in torch's order i, f, g, o."""

    def __init__(self, layer: nn.LSTM, parameters: Parameters) -> None:
        super().__init__()
        if layer.bidirectional or layer.proj_size or layer.dropout or not layer.batch_first:
            raise ValueError("nn.LSTM must be batch_first, in one direction, without dropout or proj_size in lanes")
        self.width = layer.hidden_size
        self.layers = [
            {name: parameters.get(f"{name}_l{i}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
            for i in range(layer.num_layers)
        ]

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        start = (x.shape[0], len(self.layers), x.shape[1], self.width)
        h0, c0 = state if state is not None else (x.new_zeros(start), x.new_zeros(start))
        ends = []
        for i, layer in enumerate(self.layers):
            x, end = _lstm_layer(x, h0[:, i], c0[:, i], layer)
            ends.append(end)
        h, c = (torch.stack(parts, 1) for parts in zip(*ends, strict=True))
        return x, (h, c)


def _lstm_layer(x: Tensor, h: Tensor, c: Tensor, layer: Mapping[str, Tensor | None]) -> tuple[Tensor, State]:
    weight_ih, weight_hh, bias = layer["weight_ih"], layer["weight_hh"], layer["bias_ih"]
    assert weight_ih is not None
    assert weight_hh is not None
    if bias is not None and layer["bias_hh"] is not None:
        bias = bias + layer["bias_hh"]
    recurrent, outputs = weight_hh.transpose(1, 2), []
    for from_input in _product(x, weight_ih, bias).unbind(2):
        i, f, g, o = torch.baddbmm(from_input, h, recurrent).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        outputs.append(h)
    return torch.stack(outputs, 2), (h, c)


LANE_LAYERS: dict[type[nn.Module], Callable[..., nn.Module]] = {
    nn.Linear: LaneLinear,
    nn.LayerNorm: LaneLayerNorm,
    nn.Embedding: LaneEmbedding,
    nn.Conv2d: LaneConv2d,
    nn.BatchNorm2d: LaneBatchNorm2d,
    nn.LSTM: LaneLSTM,
}
