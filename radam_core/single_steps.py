"""A method's coefficients one step at a time, as plain numbers: what an optimizer asks for at every step.

Schedulers change settings between steps, and a step then costs what has to be computed again. lr is no setting of the
method, and costs nothing. beta1, which OneCycleLR and CyclicLR change at every step, enters three of the nine scalars:
the others are remembered without it. Anything else, such as beta2, makes another method, with all of its own.
"""

from functools import lru_cache

import numpy as np

from radam_core.methods import Coefficients, Method, Timetable, with_beta1

_BLOCK = 16  # steps that cost as much as one


def coefficients_at(method: Method, t: int, beta1: float | None = None) -> Coefficients[float]:
    """What step t does; with `beta1`, if it is given, in place of the method's own (phases keep theirs)."""
    phase = next((inner for last_step, inner in method.phases if t <= last_step), None)
    if phase is not None:
        return coefficients_at(phase, t)
    row = _block(method, (t - 1) // _BLOCK)[(t - 1) % _BLOCK]
    return _with_beta1(row, method.betas[0] if beta1 is None else beta1, method.first_moment == "heavy-ball")


@lru_cache(maxsize=512)
def _block(method: Method, number: int) -> list[Timetable[float]]:
    columns = method.timetable(np.arange(number * _BLOCK + 1.0, (number + 1) * _BLOCK + 1.0))
    return [Timetable(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


@lru_cache(maxsize=64)
def _with_beta1(row: Timetable[float], beta1: float, heavy_ball: bool) -> Coefficients[float]:
    return Coefficients(*(float(value) for value in with_beta1(row, beta1, heavy_ball)))
