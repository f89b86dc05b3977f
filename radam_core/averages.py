"""Exponential averages: how far a young one still is from its full weight."""

import numpy as np
from numpy.typing import ArrayLike

from radam_core.domains import FloatArray, check_step


def bias_correction(t: ArrayLike, beta: ArrayLike) -> FloatArray:
    """1 - beta^t, with no cancellation when beta is close to 1 (beta = 0 gives 1)."""
    beta = np.asarray(beta, dtype=np.float64)
    log_beta = np.log(beta, out=np.full_like(beta, -np.inf), where=beta > 0)
    return (-np.expm1(check_step(t) * log_beta))[()]
