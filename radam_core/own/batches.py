"""Where batches come from: a DataLoader, any iterable, or a function of the step; each is drawn once for all lanes.

A loader or a list starts over when it ends, as epochs do. What can be gone through only once cannot, and says so.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map

Batches = Iterable[Any] | Callable[[int], Any]


class BatchSource:
    """The batch of every step, in order. `begin` starts again with the same ones, whatever generator shuffles them."""

    def __init__(self, batches: Batches, steps: int) -> None:
        self._batches, self._steps = batches, steps
        self._generator: torch.Generator | None = getattr(batches, "generator", None)
        self._state = self._generator.get_state() if self._generator is not None else None
        self._iterator: Iterator[Any] | None = None

    @property
    def replays(self) -> bool:
        """Whether a second race sees the same batches."""
        return callable(self._batches) or not isinstance(self._batches, Iterator)

    def begin(self) -> None:
        self._iterator = None
        if self._generator is not None and self._state is not None:
            self._generator.set_state(self._state)

    def at(self, step: int) -> Any:
        if not isinstance(self._batches, Iterable):
            return self._batches(step)
        if self._iterator is None:
            self._iterator = iter(self._batches)
        for batch in self._iterator:
            return batch
        self._iterator = iter(self._batches) if self.replays else iter(())
        for batch in self._iterator:
            return batch
        raise ValueError(_ended(step, self._steps, self.replays))


def _ended(step: int, steps: int, replays: bool) -> str:
    if replays:
        return "batches must hold at least one batch, got none: is the dataset smaller than one batch?"
    return (
        f"batches ended after {step - 1} of {steps} steps, and cannot be gone through again: give a DataLoader or a "
        f"list, which start over at their end, or a function of the step, or set steps={step - 1}"
    )


def refusal(batches: object) -> str | None:
    """What is wrong with these batches before any is drawn."""
    if callable(batches) or isinstance(batches, Iterable):
        return None
    return f"batches must be a DataLoader, another iterable, or a function of the step, got {type(batches).__name__}"


def tensors(batch: Any) -> list[Tensor]:
    """Those in a batch, in tuples, lists and dicts, too."""
    return [leaf for leaf in tree_leaves(batch) if isinstance(leaf, Tensor)]


def with_tensors(batch: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The same batch with its tensors changed."""
    return tree_map(lambda leaf: change(leaf) if isinstance(leaf, Tensor) else leaf, batch)


def not_finite(batch: Any) -> list[int]:
    """The places of its tensors that hold nan or inf."""
    found = enumerate(tensors(batch))
    return [place for place, x in found if x.is_floating_point() and not bool(torch.isfinite(x).all())]
