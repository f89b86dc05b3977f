"""The charts of the paper's rows, each drawn once for all visitors: by the same builders as the pages of their own."""

from functools import cache

import numpy as np
import plotly.graph_objects as go

from dashboard.asked.config import RaceConfig
from dashboard.browser.chart import Drawing, drawn_once
from dashboard.evidence.findings import Findings
from dashboard.evidence.norms import SWEEP
from dashboard.evidence.steps import grid_steps
from dashboard.figures.look import GREY
from dashboard.figures.moving import moving_race_figure
from dashboard.figures.norms import rates_by_norm_figure
from dashboard.figures.pairs import Pair, Side, pair_figure
from dashboard.figures.race import lane_styles
from dashboard.figures.results import paper_simulation
from dashboard.figures.ridges import LaneRidges, ridges_figure
from dashboard.figures.sweep import contender_styles, courses_figure, gradients_figure, rates_figure
from dashboard.figures.variance import paper_approximation_figure, paper_simulation_figure
from dashboard.paper.results import compare, recorded_findings
from dashboard.paper.rows import ROWS, Claim, Row
from dashboard.recorded.form import Made, Recording
from dashboard.recorded.loading import recording
from dashboard.runs.outlines import from_json
from dashboard.runs.records import decode
from demo_models import TASKS


def _findings(sweep: str) -> tuple[Findings, Made]:
    recorded = recorded_findings(sweep)
    assert recorded is not None
    return recorded


@cache
def _race(name: str) -> tuple[RaceConfig, Recording] | None:
    found = recording(f"race-{name}")
    return (found.config, found) if found and isinstance(found.config, RaceConfig) else None


def is_recorded(race: str) -> bool:
    return _race(race) is not None


def _by(made: Made, figure: go.Figure) -> go.Figure:
    """An exported figure tells which code made the recording."""
    figure.layout.meta = {"code": made.code}
    return figure


@drawn_once
def _courses(sweep: str) -> go.Figure:
    found, made = _findings(sweep)
    return _by(made, courses_figure(found, grid_steps(found.config.steps)))


@drawn_once
def _rates(sweep: str) -> go.Figure:
    found, made = _findings(sweep)
    return _by(made, rates_figure(found))


@drawn_once
def _gradients(sweep: str) -> go.Figure:
    found, made = _findings(sweep)
    return _by(made, gradients_figure(found))


@drawn_once
def seed_by_seed(row: str, number: int) -> go.Figure:
    """What one claim of a trained row is judged by."""
    asked = next(one for one in ROWS if one.name == row)
    found, made = _findings(asked.sweep)
    return _by(made, pair_figure(_pair(found, asked.claims[number])))


def _pair(found: Findings, claim: Claim) -> Pair:
    seen, labels = compare(found, claim), [contender.label for contender in found.config.contenders]
    colors = dict(zip(labels, (style.color for style in contender_styles(found.config)), strict=True))
    one = Side(claim.one_name, colors[claim.one], tuple(seen.one.values()))
    other = Side(claim.other_name, colors.get(claim.other, GREY), tuple(seen.other.values()))
    return Pair(claim.measure.name, one, other, tuple(seen.one), seen.held.in_cases, claim.measure.scale)


@drawn_once
def _approximation(_: str) -> go.Figure:
    return paper_approximation_figure()


@drawn_once
def _simulation(_: str) -> go.Figure:
    return paper_simulation_figure(paper_simulation())


@drawn_once
def ridges(race: str) -> go.Figure:
    """Of a recorded race, at its one seed."""
    recorded = _race(race)
    assert recorded is not None
    config, found = recorded
    lanes = []
    for lane, style, told in zip(config.lanes, lane_styles(config), found.lanes, strict=True):
        histograms = [one for record in told.records for one in decode(record.body).histograms]
        counts = {one.t: np.asarray(one.counts()[0].sum(0)) for one in histograms}
        lanes.append(LaneRidges(lane.label, style.color, counts))
    return _by(found.made, ridges_figure(lanes))


@drawn_once
def rates_by_norm() -> go.Figure:
    """Of the recorded sweep over rates and seeds, Post-LN beside Pre-LN."""
    found, made = _findings(SWEEP)
    return _by(made, rates_by_norm_figure(found))


@drawn_once
def moving_race(race: str) -> go.Figure:
    """A recorded race as it grew."""
    recorded = _race(race)
    assert recorded is not None
    config, found = recorded
    outcomes = [from_json(lane.outline) for lane in found.lanes]
    losses = [outcome.losses if outcome else () for outcome in outcomes]
    figure = moving_race_figure(
        [lane.label for lane in config.lanes],
        lane_styles(config),
        grid_steps(config.steps),
        losses,
        TASKS[config.task].baseline_at(config.settings),
    )
    return _by(found.made, figure)


BUILDERS = {
    "courses": _courses,
    "rates": _rates,
    "gradients": _gradients,
    "approximation": _approximation,
    "simulation": _simulation,
}
ALTS = {
    "courses": "Training loss over the steps of each contender, mean and range over seeds",
    "rates": "Final loss against the learning rate of each contender, mean and range over seeds",
    "gradients": "Median size of the gradients over the steps of each contender, mean and range over seeds",
    "approximation": "The analytic and the first-order variance, and their difference, against rho",
    "simulation": "Simulated variances with and without rectification for six means",
}
SEEDS_ALT = "The two sides of the claim, a point a seed, joined by a line that is dotted where it does not hold"


def drawing(row: Row) -> Drawing:
    return BUILDERS[row.figure](row.sweep)
