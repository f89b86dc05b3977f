"""Dropout under vmap, with the masks that the plain model draws: one for all lanes, and the same one.

torch fills a mask in the order in which its input lies in memory, and vmap lays tensors otherwise. So the plain run
tells the order of axes of each dropout (`MaskOrders`), and the vectorised one draws its masks in that order
(`SameMasks`). What drops out within torch's own attention needs nothing: there vmap draws as the plain run does.
"""

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
        return func(*args, **given)

    def _dropout(self, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
        order = next(self._orders, None)
        if not training or p in (0, 1):
            return functional.dropout(x, p, training, inplace)
        mask = _mask(x, p, order if order is not None and len(order) == x.dim() else tuple(range(x.dim())))
        return x.mul_(mask) if inplace else x * mask


def _mask(x: Tensor, p: float, order: Order) -> Tensor:
    """0 or 1 / (1 - p), drawn as torch draws it for a tensor whose axes lie in this order."""
    drawn = torch.empty([x.shape[axis] for axis in order], dtype=x.dtype, device=x.device)
    return drawn.permute([order.index(axis) for axis in range(x.dim())]).bernoulli_(1 - p).div_(1 - p)
