"""The theory against closed forms, 60-digit arithmetic, and itself by another route."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from radam_core import simulation, theory

BETA2S = (0.1, 0.5, 0.6, 0.9, 0.99, 0.999, 0.9999, 1 - 1e-9, 1 - 1e-13)


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def test_rho_and_r_at_seven_tenths_are_these_fractions():
    # beta2 = 7/10 by hand: rho_inf = 2/(3/10) - 1 = 17/3; the rest is rho_t = rho_inf - 2 t b^t / (1 - b^t).
    b = Fraction(7, 10)
    rho_inf = Fraction(17, 3)
    assert theory.rho_inf(0.7) == pytest.approx(float(rho_inf), rel=1e-15)
    for t in range(1, 30):
        rho_t = rho_inf - 2 * t * b**t / (1 - b**t)
        assert theory.rho(t, 0.7) == pytest.approx(float(rho_t), rel=1e-14)
        r_t = theory.rectification(t, 0.7)
        if rho_t > 4:
            squared = (rho_t - 4) * (rho_t - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho_t)
            assert r_t**2 == pytest.approx(float(squared), rel=1e-12)
        else:
            assert np.isnan(r_t)


@pytest.mark.parametrize("beta2", BETA2S)
def test_rho_keeps_its_digits_for_beta2_close_to_one(beta2):
    for t in (1, 2, 5, 6, 37, 1000, 10**5, 10**7):
        b = mpmath.mpf(beta2)
        exact = 2 / (1 - b) - 1 - 2 * t * b**t / (1 - b**t)
        assert abs(mpmath.mpf(float(theory.rho(t, beta2))) / exact - 1) < 1e-14


def test_rho_is_one_at_the_first_step_and_rho_inf_in_the_limit():
    # rho_1 = (1 + b)/(1 - b) - 2 b/(1 - b) = 1 for every b.
    assert theory.rho(1, np.array(BETA2S)) == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_array_equal(theory.rho(np.inf, np.array(BETA2S)), theory.rho_inf(np.array(BETA2S)))


def test_bias_correction_keeps_its_digits():
    assert theory.bias_correction(3, 1 - 1e-12) == pytest.approx(
        float(1 - mpmath.mpf(1 - 1e-12) ** 3), rel=1e-15, abs=0
    )
    assert theory.bias_correction(5, 0.0) == 1.0


@pytest.mark.parametrize(
    "rho",
    [2 + 1e-12, 2.0001, 2.5, 3.0, 4.0, 5.0, 10.0, 19.99, 20.0, 20.01, 50.0, 500.0, 1e4, 1e6, 1e9, 1e12],
)
def test_analytic_variance_matches_sixty_digits(rho):
    # Theorem 1 with B(x, x)^2 2^(2 rho - 5)/pi written by Gamma (Legendre's duplication formula).
    r = mpmath.mpf(rho)
    exact = r / (r - 2) - r / 2 * (mpmath.gamma((r - 1) / 2) / mpmath.gamma(r / 2)) ** 2
    assert abs(mpmath.mpf(float(theory.variance_analytic(rho))) / exact - 1) < 1e-12


def test_analytic_variance_is_the_papers_beta_function_form():
    for rho in (5.0, 50.0, 500.0):
        r = mpmath.mpf(rho)
        printed = r / (r - 2) - r * 2 ** (2 * r - 5) / mpmath.pi * mpmath.beta((r - 1) / 2, (r - 1) / 2) ** 2
        assert theory.variance_analytic(rho) == pytest.approx(float(printed), rel=1e-12)


def test_theorem_1_variance_decreases_strictly_on_a_dense_grid():
    rho = np.concatenate([2 + np.geomspace(1e-9, 1, 20_000), np.geomspace(3.001, 1e9, 200_000)])
    assert np.all(np.diff(theory.variance_analytic(rho)) < 0)
    assert np.all(np.diff(theory.variance_first_order(rho[rho > 4])) < 0)


def test_variance_at_5_is_over_100_times_that_at_500():
    # The paper's Section 4.2.
    assert theory.variance_analytic(5.0) / theory.variance_analytic(500.0) > 100


def exact_by_mpmath(t, beta2, mu):
    """E[1/v] - E[v^-1/2]^2 by the product itself and a trapezoid rule with 60 digits."""
    b, mu = mpmath.mpf(beta2), mpmath.mpf(mu)
    weights = [(1 - b) * b**j / (1 - b**t) for j in range(t)]

    def transform(s):
        product, exponent = mpmath.mpf(1), mpmath.mpf(0)
        for w in weights:
            product *= 1 + 2 * s * w
            exponent -= mu**2 * s * w / (1 + 2 * s * w)
        return mpmath.exp(exponent) / mpmath.sqrt(product)

    spacing = mpmath.mpf(1) / 5
    inverse = root = mpmath.mpf(0)
    for k in range(-450, 650):
        s = mpmath.exp(k * spacing)
        value = transform(s)
        inverse += value * s
        root += value * mpmath.sqrt(s)
        if s > 1 and value * s < inverse * mpmath.eps:  # what follows is smaller still
            break
    return inverse * spacing - (root * spacing) ** 2 / mpmath.pi


@pytest.mark.parametrize(
    ("t", "beta2", "mu"),
    [(3, 0.999, 0), (3, 0.05, 0), (5, 0.5, 0), (4, 0.9, 3), (7, 0.99, 10), (30, 0.99, 0.5), (60, 1 - 1e-7, 0)],
)
def test_exact_variance_matches_the_product_term_by_term(t, beta2, mu):
    with mpmath.workdps(34):
        expected = exact_by_mpmath(t, beta2, mu)
        assert abs(mpmath.mpf(float(theory.variance_exact(t, beta2, mu))) / expected - 1) < 1e-10


def test_exact_variance_of_equal_weights_is_theorem_1():
    # As beta2 -> 1 the exponential average of t squares is their simple average: rho = t, with no approximation left.
    t = np.array([3, 4, 5, 10, 100, 1000])
    np.testing.assert_allclose(theory.variance_exact(t, 1 - 1e-14), theory.variance_analytic(t), rtol=1e-10)


def test_exact_variance_is_infinite_before_step_3_and_settles():
    np.testing.assert_array_equal(theory.variance_exact([1, 2], 0.999), np.inf)
    limit = theory.variance_exact(np.inf, 0.999)
    assert theory.variance_exact(100_000, 0.999) == pytest.approx(limit, rel=1e-12)
    # To first order Var[psi] = Var[v]/4 = (1 - b)/(1 + b)/2, which 1/(1 - beta2) = 1000 samples come near to.
    assert limit == pytest.approx((1 - 0.999) / (1 + 0.999) / 2, rel=0.01)


def test_relative_spread_of_equal_weights_is_that_of_an_inverse_chi():
    # psi = sqrt(t / chi^2_t), so E[psi] = sqrt(t/2) Gamma((t-1)/2) / Gamma(t/2) and E[psi^2] = t / (t-2).
    for t in (3, 5, 53, 500):
        half = mpmath.mpf(t) / 2
        mean = mpmath.sqrt(half) * mpmath.gamma(half - 0.5) / mpmath.gamma(half)
        expected = mpmath.sqrt(mpmath.mpf(t) / (t - 2) - mean**2) / mean
        assert theory.relative_spread(t, 1 - 1e-14) == pytest.approx(float(expected), rel=1e-9)
    np.testing.assert_array_equal(theory.relative_spread([1, 2], 0.9, 3.0), np.inf)


def test_relative_spread_is_what_a_simulation_has():
    rates = simulation.sample_averages(0.99, 400, 20_000, seed=2).adaptive_rate(0.5)
    t = simulation.log_spaced_steps(5, 400, 120)
    later = t >= 10  # the fourth moment of earlier ones is large or infinite
    spread = (rates.std(axis=1) / rates.mean(axis=1))[later]
    np.testing.assert_allclose(spread, theory.relative_spread(t[later], 0.99, 0.5), rtol=0.03)


@pytest.mark.parametrize(("beta2", "mu"), [(0.999, 0.0), (0.97, 0.0), (0.9, 3.0)])
def test_known_step_is_the_first_below_a_tenth(beta2, mu):
    step = theory.known_step(beta2, mu)
    before, at = theory.relative_spread([step - 1, step], beta2, mu)
    assert at <= 0.1 < before


def test_known_step_is_none_when_the_limit_is_above_a_tenth_and_3_when_nothing_varies():
    assert theory.relative_spread(np.inf, 0.9) > 0.1
    assert theory.known_step(0.9) is None
    assert theory.known_step(0.9, within=0.2) is not None
    assert theory.known_step(0.999, mu=10.0) == 3


@pytest.mark.parametrize(("beta1", "beta2"), [(0.9, 0.999), (0.99, 0.9), (0.9, 0.81), (0.0, 0.99)])
def test_no_gradients_give_a_larger_update_and_some_reach_it(beta1, beta2):
    generator = np.random.default_rng(0)
    for t in (1, 2, 5, 60):
        ages = np.arange(t)[::-1]
        a = beta1**ages / np.sum(beta1**ages)
        w = beta2**ages / np.sum(beta2**ages)
        bound = theory.largest_update(t, beta1, beta2)
        g = generator.standard_cauchy((t, 1000))
        assert (np.abs(a @ g) / np.sqrt(w @ g**2)).max() <= bound * (1 + 1e-12)
        worst = a / w
        assert a @ worst / np.sqrt(w @ worst**2) == pytest.approx(bound, rel=1e-12)
    assert theory.largest_update(np.inf, beta1, beta2) >= theory.largest_update(5000, beta1, beta2) * (1 - 1e-12)


def test_exact_variance_does_not_depend_on_which_steps_are_asked_together():
    steps = np.array([3, 17, 18, 400, 4001, 50_000])
    together = theory.variance_exact(steps, 0.9995)
    alone = [theory.variance_exact(int(t), 0.9995) for t in steps]
    np.testing.assert_allclose(together, alone, rtol=1e-11)
    shuffled = [3, 0, 5, 1, 4, 2]
    np.testing.assert_array_equal(theory.variance_exact(steps[shuffled], 0.9995), together[shuffled])


@pytest.mark.parametrize("rho", [0.5, 1.0, 3.0, 4.7, 30.0, 400.0])
def test_log_variance_is_that_of_a_chi_square(rho):
    # psi = (chi^2_rho / rho)^(-1/2); a quarter of a million draws: 0.3% by chance, and more for the long tail at 0.5.
    draws = np.random.default_rng(0).chisquare(rho, 250_000)
    assert theory.variance_log_psi(rho) == pytest.approx((np.log(draws / rho) / -2).var(), rel=0.02)
    assert theory.variance_log_psi(rho) == pytest.approx(float(mpmath.polygamma(1, mpmath.mpf(rho) / 2) / 4), rel=1e-13)


def test_log_variance_at_one_is_pi_squared_over_eight_and_one_half_over_rho_at_last():
    # trigamma(1/2) = pi^2 / 2; trigamma(x) = 1/x + 1/(2 x^2) + ..., so Var = 1/(2 rho) + 1/(2 rho^2) + ...
    assert theory.variance_log_psi(1) == pytest.approx(np.pi**2 / 8, rel=1e-14)
    assert theory.variance_log_psi(1e6) == pytest.approx(5e-7, rel=2e-6)


@pytest.mark.parametrize("mu", [0.0, 1.0])
@pytest.mark.parametrize("beta2", [0.5, 0.9, 0.999])
def test_exact_log_variance_is_that_of_real_exponential_averages(beta2, mu):
    rng, v = np.random.default_rng(1), np.zeros(200_000)
    for t in range(1, 41):
        v = beta2 * v + (1 - beta2) * (mu + rng.standard_normal(len(v))) ** 2
        if t in (1, 2, 5, 40):
            measured = (np.log(v) / -2).var()
            assert theory.variance_log_psi_exact(t, beta2, mu) == pytest.approx(measured, rel=0.02), t


def test_exact_log_variance_of_equal_weights_is_trigamma():
    # beta2 -> 1 makes all weights equal: a chi-square of t degrees.
    t = np.array([1, 2, 3, 10, 100, 1000])
    np.testing.assert_allclose(theory.variance_log_psi_exact(t, 1 - 1e-9), theory.variance_log_psi(t), rtol=1e-6)
    # And two squares of unlike weights by the definition: with u uniform on the circle, v = r^2 (a cos^2 + b sin^2).
    # log r^2 is independent of u, and r^2 / 2 ~ Exp(1): Var[log v] = pi^2 / 6 + Var[log(a cos^2 u + b sin^2 u)].
    u = (np.arange(20_000) + 0.5) / 20_000 * 2 * np.pi
    by_angle = np.log(0.5 * np.cos(u) ** 2 + np.sin(u) ** 2).var()
    assert theory.variance_log_psi_exact(2, 0.5) == pytest.approx((np.pi**2 / 6 + by_angle) / 4, rel=1e-12)


def test_exact_log_variance_settles():
    assert theory.variance_log_psi_exact(20_000, 0.999) == pytest.approx(theory.variance_log_psi_exact(np.inf, 0.999))
    assert theory.variance_log_psi_exact(np.inf, 0.999) == pytest.approx(1 / (2 * theory.rho_inf(0.999)), rel=1e-3)


def test_four_routes_to_the_variance_agree_where_they_should():
    simulated = simulation.simulate_variance(0.999, 3000, mus=[0.0], trajectories=4000, seed=1)
    t, monte_carlo, error = simulated.t, simulated.variance[0], simulated.variance_error[0]
    exact = theory.variance_exact(t, 0.999)
    rho_t = theory.rho(t, 0.999)
    analytic, first_order = theory.variance_analytic(rho_t), theory.variance_first_order(rho_t)
    # The simulation and the quadrature are about the same average: five standard errors, from where the fourth moment
    # that the standard error needs is finite by a margin.
    late = t >= 12
    assert np.all(np.abs(monte_carlo - exact)[late] < 5 * error[late])
    # The other two are approximations: of the average by a shorter one (a tenth at worst), and of the root.
    assert np.all(np.abs(analytic / exact - 1) < 0.12)
    assert np.all(np.abs(first_order / analytic - 1)[rho_t > 100] < 0.05)
    assert np.all(first_order > analytic)


def test_rectified_variance_is_constant_by_its_own_route():
    t = np.unique(np.geomspace(6, 3000, 200).round())
    for variance, curve in {
        "first-order": theory.variance_first_order(theory.rho(t, 0.99)),
        "analytic": theory.variance_analytic(theory.rho(t, 0.99)),
        "exact": theory.variance_exact(t, 0.99),
    }.items():
        rectified = theory.rectification(t, 0.99, variance=variance) ** 2 * curve
        np.testing.assert_allclose(rectified, rectified[-1], rtol=1e-9)
        assert theory.rectification(t, 0.99, variance=variance)[-1] == pytest.approx(1.0, abs=1e-9)


def test_first_rectified_step():
    assert [theory.first_rectified_step(b) for b in (0.9, 0.99, 0.999, 0.9999, 1 - 1e-13)] == [5] * 5
    assert [theory.first_rectified_step(b, 5.0) for b in (0.9, 0.99, 0.999, 0.9999)] == [6] * 4
    assert theory.first_rectified_step(0.6) is None
    assert theory.first_rectified_step(0.65, 5.0) is None
    assert list(theory.first_rectified_step([0.5, 0.9])) == [None, 5]
    late = theory.first_rectified_step(0.600001)
    assert theory.rho(late, 0.600001) > 4 >= theory.rho(late - 1, 0.600001)


def test_rectification_is_nan_up_to_the_threshold():
    r = theory.rectification(np.arange(1, 8), 0.999, threshold=5.0)
    np.testing.assert_array_equal(np.isnan(r), [True] * 5 + [False] * 2)
    assert np.all(np.isnan(theory.rectification(np.arange(1, 50), 0.6)))


def test_effective_warmup_of_linear_warmup_is_half_its_length():
    # sum_{t<=W} (1 - t/W) = (W - 1)/2.
    assert theory.effective_warmup(np.minimum(1, np.arange(1, 5000) / 2000)) == pytest.approx(999.5)


def test_simulation_is_reproducible_and_reports_progress():
    shares = []
    first = simulation.simulate_variance(0.99, 300, [0.0, 1.0], trajectories=1000, seed=3, progress=shares.append)
    again = simulation.simulate_variance(0.99, 300, [0.0, 1.0], trajectories=1000, seed=3)
    other = simulation.simulate_variance(0.99, 300, [0.0, 1.0], trajectories=1000, seed=4)
    np.testing.assert_array_equal(first.variance, again.variance)
    assert not np.array_equal(first.variance, other.variance)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert first.variance.shape == (2, len(first.t))
    assert first.t[0] == 5
    assert first.t[-1] == 300


def test_simulation_at_another_mean_matches_samples_drawn_there():
    simulated = simulation.simulate_variance(0.99, 500, mus=0.7, trajectories=4000.0, seed=0)
    exact = theory.variance_exact(simulated.t, 0.99, 0.7)
    late = simulated.t >= 12
    assert np.all((np.abs(simulated.variance[0] - exact) < 5 * simulated.variance_error[0])[late])


def test_scalars_give_scalars_and_arrays_broadcast():
    for value in (theory.rho(7, 0.9), theory.rectification(7, 0.9), theory.variance_exact(7, 0.9)):
        assert isinstance(value, float)
    grid = theory.rho(np.arange(1, 4)[:, None], np.array([0.9, 0.99]))
    assert grid.shape == (3, 2)
    assert theory.variance_exact(np.arange(3, 6)[:, None], np.array([0.9, 0.99])).shape == (3, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.rho_inf(1.0), "beta2 must be strictly between 0 and 1, got 1"),
        (lambda: theory.rho(3, 0.0), "beta2 must be strictly between 0 and 1, got 0"),
        (lambda: theory.rho(3, [0.5, float("nan")]), "beta2 must be .* got nan"),
        (lambda: theory.rho(0, 0.9), "t must be at least 1 .*, got 0"),
        (lambda: theory.rectification([1, 0.5], 0.9), "t must be at least 1 .*, got 0.5"),
        (lambda: theory.variance_exact(3.5, 0.9), "t must be a whole number of steps, got 3.5"),
        (lambda: theory.variance_exact(5, 0.9, np.inf), "mu must be finite, got inf"),
        (lambda: theory.variance_first_order(4.0), "rho must be finite and above 4, got 4"),
        (lambda: theory.variance_analytic([3.0, 2.0]), "rho must be finite and above 2, got 2"),
        (lambda: theory.rectification(9, 0.9, threshold=3), "threshold must be at least 4 for first-order, got 3"),
        (lambda: theory.rectification(9, 0.9, variance="third"), "variance must be one of .*, got 'third'"),
        (lambda: theory.effective_warmup([0.5, np.nan]), "factors must be finite, got nan"),
        (lambda: simulation.simulate_variance(0.9, 4), "steps must be a whole number, at least 5, got 4"),
        (lambda: simulation.simulate_variance(0.9, 100, mus=[]), "mus must hold at least one mean"),
        (lambda: simulation.simulate_variance(0.9, 100, trajectories=1), "trajectories must be .* at least 2, got 1"),
    ],
)
def test_values_outside_a_domain_are_refused_with_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
