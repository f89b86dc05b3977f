"""Figures hold the numbers of `radam_core`, and name their axes."""

import numpy as np
import pytest

from dashboard import questions, results, tables
from dashboard.figures import implementations, rectification, variance
from dashboard.look import PROFILE_STYLES, STYLES, TEMPLATES
from radam_core import theory
from radam_core.comparison import momentum_multiplier, warmup_factors
from radam_core.methods import METHODS, PROFILES


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def test_warmup_figure_draws_every_factor_and_shades_the_momentum_phase():
    t = rectification.steps_to_draw(10_000, log_t=True)
    factors = warmup_factors(t, 0.999, 2000, 1000)
    figure = rectification.warmup_figure(t, factors, 5, log_t=True)
    for name, factor in factors.items():
        drawn = traces(figure)[rectification.FACTOR_NAMES[name]]
        np.testing.assert_array_equal(drawn.y, factor)
        assert drawn.line.color == STYLES[name].color
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.xaxis.title.text == "step t"
    assert figure.layout.shapes[0].x1 == 4.5
    assert "step 5" in figure.layout.annotations[0].text


def test_a_linear_axis_keeps_nothing_of_the_log_axis():
    # Ticks at every single step of a long linear axis freeze a browser.
    for question in questions.QUESTIONS:
        axis = question.figure(0.999).layout.xaxis
        assert axis.type == "log" or axis.dtick is None or len(question.figure(0.999).data[0].x) <= 20, question.key


def test_rho_figure_names_limit_and_threshold():
    t = np.arange(1, 100.0)
    figure = rectification.rho_figure(t, 0.99, 4.0, 5, log_t=False)
    np.testing.assert_array_equal(figure.data[0].y, theory.rho(t, 0.99))
    words = " ".join(annotation.text for annotation in figure.layout.annotations)
    assert "199" in words
    assert "threshold 4" in words


def test_learning_rate_figure_is_lr_times_warmup_times_decay():
    t = np.arange(1, 1001.0)
    factors = warmup_factors(t, 0.99, 100, 50)
    decay = np.linspace(1, 0, 1000)
    figure = rectification.learning_rate_figure(t, 0.01, factors, decay, log_t=False)
    drawn = traces(figure)[rectification.FACTOR_NAMES["adam-linear"]]
    np.testing.assert_allclose(drawn.y, 0.01 * np.minimum(1, t / 100) * decay)


def test_several_beta2_are_drawn_in_order():
    figure = rectification.beta2_figure([0.999, 0.9], 4.0)
    assert [trace.name for trace in figure.data] == ["β<sub>2</sub> = 0.9", "β<sub>2</sub> = 0.999"]
    np.testing.assert_array_equal(figure.data[1].y, theory.rectification(figure.data[1].x, 0.999))


def test_home_figure_moves_both_curves_frame_by_frame():
    figure = rectification.untuned_figure([0.9, 0.999])
    assert [frame.name for frame in figure.frames] == ["0.9", "0.999"]
    for frame, beta2 in zip(figure.frames, (0.9, 0.999), strict=True):
        linear, r_t = frame.data
        np.testing.assert_array_equal(r_t.y, theory.rectification(r_t.x, beta2))
        np.testing.assert_allclose(linear.y, np.minimum(1, linear.x * (1 - beta2) / 2))


def test_variance_figure_draws_all_four_routes():
    t, routes = results.variance_routes(0.99, 0.5, 600)
    np.testing.assert_array_equal(routes["exact"], theory.variance_exact(t, 0.99, 0.5))
    drawn = results.averages(0.99, 500)
    simulated, error = results.simulated_variance(drawn, 0.5)
    figure = variance.variance_figure(t, routes, drawn.t, simulated, error)
    by_name = traces(figure)
    for name, curve in routes.items():
        np.testing.assert_array_equal(by_name[variance.ROUTE_NAMES[name]].y, curve)
    np.testing.assert_array_equal(by_name["simulated"].y, simulated)
    assert figure.layout.yaxis.type == "log"


def test_rectified_variance_of_the_exact_route_is_flat():
    rectified = results.rectified_variances(0.99, 0.0, 600)
    flat = rectified["exact"][np.isfinite(rectified["exact"])]
    np.testing.assert_allclose(flat, theory.variance_exact(np.inf, 0.99), rtol=1e-8)


def test_the_papers_figures():
    figure = variance.paper_approximation_figure()
    np.testing.assert_array_equal(figure.data[0].y, theory.variance_analytic(np.arange(5.0, 501.0)))
    np.testing.assert_array_equal(figure.data[1].y, theory.variance_first_order(np.arange(5.0, 501.0)))
    simulation = theory.simulate_variance(steps=50, trajectories=250)
    panels = variance.paper_simulation_figure(simulation)
    assert len(panels.data) == 12
    np.testing.assert_array_equal(panels.data[11].y, simulation.rectified[5])
    assert [a.text for a in panels.layout.annotations] == [f"μ = {mu:g}" for mu in (0, 0.001, 0.01, 0.1, 1, 10)]


def test_update_size_falls_as_ma_and_yarats_measured():
    # Their simulation, g ~ N(0, 1), betas 0.9 and 0.999: 1.0 at step 1, 0.35 at 5, 0.16 at 40.
    drawn = results.averages(0.999, 5000, 0.9, first=1)
    size = results.update_size(drawn, 0.0)
    at = dict(zip(size.t.astype(int), size.median, strict=True))
    assert at[1] == pytest.approx(1.0, abs=1e-6)
    assert at[5] == pytest.approx(0.35, abs=0.02)
    assert at[min(at, key=lambda t: abs(t - 40))] == pytest.approx(0.16, abs=0.02)


def test_multiplier_figure_has_a_gap_where_no_step_is_taken():
    t = np.arange(1, 21)
    methods = {
        name: METHODS["radam"].__class__(**{**METHODS["radam"].settings(), **PROFILES[name]}) for name in PROFILES
    }
    multipliers = {name: momentum_multiplier(method, t, 0.01) for name, method in methods.items()}
    figure = implementations.multiplier_figure(t, multipliers, PROFILE_STYLES)
    assert list(traces(figure)["authors"].y[:6]) == [None] * 5 + [pytest.approx(multipliers["authors"][5])]
    assert traces(figure)["paper"].y[0] == pytest.approx(1.0)
    # An adaptive step divides by the gradients' size: r_20 / 0.01.
    assert traces(figure)["paper"].y[19] == pytest.approx(theory.rectification(20, 0.999) / 0.01, rel=1e-4)


@pytest.mark.parametrize("question", questions.QUESTIONS, ids=lambda question: question.key)
@pytest.mark.parametrize("beta2", [0.5, 0.6, 0.999, 0.9999])
def test_every_question_has_a_figure_at_every_beta2(question, beta2):
    figure = question.figure(beta2)
    assert figure.data
    assert figure.layout.xaxis.title.text == "step t"
    assert figure.layout.yaxis.title.text


def test_every_method_has_a_look_of_its_own():
    looks = [(style.color, style.dash) for style in STYLES.values()]
    assert STYLES.keys() == METHODS.keys()
    assert len(set(looks)) == len(looks)


def test_templates_have_an_explicit_background():
    for theme, template in TEMPLATES.items():
        assert template["layout"]["paper_bgcolor"].startswith("#"), theme


def test_tables_say_what_the_core_says():
    table = tables.effective_warmup_table(0.999, 2000, 1000, 4.0)
    worth = dict(zip(table["warmup"], table["T(w), steps it is worth"], strict=True))
    assert worth["linear warmup"] == "999.5"
    assert "it never ends" in list(tables.effective_warmup_table(0.6, 2000, 1000, 4.0)["T(w), steps it is worth"])
    implementations_table = tables.implementation_table(list(PROFILES))
    assert list(implementations_table["rectifies when"]) == ["ρₜ > 4", "ρₜ ≥ 5", "ρₜ > 5", "ρₜ ≥ 5", "ρₜ ≥ 5"]
    assert list(implementations_table["below that"])[1] == "no step at all"
