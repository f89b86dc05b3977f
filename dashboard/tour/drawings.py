"""The chart of each step of the tour, drawn once for all visitors who see the same: by what was predicted, by whom, and
whether the answer is open."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from dashboard.asked import tour
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS
from dashboard.asked.tour import CONTROLS, FORETOLD, LANES, MODELS, READINGS, SHORT, SKIPPED, STEPS, TourStep
from dashboard.browser.chart import Drawing, drawn_once
from dashboard.figures import tour as figures
from dashboard.figures.look import BLUE, GREEN, WIDE, Style
from dashboard.figures.methods import STYLES
from dashboard.figures.moving import moving_race_figure
from dashboard.figures.race import lane_styles
from dashboard.figures.tour import Curve
from dashboard.runs.classes import Pooled
from dashboard.tour import outcomes
from demo_models import TASKS
from radam_core.race.frames import schedule_columns
from radam_core.theory import first_rectified_step, rectification

RACE = PRESETS["figure-1"].config
WARM = LANES[1]


def _styles() -> dict[str, Style]:
    """As in the race: by label."""
    return {lane.label: style for lane, style in zip(RACE.lanes, lane_styles(RACE), strict=True)}


def _values(step: TourStep, pool: Pooled) -> list[tuple[object, int]]:
    """What a class predicted, decoded; those who skipped say nothing, nor does what another version wrote."""
    found: list[tuple[object, int]] = []
    for code, count in pool:
        try:
            if code != SKIPPED:
                found.append((step.form.decode(code), count))
        except ValueError:
            continue
    return found


def _numbers(step: TourStep, pool: Pooled) -> list[tuple[float, int]]:
    return [(value, count) for value, count in _values(step, pool) if isinstance(value, float)]


def _own(step: TourStep, code: str) -> object | None:
    return step.form.decode(code) if code not in ("", SKIPPED) else None


def _own_number(step: TourStep, code: str) -> float | None:
    value = _own(step, code)
    return value if isinstance(value, float) else None


def _picked(step: TourStep, pool: Pooled, count: int) -> list[float] | None:
    """The share of a class that picked each option."""
    votes = [(value, times) for value, times in _values(step, pool) if isinstance(value, tuple)]
    everybody = sum(times for _, times in votes)
    if not everybody:
        return None
    return [sum(times for value, times in votes if place in value) / everybody for place in range(count)]


def _race_baseline(race: RaceConfig) -> float | None:
    return TASKS[race.task].baseline_at(race.settings)


def _lanes(step: TourStep, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    styles = _styles()
    if not revealed and not pool:
        return starts()
    came = [outcomes.learned("figure-1", label) for label in LANES] if revealed else None
    return _learned(step, list(LANES), [styles[label].color for label in LANES], came, own, pool)


def _learned(
    step: TourStep,
    labels: Sequence[str],
    colors: Sequence[str],
    came: Sequence[outcomes.Learned] | None,
    own: str,
    pool: Pooled,
) -> go.Figure:
    picked = _own(step, own)
    return figures.learned_figure(
        labels,
        colors,
        [(one.count, one.seeds) for one in came] if came else None,
        [place in picked for place in range(len(labels))] if isinstance(picked, tuple) else None,
        _picked(step, pool, len(labels)),
    )


def starts() -> go.Figure:
    """How the four lanes of the first step start, by their settings alone."""
    styles, t = _styles(), np.arange(1.0, RACE.steps + 1)
    lanes = {lane.label: lane.as_lane(RACE.steps) for lane in RACE.lanes}
    curves = []
    for label in LANES:
        own = schedule_columns([lanes[label]], t.astype(np.int64))["multiplier"][:, 0]
        first = first_rectified_step(lanes[label].method.betas[1]) if label == "RAdam" else 1
        drawn = t >= (first or 1)
        curves.append(Curve(label, t[drawn][::5], own[drawn][::5], styles[label]))
    return figures.starts_figure(curves)


def _known_curves() -> list[Curve]:
    steps, found = outcomes.losses("figure-1")
    styles = _styles()
    return [Curve(label, np.array(steps), np.array(found[label]), styles[label]) for label in ("Adam", WARM)]


def _curve(step: TourStep, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    form = step.form
    assert isinstance(form, tour.Curve)
    steps, found = outcomes.losses("figure-1")
    seeds, t = outcomes.over_seeds("figure-1", "RAdam"), np.array(steps, dtype=float)
    style = _styles()["RAdam"]
    came = Curve("RAdam", t, np.array(found["RAdam"]), style, np.nanmin(seeds, 0), np.nanmax(seeds, 0))
    drawn = [value for value, count in _values(step, pool) for _ in range(count) if isinstance(value, tuple)]
    mine = _own(step, own)
    return figures.loss_curve_figure(
        _known_curves(),
        came if revealed else None,
        (form.steps, mine) if isinstance(mine, tuple) else None,
        drawn,
        form.steps,
        (form.low, form.high),
        _race_baseline(RACE),
    )


def _gradients(step: TourStep, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    curves = []
    t, adam = outcomes.gradients("Adam")
    for label, method in (("Adam + warmup", "adam-linear"), ("RAdam", "radam"), ("Adam", "adam")):
        t, values = outcomes.gradients(label)
        if revealed or method == "adam-linear":
            style = replace(STYLES[method], width=3.0)
            curves.append(Curve(label, t, values.mean(0), style, values.min(0), values.max(0)))
    guess = _own_number(step, own)
    return figures.gradient_figure(
        curves, float(adam[:, 0].mean()), outcomes.GRADIENT_STEP, guess, _numbers(step, pool)
    )


def _fan(step: TourStep, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    drawn = outcomes.fan()
    rates = drawn.adaptive_rate(0.0)
    guess = _own_number(step, own)
    return figures.fan_figure(drawn.t, rates, outcomes.FAN_AT, guess, _numbers(step, pool), revealed)


def _length(step: TourStep, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    t = np.unique(np.round(np.geomspace(5, 10_000, 200)))
    shown = {outcomes.LONG_BETA2: Style(BLUE, width=3.0)}
    if revealed:
        shown[outcomes.SHORT_BETA2] = Style(GREEN, WIDE, 4.0)
    curves = [Curve(f"β₂ = {b:g}", t, np.asarray(rectification(t, b)), style) for b, style in shown.items()]
    came = outcomes.reaches(outcomes.SHORT_BETA2) if revealed else None
    return figures.length_figure(curves, outcomes.NEARLY, _own_number(step, own), _numbers(step, pool), came)


def _seeds(step: TourStep, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    short = outcomes.ends("figure-1", SHORT)
    ends = {SHORT: short, WARM: outcomes.ends("figure-1", WARM)} if revealed else {SHORT: short[:1]}
    said = [
        ((float(value[0]), float(value[1])), count) for value, count in _values(step, pool) if isinstance(value, tuple)
    ]
    mine = _own(step, own)
    baseline = _race_baseline(RACE)
    assert baseline is not None
    return figures.seeds_figure(
        ends,
        _styles(),
        (float(mine[0]), float(mine[1])) if isinstance(mine, tuple) else None,
        said,
        (-3.6, 0.7),
        baseline / 2,
    )


def _models(step: TourStep, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    came = outcomes.models() if revealed else None
    return _learned(step, list(MODELS), [STYLES["adam"].color] * len(MODELS), came, own, pool)


def _cause(step: TourStep, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    mine = _own(step, own)
    vote = mine[0] if isinstance(mine, tuple) else None
    if not revealed:
        votes = [(value, count) for value, count in _values(step, pool) if isinstance(value, tuple)]
        counts = [sum(count for value, count in votes if place in value) for place in range(len(READINGS))]
        return figures.votes_figure(READINGS, counts, vote)
    styles = _styles()
    labels = ["Adam", *CONTROLS]
    came = [outcomes.learned("figure-1", label) for label in labels]
    foretold: list[bool | None] | None = None if vote is None else [None, *FORETOLD[READINGS[vote]]]
    return figures.learned_figure(
        labels,
        [styles[label].color for label in labels],
        [(one.count, one.seeds) for one in came],
        foretold,
        None,
        by=", by what your reading says",
    )


_BUILDERS: dict[str, Callable[[TourStep, str, Pooled, bool], go.Figure]] = {
    "lanes": _lanes,
    "curve": _curve,
    "gradients": _gradients,
    "fan": _fan,
    "length": _length,
    "seeds": _seeds,
    "models": _models,
    "cause": _cause,
}


@drawn_once
def _drawn(name: str, own: str, pool: Pooled, revealed: bool) -> go.Figure:
    step = next(step for step in STEPS if step.name == name)
    figure = _BUILDERS[name](step, own, pool, revealed)
    if step.recordings:
        figure.layout.meta = {"code": outcomes.code_of(step.recordings[0])}
    return figure


def of_step(step: TourStep, own: str, pool: Pooled, revealed: bool) -> Drawing:
    """A prediction that was skipped is none."""
    return _drawn(step.name, "" if own == SKIPPED else own, pool, revealed)


@drawn_once
def four_lanes(race: str) -> go.Figure:
    """The recorded race of the first step's lanes, as it grew."""
    steps, found = outcomes.losses(race)
    styles = _styles()
    own = [[None if np.isnan(value) else value for value in found[label]] for label in LANES]
    return moving_race_figure(LANES, [styles[label] for label in LANES], steps, own, _race_baseline(RACE))


@drawn_once
def in_force(sweep: str) -> go.Figure:
    """For the sharp student: the map over the mean rate that was in force."""
    assert sweep == "map"
    return figures.in_force_figure(
        [(one.label, one.method, one.multiplier * one.rates, one.ends) for one in outcomes.in_force()]
    )


def start_of_curve(form: tour.Curve) -> str:
    """A line at the first loss, from which a visitor draws on."""
    _, found = outcomes.losses("figure-1")
    return form.level(float(np.log10(found["Adam"][0]))) * len(form.steps)
