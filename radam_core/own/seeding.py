"""One seed for all random numbers that a file of the user's may draw while it is opened."""

import random

import numpy as np
import torch


def seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - the user may draw from it
    torch.manual_seed(seed)
