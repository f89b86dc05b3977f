"""Histograms off the exponent bits against logarithms."""

import numpy as np
import pytest
import torch
from torch import nn

from radam_core.race.frames import BIN_OF_ONE, BINS
from radam_core.race.lanes import Lanes
from radam_core.race.probes import exponents, histogram


def log_bins(x):
    """The same bins by logarithms, in extended range: log2 is exact at powers of two in float64."""
    with np.errstate(divide="ignore"):
        exponent = np.floor(np.log2(np.abs(x.double().numpy()))) + BIN_OF_ONE
    return np.where(exponent < 1, 0, exponent).astype(int)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bins_are_floors_of_log2(dtype):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(20_000, generator=generator) * torch.exp(20 * torch.randn(20_000, generator=generator))
    special = [0.0, -0.0, 1.0, -1.0, 2.0, 1.9999999, 0.5, 2.0**-126, 2.0**-127, 2.0**127]
    x = torch.cat([x[torch.isfinite(x)], torch.tensor(special)]).to(dtype)
    assert (exponents(x).numpy() == log_bins(x)).all()


def test_float16_is_refused():
    with pytest.raises(ValueError, match=r"x must be float32 or float64, got torch\.float16"):
        exponents(torch.zeros(2, dtype=torch.float16))


def test_histogram_counts_by_lane_and_group():
    lanes = Lanes([nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 3))], 4, lambda name: name[0])
    x = torch.randn(lanes.buffer.shape, generator=torch.Generator().manual_seed(1))
    counts = histogram(x, lanes.groups)
    assert (histogram(x, lanes.groups, torch.empty_like(x)) == counts).all()
    for k in range(4):
        for i, span in enumerate(lanes.groups.values()):
            expected = np.bincount(log_bins(x[k, span]), minlength=BINS)
            assert (counts[k, i] == expected).all()
