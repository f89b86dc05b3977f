"""The charts of the theory pages by their settings, each built once for all visitors who have set the same."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from dashboard.asked.sweep_config import SweepConfig
from dashboard.browser.chart import drawn_once
from dashboard.engine.real_gradients import RealGradients
from dashboard.evidence.findings import Findings
from dashboard.evidence.first_steps import FirstSteps
from dashboard.evidence.outcomes import Outcome
from dashboard.figures import four_steps as four_steps_figures
from dashboard.figures import rectification as rectification_figures
from dashboard.figures import results
from dashboard.figures import variance as variance_figures
from dashboard.figures.implementations import multiplier_figure
from dashboard.figures.look import PROFILE_STYLES, Style
from dashboard.figures.rectification import steps_to_draw
from dashboard.figures.sweep import line_styles
from dashboard.words.questions import QUESTIONS
from dashboard.words.tables import PROFILE_NAMES
from radam_core.comparison import momentum_multiplier, settled_step, warmup_factors
from radam_core.domains import FloatArray
from radam_core.methods import METHODS, PROFILES
from radam_core.schedules import DECAYS
from radam_core.theory import first_rectified_step, rectification

untuned = drawn_once(rectification_figures.untuned_figure)
several_beta2 = drawn_once(rectification_figures.beta2_figure)
paper_approximation = drawn_once(variance_figures.paper_approximation_figure)


def _steps(beta2: float, warmup_steps: int, log_t: bool) -> FloatArray:
    return steps_to_draw(max(settled_step(beta2), warmup_steps), log_t)


@drawn_once
def warmups(beta2: float, warmup_steps: int, tau: int, threshold: float, log_t: bool) -> go.Figure:
    t = _steps(beta2, warmup_steps, log_t)
    factors = warmup_factors(t, beta2, warmup_steps, tau, threshold)
    return rectification_figures.warmup_figure(t, factors, first_rectified_step(beta2, threshold), log_t)


@drawn_once
def rho(beta2: float, warmup_steps: int, threshold: float, log_t: bool) -> go.Figure:
    t, first = _steps(beta2, warmup_steps, log_t), first_rectified_step(beta2, threshold)
    return rectification_figures.rho_figure(t, beta2, threshold, first, log_t)


@drawn_once
def learning_rates(
    beta2: float, warmup_steps: int, tau: int, threshold: float, log_t: bool, lr: float, decay: str
) -> go.Figure:
    t = _steps(beta2, warmup_steps, log_t)
    factors = warmup_factors(t, beta2, warmup_steps, tau, threshold)
    return rectification_figures.learning_rate_figure(t, lr, factors, DECAYS[decay](t[-1], warmup_steps)(t), log_t)


@drawn_once
def variance(beta2: float, mu: float, trajectories: int) -> go.Figure:
    t, routes = results.variance_routes(beta2, mu, results.simulated_steps(beta2))
    drawn = results.averages(beta2, trajectories)
    return variance_figures.variance_figure(t, routes, drawn.t, *results.simulated_variance(drawn, mu))


@drawn_once
def rectified_variance(beta2: float, mu: float) -> go.Figure:
    last = results.simulated_steps(beta2)
    t, routes = results.variance_routes(beta2, mu, last)
    return variance_figures.rectified_figure(t, routes["exact"], results.rectified_variances(beta2, mu, last))


@drawn_once
def approximation_errors(beta2: float, mu: float) -> go.Figure:
    t, routes = results.variance_routes(beta2, mu, results.simulated_steps(beta2))
    return variance_figures.error_figure(t, results.approximation_errors(routes))


@drawn_once
def paper_simulation() -> go.Figure:
    return variance_figures.paper_simulation_figure(results.paper_simulation())


@drawn_once
def real_gradients(measured: RealGradients, task: str) -> go.Figure:
    return variance_figures.real_gradients_figure(measured.t, measured.quartiles, measured.reference, task)


@drawn_once
def variance_or_size(beta2: float, beta1: float, mu: float) -> go.Figure:
    size = results.simulated_size(beta2, beta1, mu)
    last = results.simulated_steps(beta2, beta1)
    t, routes = results.variance_routes(beta2, mu, last)
    return variance_figures.variance_or_size_figure(
        {
            "variance": (t, routes["exact"]),
            "spread": (t, results.relative_spreads(beta2, mu, last)),
            "median": (size.t, size.median),
            "rms": (size.t, size.rms),
            "rectification": (size.t, np.asarray(rectification(size.t, beta2))),
        }
    )


@drawn_once
def implementations(profiles: tuple[str, ...], beta2: float, gradient_size: float) -> go.Figure:
    t = np.arange(1, 21)
    methods = {name: replace(METHODS["radam"], betas=(0.9, beta2), **PROFILES[name]) for name in profiles}
    multipliers = {PROFILE_NAMES[name]: momentum_multiplier(m, t, gradient_size) for name, m in methods.items()}
    return multiplier_figure(t, multipliers, {PROFILE_NAMES[name]: style for name, style in PROFILE_STYLES.items()})


_ANSWERS = {question.key: question.figure for question in QUESTIONS}


@drawn_once
def answer(question: str, beta2: float) -> go.Figure:
    return _ANSWERS[question](beta2)


TYPICAL_GRADIENT = 0.01
Eight = tuple[tuple[str, FirstSteps], ...]  # by variant


def _variant_styles(config: SweepConfig) -> dict[str, Style]:
    """As the curves of the same page have them."""
    found = Findings.of(config, [Outcome()] * config.size)
    return {line.label: style for line, style in zip(found.lines, line_styles(found), strict=True)}


@drawn_once
def planned_steps(config: SweepConfig) -> go.Figure:
    """What the settings alone make of the first twelve steps."""
    t = np.arange(1, 13)
    lanes = {config.contenders[cell.contender].label: cell.lane.as_lane(config.steps) for cell in config.cells}
    multipliers = {label: momentum_multiplier(lane.method, t, TYPICAL_GRADIENT) for label, lane in lanes.items()}
    return multiplier_figure(t, multipliers, _variant_styles(config))


@drawn_once
def gradient_quartiles(config: SweepConfig, eight: Eight) -> go.Figure:
    return four_steps_figures.quartiles_figure(dict(eight), _variant_styles(config))


@drawn_once
def first_updates(config: SweepConfig, eight: Eight) -> go.Figure:
    return four_steps_figures.updates_figure(dict(eight), _variant_styles(config))


@drawn_once
def gradients_by_layer(config: SweepConfig, eight: Eight, step: int) -> go.Figure:
    return four_steps_figures.layers_figure(dict(eight), _variant_styles(config), step)
