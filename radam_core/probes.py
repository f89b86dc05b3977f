"""What is measured of a race at its histogram steps, reading only: magnitudes by powers of two, and the adaptive rate.

A float's exponent bits are its power of two, so a histogram of log2|x| is an integer shift and a bincount, with no
logarithm taken (the paper's Figures 2 and 3 are such histograms).
"""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from radam_core.frames import BIN_OF_ONE, BINS, PSI_QUANTILES, Histograms
from radam_core.lanes import Lanes
from radam_core.stacked import StackedOptimizer
from radam_core.theory import bias_correction

_SAMPLE = 4096  # coordinates, evenly spaced, whose quantiles stand for all


def exponents(x: Tensor, scratch: Tensor | None = None) -> Tensor:
    """The power of two below each |element|, as its bin: BIN_OF_ONE for 1 <= |x| < 2. One shift, and no logarithm.

    `scratch`, of x's shape and type, is written over: fresh memory costs as much as the shift.
    """
    if x.dtype == torch.float32:
        shifted = None if scratch is None else scratch.view(torch.int32)
        bits = torch.bitwise_right_shift(x.view(torch.int32), 23, out=shifted)
        return bits.to(torch.uint8)  # the sign bit, above the exponent's eight, falls off
    if x.dtype == torch.float64:
        exponent = ((x.view(torch.int64) >> 52) & 0x7FF) - (1023 - BIN_OF_ONE)
        return exponent.clamp(0, BINS - 1).to(torch.uint8)
    raise ValueError(f"x must be float32 or float64, got {x.dtype}")


def histogram(x: Tensor, groups: Mapping[str, slice], scratch: Tensor | None = None) -> NDArray[np.uint32]:
    """[lane, group, bin] of x, [lane, coordinate]."""
    bins = exponents(x, scratch)
    counts = [torch.bincount(row[span], minlength=BINS) for row in bins for span in groups.values()]
    return torch.stack(counts).view(len(x), len(groups), BINS).cpu().numpy().astype(np.uint32)


class Probes:
    """`before` a step reads the gradient, as clipping and coupled decay change it; `after` reads the moments."""

    def __init__(self, lanes: Lanes, optimizer: StackedOptimizer) -> None:
        self.lanes, self.optimizer = lanes, optimizer

    def _histogram(self, x: Tensor) -> NDArray[np.uint32]:
        return histogram(x, self.lanes.groups, self.optimizer.scratch)

    @torch.no_grad()
    def before(self) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        grad = self.lanes.grad
        norms = [torch.linalg.vector_norm(grad[:, span], dim=1) for span in self.lanes.groups.values()]
        return self._histogram(grad), torch.stack(norms, 1).float().cpu().numpy()

    @torch.no_grad()
    def after(self, gradient: tuple[NDArray[np.uint32], NDArray[np.float32]]) -> Histograms:
        counts, norms = gradient
        moments = [self._histogram(x) for x in (self.optimizer.exp_avg, self.optimizer.exp_avg_sq)]
        quantiles, variance = psi_statistics(self.optimizer)
        return Histograms(
            self.optimizer.t, tuple(self.lanes.groups), np.stack([counts, *moments]), norms, quantiles, variance
        )


def psi_statistics(optimizer: StackedOptimizer) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Quantiles and relative variance of psi_t = sqrt(1 - beta2^t) / (sqrt(v_t) + eps) over the coordinates of a lane.

    Coordinates that never had a gradient (v = 0) have no adaptive rate and are left out; a method without v has nan.
    """
    quantiles = np.full((len(optimizer.entries), len(PSI_QUANTILES)), np.nan, dtype=np.float32)
    variance = np.full(len(optimizer.entries), np.nan, dtype=np.float32)
    spacing = max(1, optimizer.exp_avg_sq.shape[1] // _SAMPLE)
    for k, (lane, eps) in enumerate(zip(optimizer.entries, optimizer.eps, strict=True)):
        v = optimizer.exp_avg_sq[k]
        v = v[v > 0]
        if lane.method.first_moment == "heavy-ball" or not len(v):
            continue
        correction = float(np.sqrt(bias_correction(optimizer.t, lane.method.betas[1])))
        psi = correction / (v.sqrt() + eps)
        psi = psi.cpu().double()
        relative = psi / psi.max()  # so that no square overflows
        variance[k] = float(relative.var(correction=0) / relative.mean() ** 2)
        quantiles[k] = np.quantile(psi[::spacing].numpy(), PSI_QUANTILES)
    return quantiles, variance
