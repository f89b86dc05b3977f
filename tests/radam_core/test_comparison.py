"""RAdam beside its rivals: effective lengths in closed form, the closest warmup by brute force."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from radam_core import comparison, schedules
from radam_core.methods import METHODS
from radam_core.optimizers import make_optimizer
from radam_core.theory import effective_warmup, rectification


def test_effective_warmups_have_their_closed_forms():
    effective = comparison.effective_warmups(0.99, 300, 70)
    assert effective["adam-linear"] == pytest.approx((300 - 1) / 2)
    assert effective["adam-untuned-linear"] == pytest.approx((200 - 1) / 2)
    # sum_t exp(-t/tau) = 1 / (exp(1/tau) - 1)
    assert effective["adam-exponential"] == pytest.approx(1 / np.expm1(1 / 70), rel=1e-5)
    t = np.arange(1, 20_000)
    assert effective["radam"] == pytest.approx(np.sum(1 - np.nan_to_num(rectification(t, 0.99))), rel=1e-3)


def test_a_linear_warmup_of_equal_cost_costs_as_much():
    cost = comparison.effective_warmups(0.999, 0, 0)["radam"]
    length = round(comparison.linear_of_equal_cost(cost))
    costs = [effective_warmup(schedules.linear_warmup(length + more)(np.arange(1, 9000))) for more in (-1, 0, 1)]
    assert abs(costs[1] - cost) <= 0.25
    assert costs[0] < cost < costs[2]
    assert comparison.linear_of_equal_cost(0) == 1  # over one step: no warmup


@pytest.mark.parametrize("shape", ["linear", "exponential"])
def test_closest_warmup_beats_every_other_length(shape):
    found = comparison.closest_warmup(0.99, shape)
    t = np.arange(5, comparison.settled_step(0.99) + 1)
    make = {"linear": schedules.linear_warmup, "exponential": schedules.exponential_warmup}[shape]

    def distance(length):
        return np.sqrt(np.mean((make(length)(t) - rectification(t, 0.99)) ** 2))

    assert found.rms_difference == pytest.approx(distance(found.length), rel=1e-3)
    lengths = np.arange(5, 600)
    best = lengths[np.argmin([distance(length) for length in lengths])]
    assert found.length == pytest.approx(best, abs=1)


def test_closest_exponential_warmup_is_the_untuned_one():
    # Ma & Yarats: tau = 1 / (1 - beta2) comes close to RAdam. The least-squares length agrees within a per cent.
    assert comparison.closest_warmup(0.999, "exponential").length == pytest.approx(1000, rel=0.01)


def test_there_is_no_closest_warmup_without_rectification():
    assert comparison.effective_warmups(0.6, 10, 10)["radam"] == np.inf
    lengths = [comparison.effective_warmups(0.999, 10, tau)["radam"] for tau in (10, 10_000)]
    assert lengths[0] == lengths[1]
    assert comparison.closest_warmup(0.6, "linear") is None
    assert comparison.closest_warmup(0.65, "linear", threshold=5.0) is None


def test_momentum_multiplier_by_hand():
    radam = METHODS["radam"]
    t = np.arange(1, 30)
    for size in (0.01, 1.0, 100.0):
        multiplier = comparison.momentum_multiplier(radam, t, size)
        np.testing.assert_allclose(multiplier[:4], 1.0)
        np.testing.assert_allclose(multiplier[4:], rectification(t[4:], 0.999) / size, rtol=1e-3)
    frozen = comparison.momentum_multiplier(replace(radam, below="skip"), t, 1.0)
    np.testing.assert_array_equal(frozen[:4], 0.0)


_HANDED_OVER = replace(METHODS["radam"], phases=((4, METHODS["gi-adam"]), (8, METHODS["adam-2k"])))


@pytest.mark.parametrize("name", [name for name in METHODS if name != "sgd"] + ["handed over"])
def test_momentum_multiplier_is_what_the_optimizer_does_with_equal_gradients(name):
    method = METHODS.get(name, _HANDED_OVER)
    if method.frozen_steps:
        method = replace(method, frozen_steps=10)
    lr, size, weight = 1e-3, 0.01, torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = make_optimizer([weight], method, lr=lr)
    done = []
    for _ in range(30):
        before, weight.grad = weight.item(), torch.full_like(weight, size)
        optimizer.step()
        done.append((before - weight.item()) / (lr * size))
    np.testing.assert_allclose(comparison.momentum_multiplier(method, np.arange(1, 31), size), done, rtol=1e-9)


def test_momentum_multiplier_of_adam_started_at_its_first_gradient():
    found = comparison.momentum_multiplier(METHODS["gi-adam"], [1, 4, 100], 0.01)
    np.testing.assert_allclose(found, 100 * schedules.gi_adam_warmup(0.999)([1, 4, 100]), rtol=1e-5)


def test_a_heavy_ball_counts_as_it_is():
    np.testing.assert_array_equal(comparison.momentum_multiplier(METHODS["sgd"], [1, 10], 0.01), [1.0, 1.0])
