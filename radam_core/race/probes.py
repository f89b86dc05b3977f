"""What is counted of a race at its histogram steps, reading only: magnitudes by powers of two.

A float's exponent bits are its power of two, so a histogram of log2|x| is an integer shift and a bincount, with no
logarithm taken (the paper's Figures 2 and 3 are such histograms).
"""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from radam_core.race.frames import BIN_OF_ONE, BINS
from radam_core.race.lanes import Lanes
from radam_core.race.stacked import StackedOptimizer


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
    def before(self) -> tuple[NDArray[np.uint32], Tensor, Tensor]:
        """The gradient's counts, and its norms by group and by layer, [group, K] and [layer, K]."""
        return self._histogram(self.lanes.grad), self._norms(self.lanes.groups), self._norms(self.lanes.layers)

    def _norms(self, parts: Mapping[str, slice]) -> Tensor:
        grad = self.lanes.grad
        return torch.stack([torch.linalg.vector_norm(grad[:, span], dim=1) for span in parts.values()])

    @torch.no_grad()
    def after(self, gradient: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The counts of all three, as `COUNTED` has them."""
        moments = [self._histogram(x) for x in (self.optimizer.exp_avg, self.optimizer.exp_avg_sq)]
        return np.stack([gradient, *moments])
