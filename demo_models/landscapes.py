"""The landscapes of `surfaces`, as formulas that take torch tensors and numpy arrays alike: the server draws them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Surface:
    """f(x, y, condition), where a run starts, and where the minimum is, at which f = 0."""

    f: Callable[[Any, Any, float], Any]
    start: tuple[float, float]
    minimum: tuple[float, float]


def _cos(x: Any) -> Any:
    return x.cos() if hasattr(x, "cos") else np.cos(x)


SURFACES: dict[str, Surface] = {
    "rosenbrock": Surface(lambda x, y, condition: (1 - x) ** 2 + 100 * (y - x * x) ** 2, (-1.5, 2.0), (1.0, 1.0)),
    "beale": Surface(
        lambda x, y, condition: (1.5 - x + x * y) ** 2 + (2.25 - x + x * y * y) ** 2 + (2.625 - x + x * y * y * y) ** 2,
        (1.0, 1.0),
        (3.0, 0.5),
    ),
    "rastrigin": Surface(
        lambda x, y, condition: 20 + x * x + y * y - 10 * (_cos(2 * np.pi * x) + _cos(2 * np.pi * y)),
        (2.3, -1.7),
        (0.0, 0.0),
    ),
    "quadratic": Surface(lambda x, y, condition: (x * x + condition * y * y) / 2, (-4.0, 1.0), (0.0, 0.0)),
}
