"""The variance of the adaptive rate as real gradients have it, to set beside the theory of Gaussian ones.

The weights stay at their initial values, so that gradients of independent batches are independent draws. R streams of
them, stacked as R lanes, each feed their own v_t; over the streams, coordinate by coordinate, Var[psi_t] is measured
and set in units of the coordinate: psi scales with 1/sigma, so Var[psi_t] sigma^2 is what `theory.variance_exact`
gives for gradients of mean mu / sigma and variance one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from radam_core.domains import FloatArray, check_beta2, check_count
from radam_core.lanes import Lanes
from radam_core.problem import Problem
from radam_core.race import choose_device

FIRST_STEP = 5  # before it the sample variance has itself no finite variance, as in the paper's simulation


@dataclass(frozen=True)
class GradientVariance:
    """At the steps t: Var[psi_t] sigma^2 averaged over coordinates, and its quartiles over them, [3, step]."""

    t: FloatArray
    mean: FloatArray
    quartiles: FloatArray
    signal: float  # the median |mu| / sigma of a coordinate: 0 in the paper's theory
    coordinates: int  # those with a gradient in every stream


def measure_gradient_variance(
    problem: Problem,
    *,
    beta2: float = 0.999,
    steps: int = 100,
    streams: int = 16,
    batch_size: int = 32,
    seed: int = 0,
    points: int = 20,
    device: str = "auto",
    progress: Callable[[int], None] | None = None,
) -> GradientVariance:
    """Var[psi_t] over `streams` gradient streams at log-spaced steps from 5 to `steps`; psi has no epsilon here."""
    check_beta2(beta2)
    check_count("streams", streams, least=2)
    check_count("steps", steps, least=FIRST_STEP)
    place = choose_device(device)
    lanes = Lanes([problem.make_model(seed).to(place)], streams, problem.group)
    chosen = np.unique(np.geomspace(FIRST_STEP, steps, points).round().astype(int))
    v, sums, squares = (torch.zeros(lanes.buffer.shape, dtype=torch.float64) for _ in range(3))
    variances: dict[int, Tensor] = {}
    for t in range(1, steps + 1):
        # Streams take batches from one sequence, each its own: number (t-1) R + r + 1 is stream r's at step t.
        batches = [problem.batch(seed, (t - 1) * streams + r + 1, batch_size) for r in range(streams)]
        stacked = tuple(torch.stack(parts).to(place) for parts in zip(*batches, strict=True))
        lanes.backward(problem.loss(lanes.model, stacked))
        g = lanes.grad.cpu().double()
        sums += g
        squares += g * g
        v = beta2 * v + (1 - beta2) * g * g
        if t in chosen:
            psi = np.sqrt(1 - beta2**t) / v.sqrt()
            variances[t] = psi.var(0)
        if progress is not None:
            progress(t)
    return _summary(variances, sums.sum(0) / (steps * streams), squares.sum(0) / (steps * streams))


def _summary(variances: dict[int, Tensor], mean: Tensor, mean_square: Tensor) -> GradientVariance:
    sigma_squared = mean_square - mean * mean
    usable = sigma_squared > 0
    for variance in variances.values():
        usable &= torch.isfinite(variance)
    if not usable.any():
        raise ValueError("no coordinate has a gradient in every stream: take more steps or larger batches")
    scaled = torch.stack([variance[usable] * sigma_squared[usable] for variance in variances.values()]).cpu().numpy()
    signal = (mean[usable].abs() / sigma_squared[usable].sqrt()).median()
    return GradientVariance(
        t=np.array(list(variances), dtype=np.float64),
        mean=scaled.mean(1),
        quartiles=np.quantile(scaled, (0.25, 0.5, 0.75), axis=1),
        signal=float(signal),
        coordinates=int(usable.sum()),
    )
