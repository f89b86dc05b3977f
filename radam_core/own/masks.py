"""Dropout under vmap, with the masks that the plain model draws: one for all lanes, and the same one.

torch fills a mask in the order in which its input lies in memory, and vmap lays tensors otherwise. So the plain run
tells the order of axes of each dropout (`MaskOrders`), and the vectorised one draws its masks in that order
(`SameMasks`). Attention with dropout is written out as torch documents it: softmax, dropout, product.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

Order = tuple[int, ...]  # of a tensor's axes, from the outermost in memory to the innermost


class MaskOrders(TorchFunctionMode):
    """Notes the order of every input of dropout, call by call."""

    def __init__(self) -> None:
        super().__init__()
        self.orders: list[Order] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        if func is functional.dropout:
            strides = args[0].stride()
            self.orders.append(tuple(sorted(range(len(strides)), key=lambda axis: -strides[axis])))
        return func(*args, **(kwargs or {}))


class SameMasks(TorchFunctionMode):
    def __init__(self, orders: Sequence[Order]) -> None:
        super().__init__()
        self._orders = iter(orders)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        given = dict(kwargs or {})
        if func is functional.dropout:
            return self._dropout(*args, **given)
        if func is functional.scaled_dot_product_attention:
            return self._attention(*args, **given)
        return func(*args, **given)

    def _dropout(self, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        order = next(self._orders, None)
        if not training or p in (0, 1):
            return functional.dropout(x, p, training, inplace)
        mask = _mask(x, p, order if order is not None and len(order) == x.dim() else tuple(range(x.dim())))
        return x.mul_(mask) if inplace else x * mask

    def _attention(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        **rest: Any,
    ) -> Tensor:
        given = (query, key, value, attn_mask, dropout_p, is_causal)
        if not 0 < dropout_p < 1 or rest:
            return functional.scaled_dot_product_attention(*given, scale=scale, **rest)
        if is_causal:
            square = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool, device=query.device)
            attn_mask = square.tril()
        # As torch's own does, half of the scale goes to either side: large scores lose fewer digits.
        half = math.sqrt(1 / math.sqrt(query.shape[-1]) if scale is None else scale)
        scores = (query * half) @ (key * half).transpose(-2, -1)
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
        weights = scores.softmax(-1)
        return (weights * _mask(weights, dropout_p, tuple(range(weights.dim())))) @ value


def _mask(x: Tensor, p: float, order: Order) -> Tensor:
    """0 or 1 / (1 - p), drawn as torch draws it for a tensor whose axes lie in this order."""
    drawn = torch.empty([x.shape[axis] for axis in order], dtype=x.dtype, device=x.device)
    return drawn.permute([order.index(axis) for axis in range(x.dim())]).bernoulli_(1 - p).div_(1 - p)
