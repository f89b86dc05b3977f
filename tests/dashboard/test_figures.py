"""Figures hold the numbers of `radam_core`, and name their axes."""

import json

import numpy as np
import pytest

from dashboard.figures import implementations, look, rectification, results, variance
from dashboard.figures.look import PROFILE_STYLES, TEMPLATES
from dashboard.figures.methods import STYLES, WARMUP_CURVES
from dashboard.forms import drawings
from dashboard.words import questions, tables
from radam_core import theory
from radam_core.comparison import momentum_multiplier, warmup_factors
from radam_core.methods import METHODS, PROFILES
from radam_core.simulation import simulate_variance
from radam_core.torch_methods import LANE_METHODS


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def test_warmup_figure_draws_every_factor_and_shades_the_momentum_phase():
    t = rectification.steps_to_draw(10_000, log_t=True)
    factors = warmup_factors(t, 0.999, 2000, 1000)
    figure = rectification.warmup_figure(t, factors, 5, log_t=True)
    for name, factor in factors.items():
        drawn = traces(figure)[WARMUP_CURVES[name].name]
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
    drawn = traces(figure)[WARMUP_CURVES["adam-linear"].name]
    np.testing.assert_allclose(drawn.y, 0.01 * np.minimum(1, t / 100) * decay)
    np.testing.assert_allclose(traces(figure)["no warmup"].y, 0.01 * decay)
    assert len(figure.data) == 7
    assert figure.layout.showlegend is not False


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
    np.testing.assert_allclose(routes["exact"], theory.variance_exact(t, 0.99, 0.5))
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


def test_rectified_figure_draws_each_choice_of_r_over_the_exact_variance():
    t, routes = results.variance_routes(0.99, 0.5, 600)
    figure = variance.rectified_figure(t, routes["exact"], results.rectified_variances(0.99, 0.5, 600))
    by_name = traces(figure)
    exact = theory.variance_exact(t, 0.99, 0.5)
    np.testing.assert_allclose(by_name.pop("not rectified").y, exact, rtol=1e-11)
    assert by_name.keys() == {f"r<sub>t</sub> {name}" for name in results.ROUTES}
    for name in results.ROUTES:
        r_t = theory.rectification(t, 0.99, variance=name)
        np.testing.assert_allclose(by_name[f"r<sub>t</sub> {name}"].y, r_t**2 * exact)
        assert np.isfinite(r_t[t >= 5]).all()


def test_errors_of_the_approximations_are_relative_and_drawn_in_per_cent():
    t, routes = results.variance_routes(0.99, 0.0, 600)
    errors = results.approximation_errors(routes)
    late = t >= 5  # rho_t > 4: both forms are defined
    rho = theory.rho(t[late], 0.99)
    exact = theory.variance_exact(t[late], 0.99)
    np.testing.assert_allclose(errors["analytic"][late], (theory.variance_analytic(rho) - exact) / exact)
    np.testing.assert_allclose(errors["first-order"][late], (theory.variance_first_order(rho) - exact) / exact)
    assert np.isnan(errors["first-order"][t < 5]).all()
    figure = variance.error_figure(t, errors)
    for name, error in errors.items():
        drawn = traces(figure)[variance.ROUTE_NAMES[name]].y
        np.testing.assert_allclose(drawn, 100 * error)
        low, high = figure.layout.yaxis.range
        assert (low < drawn[t >= 8]).all()
        assert (drawn[t >= 8] < high).all()


def test_variance_or_size_figure_draws_each_curve_at_its_own_steps():
    curves = {name: (np.arange(1.0, 4 + i), np.full(3 + i, 0.1 + i)) for i, name in enumerate(variance.SIZE_NAMES)}
    figure = variance.variance_or_size_figure(curves)
    for name, (t, y) in curves.items():
        drawn = traces(figure)[variance.SIZE_NAMES[name]]
        np.testing.assert_array_equal(drawn.x, t)
        np.testing.assert_array_equal(drawn.y, y)
    assert figure.layout.yaxis.type == "log"


def test_real_gradients_figure_sets_the_measurement_over_gaussian_gradients():
    t = np.array([5.0, 10.0, 20.0])
    quartiles = np.array([[0.1, 0.05, 0.02], [0.2, 0.1, 0.04], [0.4, 0.2, 0.08]])
    figure = variance.real_gradients_figure(t, quartiles, 2 * quartiles, "digits")
    reference_band, band, reference, median = figure.data
    np.testing.assert_array_equal(band.y, [0.4, 0.2, 0.08, 0.02, 0.05, 0.1])  # along the upper edge, back on the lower
    np.testing.assert_array_equal(reference_band.y, 2 * np.array(band.y))
    np.testing.assert_array_equal(median.y, quartiles[1])
    np.testing.assert_array_equal(reference.y, 2 * quartiles[1])
    assert median.name == "digits: median parameter"


def test_the_spread_that_is_drawn_is_the_theorys():
    t, _ = results.variance_routes(0.99, 0.5, 600)
    np.testing.assert_allclose(results.relative_spreads(0.99, 0.5, 600), theory.relative_spread(t, 0.99, 0.5))


@pytest.mark.parametrize(
    ("beta2", "beta1", "first"), [(0.999, 0.9, "size"), (0.9, 0.99, "variance")], ids=["usual", "long momentum"]
)
def test_settling_steps_order_size_and_variance(beta2, beta1, first):
    size = results.size_settling(results.update_size(results.averages(beta2, 2000, beta1, first=1), 0.0))
    settled = results.variance_settling(beta2, 0.0, results.simulated_steps(beta2, beta1))
    assert ("size" if size.step < settled.step else "variance") == first
    # The variance at that step, and not before it, is within a tenth of its limit.
    limit = theory.variance_exact(np.inf, beta2)
    assert abs(theory.variance_exact(settled.step, beta2) / limit - 1) <= 0.1
    assert theory.variance_exact(0.9 * settled.step // 1, beta2) / limit > 1.1


def test_settling_of_curves_that_hardly_change_or_do_not_arrive():
    t = np.array([1.0, 10.0, 100.0])
    flat = results.settling(t, np.array([1.0, 0.98, 1.0]), final=1.0)
    assert flat.hardly_changes
    assert flat.step == 1
    falling = results.settling(t, np.array([5.0, 3.0, 2.0]), final=1.0)
    assert (falling.step, falling.last, falling.hardly_changes) == (None, 100, False)


def test_the_papers_figures():
    figure = variance.paper_approximation_figure()
    np.testing.assert_array_equal(figure.data[0].y, theory.variance_analytic(np.arange(5.0, 501.0)))
    np.testing.assert_array_equal(figure.data[1].y, theory.variance_first_order(np.arange(5.0, 501.0)))
    simulation = simulate_variance(steps=50, trajectories=250)
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


def test_multipliers_that_are_equal_but_for_rounding_are_drawn_level():
    t = np.arange(1, 4)
    level = {"paper": np.array([1.0, 1.0 - 2e-16, 1.0])}
    assert implementations.multiplier_figure(t, level, PROFILE_STYLES).layout.yaxis.range == pytest.approx((-0.5, 0.5))
    apart = {"paper": np.array([1.0, 0.0, 100.0])}  # the 0 is no step
    low, high = implementations.multiplier_figure(t, apart, PROFILE_STYLES).layout.yaxis.range
    assert low < 0
    assert high > 2
    implementations.multiplier_figure(t, {"authors": np.zeros(3)}, PROFILE_STYLES)


def rectified_or(t, beta2, otherwise, threshold=4.0):
    """r_t where rho_t is above the threshold, and what the step is worth without it elsewhere."""
    return np.where(theory.rho(t, beta2) > threshold, theory.rectification(t, beta2), otherwise)


# The curves of each question's figure, worked out again from the theory: gradients have the size 0.01 unless named.
QUESTION_CURVES = {
    "warmup": lambda t, b: {
        "RAdam's r<sub>t</sub>": theory.rectification(t, b),
        "untuned exponential": 1 - np.exp(-t * (1 - b)),
        "untuned linear": np.minimum(1, t * (1 - b) / 2),
    },
    "annealing": lambda t, b: {
        "RAdam alone": theory.rectification(t, b),
        "RAdam with cosine decay": theory.rectification(t, b) * (1 + np.cos(np.pi * (t - 1) / t[-1])) / 2,
    },
    "just-adam": lambda t, b: {
        "RAdam": rectified_or(t, b, 0.01) / 0.01,
        "Adam + untuned exponential warmup": (1 - np.exp(-t * (1 - b))) / 0.01,
        "Adam": np.full(len(t), 1 / 0.01),
    },
    "which-lr": lambda t, b: {"RAdam at Adam's lr": theory.rectification(t, b), "Adam": np.ones(len(t))},
    "four-or-five": lambda t, b: {
        "threshold 4": rectified_or(t, b, 0.01) / 0.01,
        "threshold 5": rectified_or(t, b, 0.01, threshold=5.0) / 0.01,
    },
    "unscaled": lambda t, b: {
        "gradients of size 0.01": rectified_or(t, b, 0.01),
        "size 1": rectified_or(t, b, 1.0),
        "size 100": rectified_or(t, b, 100.0),
    },
    "degenerated": lambda t, b: {"ρ<sub>t</sub>": theory.rho(t, 0.6)},
    "decay": lambda t, b: {
        "decoupled": np.ones(len(t)),
        "L2, gradients of size 0.1": theory.rectification(t, b) / 0.1,
        "L2, gradients of size 10": theory.rectification(t, b) / 10,
    },
    "restarts": lambda t, b: {
        "the same optimizer goes on": theory.rectification(t, b),
        "a new one is made": theory.rectification(np.where(t > t[-1] / 2, t - t[-1] / 2, t), b),
    },
}


@pytest.mark.parametrize("question", questions.QUESTIONS, ids=lambda question: question.key)
@pytest.mark.parametrize("beta2", [0.5, 0.6, 0.65, 0.999, 0.9999])
def test_every_question_draws_what_the_theory_says(question, beta2):
    figure = question.figure(beta2)
    expected = QUESTION_CURVES[question.key](np.asarray(figure.data[0].x, float), beta2)
    assert traces(figure).keys() == expected.keys()
    for name, curve in expected.items():
        drawn = np.array(traces(figure)[name].y, float)
        np.testing.assert_allclose(drawn, curve, rtol=1e-3, err_msg=name)  # epsilon is 1e-8 / 0.01 and less
        assert np.isfinite(drawn).any() or beta2 <= 0.6, name
    assert figure.layout.xaxis.title.text == "step t"
    assert figure.layout.yaxis.title.text


@pytest.mark.parametrize("key", ["warmup", "annealing", "which-lr", "restarts"])
def test_a_question_without_its_curve_says_why(key):
    question = next(question for question in questions.QUESTIONS if question.key == key)
    words = [[note.text for note in question.figure(beta2).layout.annotations] for beta2 in (0.6, 0.65)]
    assert any("never starts" in text for text in words[0])
    assert not any("never starts" in text for text in words[1])


@pytest.mark.parametrize("beside", [0, 3])
@pytest.mark.parametrize("count", [5, 15, 25, 36, 200])
def test_lines_are_unlike_as_far_as_there_are_looks(count, beside):
    """An own model's file may have any number of lanes."""
    others = look.apart([STYLES["radam"]] * beside)
    styles = look.apart([STYLES["radam"]] * count, others)
    looks = [(style.color, style.dash) for style in (*others, *styles)]
    possible = (1 + len(look.SPARE)) * (len(look.DASHES) - bool(beside))
    assert len(styles) == count
    assert len(set(looks)) >= min(count, possible)


def test_every_method_has_a_look_of_its_own():
    looks = [(style.color, style.dash) for style in STYLES.values()]
    assert STYLES.keys() == LANE_METHODS.keys()
    assert len(set(looks)) == len(looks)


KINDS = {"methods": STYLES, "implementations": look.PROFILE_STYLES, "routes": look.VARIANCE_STYLES}


@pytest.mark.parametrize("theme", TEMPLATES)
def test_every_line_can_be_seen_on_either_background(theme):
    """WCAG 2.1, 1.4.11: 3 to 1 for what is drawn, 4.5 to 1 for text."""
    page = TEMPLATES[theme]["layout"]
    lines = {style.color for kind in KINDS.values() for style in kind.values()}
    lines |= {style.color for style in look.BETA2_STYLES} | {*page["colorway"], *look.SPARE}
    lines |= {look.shade(color, share) for color in tuple(lines) for share in (0, 0.5, 1)}
    assert {color for color in lines if look.contrast(color, page["paper_bgcolor"]) < 3} == set()
    assert look.contrast(page["font"]["color"], page["paper_bgcolor"]) >= 7


def test_contrast_is_that_of_wcag():
    assert look.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert look.contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)  # the palest grey that AA allows


def test_a_shade_begins_at_the_colour_and_goes_on_evenly():
    shades = [look.shade("#0072b2", share / 4) for share in range(5)]
    steps = np.diff([look.luminance(color) for color in shades])
    assert shades[0] == "#0072b2"
    assert (steps > 0.02).all()
    assert np.ptp(steps) < 0.01


@pytest.mark.parametrize("beta2", [0.9, 0.999])
def test_no_two_curves_of_a_chart_are_told_apart_by_colour_alone(beta2):
    figures = [
        drawings.warmups(beta2, 500, 200, 4.0, True),
        drawings.several_beta2((0.5, 0.9, 0.99, 0.995, 0.999, 0.9999), 4.0),
        drawings.learning_rates(beta2, 500, 200, 4.0, True, 1e-3, "constant"),
    ]
    charts = [json.loads(figure)["data"] for figure in figures]
    charts += [json.loads(question.figure(beta2).to_json())["data"] for question in questions.QUESTIONS]
    for data in charts:
        dashes = [(one["line"].get("dash"), one.get("mode")) for one in data if one.get("line", {}).get("width")]
        assert len(set(dashes)) == len(dashes), [one.get("name") for one in data]


def test_templates_have_an_explicit_background():
    for theme, template in TEMPLATES.items():
        assert template["layout"]["paper_bgcolor"].startswith("#"), theme


def test_tables_say_what_the_core_says():
    table = tables.effective_warmup_table(0.999, 2000, 1000, 4.0).to_pandas()
    rows = table.set_index("warmup").loc["linear warmup"]
    assert rows["T(w), its cost"] == "999.5"
    assert rows["as linear over"] == "2,000"  # the linear warmup costs as much as itself
    never = tables.effective_warmup_table(0.6, 2000, 1000, 4.0)
    assert "it never ends" in never["T(w), its cost"].to_pylist()
    assert "no length" in never["as linear over"].to_pylist()
    implementations_table = tables.implementation_table(tuple(PROFILES)).to_pandas()
    assert list(implementations_table["rectifies when"]) == ["ρₜ > 4", "ρₜ ≥ 5", "ρₜ > 5", "ρₜ ≥ 5", "ρₜ ≥ 5"]
    assert list(implementations_table["below that"])[1] == "no step at all"
    assert implementations_table["epsilon"][0].startswith("none in Algorithm 2; here 1e-08")
