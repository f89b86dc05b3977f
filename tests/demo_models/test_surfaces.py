"""The surfaces: minima where they should be, noise that is noise, lanes equal to plain loops."""

import pytest
import torch

from demo_models import TASKS
from demo_models.surfaces import SURFACES
from tests.demo_models.plain_loops import largest_difference

TASK = TASKS["surfaces"]


def test_the_table_is_the_one_described():
    (setting,) = (setting for setting in TASK.settings if setting.name == "surface")
    assert setting.choices == tuple(SURFACES)


@pytest.mark.parametrize("name", SURFACES)
def test_minimum_is_zero_and_flat(name):
    surface = SURFACES[name]
    p = torch.tensor(surface.minimum, dtype=torch.float64, requires_grad=True)
    value = surface.f(p[0], p[1], 50.0)
    (gradient,) = torch.autograd.grad(value, p)
    assert value.item() == pytest.approx(0, abs=1e-12)
    assert gradient.abs().max() < 1e-12
    assert surface.f(*(torch.tensor(x) for x in surface.start), 50.0) > 0.5


@pytest.mark.parametrize("name", SURFACES)
def test_each_lane_equals_a_plain_loop(name):
    assert largest_difference(TASK.open({"surface": name}), lr=1e-4, batch_size=2) < 1e-9


def test_noise_is_on_the_gradient_and_not_on_the_loss():
    quiet, noisy = (TASK.open({"surface": "quadratic", "noise": noise}) for noise in (0.0, 3.0))
    gradients = []
    for step in range(1, 501):
        model = noisy.make_model(0)
        loss = noisy.loss(model, noisy.batch(0, step, 1))
        assert loss.item() == pytest.approx(quiet.loss(model, quiet.batch(0, step, 1)).item())
        gradients.append(torch.autograd.grad(loss, model.position)[0])
    gradients = torch.stack(gradients)
    # At (-4, 1) with condition 100 the gradient is (-4, 100); 500 draws give its mean to 3 / sqrt(500) = 0.13.
    torch.testing.assert_close(gradients.mean(0), torch.tensor([-4.0, 100.0]), atol=0.5, rtol=0)
    torch.testing.assert_close(gradients.std(0), torch.tensor([3.0, 3.0]), atol=0.4, rtol=0)
