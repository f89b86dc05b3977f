"""Figures of recordings: ridges, the moving race, and gradients over the seeds, by their traces."""

import json
import math

import numpy as np
import pytest

from dashboard.evidence.findings import Findings
from dashboard.figures.look import Style
from dashboard.figures.moving import MOST_FRAMES, WIDER, moving_race_figure
from dashboard.figures.pairs import HOLDS, HOLDS_NOT, MEAN, Pair, Side, pair_figure
from dashboard.figures.ridges import LaneRidges, distribution, ridges_figure
from dashboard.figures.sweep import courses_figure, gradients_figure
from dashboard.paper import drawings
from dashboard.paper.results import compare, recorded_findings
from dashboard.paper.rows import ROWS
from radam_core.race.frames import BIN_OF_ONE


def counts(**bins: int) -> np.ndarray:
    """By power of two: `e0=3` are three between 1 and 2; `zeros` are zeros."""
    made = np.zeros(256, np.int64)
    made[0] = bins.pop("zeros", 0)
    for name, count in bins.items():
        made[BIN_OF_ONE + int(name[1:].replace("_", "-"))] = count
    return made


def test_a_distribution_is_shares_of_all_against_the_middle_of_each_power_of_two():
    x, y = distribution(counts(e0=3, e1=1, zeros=4))
    np.testing.assert_allclose(x, [(k + 0.5) * math.log10(2) for k in (-1, 0, 1, 2)])
    np.testing.assert_allclose(y, [0, 3 / 8, 1 / 8, 0])
    assert [len(part) for part in distribution(counts(zeros=5))] == [0, 0]


def test_ridges_stand_on_their_steps_and_the_highest_is_as_high_as_two_steps():
    lanes = [
        LaneRidges("Adam", "#112233", {1: counts(e0=4), 5: counts(e0=1, e1=3)}),
        LaneRidges("<b>RAdam</b>", "#445566", {1: counts(e0=2, zeros=2)}),
    ]
    figure = ridges_figure(lanes)
    first, second = figure.data
    assert None in first.x, "one line in pieces"
    assert None not in second.x
    bases = {value for value, place in zip(first.y, first.x, strict=True) if place is not None and value in (0, -1)}
    assert bases == {0, -1}
    assert max(value for value in first.y if value is not None) == pytest.approx(2.2)
    assert max(second.y) == pytest.approx(1.1)
    assert list(figure.layout.yaxis.ticktext) == ["1", "5"]
    assert figure.layout.annotations[1].text == "<b>&lt;b&gt;RAdam&lt;/b&gt;</b>", "a label is no tag"


def test_the_moving_race_grows_from_frame_to_frame_to_what_it_shows():
    steps = list(range(1, 101))
    losses = [[3.0 * 0.97**t for t in steps], [2.8] * 100, [2.81] * 99 + [None]]
    figure = moving_race_figure(["a", "b", "c"], [Style("#000000", width=2)] * 3, steps, losses, baseline=2.8)
    assert len(figure.frames) <= MOST_FRAMES
    known = [sum(value is not None for value in frame.data[0].y) for frame in figure.frames]
    assert known == sorted(set(known))
    assert known[-1] == 100
    assert [trace.line.width for trace in figure.data] == [2, 2 + WIDER, 2], "what lies under another is wider"
    texts = {annotation.text: annotation.y for annotation in figure.layout.annotations}
    assert texts["ignores its input"] == pytest.approx(math.log10(2.8)), "an annotation's place on a log axis"


def test_learning_curves_name_the_baseline_where_it_is():
    found = _figure_1()
    (annotation,) = courses_figure(found, list(range(1, 62))).layout.annotations
    assert annotation.y == pytest.approx(math.log10(2.8207), abs=1e-4)


def test_gradients_are_drawn_over_the_seeds():
    found = _figure_1()
    figure = gradients_figure(found)
    lines = {trace.name: trace for trace in figure.data if trace.mode == "lines+markers"}
    assert list(lines) == [line.name for line in found.lines]
    adam = lines["Adam"]
    own = [one.outcome.gradients for one in found.found if one.cell.contender == 0]
    at = list(adam.x).index(10)
    assert adam.y[at] == pytest.approx(np.mean([seed[10] for seed in own]))
    assert figure.layout.xaxis.type == "log"


def pair(low=(1.0, 5.0), high=(2.0, 4.0), scale="linear", measure="loss") -> Pair:
    holds = tuple(a < b for a, b in zip(low, high, strict=True))
    sides = Side("<b>Adam</b> of a name as long as this", "#112233", low), Side("RAdam", "#445566", high)
    return Pair(measure, *sides, tuple(range(len(low))), holds, scale)


def test_a_claim_is_drawn_seed_by_seed():
    figure = pair_figure(pair())
    traces = {trace.name: trace for trace in figure.data}
    assert (list(traces[HOLDS].x), list(traces[HOLDS_NOT].x)) == ([1.0, 2.0, None], [5.0, 4.0, None])
    assert all(list(traces[name].y) == [1, 0, None] for name in (HOLDS, HOLDS_NOT))
    assert traces[HOLDS_NOT].line.dash == "dot"
    assert list(traces[MEAN].x) == [3.0, 3.0]
    assert list(traces["RAdam"].customdata) == ["0", "1"]
    assert list(figure.layout.yaxis.tickvals) == [1, 0]
    adam, radam = figure.layout.yaxis.ticktext
    assert radam == "RAdam"
    assert adam == "&lt;b&gt;Adam&lt;/b&gt; of a name<br>as long as this", "a label is no tag"
    assert figure.layout.xaxis.title.text == "loss"
    assert HOLDS_NOT not in {trace.name for trace in pair_figure(pair(high=(2.0, 6.0))).data}


def test_the_axis_holds_all_points_also_where_they_are_all_alike():
    low, high = pair_figure(pair(high=(2.0, math.nan))).layout.xaxis.range
    assert (low, high) == pytest.approx((1 - 0.24, 5 + 0.24))
    same = pair_figure(pair((0.999, 0.999), (0.999, 0.999), "per cent")).layout.xaxis
    assert same.range == pytest.approx((0.999 - 0.0112, 0.999 + 0.0112))
    assert same.tickformat == ".1~%"


def test_values_over_powers_of_ten_stand_on_a_log_axis():
    narrow, wide, zero = (
        pair_figure(pair((low, 0.2), (high, 0.3), "log")).layout.xaxis for low, high in ((0.1, 0.5), (0.1, 5), (0, 5))
    )
    assert (narrow.type, wide.type, zero.type) == (None, "log", None)
    assert wide.range[0] < -1 < math.log10(5) < wide.range[1]


@pytest.mark.parametrize("row", [row for row in ROWS if row.claims], ids=lambda row: row.name)
def test_what_is_drawn_is_what_was_judged(row):
    recorded = recorded_findings(row.sweep)
    assert recorded is not None
    for number, claim in enumerate(row.claims):
        drawn = json.loads(drawings.seed_by_seed(row.name, number))
        seen = compare(recorded[0], claim)
        one, other = (trace for trace in drawn["data"] if "customdata" in trace)
        assert (one["name"], other["name"]) == (claim.one_name, claim.other_name)
        assert (list(one["x"]), list(other["x"])) == ([*seen.one.values()], [*seen.other.values()])
        assert [*map(int, one["customdata"])] == list(recorded[0].config.seeds)


def _figure_1() -> Findings:
    recorded = recorded_findings("figure-1")
    assert recorded is not None
    return recorded[0]
