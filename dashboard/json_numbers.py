"""Numbers as JSON holds them: five digits, and null for what is not finite."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def plain_numbers(array: NDArray[Any]) -> Any:
    """Nested lists of an array: whole numbers as they are, the others to five digits, None for what is not finite."""
    values = array.tolist()
    return values if np.issubdtype(array.dtype, np.integer) else _rounded(values)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.5g}") if math.isfinite(value) else None
