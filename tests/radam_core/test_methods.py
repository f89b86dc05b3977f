"""Coefficients of every method: shapes, branches, and the numbers that each method is about."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from radam_core.methods import ADAPTIVE, FROZEN, METHODS, MOMENTUM, PROFILES, Method
from radam_core.schedules import linear_warmup
from radam_core.single_steps import coefficients_at
from radam_core.theory import bias_correction, rectification

T = np.arange(1, 3001)


def test_importing_the_core_and_its_theory_does_not_import_torch():
    code = (
        "import sys, radam_core, radam_core.theory, radam_core.schedules, radam_core.methods;"
        "assert 'torch' not in sys.modules;"
        "from radam_core import RAdam;"
        "assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_finite_coefficients_one_by_one_and_all_at_once(name):
    together = METHODS[name].coefficients(T)
    for t in (1, 2, 4, 5, 6, 8, 9, 256, 257, 2000, 2001, 3000):
        alone = coefficients_at(METHODS[name], t)
        for field, column, value in zip(together._fields, together, alone, strict=True):
            assert column.shape == T.shape, field
            np.testing.assert_allclose(column[t - 1], value, rtol=1e-12, err_msg=field)
            assert np.isfinite(value) or field == "rectification"


@pytest.mark.parametrize("name", METHODS)
def test_another_beta1_gives_the_coefficients_of_the_method_that_has_it(name):
    for beta1 in (0.0, 0.5, 0.85, 0.95):
        other = replace(METHODS[name], betas=(beta1, 0.999))
        for t in (1, 4, 5, 8, 9, 16, 17, 2001):
            np.testing.assert_array_equal(coefficients_at(METHODS[name], t, beta1), coefficients_at(other, t))


@pytest.mark.parametrize("name", METHODS)
def test_settings_round_trip(name):
    assert Method.from_settings(METHODS[name].settings()) == METHODS[name]


def test_adam_is_adam():
    c = METHODS["adam"].coefficients(T)
    # m_hat / (sqrt(v_hat) + eps) = sqrt(bc2)/bc1 m / (sqrt(v) + eps sqrt(bc2))
    root = np.sqrt(1 - 0.999**T)
    np.testing.assert_allclose(c.step, root / (1 - 0.9**T), rtol=1e-10)
    np.testing.assert_allclose(c.eps, 1e-8 * root, rtol=1e-10)
    assert np.all(c.branch == ADAPTIVE)


def test_radam_is_momentum_then_adam_times_r():
    adam, radam = METHODS["adam"].coefficients(T), METHODS["radam"].coefficients(T)
    np.testing.assert_array_equal(radam.branch[:4], MOMENTUM)
    np.testing.assert_array_equal(radam.branch[4:], ADAPTIVE)
    np.testing.assert_allclose(radam.step[:4], 1 / (1 - 0.9 ** T[:4]), rtol=1e-12)
    np.testing.assert_allclose(radam.step[4:] / adam.step[4:], rectification(T[4:], 0.999), rtol=1e-12)


def test_radam_below_beta2_of_six_tenths_is_momentum_for_ever():
    c = replace(METHODS["radam"], betas=(0.9, 0.6)).coefficients(T)
    assert np.all(c.branch == MOMENTUM)
    never = replace(METHODS["radam"], betas=(0.9, 0.66), **PROFILES["authors"]).coefficients(T)
    assert np.all(never.branch == FROZEN)
    assert np.all(never.step == 0)


@pytest.mark.parametrize(("profile", "first"), [("paper", 5), ("authors", 6), ("torch", 6), ("optax", 6), ("keras", 6)])
def test_profiles_rectify_from_step_5_or_6(profile, first):
    method = replace(METHODS["radam"], **PROFILES[profile])
    branch = method.coefficients(T).branch
    assert np.argmax(branch == ADAPTIVE) + 1 == first
    assert set(branch[: first - 1]) == {FROZEN if profile == "authors" else MOMENTUM}


def test_warmup_scales_the_step_and_the_decoupled_decay():
    c = replace(METHODS["adam-linear"], warmup_steps=100).coefficients(T)
    np.testing.assert_array_equal(c.lr_factor, linear_warmup(100)(T))
    np.testing.assert_allclose(c.step, METHODS["adam"].coefficients(T).step * c.lr_factor, rtol=1e-14)


def test_adam_2k_freezes_then_counts_m_from_one_or_as_the_authors_do():
    strict, authors = METHODS["adam-2k"].coefficients(T), METHODS["adam-2k-authors"].coefficients(T)
    for c in (strict, authors):
        assert np.all(c.branch[:2000] == FROZEN)
        assert np.all(c.step[:2000] == 0)
        assert np.all(c.m_gain[:2000] == 0)
        assert np.all(c.v_gain == pytest.approx(0.001))
    # The first real update divides m by 1 - 0.9 = 0.1, or by 1 - 0.9^2001 = 1: ten times as much.
    assert strict.step[2000] / authors.step[2000] == pytest.approx(10.0)


def test_adam_eps_at_the_first_step_is_31_times_torchs_placement():
    # eps before bias correction weighs 1/sqrt(1 - 0.999) = 31.6 times as much at t = 1.
    before = METHODS["adam-eps"].coefficients(1).eps
    after = replace(METHODS["adam-eps"], eps_placement="after").coefficients(1).eps
    assert before / after == pytest.approx(1 / np.sqrt(0.001))


def test_gi_adam_starts_v_at_the_first_gradient_and_keeps_the_correction():
    c = METHODS["gi-adam"].coefficients(T)
    assert (c.v_keep[0], c.v_gain[0]) == (0.0, 1.0)
    assert np.all(c.v_keep[1:] == 0.999)
    np.testing.assert_array_equal(c.step, METHODS["adam"].coefficients(T).step)


def test_phases_take_over_at_their_last_steps():
    adam, radam = METHODS["adam"].coefficients(T), METHODS["radam"].coefficients(T)
    swap = METHODS["adam-4-radam"].coefficients(T)
    np.testing.assert_array_equal(swap.step, np.where(T <= 4, adam.step, radam.step))
    late = METHODS["sgd-4-adam-8-radam"].coefficients(T)
    np.testing.assert_array_equal(late.branch[:4], MOMENTUM)
    np.testing.assert_array_equal(late.step[4:8], adam.step[4:8])
    np.testing.assert_array_equal(late.step[8:], radam.step[8:])


def test_heavy_ball_has_no_second_moment_and_no_bias_correction():
    c = METHODS["sgd"].coefficients(T)
    assert (set(c.m_keep), set(c.m_gain), set(c.step), set(c.v_gain)) == ({0.9}, {1.0}, {1.0}, {0.0})


def test_exact_rectification_is_the_theorys():
    c = METHODS["radam-exact"].coefficients(T)
    r = rectification(T, 0.999, variance="exact")
    np.testing.assert_allclose(c.step[4:], (r * np.sqrt(bias_correction(T, 0.999)) / (1 - 0.9**T))[4:], rtol=1e-10)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"betas": (1.0, 0.999)}, "beta1 must be at least 0 and below 1, got 1.0"),
        ({"betas": (0.9, 1.0)}, "beta2 must be strictly between 0 and 1, got 1"),
        ({"eps": -1e-8}, "eps must be finite and at least 0"),
        ({"eps": float("nan")}, "eps must be finite"),
        ({"rectify": "second-order"}, "rectify must be one of None, first-order, analytic, exact"),
        ({"rectify": "first-order", "threshold": 3.9}, "threshold must be at least 4 for first-order, got 3.9"),
        ({"rectify": "first-order", "at_threshold": True}, "threshold must be above 4 for first-order, got 4.0"),
        ({"rectify": "first-order", "adaptive": False}, "rectify scales an adaptive step"),
        ({"betas": 0.9}, "betas must be a pair .beta1, beta2., got 0.9"),
        ({"betas": (0.9,)}, "betas must be a pair"),
        ({"warmup": "linear"}, "warmup_steps must be given for this schedule"),
        ({"warmup": "exponential"}, "warmup_steps must be given for this schedule"),
        ({"decay": "cosine"}, "total_steps must be given for this schedule"),
        ({"decay": "step"}, "total_steps must be given for this schedule"),
        ({"warmup": "quadratic"}, "warmup must be one of none, linear"),
        ({"warmup": "linear", "warmup_steps": -5}, "warmup_steps must be a number of steps, at least 0, got -5"),
        ({"warmup": "radam", "betas": (0.9, 0.5)}, "beta2 must be above 0.6"),
        ({"decay": "cosine", "total_steps": 0}, "total_steps must be a number of steps, at least 1, got 0"),
        ({"first_moment": "heavy-ball"}, "needs adaptive=False"),
        ({"frozen_steps": -1}, "frozen_steps must be a whole number, at least 0, got -1"),
        ({"phases": ((4, Method()), (4, Method()))}, "last steps of phases must increase from 1, got"),
        ({"phases": ((4, METHODS["sgd"]),)}, "phases must share the method's first_moment"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        Method(**settings)
