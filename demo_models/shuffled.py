"""Batches as a function of the seed and the step: any one can be asked for, in any order, on any machine."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


def shuffled_indices(count: int, seed: int, step: int, size: int) -> NDArray[np.int64]:
    """Which of `count` examples are in batch `step` (from 1): each epoch is a new permutation, and none is left out."""
    first = (step - 1) * size
    positions = np.arange(first, first + size)
    epochs = positions // count
    parts = [_permutation(count, seed, int(epoch))[positions[epochs == epoch] % count] for epoch in np.unique(epochs)]
    return np.concatenate(parts)


@lru_cache(maxsize=8)
def _permutation(count: int, seed: int, epoch: int) -> NDArray[np.int64]:
    order = np.random.default_rng([seed, epoch]).permutation(count)
    order.setflags(write=False)  # it is shared by all that ask
    return order
