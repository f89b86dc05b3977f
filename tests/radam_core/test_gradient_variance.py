"""The measured variance of psi beside Gaussian gradients and the exact theory, on gradients of a known distribution."""

import numpy as np
import pytest
import torch
from torch import nn

from demo_models import TASKS
from radam_core.race.gradient_variance import _independent_batch, mean_theory, measure_gradient_variance
from radam_core.theory import variance_exact


class Noise(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.p = nn.Parameter(torch.zeros(size))

    def forward(self):
        return self.p


class DrawnGradients:
    """Gradients mu + noise, times a scale that differs between coordinates; the noise is Gaussian or given."""

    def __init__(self, size, mu=0.0, noise=np.random.Generator.standard_normal):
        self.size, self.mu, self.noise = size, torch.as_tensor(mu, dtype=torch.float64), noise
        self.scale = torch.logspace(-3, 3, size, dtype=torch.float64)

    def make_model(self, _):
        return Noise(self.size)

    def batch(self, seed, step, _):
        drawn = torch.from_numpy(self.noise(np.random.default_rng((seed, step)), size=self.size))
        return (((drawn + self.mu) * self.scale).float(),)

    def loss(self, model, batch):
        return (model() * batch[0]).sum(-1)

    def evaluate(self, _):
        return {}

    def group(self, parameter):
        return parameter


MIXED = np.repeat([0.0, 0.3, 1.0, 1.5, 3.0], 1600)  # each coordinate's own mean


@pytest.mark.parametrize("mu", [np.zeros(8000), np.ones(8000), MIXED], ids=["0", "1", "mixed"])
def test_gaussian_gradients_land_on_the_reference_and_on_each_ones_own_theory(mu):
    measured = measure_gradient_variance(DrawnGradients(8000, mu), beta2=0.99, steps=100, streams=16, points=6)
    # A quantile over 8000 coordinates, or 1600 of a kind, has about 2% of standard error, and there are two of them.
    np.testing.assert_allclose(measured.quartiles, measured.reference, rtol=0.12)
    np.testing.assert_allclose(measured.quartiles[1], measured.reference[1], rtol=0.08)
    exact = np.mean([variance_exact(measured.t, 0.99, kind) for kind in mu[::1600]], axis=0)
    np.testing.assert_allclose(measured.theory, exact, rtol=0.02)  # mu is estimated, from 1600 gradients
    late = measured.t >= 20  # earlier, the estimate has a heavy tail
    np.testing.assert_allclose(measured.mean[late], exact[late], rtol=0.04)
    assert measured.signal == pytest.approx(np.median(mu), abs=0.05)
    assert (measured.coordinates, measured.left_out, measured.t[0]) == (8000, 0, 5)


def test_the_reference_is_what_a_plain_simulation_gives():
    """The median of 16-stream estimates of exact Gaussians, simulated in numpy: not the exact variance but below it."""
    measured = measure_gradient_variance(DrawnGradients(4000), beta2=0.999, steps=22, streams=16, points=3)
    rng, v, medians = np.random.default_rng(1), np.zeros((16, 4000)), []
    for t in range(1, 23):
        v = 0.999 * v + 0.001 * rng.standard_normal(v.shape) ** 2
        if t in measured.t:
            medians.append(np.median(np.var(np.sqrt((1 - 0.999**t) / v), axis=0, ddof=1)))
    np.testing.assert_allclose(measured.reference[1], medians, rtol=0.05)
    assert (measured.reference[1] < [0.75, 0.9, 0.95] * variance_exact(measured.t, 0.999)).all()


@pytest.mark.parametrize(
    ("noise", "low", "high"),
    [
        # Equal sizes: v is always 1, and psi does not vary at all.
        (lambda rng, size: rng.choice([-1.0, 1.0], size), 0.0, 1e-6),
        # Var[v]/E[v]^2 is (kurtosis - 1)/n: 2/n for Gaussians, 5/n for Laplace noise. Late on Var[psi] goes with it.
        (lambda rng, size: rng.laplace(size=size), 1.5, 3.0),
        # Uniform: kurtosis 1.8, 0.8/n.
        (lambda rng, size: rng.uniform(-1, 1, size), 0.3, 0.5),
    ],
    ids=["signs", "laplace", "uniform"],
)
def test_other_gradients_leave_the_reference_as_far_as_their_tails_say(noise, low, high):
    measured = measure_gradient_variance(DrawnGradients(2000, noise=noise), beta2=0.999, steps=60, points=4)
    ratio = measured.quartiles[1] / measured.reference[1]
    assert low <= ratio[-1] <= high


def test_the_theory_between_the_entries_of_its_table():
    signals = np.random.default_rng(0).exponential(2.0, 50)
    exact = np.mean([variance_exact([5, 50], 0.999, mu) for mu in signals], axis=0)
    np.testing.assert_allclose(mean_theory([5, 50], 0.999, signals), exact, rtol=0.01)
    np.testing.assert_allclose(mean_theory([5], 0.99, np.zeros(3)), variance_exact([5], 0.99))


def test_batches_are_independent_also_where_training_shuffles():
    """A shuffled sequence of `digits` shows 512 different images in 16 batches of 32; independent draws repeat some."""
    digits = TASKS["digits"].open()

    def different(batches):
        return len(torch.cat([images for images, _ in batches]).flatten(1).unique(dim=0))

    everything = different([digits.train])
    assert different([digits.batch(0, step, 32) for step in range(1, 17)]) == pytest.approx(512, abs=2)
    drawn = different([_independent_batch(digits, 0, number, 32) for number in range(16)])
    # A picture is missed by a batch of 32 with probability 1 - 32 / 1437.
    assert drawn == pytest.approx(everything * (1 - (1 - 32 / 1437) ** 16), abs=35)
    again = _independent_batch(digits, 0, 3, 32)
    assert torch.equal(again[0], _independent_batch(digits, 0, 3, 32)[0])


def test_settings_are_checked():
    problem = DrawnGradients(3)
    with pytest.raises(ValueError, match="streams must be a whole number, at least 2, got 1"):
        measure_gradient_variance(problem, streams=1)
    with pytest.raises(ValueError, match="steps must be a whole number, at least 5, got 3"):
        measure_gradient_variance(problem, steps=3)


def test_coordinates_without_a_gradient_are_left_out_and_counted():
    problem = DrawnGradients(10)
    problem.scale[:4] = 0
    measured = measure_gradient_variance(problem, steps=6, streams=4)
    assert (measured.coordinates, measured.left_out) == (6, 4)
    problem.scale[:] = 0
    with pytest.raises(ValueError, match="no coordinate has a gradient in every stream"):
        measure_gradient_variance(problem, steps=6, streams=4)
