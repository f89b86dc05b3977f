"""The variance of the adaptive rate as real gradients have it, beside Gaussian ones that are measured in the same way.

The weights stay at their initial values and every batch is drawn by itself, so that gradients are independent draws. R
streams of them, stacked as R lanes, each feed their own v_t; over the streams, coordinate by coordinate, Var[psi_t] is
estimated and set in units of the coordinate: psi scales with 1/sigma, so Var[psi_t] sigma^2 is what
`theory.variance_exact` gives for gradients of mean mu / sigma and variance one.

An estimate from few streams is itself noisy and skewed: for 16 streams of exact Gaussians its median is 0.178 at
t = 5, where the variance is 0.252. So the same estimate is made of Gaussian gradients with each coordinate's own
mu / sigma (`reference`), and what differs between the two is due to the gradients. Means over coordinates stand beside
the mean of each one's own theory.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from radam_core.domains import FloatArray, check_beta2, check_count
from radam_core.race.lane_check import FEW, Original, check_lanes
from radam_core.race.lanes import Lanes
from radam_core.race.problem import Batch, Problem
from radam_core.race.race import choose_device
from radam_core.theory import variance_exact

FIRST_STEP = 5  # before it the sample variance has itself no finite variance, as in the paper's simulation
_QUARTILES = (0.25, 0.5, 0.75)
_TABLE = 60  # means at which the theory is computed; between them it is interpolated


@dataclass(frozen=True)
class GradientVariance:
    """Var[psi_t] sigma^2 at the steps t over the coordinates that have a gradient in every stream."""

    t: FloatArray
    quartiles: FloatArray  # over the coordinates, [3, step]
    reference: FloatArray  # the same of Gaussian gradients
    mean: FloatArray  # over the coordinates
    theory: FloatArray  # the mean over the coordinates of the exact variance at each one's own mu / sigma
    signal: float  # the median |mu| / sigma of a coordinate: 0 in the paper's theory
    coordinates: int
    left_out: int  # coordinates that had no gradient at all in some stream by the first of these steps


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
    model = problem.make_model(seed).to(place)
    lanes = Lanes([model], streams, problem.group)
    chosen = np.unique(np.geomspace(FIRST_STEP, steps, points).round().astype(int)).tolist()
    measured = _Streams(lanes.buffer.shape, beta2, chosen)
    for t in range(1, steps + 1):
        batches = [_independent_batch(problem, seed, (t - 1) * streams + r, batch_size) for r in range(streams)]
        stacked = tuple(torch.stack(parts).to(place) for parts in zip(*batches, strict=True))
        losses = problem.loss(lanes.model, stacked)
        lanes.backward(losses)
        if t == 1:
            originals = [Original(model, tuple(x[r] for x in stacked)) for r in range(streams)]
            few = tuple(x.to(place) for x in problem.batch(seed, 1, min(FEW, batch_size)))
            check_lanes(problem, originals, few, lanes, losses, [f"stream {r + 1}" for r in range(streams)])
        measured.add(lanes.grad.cpu().double())
        if progress is not None:
            progress(t)
    usable = measured.usable
    if not usable.any():
        raise ValueError("no coordinate has a gradient in every stream: take more steps or larger batches")
    signal = measured.signal[usable]
    gaussian = _Streams(torch.Size((streams, len(signal))), beta2, chosen)
    generator = torch.Generator().manual_seed(seed)
    for t in range(1, steps + 1):
        gaussian.add(signal + torch.randn(streams, len(signal), generator=generator, dtype=torch.float64))
        if progress is not None:
            progress(t)
    scaled = measured.scaled(usable)
    return GradientVariance(
        t=np.array(chosen, dtype=np.float64),
        quartiles=np.quantile(scaled, _QUARTILES, axis=1),
        reference=np.quantile(gaussian.scaled(gaussian.usable), _QUARTILES, axis=1),
        mean=scaled.mean(1),
        theory=mean_theory(chosen, beta2, signal.numpy()),
        signal=float(signal.median()),
        coordinates=len(signal),
        left_out=lanes.buffer.shape[1] - len(signal),
    )


def mean_theory(steps: list[int], beta2: float, signals: FloatArray) -> FloatArray:
    """The mean over coordinates of `variance_exact` at each one's own mu / sigma, by step; from a table over mu."""
    table = np.linspace(0, np.sqrt(signals.max()), _TABLE) ** 2  # denser at 0, where most are
    logs = np.log(variance_exact(np.array(steps)[:, None], beta2, table[None, :]))
    return np.array([np.exp(np.interp(signals, table, row)).mean() for row in logs])


def _independent_batch(problem: Problem, seed: int, number: int, size: int) -> Batch:
    """The first batch of a sequence of its own: one sequence may shuffle, so that its batches depend on each other."""
    own = int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
    return problem.batch(own, 1, size)


class _Streams:
    """Gradients of R streams, [R, coordinate], step by step, and the variance of psi over them at the chosen steps."""

    def __init__(self, shape: torch.Size, beta2: float, chosen: list[int]) -> None:
        self.beta2, self.chosen, self.t = beta2, chosen, 0
        self.v = torch.zeros(shape, dtype=torch.float64)
        self.sums, self.squares = (torch.zeros(shape[1], dtype=torch.float64) for _ in range(2))
        self.variances: list[Tensor] = []

    def add(self, g: Tensor) -> None:
        self.t += 1
        self.sums += g.sum(0)
        self.squares += g.square().sum(0)
        self.v.mul_(self.beta2).addcmul_(g, g, value=1 - self.beta2)
        if self.t in self.chosen:
            self.variances.append((np.sqrt(1 - self.beta2**self.t) / self.v.sqrt()).var(0))

    @property
    def _moments(self) -> tuple[Tensor, Tensor]:
        """Mean and variance of each coordinate over all steps and streams."""
        mean, count = self.sums / (self.t * len(self.v)), self.t * len(self.v)
        return mean, self.squares / count - mean.square()

    @property
    def usable(self) -> Tensor:
        return (self._moments[1] > 0) & torch.stack(self.variances).isfinite().all(0)

    @property
    def signal(self) -> Tensor:
        """|mu| / sigma."""
        mean, variance = self._moments
        return mean.abs() / variance.sqrt()

    def scaled(self, usable: Tensor) -> FloatArray:
        """Var[psi_t] sigma^2, [step, coordinate]."""
        found: FloatArray = (torch.stack(self.variances) * self._moments[1])[:, usable].numpy()
        return found
