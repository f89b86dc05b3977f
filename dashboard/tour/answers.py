"""The explanation of each step, with the numbers of its recordings put in."""

from collections.abc import Callable
from functools import cache

import numpy as np

from dashboard.asked.tour import CONTROLS, LANES, MODELS, SHORT, SKIPPED, STEPS, Curve
from dashboard.figures.methods import authors_adam_2k_factors
from dashboard.tour import outcomes
from dashboard.words import tour_words as words
from radam_core.comparison import effective_warmups, linear_of_equal_cost
from radam_core.theory import known_step, rho


def answer(name: str, own: str) -> str:
    return _ANSWERS[name]("" if own == SKIPPED else own)


def _counts(labels: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    found = (outcomes.learned("figure-1", label) for label in labels)
    return {one.label: (one.count, one.seeds) for one in found}


def _lanes(_: str) -> str:
    return words.lanes_answer(_counts(LANES))


def _curve(own: str) -> str:
    steps, found = outcomes.losses("figure-1")
    form = next(step.form for step in STEPS if step.name == "curve")
    assert isinstance(form, Curve)
    off = None
    if own:
        came = np.interp(form.steps, steps, np.log10(found["RAdam"]))
        off = float(10 ** np.median(np.abs(np.log10(form.decode(own)) - came)))
    ends = outcomes.ends("figure-1", "RAdam")
    return words.curve_answer(found["Adam"][0], found["Adam"][-1], found[LANES[1]][-1], ends, off)


def _gradients(_: str) -> str:
    said = outcomes.samples("figure-1", "Adam")
    return words.gradients_answer(outcomes.gradient_fall("Adam"), outcomes.gradient_fall("Adam + warmup"), said)


def _fan(_: str) -> str:
    at, beta2 = outcomes.FAN_AT, outcomes.FAN_BETA2
    first, last = outcomes.fan_ratio(1), outcomes.fan_ratio(outcomes.FAN_STEPS)
    known = known_step(beta2)
    assert known is not None
    return words.fan_answer(outcomes.fan_ratio(at), first, last, float(rho(at, beta2)), known)


def _length(_: str) -> str:
    short = outcomes.SHORT_BETA2
    cost = float(effective_warmups(short, 0, 0)["radam"])
    alike, untuned = float(linear_of_equal_cost(cost)), 2 / (1 - short)
    return words.length_answer(outcomes.reaches(short), outcomes.reaches(outcomes.LONG_BETA2), cost, alike, untuned)


def _seeds(_: str) -> str:
    short, warm = outcomes.ends("figure-1", SHORT), outcomes.ends("figure-1", LANES[1])
    found = outcomes.learned("figure-1", SHORT)
    return words.seeds_answer(min(short), max(short), found.count, found.seeds, min(warm), max(warm))


def _models(_: str) -> str:
    return words.models_answer(
        [(name, one.count, one.seeds) for name, one in zip(MODELS, outcomes.models(), strict=True)]
    )


def _cause(_: str) -> str:
    steps, values = outcomes.gradients("Adam")
    gradient = float(10 ** values[:, steps == 1].mean())
    left = [outcomes.step_left_by_eps(eps, gradient) for eps in (1e-4, 1e-2)]
    return words.cause_answer(_counts(CONTROLS), left[0], left[1], authors_adam_2k_factors())


@cache
def sharp_answer() -> str:
    """At the rates that come closest to one another in the mean: Adam's 0.003 and RAdam's 0.012."""
    adam, _, radam = outcomes.in_force()
    place, other = int(np.argmin(np.abs(adam.rates - 0.003))), int(np.argmin(np.abs(radam.rates - 0.012)))
    return words.sharp_answer(
        outcomes.findings("map").config.steps,
        float(adam.rates[place]),
        (adam.learned[place], len(adam.ends[place])),
        float(radam.rates[other]),
        (radam.learned[other], len(radam.ends[other])),
        radam.multiplier,
        float(radam.multiplier * radam.rates[other]),
    )


_ANSWERS: dict[str, Callable[[str], str]] = {
    "lanes": _lanes,
    "curve": _curve,
    "gradients": _gradients,
    "fan": _fan,
    "length": _length,
    "seeds": _seeds,
    "models": _models,
    "cause": _cause,
}
