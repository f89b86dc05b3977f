"""Before anything is trained: what the model does by itself, and whether a way of running lanes does the same.

The plain model runs twice on the first batch, from the same random state: its loss and gradient are what every lane
must have. A way other than plain models then runs once with two lanes of unlike weights, each of which must be what the
plain model is on those weights: so nothing that mixes lanes, or forgets them, gets through.
"""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from radam_core.own.masks import MaskOrders, Order
from radam_core.own.rows import Rows
from radam_core.own.ways import Loss, Way, random_state, set_random_state
from radam_core.race.lane_check import TOLERANCES, differs, gradient_differences

GRADIENT = (
    1e-3  # a way may be off by this part of a parameter's gradient, in float32: there is a right one to fall back to
)


@dataclass(frozen=True)
class Alone:
    """The plain model on the first batch."""

    loss: float
    grads: tuple[Tensor | None, ...]
    after: tuple[Tensor, Tensor | None]  # torch's random numbers
    changing: tuple[str, ...]  # buffers that a training pass changes
    orders: tuple[Order, ...] | None  # of the masks of its dropouts; None where it draws no random numbers


def run_alone(model: nn.Module, loss: Loss, batch: Any, device: torch.device) -> Alone:
    """`ValueError` in a sentence where a lane could not train: the model fails, or its loss is no loss."""
    before = random_state(device)
    seen = []
    for _ in range(2):
        set_random_state(before, device)
        copied = copy.deepcopy(model)
        kept = {name: value.clone() for name, value in copied.named_buffers()}
        with MaskOrders() as noted:
            value = _checked_loss(_by_itself(lambda copied=copied: loss(copied, batch)))  # type: ignore[misc]
        after = random_state(device)
        trained = [p for p in copied.parameters() if p.requires_grad]
        grads = _by_itself(lambda value=value, trained=trained: torch.autograd.grad(value, trained, allow_unused=True))  # type: ignore[misc]
        changing = tuple(name for name, now in copied.named_buffers() if not _equal(now, kept.get(name)))
        orders = None if _same(before, after) else tuple(noted.orders)
        seen.append(Alone(value.item(), grads, after, changing, orders))
    set_random_state(before, device)
    first, again = seen
    if differs(again.loss, first.loss, TOLERANCES[torch.float64].loss):
        raise ValueError(
            f"the model must do the same twice on the same weights, batch and torch random numbers, but its loss was "
            f"{first.loss:.6g}, then {again.loss:.6g}: it draws from numpy or random, writes into its batch, or keeps "
            "something from the pass before"
        )
    return first


def _by_itself(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        raise ValueError(
            f"the model fails by itself on the first batch, before any lane: {type(error).__name__}: {error}"
        ) from error


def _checked_loss(value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise ValueError(f"loss must return a tensor with one number, got {type(value).__name__}: do not call .item()")
    if value.numel() != 1:
        raise ValueError(
            f"loss must return one number, got shape {list(value.shape)}: take its mean, as in loss.mean(), or leave "
            "out reduction='none'"
        )
    if not value.requires_grad:
        raise ValueError(
            "loss must depend on the model's parameters, but has no gradient: is it computed under torch.no_grad(), "
            "from detached values, or do all parameters have requires_grad=False?"
        )
    return value


def difference(way: Way, rows: Rows, loss: Loss, batch: Any, alone: Alone) -> str | None:
    """Why this way is not the plain model, or None. It leaves no trace in rows and random numbers."""
    device, last = rows.buffer.device, len(rows.buffer) - 1
    before = random_state(device)
    kept = [(value, value.clone()) for value in (rows.buffer, *rows.stacked_buffers.values())]
    row = rows.buffer[last]
    # Weights of the same sizes: each its neighbour's, and a ripple on them in case they are all equal.
    ripple = 0.01 * torch.arange(len(row), dtype=row.dtype, device=device).cos()
    row.copy_(row.roll(1) + ripple)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what torch says of slow parts, the clock will tell
            losses = way.run(batch).tolist()
        after = random_state(device)
        found = rows.grad[0].clone()
        set_random_state(before, device)
        unlike = loss(rows.models[last], batch).item()
    except Exception as error:
        return f"it does not run so ({_first_line(error)})"
    finally:
        with torch.no_grad():
            for value, old in kept:
                value.copy_(old)
        set_random_state(before, device)
    return _compared(losses, unlike, found, after, rows, alone)


def _compared(
    losses: list[float], unlike: float, grad: Tensor, after: tuple[Tensor, Tensor | None], rows: Rows, alone: Alone
) -> str | None:
    tolerance = TOLERANCES[rows.buffer.dtype].loss
    for name, ours, theirs in (("first loss", losses[0], alone.loss), ("loss on other weights", losses[-1], unlike)):
        if differs(ours, theirs, tolerance):
            masks = ": its random numbers would be others" if alone.orders is not None else ""
            return f"a lane's {name} would be {ours:.6g}, and is {theirs:.6g} when the model runs by itself{masks}"
    expected = [p.new_zeros(p.shape) if g is None else g for p, g in zip(rows.parameters[0], alone.grads, strict=True)]
    shares = gradient_differences(grad, torch.cat([one.flatten() for one in expected]), rows.spans)
    worst = int(shares.argmax())
    if shares[worst] > GRADIENT:
        return f"the gradient of {rows.names[worst]} would be off by {shares[worst]:.1%}"
    if alone.orders is not None and not _same(after, alone.after):
        return "it would draw other random numbers from the second step on"
    return None


def check_first_losses(labels: list[str], losses: list[float], alone: Alone, dtype: torch.dtype) -> None:
    """Once more with every lane of the race itself, before its first update."""
    for label, loss in zip(labels, losses, strict=True):
        if differs(loss, alone.loss, TOLERANCES[dtype].loss):
            raise ValueError(
                f"lane {label!r} would not train the model it was given: its first loss is {loss:.6g}, and "
                f"{alone.loss:.6g} when the model runs by itself on the same weights and batch. Does the model or the "
                "loss keep something from one call to the next, or write into the batch?"
            )


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:160]}" if text else type(error).__name__


def _equal(a: Tensor, b: Tensor | None) -> bool:
    return b is not None and a.shape == b.shape and torch.equal(a, b)


def _same(a: tuple[Tensor, Tensor | None], b: tuple[Tensor, Tensor | None]) -> bool:
    return torch.equal(a[0], b[0]) and (a[1] is None or b[1] is None or torch.equal(a[1], b[1]))
