"""Schedules at their corners, and against pytorch_warmup and torch's own schedulers."""

import numpy as np
import pytest
import pytorch_warmup
import torch

from radam_core import schedules
from radam_core.theory import first_rectified_step, rectification

STEPS = np.arange(1, 301)
# 1 - 2^-7: the untuned lengths 2/(1-beta2) and 1/(1-beta2) are whole, where pytorch_warmup otherwise drops a fraction
# (at 0.99 even a rounding error: 199 steps for 200). Ours are not rounded.
BETA2 = 0.9921875


def oracle(make_warmup, make_scheduler=None):
    """The learning rates that a torch optimizer of lr 1 sees under a public warmup and scheduler."""
    optimizer = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=1.0, betas=(0.9, BETA2))
    scheduler = make_scheduler(optimizer) if make_scheduler else None
    warmup = make_warmup(optimizer) if make_warmup else None
    rates = []
    for _ in STEPS:
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if warmup is None:
            scheduler.step()
        else:
            with warmup.dampening():
                if scheduler is not None:
                    scheduler.step()
    return rates


@pytest.mark.parametrize(
    ("ours", "public"),
    [
        (schedules.linear_warmup(40), lambda o: pytorch_warmup.LinearWarmup(o, 40)),
        (schedules.exponential_warmup(40), lambda o: pytorch_warmup.ExponentialWarmup(o, 40)),
        (schedules.untuned_linear_warmup(BETA2), pytorch_warmup.UntunedLinearWarmup),
        (schedules.untuned_exponential_warmup(BETA2), pytorch_warmup.UntunedExponentialWarmup),
        (schedules.radam_warmup(BETA2), pytorch_warmup.RAdamWarmup),
    ],
)
def test_warmups_equal_pytorch_warmup(ours, public):
    np.testing.assert_allclose(ours(STEPS), oracle(public), rtol=1e-12)


@pytest.mark.parametrize(
    ("ours", "scheduler"),
    [
        (schedules.step_decay([30, 100], 0.1), lambda o: torch.optim.lr_scheduler.MultiStepLR(o, [30, 100], 0.1)),
        (schedules.linear_decay(200, 0.1), lambda o: torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.1, 200)),
        (schedules.cosine_decay(300, 0.1), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 300, 0.1)),
    ],
)
def test_decays_equal_torch_schedulers(ours, scheduler):
    np.testing.assert_allclose(ours(STEPS), oracle(None, make_scheduler=scheduler), rtol=1e-9)


def test_warmup_and_decay_compose_as_in_pytorch_warmup():
    ours = schedules.compose(schedules.linear_warmup(40), schedules.cosine_decay(300))
    public = oracle(
        lambda o: pytorch_warmup.LinearWarmup(o, 40),
        make_scheduler=lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 300),
    )
    np.testing.assert_allclose(ours(STEPS), public, rtol=1e-9)


def test_corners():
    linear = schedules.linear_warmup(10)
    assert [linear(1), linear(10), linear(11), linear(10**9)] == [0.1, 1.0, 1.0, 1.0]
    assert schedules.linear_warmup(0)(1) == 1.0
    assert schedules.exponential_warmup(0)(1) == 1.0
    assert schedules.exponential_warmup(10)(10) == pytest.approx(1 - np.exp(-1))
    assert schedules.cosine_decay(10)(11) == pytest.approx(0.0, abs=1e-16)
    assert schedules.linear_decay(10)(11) == 0.0
    assert schedules.inverse_sqrt_decay(4)([1, 4, 16]) == pytest.approx([1, 1, 0.5])
    assert schedules.compose()(7) == 1.0
    assert schedules.constant()(7) == 1.0


def test_radam_warmup_starts_where_rectification_does():
    first = first_rectified_step(0.999)
    np.testing.assert_array_equal(schedules.radam_warmup(0.999)([1, 2]), rectification([first, first + 1], 0.999))


def test_gi_adam_is_the_root_of_the_bias_correction():
    np.testing.assert_allclose(schedules.gi_adam_warmup(0.99)(STEPS), np.sqrt(1 - 0.99**STEPS), rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: schedules.linear_warmup(-1), "warmup_steps must be a number of steps, at least 0, got -1"),
        (lambda: schedules.exponential_warmup(float("nan")), "tau must be .*, got nan"),
        (lambda: schedules.cosine_decay(0), "total_steps must be a number of steps, at least 1, got 0"),
        (lambda: schedules.radam_warmup(0.6), "beta2 must be above 0.6 for a RAdam-shaped warmup"),
        (lambda: schedules.untuned_linear_warmup(1.0), "beta2 must be strictly between 0 and 1, got 1"),
        (lambda: schedules.linear_warmup(10)(0), "t must be at least 1"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", schedules.WARMUPS)
def test_every_named_warmup_rises_to_one(name):
    factors = schedules.WARMUPS[name](0.9, 50)(np.arange(1, 2000))
    assert np.all(np.diff(factors) >= 0)
    assert 0 < factors[0] <= 1
    assert factors[-1] == pytest.approx(1.0)


@pytest.mark.parametrize("name", schedules.DECAYS)
def test_every_named_decay_falls_from_one(name):
    factors = schedules.DECAYS[name](300, 40)(STEPS)
    assert factors[0] == 1.0
    assert np.all(np.diff(factors) <= 0)
