"""What the formulas accept: each check gives float arrays, or says which values are allowed."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


def check_beta2(beta2: ArrayLike) -> FloatArray:
    """beta2 as floats, each strictly between 0 and 1."""
    return _checked("beta2", beta2, lambda x: (x > 0) & (x < 1), "strictly between 0 and 1")


def check_step(t: ArrayLike) -> FloatArray:
    """The step t as floats, counted from 1 as in the paper."""
    return _checked("t", t, lambda x: x >= 1, "at least 1 (steps are counted from 1)")


def check_whole_step(t: ArrayLike) -> FloatArray:
    """The step t as floats without a fraction; infinity stands for the limit."""
    return _checked("t", check_step(t), lambda x: x == np.floor(x), "a whole number of steps")


def check_rho(rho: ArrayLike, above: float) -> FloatArray:
    """The degrees of freedom rho as floats, each above the bound where the formula's moments exist."""
    return _checked("rho", rho, lambda x: (x > above) & np.isfinite(x), f"finite and above {above:g}")


def check_finite(name: str, values: ArrayLike) -> FloatArray:
    return _checked(name, values, np.isfinite, "finite")


def check_count(name: str, value: int, least: int = 1) -> int:
    """A whole number of things, at least `least`."""
    if not least <= value < np.inf or value != int(value):
        raise ValueError(f"{name} must be a whole number, at least {least}, got {value!r}")
    return int(value)


def _checked(
    name: str, values: ArrayLike, accepts: Callable[[FloatArray], NDArray[np.bool_]], allowed: str
) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    refused = array[~accepts(array)]
    if refused.size:
        raise ValueError(f"{name} must be {allowed}, got {refused.flat[0]:g}")
    return array
