"""What people ask about RAdam, each with a short answer and the figure that shows it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.implementations import multiplier_figure
from dashboard.figures.look import GREY, ORANGE, PROFILE_STYLES, WIDE, Style
from dashboard.figures.methods import STYLES
from dashboard.figures.parts import line, log_axis, step_axis, y_axis
from dashboard.figures.rectification import rho_figure, steps_to_draw
from radam_core.comparison import momentum_multiplier, settled_step
from radam_core.methods import METHODS, PROFILES
from radam_core.schedules import cosine_decay, untuned_exponential_warmup, untuned_linear_warmup
from radam_core.theory import first_rectified_step, rectification

USUAL_BETA2 = 0.999  # of the numbers in the answers, which name it; the figures follow the page's


@dataclass(frozen=True)
class Question:
    """A question, its answer, and a function from beta2 to the figure that shows it."""

    key: str
    question: str
    answer: str
    figure: Callable[[float], go.Figure]


def _factor_figure(t: np.ndarray, curves: dict[str, tuple[np.ndarray, Style]], log_t: bool = True) -> go.Figure:
    figure = go.Figure([line(t, y, name, style) for name, (y, style) in curves.items()])
    step_axis(figure, log_t)
    y_axis(figure, "factor of lr", rangemode="tozero")
    if not all(np.isfinite(y).any() for y, _ in curves.values()):
        text = "r<sub>t</sub> never starts at this β<sub>2</sub>"
        figure.add_annotation(x=0.98, y=0.2, xref="paper", yref="paper", text=text, showarrow=False, xanchor="right")
    return figure


def _replaces_warmup(beta2: float) -> go.Figure:
    t = steps_to_draw(settled_step(beta2), log_t=True)
    return _factor_figure(
        t,
        {
            "RAdam's r<sub>t</sub>": (rectification(t, beta2), STYLES["radam"]),
            "untuned exponential": (untuned_exponential_warmup(beta2)(t), STYLES["adam-untuned-exponential"]),
            "untuned linear": (untuned_linear_warmup(beta2)(t), STYLES["adam-untuned-linear"]),
        },
    )


def _annealing(beta2: float) -> go.Figure:
    t = steps_to_draw(settled_step(beta2), log_t=False)
    r_t = rectification(t, beta2)
    return _factor_figure(
        t,
        {
            "RAdam alone": (r_t, STYLES["radam"]),
            "RAdam with cosine decay": (r_t * cosine_decay(t[-1])(t), STYLES["radam-exact"]),
        },
        log_t=False,
    )


def _just_adam_with_warmup(beta2: float) -> go.Figure:
    t = np.arange(1, 21)
    methods = {
        "radam": METHODS["radam"],
        "adam-untuned-exponential": METHODS["adam-untuned-exponential"],
        "adam": METHODS["adam"],
    }
    multipliers = {
        name: momentum_multiplier(replace(method, betas=(0.9, beta2)), t, 0.01) for name, method in methods.items()
    }
    return _named(multiplier_figure(t, multipliers, STYLES))


def _named(figure: go.Figure) -> go.Figure:
    figure.for_each_trace(lambda trace: trace.update(name=METHODS[trace.name].label))
    return figure


def _four_or_five(beta2: float) -> go.Figure:
    t = np.arange(1, 13)
    four = replace(METHODS["radam"], betas=(0.9, beta2))
    rows = {"threshold 4": four, "threshold 5": replace(four, threshold=5.0)}
    styles = {"threshold 4": PROFILE_STYLES["paper"], "threshold 5": PROFILE_STYLES["torch"]}
    return multiplier_figure(t, {name: momentum_multiplier(method, t, 0.01) for name, method in rows.items()}, styles)


def _unscaled_data(beta2: float) -> go.Figure:
    t = np.arange(1, 21)
    radam = replace(METHODS["radam"], betas=(0.9, beta2))
    sizes = {
        "gradients of size 0.01": (0.01, Style(GREY, "dot")),
        "size 1": (1.0, STYLES["radam"]),
        "size 100": (100.0, Style(ORANGE, "dash")),
    }
    multipliers = {name: size * momentum_multiplier(radam, t, size) for name, (size, _) in sizes.items()}
    figure = multiplier_figure(t, multipliers, {name: style for name, (_, style) in sizes.items()})
    figure.layout.yaxis.title.text = "step, in units of lr"
    return figure


def _degenerated(beta2: float) -> go.Figure:  # noqa: ARG001  (the point is at 0.6, whatever is chosen)
    return rho_figure(steps_to_draw(100, log_t=True), 0.6, 4.0, first_rectified_step(0.6), log_t=True)


def _weight_decay(beta2: float) -> go.Figure:
    t = steps_to_draw(settled_step(beta2), log_t=True)
    r_t = np.asarray(rectification(t, beta2))
    figure = _factor_figure(
        t,
        {
            "decoupled": (np.ones_like(t), STYLES["radam"]),
            "L2, gradients of size 0.1": (r_t / 0.1, Style(ORANGE, WIDE)),
            "L2, gradients of size 10": (r_t / 10, Style(ORANGE, "dash")),
        },
    )
    y_axis(figure, "decay, relative to lr × weight_decay", **log_axis())
    return figure


def _restarts(beta2: float) -> go.Figure:
    last = settled_step(beta2)
    t = np.unique(np.round(np.linspace(1, 2 * last, 500)))
    fresh = np.where(t > last, t - last, t)
    figure = _factor_figure(
        t,
        {
            "the same optimizer goes on": (rectification(t, beta2), STYLES["radam"]),
            "a new one is made": (rectification(fresh, beta2), Style(ORANGE, "dash")),
        },
        log_t=False,
    )
    figure.add_vline(x=last, line={"color": GREY, "dash": "dash"})
    figure.add_annotation(
        x=last, y=0.08, yref="paper", text="the data change", showarrow=False, xanchor="right", xshift=-6
    )
    return figure


def _which_lr(beta2: float) -> go.Figure:
    t = steps_to_draw(settled_step(beta2), log_t=True)
    return _factor_figure(
        t,
        {
            "RAdam at Adam's lr": (rectification(t, beta2), STYLES["radam"]),
            "Adam": (np.ones_like(t), STYLES["adam"]),
        },
    )


_PROFILES_AT_FIVE = [name for name, knobs in PROFILES.items() if knobs["threshold"] == 5.0]


def _r(t: int) -> str:
    """r_t at the usual beta2, for a sentence that names that beta2."""
    return f"$r_t$ = {float(rectification(t, USUAL_BETA2)):.2f} at step {t:,}"


def _beside_exponential(t: int) -> str:
    """How many times the untuned exponential warmup r_t is, at the usual beta2."""
    times = rectification(t, USUAL_BETA2) / untuned_exponential_warmup(USUAL_BETA2)(t)
    return f"{float(times):.1f} times at step {t:,}"


def _apart_from_exponential() -> str:
    """The largest difference between r_t and the untuned exponential warmup, at the usual beta2."""
    t = np.arange(first_rectified_step(USUAL_BETA2) or 1, settled_step(USUAL_BETA2) + 1)
    differences = rectification(t, USUAL_BETA2) - untuned_exponential_warmup(USUAL_BETA2)(t)
    return f"{np.max(np.abs(differences)):.2f}"


QUESTIONS: tuple[Question, ...] = (
    Question(
        "warmup",
        "Does it replace warmup?",
        f"It is one, of a fixed length: at $\\beta_2$ = {USUAL_BETA2:g}, {_r(100)}, {_r(1000)} and {_r(3000)}. It cannot be "
        "made longer except through $\\beta_2$, so where a task needs a longer warmup than this, add one.",
        _replaces_warmup,
    ),
    Question(
        "annealing",
        "Annealing too?",
        "No. $r_t$ comes ever closer to 1 and never falls, and then RAdam's step is Adam's. A decay is a choice of its own, as "
        "with Adam, and simply multiplies; the paper's own runs have one.",
        _annealing,
    ),
    Question(
        "just-adam",
        "Is it not just Adam with warmup?",
        f"Nearly. At $\\beta_2$ = {USUAL_BETA2:g} it is Adam times a fixed factor after the first four steps, nowhere more than "
        f"{_apart_from_exponential()} away from an untuned exponential warmup, but for long a multiple of it: {_beside_exponential(10)}, "
        f"{_beside_exponential(100)}. The first four steps follow the momentum without dividing by $\\sqrt{{v}}$, so their "
        "size depends on the gradients'. And decoupled weight decay is multiplied by a warmup, but not by $r_t$. Drawn for "
        "gradients of size 0.01.",
        _just_adam_with_warmup,
    ),
    Question(
        "which-lr",
        "Which learning rate?",
        "The one you would give Adam *with a warmup*, since $r_t$ ends at 1. In a short run it does not get there: at "
        f"$\\beta_2$ = {USUAL_BETA2:g}, {_r(500)}. Till then RAdam trains at less than half of its learning rate, and one "
        "that was found best in so short a run may be too large for a long one.",
        _which_lr,
    ),
    Question(
        "four-or-five",
        "4 or 5?",
        f"The first-order variance exists above $\\rho_t = 4$, which is the paper's test; {len(_PROFILES_AT_FIVE)} of the "
        f"{len(PROFILES)} implementations here wait for 5. For $\\beta_2$ from 0.9 to 0.9999 that is the difference of a single step, the fifth.",
        _four_or_five,
    ),
    Question(
        "unscaled",
        "Why does it diverge in the first steps on unscaled data?",
        "Adam's step does not depend on the size of the gradients ($\\epsilon$ aside); the momentum steps before $r_t$ starts do. "
        "Gradients of size 100 make each of them a hundred learning rates long, and that may be too far. Scale the data, clip, "
        'or take no step there (`below="skip"`).',
        _unscaled_data,
    ),
    Question(
        "degenerated",
        "What is \u201cdegenerated to SGD\u201d?",
        "At $\\beta_2 \\le 0.6$ the limit $\\rho_\\infty$ is at most 4: $r_t$ never starts and every step follows the momentum alone, "
        "as in SGD with momentum. (With threshold 5 that is $\\beta_2 \\le 2/3$.) The authors' code calls the momentum steps before "
        "$r_t$ by that name, too: there they are an option, and without it no step is taken.",
        _degenerated,
    ),
    Question(
        "decay",
        "Which weight decay?",
        "The paper's experiments decouple it: weights shrink by lr × weight_decay at every step, whatever the gradients and "
        "whatever $r_t$. L2 decay goes through the adaptive rate instead: it is divided by the gradients' size and multiplied "
        "by $r_t$, so that it is weaker early on. (Drawn for gradients of one size and either sign, beside which the decay is small.)",
        _weight_decay,
    ),
    Question(
        "restarts",
        "Does it help after the data change, or at a restart?",
        "$r_t$ depends on $\\beta_2$ and the step count alone. It does not notice new data: the same optimizer stays where it is. "
        "Only a new optimizer, with empty averages, warms up again.",
        _restarts,
    ),
)
