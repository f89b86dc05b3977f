"""Random gradients through Adam's averages: many trajectories at once, for every mean mu from one set of normals.

With g = mu + z, the bias-corrected second moment is A_t + 2 mu B_t + mu^2, where A and B are the averages of z^2 and
of z. So trajectories are drawn once, for mu = 0, and every other mu is arithmetic.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from radam_core.averages import bias_correction
from radam_core.domains import FloatArray, check_beta2, check_count, check_finite
from radam_core.theory import rectification

Progress = Callable[[float], object]
"""Called with the finished share of the work, from 0 to 1, in the caller's thread."""

_CHUNK = 250  # trajectories simulated together: a block of their normals stays in the cache
_BLOCK = 200  # steps drawn at once, at most


@dataclass(frozen=True)
class Averages:
    """Bias-corrected exponential averages of standard normals z at the steps t, arrays of shape [step, trajectory]."""

    t: FloatArray
    square: NDArray[np.float32]  # of z^2, by beta2
    mean: NDArray[np.float32]  # of z, by beta2
    momentum: NDArray[np.float32]  # of z, by beta1

    def adaptive_rate(self, mu: float) -> FloatArray:
        """psi_t = 1 / sqrt(v_hat_t) of gradients mu + z."""
        second_moment = self.square + np.multiply(self.mean, 2 * mu, dtype=np.float64)
        second_moment += mu * mu
        return 1 / np.sqrt(second_moment)

    def update(self, mu: float) -> FloatArray:
        """Adam's step without its learning rate, m_hat_t / sqrt(v_hat_t), of gradients mu + z."""
        return self.adaptive_rate(mu) * (self.momentum + mu)


def log_spaced_steps(first: float, last: float, count: int) -> FloatArray:
    """At most `count` whole steps from first to last, evenly spaced on a log axis."""
    return np.unique(np.round(np.geomspace(first, last, count)))


def sample_averages(
    beta2: float,
    steps: int,
    trajectories: int,
    seed: int = 0,
    *,
    beta1: float = 0.9,
    first: int = 5,
    points: int = 120,
    progress: Progress | None = None,
) -> Averages:
    """Draw `trajectories` runs of `steps` standard normals and keep their averages at log-spaced steps from `first`.

    Chunks of trajectories have random streams of their own, so the result depends on the seed alone, not on the number
    of threads, and more trajectories extend the ones there were.
    """
    check_beta2(beta2)
    if not 0 <= beta1 < 1:
        raise ValueError(f"beta1 must be at least 0 and below 1, got {beta1:g}")
    first = check_count("first", first)
    steps = check_count("steps", steps, least=first)
    trajectories = check_count("trajectories", trajectories, least=2)
    t = log_spaced_steps(first, steps, points)
    chunks = -(-trajectories // _CHUNK)
    streams = np.random.SeedSequence(seed).spawn(chunks)
    out = np.empty((3, len(t), chunks * _CHUNK), np.float32)

    def simulate(index: int) -> None:
        out[:, :, index * _CHUNK : (index + 1) * _CHUNK] = _simulate_chunk(
            np.array([beta2, beta2, beta1]), t, streams[index]
        )

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for done, _ in enumerate(threads.map(simulate, range(chunks)), start=1):
            if progress is not None:
                progress(done / chunks)
    return Averages(t, *out[:, :, :trajectories])


def _simulate_chunk(betas: FloatArray, t: FloatArray, stream: np.random.SeedSequence) -> NDArray[np.float32]:
    """The averages of z^2, z and z by these betas in one chunk, [3, step, trajectory]."""
    generator = np.random.Generator(np.random.SFC64(stream))
    weights = ((1 - betas) * betas ** np.arange(_BLOCK)[::-1, None]).T.astype(np.float32)
    draws = np.empty((_BLOCK, _CHUNK), np.float32)
    state = np.zeros((3, _CHUNK), np.float32)
    out = np.empty((3, len(t), _CHUNK), np.float32)
    now = 0
    for row, step in enumerate(t.astype(int)):
        while now < step:
            size = min(_BLOCK, step - now)
            z = draws[:size]
            generator.standard_normal(out=z, dtype=np.float32)
            state *= (betas**size)[:, None].astype(np.float32)
            state[1:] += weights[1:, -size:] @ z
            np.multiply(z, z, out=z)
            state[0] += weights[0, -size:] @ z
            now += size
        out[:, row] = state / bias_correction(step, betas)[:, None]
    return out


def variance_with_error(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The variance of each row and its standard error, sqrt((m4 - var^2 (n-3)/(n-1)) / n) with the fourth moment m4."""
    n = samples.shape[-1]
    squares = samples - samples.mean(axis=-1, keepdims=True)
    np.square(squares, out=squares)
    variance = squares.sum(axis=-1) / (n - 1)
    fourth = np.einsum("...i,...i->...", squares, squares) / n
    return variance, np.sqrt(np.maximum(fourth - variance**2 * (n - 3) / (n - 1), 0) / n)


@dataclass(frozen=True)
class SimulatedVariance:
    """Monte-Carlo variances at the steps t: arrays of shape [mu, step], each with its standard error."""

    t: FloatArray
    mus: FloatArray
    variance: FloatArray
    variance_error: FloatArray
    rectified: FloatArray
    rectified_error: FloatArray


def simulate_variance(
    beta2: float = 0.999,
    steps: int = 6000,
    mus: ArrayLike = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0),
    trajectories: int = 5000,
    seed: int = 0,
    progress: Progress | None = None,
) -> SimulatedVariance:
    """Var[1/sqrt(v_hat_t)] and Var[r_t/sqrt(v_hat_t)] by simulation (Section 5.3; the defaults are the paper's).

    One set of normals serves every mu. From step 5 on, as in the paper: before it, the sample variance has itself no
    finite variance. r_t is nan where RAdam does not rectify.
    """
    means = np.atleast_1d(check_finite("mus", mus))
    if not means.size:
        raise ValueError("mus must hold at least one mean, got none")
    averages = sample_averages(beta2, steps, trajectories, seed, progress=progress)
    estimates = np.array([variance_with_error(averages.adaptive_rate(mu)) for mu in means])
    variance, error = estimates[:, 0], estimates[:, 1]
    r_squared = rectification(averages.t, beta2) ** 2
    return SimulatedVariance(averages.t, means, variance, error, r_squared * variance, r_squared * error)
