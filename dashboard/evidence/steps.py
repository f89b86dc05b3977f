"""The steps at which a sweep keeps and shows every lane's loss."""

import math

POINTS = 60


def grid_steps(steps: int) -> list[int]:
    """The first, and then evenly to the last."""
    return sorted({1, *(math.ceil(steps * k / POINTS) for k in range(1, POINTS + 1))})
