"""Initial weights that depend on the seed alone, and leave the random numbers of everybody else as they were."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch

_LOCK = RLock()  # torch has one generator for all threads of a worker


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, torch's layers draw their initial weights from this seed."""
    with _LOCK, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield
