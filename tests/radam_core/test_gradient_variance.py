"""The measured variance of psi against the exact theory, on gradients that are what the theory takes them to be."""

import numpy as np
import pytest
import torch
from torch import nn

from radam_core.gradient_variance import measure_gradient_variance
from radam_core.theory import variance_exact


class Noise(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.p = nn.Parameter(torch.zeros(size))

    def forward(self):
        return self.p


class GaussianGradients:
    """Gradients drawn from N(mu, 1) times a scale that differs from coordinate to coordinate."""

    def __init__(self, size, mu):
        self.size, self.mu, self.scale = size, mu, torch.logspace(-3, 3, size, dtype=torch.float64)

    def make_model(self, _):
        return Noise(self.size)

    def batch(self, seed, step, _):
        rng = np.random.default_rng((seed, step))
        return ((torch.from_numpy(rng.standard_normal(self.size) + self.mu) * self.scale).float(),)

    def loss(self, model, batch):
        return (model() * batch[0]).sum(-1)

    def evaluate(self, _):
        return {}

    def group(self, parameter):
        return parameter


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_gaussian_gradients_have_the_exact_variance(mu):
    measured = measure_gradient_variance(GaussianGradients(4000, mu), beta2=0.99, steps=100, streams=12, points=6)
    expected = variance_exact(measured.t, 0.99, mu)
    late = measured.t >= 20  # earlier, the variance's own error is large
    # 4000 coordinates times 11 degrees of freedom: about 1% of standard error, more with the heavy tail of psi.
    np.testing.assert_allclose(measured.mean[late], expected[late], rtol=0.06)
    assert measured.signal == pytest.approx(mu, abs=0.05)
    assert measured.coordinates == 4000
    assert measured.t[0] == 5
    assert (np.diff(measured.quartiles, axis=0) >= 0).all()


def test_settings_are_checked():
    problem = GaussianGradients(3, 0.0)
    with pytest.raises(ValueError, match="streams must be a whole number, at least 2, got 1"):
        measure_gradient_variance(problem, streams=1)
    with pytest.raises(ValueError, match="steps must be a whole number, at least 5, got 3"):
        measure_gradient_variance(problem, steps=3)


def test_coordinates_without_a_gradient_are_left_out():
    problem = GaussianGradients(10, 0.0)
    problem.scale[:4] = 0
    assert measure_gradient_variance(problem, steps=6, streams=4).coordinates == 6
    problem.scale[:] = 0
    with pytest.raises(ValueError, match="no coordinate has a gradient in every stream"):
        measure_gradient_variance(problem, steps=6, streams=4)
