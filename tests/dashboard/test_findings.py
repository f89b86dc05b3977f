"""What a sweep found, on invented outcomes whose answer is known."""

import json
import math

import pytest

from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import contender
from dashboard.browser.sweep_findings import findings_json
from dashboard.evidence.findings import Findings
from dashboard.evidence.outcomes import (
    DIVERGED,
    FINISHED,
    UNDER_WAY,
    WAITING,
    CellOutcome,
    Outcome,
    cell_outcomes,
    number,
)
from dashboard.evidence.signs import AT_STEPS, SIGNS, early_signs

STEPS, FIRST = 300, 4.0
LOW, HIGH = 0.1, 2.82  # final losses: the baseline of `numbers` is 2.8207, and below half of it a lane has learned
# Of three seeds, how many learn: by learning rate and warmup length. 500 steps are beyond the run.
LEARNED = {
    0.001: {0: 3, 100: 3, 200: 3, 500: 0},
    0.01: {0: 1, 100: 2, 200: 3, 500: 0},
    1.0: {0: 0, 100: 0, 200: 1, 500: 3},
}
RADAM = {0.001: 3, 0.01: 2, 1.0: 0}
NEEDED = {0.001: 0, 0.01: 100, 1.0: None}
# Gaps of 1 and 2 decades: the rates stand for 2, 3 and 4 ninths of the grid. They need be in no order.
RATES = (1.0, 0.001, 0.01)


def config(contenders=None, axes=None, task="numbers", **changes):
    contenders = contenders or [contender("adam-linear", "Adam + warmup"), contender("radam")]
    axes = axes or {"lr": RATES, "warmup_steps": (200, 0, 500, 100)}
    return SweepConfig.make({"task": task, "contenders": contenders, "axes": axes, "steps": STEPS, **changes})


def done(loss, metric=None, **others):
    latest = {} if metric is None else {"exact match": metric, "token loss": loss}
    return Outcome(status=FINISHED, last=STEPS, first_loss=FIRST, final_loss=loss, latest=latest, **others)


def lost(at=7, **others):
    return Outcome(status=DIVERGED, last=at, first_loss=FIRST, diverged_at=at, **others)


def of_map(cell):
    """As `LEARNED` and `RADAM` say: the first so many seeds learn."""
    learned = RADAM[cell.lane.lr] if cell.contender else LEARNED[cell.lane.lr][cell.values["warmup_steps"]]
    return done(LOW if cell.seed < learned else HIGH)


def found_by(rule, made=None):
    made = made or config()
    return Findings.of(made, [rule(cell) for cell in made.cells])


def one_line(losses, metrics, lrs=(0.001, 0.01, 1.0), task="numbers"):
    """RAdam alone: at each rate the losses and metrics of its seeds, None for one that diverged."""
    seeds = range(len(losses[0]))
    made = config([contender("radam")], {"lr": lrs}, task, seeds=seeds)

    def rule(cell):
        loss, metric = (given[cell.at["lr"]][cell.seed] for given in (losses, metrics))
        return lost() if loss is None else done(loss, metric)

    (line,) = found_by(rule, made).lines
    return line


# ---- lines


def test_a_line_is_a_contender_at_one_choice_of_the_other_axes():
    lines = found_by(of_map).lines
    assert [line.name for line in lines] == [
        *(f"Adam + warmup, warmup {length}" for length in (200, 0, 500, 100)),
        "RAdam",
    ]
    assert [line.contender for line in lines] == [0, 0, 0, 0, 1]
    for line in lines:
        assert [rate.lr for rate in line.rates] == sorted(RATES)
        assert all(len(rate.cells) == 3 for rate in line.rates)
    places = [one.cell.place for line in lines for rate in line.rates for one in rate.cells]
    assert sorted(places) == list(range(config().size))
    assert [rate.learned.count(True) for rate in lines[3].rates] == [3, 2, 0]


def test_an_axis_of_one_value_is_not_in_a_name():
    axes = {"lr": (0.1,), "beta2": (0.99,), "clip": (1.5, 2.5)}
    lines = found_by(lambda cell: Outcome(), config([contender("radam")], axes)).lines
    assert [(line.name, line.at) for line in lines] == [(f"RAdam, clip {k}", {"clip": k}) for k in (1.5, 2.5)]


@pytest.mark.parametrize(
    ("losses", "metrics", "share", "sensitivity", "best"),
    [
        # Means 0.9, 0.98 and 0: within 5% of 0.98, at least 0.931, is the second alone. Ends 0.3, 0.1, 2.
        (((0.2, 0.4), (0.1, 0.1), (1, 3)), ((0.8, 1.0), (1.0, 0.96), (0, 0)), 3 / 9, 2.4 / 3 - 0.1, 0.01),
        # 0.94 is within 5% as well. A loss above the first counts as that, 4: ends 0.3, 0.1, 4.
        (((0.3, 0.3), (0.1, 0.1), (9, 5)), ((0.94, 0.94), (0.98, 0.98), (0, 0)), 5 / 9, 4.4 / 3 - 0.1, 0.01),
        # One that diverged ends where it began, 4, and the rate has no metric: ends 0.1, (0.1 + 4) / 2, 0.1.
        (((0.1, 0.1), (0.1, None), (0.1, 0.1)), ((1, 1), (1, None), (1, 1)), 6 / 9, 2.25 / 3 - 0.1, 0.001),
        # Nothing came to an end.
        (((None,), (None,), (None,)), ((None,), (None,), (None,)), 0, 0, 0.001),
        # The same everywhere.
        (((1,), (1,), (1,)), ((0.5,), (0.5,), (0.5,)), 1, 0, 0.001),
    ],
)
def test_share_sensitivity_and_best_of_a_line(losses, metrics, share, sensitivity, best):
    line = one_line(losses, metrics)
    assert line.robust_share() == pytest.approx(share, rel=1e-12)
    assert line.lr_sensitivity() == pytest.approx(sensitivity, rel=1e-12, abs=1e-12)
    assert line.best.lr == best


def test_a_lower_distance_is_better():
    """On surfaces the metric is a distance: 1.04 is within 5% of 1, and 1.2 is not."""
    made = config([contender("radam")], {"lr": (0.001, 0.01, 1.0)}, "surfaces", seeds=[0])
    distances = (1.04, 1.2, 1.0)
    outcomes = [
        Outcome(status=FINISHED, last=STEPS, first_loss=1.0, final_loss=0.5, latest={"distance": value})
        for value in distances
    ]
    found = Findings.of(made, outcomes)
    assert (found.metric, found.better) == ("distance", "lower")
    assert found.lines[0].robust_share() == pytest.approx(2 / 9 + 4 / 9)


def test_a_line_says_nothing_of_its_rates_while_one_is_open():
    def rule(cell):
        return Outcome(status=UNDER_WAY, last=50, first_loss=FIRST) if cell.lane.lr == 1 else done(cell.lane.lr, 0.5)

    (line,) = found_by(rule, config([contender("radam")], {"lr": RATES})).lines
    assert (line.robust_share(), line.lr_sensitivity()) == (None, None)
    assert [rate.lr for rate in line.known] == [0.001, 0.01]
    assert line.best.lr == 0.001
    (empty,) = found_by(lambda cell: Outcome(), config([contender("radam")], {"lr": RATES})).lines
    assert (empty.best, empty.known) == (None, [])


def test_of_a_single_rate_nothing_is_said_of_how_much_it_matters():
    several = [contender("adam"), contender("radam", lr_times=2.0)]
    found = found_by(lambda cell: done(0.1, 0.5), config(several, {"lr": RATES[:1]}))
    assert [(line.robust_share(), line.lr_sensitivity()) for line in found.lines] == [(None, None)] * 2
    told = json.loads(findings_json(found))["table"]
    assert told["head"] == ["", "best lr", "mean loss there", f"best mean {found.metric}", "learned"]
    assert {len(row) for row in told["rows"]} == {5}
    assert found.summary()[0]["robust_share"] is None


# ---- which warmup


def test_the_shortest_warmup_by_learning_rate():
    found = found_by(of_map)
    assert {row.lr: row.length for row in found.needed(0)} == NEEDED
    assert all((row.tried, row.of, row.at) == (4, 4, {}) for row in found.needed(0))
    assert found.needed(1) == []  # RAdam has no length to choose


def test_a_length_that_is_open_leaves_its_rate_open():
    def rule(cell):
        open_ = cell.contender == 0 and (cell.lane.lr, cell.values["warmup_steps"], cell.seed) == (0.01, 200, 2)
        return Outcome(status=UNDER_WAY, last=10, first_loss=FIRST) if open_ else of_map(cell)

    rows = {row.lr: row for row in found_by(rule).needed(0)}
    assert {lr: (row.length, row.tried, row.of) for lr, row in rows.items()} == {
        0.001: (0, 4, 4),
        0.01: (None, 3, 4),
        1.0: (None, 4, 4),
    }


def test_the_shortest_warmup_at_each_choice_of_the_others():
    """At beta2 0.9 the rate needs 100 steps, at 0.99 none."""
    axes = {"lr": (0.01,), "warmup_steps": (0, 100), "beta2": (0.9, 0.99)}
    made = config([contender("adam-linear")], axes, seeds=[0])
    learned = {(0, 0.9): False, (100, 0.9): True, (0, 0.99): True, (100, 0.99): True}
    found = found_by(
        lambda cell: done(LOW if learned[cell.values["warmup_steps"], cell.values["beta2"]] else HIGH), made
    )
    assert [(row.at, row.length) for row in found.needed(0)] == [({"beta2": 0.9}, 100), ({"beta2": 0.99}, 0)]


@pytest.mark.parametrize("lengths", [(100,), None])
def test_one_length_is_no_choice(lengths):
    axes = {"lr": (0.01,), **({"warmup_steps": lengths} if lengths else {})}
    assert found_by(lambda cell: done(LOW), config([contender("adam-linear")], axes)).needed(0) == []


def test_how_many_seeds_learn_without_a_warmup():
    found = found_by(of_map)
    assert [found.learned_without(1, lr) for lr in (0.001, 0.01, 1.0)] == pytest.approx([1, 2 / 3, 0])
    assert found.learned_without(1, 0.5) is None  # a rate that was not tried
    assert found_by(lambda cell: Outcome()).learned_without(1, 0.01) is None


# ---- cells


@pytest.mark.parametrize(
    ("outcome", "baseline", "expected"),
    [
        (done(1.4), 2.8207, True),
        (done(1.42), 2.8207, False),
        (done(1.9), None, True),  # without a baseline: below half of its own first loss, 4
        (done(2.0), None, False),
        (lost(), 2.8207, False),
        (Outcome(status=UNDER_WAY, first_loss=FIRST, final_loss=0.1), 2.8207, None),
        (Outcome(), None, None),
    ],
)
def test_a_cell_learns_does_not_or_is_open(outcome, baseline, expected):
    assert CellOutcome(config().cells[0], outcome, baseline).learns is expected


def test_cells_are_compared_with_the_baseline_of_their_own_settings():
    several = [contender("adam", "plain"), contender("adam", "smooth", settings={"label_smoothing": 0.1})]
    made = config(several, {"lr": (0.1,)}, seeds=[0])
    assert [one.reference for one in cell_outcomes(made, [done(1.0), done(1.0)])] == [2.8207, FIRST]


def test_a_row_of_every_cell():
    axes = {"lr": (0.01,), "warmup_steps": (0, 100), "clip": (2.0,)}
    made = config([contender("adam-linear", "Adam + warmup"), contender("radam", beta2=0.99)], axes, seeds=[5])
    rows = Findings.of(made, [done(0.1, 0.75), lost(9), Outcome(status=UNDER_WAY, last=3)]).cells()
    names = (
        "method",
        "label",
        "lr",
        "warmup_steps",
        "beta2",
        "seed",
        "final_loss",
        "metric",
        "status",
        "learns",
        "clip",
    )
    assert all(set(row) == set(names) for row in rows)
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("adam-linear", "Adam + warmup", 0.01, 0, 0.999, 5, 0.1, 0.75, "finished", True, 2.0),
        ("adam-linear", "Adam + warmup", 0.01, 100, 0.999, 5, None, None, "diverged at step 9", False, 2.0),
        ("radam", "RAdam", 0.01, None, 0.99, 5, None, None, "under way", None, 2.0),
    ]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


@pytest.mark.parametrize(
    ("entry", "length"),
    [
        (contender("adam-linear", warmup_steps=200), 200),  # what the contender sets
        (contender("adam-linear"), 2000),  # what the method has
        (contender("adam"), None),
    ],
)
def test_a_row_has_the_warmup_that_its_lane_has(entry, length):
    (row,) = found_by(lambda cell: done(LOW), config([entry], {"lr": (0.1,)}, seeds=[0])).cells()
    assert row["warmup_steps"] == length


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1 / 3, 0.3333333),
        (None, None),
        (math.nan, None),
        (math.inf, None),
        (-math.inf, None),
        (0, 0),
        (12345678, 12345680),
    ],
)
def test_numbers_have_seven_digits_or_are_unknown(value, expected):
    assert number(value) == expected


# ---- the summary


def test_a_summary_has_a_row_for_each_contender():
    rows = found_by(of_map).summary()
    keys = {"method", "label", "robust_share", "lr_sensitivity", "shortest_warmup", "lines"}
    assert all(set(row) == keys for row in rows)
    assert [(row["method"], row["label"]) for row in rows] == [("adam-linear", "Adam + warmup"), ("radam", "RAdam")]
    assert rows[0]["shortest_warmup"] == [
        {"lr": lr, "warmup_steps": length, "known": True} for lr, length in NEEDED.items()
    ]
    assert rows[1]["shortest_warmup"] == []
    (radam,) = rows[1]["lines"]
    # Ends: 0.1, (0.1 + 0.1 + 2.82) / 3 and 2.82; no metric was measured.
    assert radam == {
        "line": "RAdam",
        "robust_share": 0,
        "lr_sensitivity": pytest.approx((0.1 + 3.02 / 3 + 2.82) / 3 - 0.1, rel=1e-6),
        "best_lr": 0.001,
        "best_loss": pytest.approx(0.1),
        "learned": 5,
        "over": 9,
        "cells": 9,
    }
    by_length = {line["warmup_steps"]: line["learned"] for line in rows[0]["lines"]}
    assert by_length == {length: sum(LEARNED[lr][length] for lr in LEARNED) for length in (0, 100, 200, 500)}
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


def test_a_summary_of_nothing_says_so():
    for row in found_by(lambda cell: Outcome()).summary():
        assert (row["robust_share"], row["lr_sensitivity"]) == (None, None)
        assert all(one["warmup_steps"] is None and not one["known"] for one in row["shortest_warmup"])
        assert {(line["best_lr"], line["best_loss"], line["learned"], line["over"]) for line in row["lines"]} == {
            (None, None, 0, 0)
        }


def test_the_best_line_of_a_contender_stands_for_it():
    """Without warmup nothing learns: every rate ends at 2.82 with a metric of 0, which is as even as can be. With 100
    steps the ends are 0.1, 0.4 and 2.82, and the metric 1, 0.8 and 0: that line is the contender's best."""
    ends = {0.001: (0.1, 1.0), 0.01: (0.4, 0.8), 1.0: (2.82, 0.0)}
    made = config([contender("adam-linear")], {"lr": (0.001, 0.01, 1.0), "warmup_steps": (0, 100)}, seeds=[0])
    found = found_by(lambda cell: done(*(ends[cell.lane.lr] if cell.values["warmup_steps"] else (2.82, 0.0))), made)
    (row,) = found.summary()
    assert [line["best_loss"] for line in row["lines"]] == pytest.approx([2.82, 0.1])
    assert row["robust_share"] == pytest.approx(2 / 9, rel=1e-6)
    assert row["lr_sensitivity"] == pytest.approx(3.32 / 3 - 0.1, rel=1e-6)


# ---- the early signs


def told(rows):
    return {(row["measure"], row["at_step"]): (row["auc"], row["cells"]) for row in rows}


def one_sign(failed, learned, name="update_rms", step=10):
    return told(scored(failed, learned, name, step).signs)


def scored(failed, learned, name="update_rms", step=10):
    """A sweep whose lanes have these scores: those that fail, then those that learn; None for one that is open."""
    scores = [*failed, *learned]
    made = config([contender("adam")], {"lr": tuple(k / 100 for k in range(1, len(scores) + 1))}, seeds=[0])

    def rule(cell):
        score = scores[cell.place]
        signs = {} if math.isnan(score) else {name: {step: score}}
        return done(HIGH if cell.place < len(failed) else LOW, signs=signs)

    return found_by(rule, made)


@pytest.mark.parametrize("sign", SIGNS, ids=lambda sign: sign.name)
def test_a_measure_is_scored_on_the_side_on_which_it_warns(sign):
    """Large values fail: right for those that warn when large, and the other way round for the others."""
    rows = one_sign([3.0, 4.0], [1.0, 2.0], sign.name, 25)
    assert rows[sign.name, 25] == (1 if sign.warns > 0 else 0, 4)
    assert {row for key, row in rows.items() if key != (sign.name, 25)} == {(None, 0)}
    assert set(rows) == {(one.name, step) for one in SIGNS for step in AT_STEPS}


@pytest.mark.parametrize(
    ("name", "warns"), [("gradient", -1), ("gradient_fall", 1), ("multiplier", 1), ("psi_theory", 1)]
)
def test_small_gradients_and_large_steps_warn(name, warns):
    """As the readings have it: gradients that vanish, updates that are too large, rates that are too uncertain."""
    assert {sign.name: sign.warns for sign in SIGNS}[name] == warns


@pytest.mark.parametrize(
    ("failed", "learned", "expected"),
    [
        ([2.0, 2.0], [1.0, 2.0], (3 / 4, 4)),  # two pairs won and two ties
        ([1.0, 4.0], [2.0, 3.0, 5.0], (2 / 6, 5)),
        ([3.0, math.nan], [1.0, 2.0], (1, 3)),
        ([1.0, 2.0], [], (None, 2)),
        ([], [1.0, 2.0], (None, 2)),
    ],
)
def test_the_auc_of_invented_scores(failed, learned, expected):
    score, cells = one_sign(failed, learned)["update_rms", 10]
    assert (score if score is None else pytest.approx(score), cells) == expected


def test_table_and_sentence_say_the_same_auc():
    """43 of 46 pairs are 0.9348: rounded to three digits first it would be 0.94."""
    found = json.loads(findings_json(scored([99.0, 19.5], [float(score) for score in range(23)])))
    said = {text for row in found["signs"] for text in row["auc"] if text is not None}
    assert said == {"0.93"}
    assert f"at step 10 ({said.pop()})" in " ".join(found["sign_sentences"])


def test_lanes_that_are_open_are_not_scored():
    outcomes = [
        done(HIGH, signs={"update_rms": {10: 2.0}}),
        done(LOW, signs={"update_rms": {10: 1.0}}),
        lost(signs={"update_rms": {10: 3.0}}),
        Outcome(status=UNDER_WAY, last=50, signs={"update_rms": {10: 9.0}}),
        Outcome(status=WAITING),
    ]
    made = config([contender("adam")], {"lr": (0.1,)}, seeds=range(5))
    rows = early_signs(cell_outcomes(made, outcomes))
    assert told(rows)["update_rms", 10] == (1, 3)
    open_ = early_signs(cell_outcomes(made, [Outcome()] * 5))
    assert {(row["auc"], row["cells"]) for row in open_} == {(None, 0)}
