"""What the page of Appendix C shows: numbers worked by hand, and sentences that say no more than they carry."""

import json
import math

import numpy as np
import pytest

from dashboard.asked.four_steps import Choice, four_steps
from dashboard.browser.four_steps import drawn
from dashboard.browser.four_steps_findings import four_steps_json
from dashboard.evidence.findings import Findings
from dashboard.evidence.first_steps import FirstSteps
from dashboard.evidence.four_steps import paired, spread, variants
from dashboard.evidence.outcomes import DIVERGED, FINISHED, UNDER_WAY, Outcome
from dashboard.evidence.steps import grid_steps
from dashboard.figures.four_steps import APART, layers_figure, quartiles_figure, updates_figure
from dashboard.figures.look import Style
from dashboard.figures.sweep import courses_figure
from dashboard.headless import records
from dashboard.runs.first_steps import first_steps
from dashboard.runs.outlines import median_log10, quantile_log10
from dashboard.words.four_steps_words import choice_note, comparison_sentences, scale_note
from radam_core.race.frames import BIN_OF_ONE, BINS

CONFIG = four_steps("digits", 0.1, seeds=2)  # lanes 0, 1: RAdam; 2, 3: Adam for 1-4; 4, 5: Adam for 5-8; 6, 7: Adam
STYLES = {"a": Style("#000000"), "b": Style("#ffffff", "dash")}
ONE = FirstSteps(
    (1, 2, 3),
    ((-3.0, -2.5, -2.0), (-4.0, -3.0, -2.0), (-3.5, -3.0, -1.0)),
    (0.1, 0.0, 0.05),
    ("in", "out"),
    ((1, 2),) * 3,
)
TWO = FirstSteps((1,), ((-3.0, -2.5, -2.0),), (0.001,), ("in", "out"), ((100.0, 0.0),))


def done(accuracy: float, loss: float) -> Outcome:
    return Outcome(FINISHED, 500, 2.3, loss, latest={"accuracy": accuracy})


def found(*outcomes: Outcome) -> Findings:
    return Findings.of(CONFIG, [*outcomes, *[Outcome()] * (CONFIG.size - len(outcomes))])


HALF = found(done(0.9, 0.2), done(0.8, 0.4), done(0.95, 0.1), done(0.7, 0.4))


# ---- numbers


def test_quantiles_of_powers_of_two_by_hand():
    counts = np.zeros(BINS, int)
    counts[BIN_OF_ONE], counts[BIN_OF_ONE + 1] = 4, 4  # four values in [1, 2), four in [2, 4)
    # A quarter of eight are two: half way through the first bin, 2^0.5. Half of them end it, 2^1.
    assert quantile_log10(counts, 0.25) == pytest.approx(0.5 * math.log10(2))
    assert median_log10(counts) == quantile_log10(counts, 0.5) == pytest.approx(math.log10(2))
    assert quantile_log10(counts, 0.75) == pytest.approx(1.5 * math.log10(2))
    assert math.isnan(quantile_log10(np.zeros(BINS, int), 0.25))


def test_differences_are_taken_seed_by_seed_where_both_are_known():
    pairs = paired([3.0, 1.0, math.nan, 5.0], [1.0, 2.0, 1.0, math.nan])
    assert pairs is not None
    assert pairs.values == (2.0, -1.0)
    assert (pairs.mean, pairs.low, pairs.high, pairs.below, pairs.above) == (0.5, -1.0, 2.0, 1, 1)
    assert spread([math.nan]) is None
    assert paired([], []) is None


def test_a_variants_lanes_are_its_seeds_and_one_that_diverged_has_lost_its_metric():
    lost = Outcome(DIVERGED, 30, 2.3, latest={"accuracy": 0.1}, diverged_at=30)
    going = Outcome(UNDER_WAY, 100, 2.3, latest={"accuracy": 0.5})
    first, second, *_ = variants(found(done(0.9, 0.2), going, lost, done(0.8, 0.3)))
    assert (first.places, second.places) == ((0, 1), (2, 3))
    np.testing.assert_equal(first.metrics, (0.9, np.nan))
    np.testing.assert_equal(second.metrics, (0.0, 0.8))
    np.testing.assert_equal(second.losses, (2.3, 0.3))
    assert (first.over, second.over, second.diverged) == (1, 2, 1)


def test_the_first_steps_come_from_the_records_and_nothing_after_them_is_read():
    race = CONFIG.only([0, 2]).changed(steps=12, settings={"width": 2}, batch_size=4)
    bodies: dict[int, list[str]] = {0: [], 1: []}
    for part in records(race):
        for place, record in part.items():
            bodies[place].append(record.body)
    lanes = [first_steps([*bodies[place], "no record"][:-1], 8) for place in (0, 1)]
    assert [lane.steps for lane in lanes] == [tuple(range(1, 9))] * 2
    assert lanes[0].quartiles[0] == lanes[1].quartiles[0]  # the same weights and the same batch
    assert lanes[0].quartiles[2] != lanes[1].quartiles[2]
    assert all(low < median < high for lane in lanes for low, median, high in lane.quartiles)
    # Adam's first update is lr times the sign of each gradient: its root mean square is the rate, where there are some.
    assert 0.05 < lanes[1].update_rms[0] <= 0.1 * (1 + 1e-6)
    assert lanes[0].layers == ("stem", "stage 1", "stage 2", "stage 3", "head")
    assert first_steps([*bodies[0][:2], "not a record"], 8) == lanes[0]
    assert first_steps([], 8) == FirstSteps()


# ---- figures


def test_medians_and_quartiles_stand_side_by_side():
    figure = quartiles_figure({"a": ONE, "b": TWO}, STYLES)
    one, two = figure.data
    np.testing.assert_allclose(one.x, np.array([1, 2, 3]) - APART / 2)
    np.testing.assert_allclose(two.x, [1 + APART / 2])
    assert list(one.y) == [-2.5, -3.0, -3.0]
    assert list(one.error_y.array) == [0.5, 1.0, 2.0]  # the upper quartile less the median
    assert list(one.error_y.arrayminus) == [0.5, 1.0, 0.5]
    assert figure.layout.xaxis.title.text == "step t"
    assert "log₁₀|g|" in figure.layout.yaxis.title.text


def test_updates_leave_out_a_step_that_moves_nothing():
    figure = updates_figure({"a": ONE, "b": TWO}, STYLES)
    assert list(figure.data[0].y) == [0.1, None, 0.05]
    assert (figure.data[1].line.color, figure.data[1].line.dash) == ("#ffffff", "dash")
    assert figure.layout.yaxis.title.text == "update, RMS"
    assert figure.layout.yaxis.type == "log"
    assert figure.layout.yaxis.dtick == 1  # from 0.001 to 0.1
    assert updates_figure({"a": ONE}, STYLES).layout.yaxis.dtick == "D1"  # 0.05 and 0.1: every digit has its number


def test_layers_are_those_of_one_step_and_only_of_lanes_that_have_it():
    figure = layers_figure({"a": ONE, "b": TWO}, STYLES, 1)
    assert [list(trace.x) for trace in figure.data] == [["in", "out"]] * 2
    assert [list(trace.y) for trace in figure.data] == [[1, 2], [100.0, None]]
    assert figure.layout.yaxis.title.text == "gradient norm at step 1"
    assert [trace.name for trace in layers_figure({"a": ONE, "b": TWO}, STYLES, 3).data] == ["a"]


def test_lanes_under_way_are_thin_lines_and_no_part_of_a_mean():
    grid = grid_steps(CONFIG.steps)
    going = Outcome(UNDER_WAY, 20, 2.3, losses=(2.3, None, 1.0))
    ended = Outcome(FINISHED, 500, 2.3, 0.1, losses=(2.0,) * len(grid))
    some = found(ended, going)
    thin, mean = courses_figure(some, grid, under_way=True).data
    np.testing.assert_equal(list(thin.y), [2.3, np.nan, 1.0])
    assert list(thin.x) == grid[:3]
    assert thin.line.width < mean.line.width
    assert set(mean.y) == {2.0}
    assert len(courses_figure(some, grid).data) == 1


# ---- the table and the sentences


def test_the_table_has_ours_seed_by_seed_beside_the_papers():
    table = json.loads(four_steps_json(HALF))["table"]
    assert sum(span for _, span in table["groups"]) == len(table["head"]) == len(table["rows"][0])
    # (0.9 + 0.8)/2 and (0.95 + 0.7)/2; differences 0.05 and -0.1, whose mean is -0.025; 0.1 - 0.2 and 0.4 - 0.4.
    assert table["rows"][0] == [
        "RAdam", "85.00\n80.00 to 90.00", "–", "0.3\n0.2 to 0.4", "–", "2 of 2", "91.08", "0.021", "0.74",
    ]  # fmt: skip
    assert table["rows"][1][1:6] == [
        "82.50\n70.00 to 95.00", "−2.50\n−10.00 to +5.00", "0.25\n0.1 to 0.4", "−0.05\n−0.1 to 0", "2 of 2",
    ]  # fmt: skip
    assert [row[6:] for row in table["rows"][1:]] == [["89.98", "0.060", "2.12"], ["90.29", "0.038", "1.23"], ["–"] * 3]
    assert table["rows"][2][1:6] == ["…", "…", "…", "…", "0 of 2"]
    assert table["places"] == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_a_choice_of_ones_own_has_no_numbers_in_the_paper():
    config = four_steps("digits", 0.1, Choice("gi-adam", "radam", "radam"), seeds=1)
    rows = json.loads(drawn(config.to_json()))["start"]["table"]["rows"]
    assert rows[-1][0] == "GI-Adam for 1-4, then RAdam"
    assert rows[-1][6:] == ["–"] * 3


def test_sentences_count_seeds_on_each_side_and_say_what_chance_does():
    assert comparison_sentences(HALF) == [
        "Adam for steps 1-4, then RAdam, beside RAdam at the same seed: accuracy lower at 1 and higher at 1 of 2, "
        "final loss lower at 1 and equal at 1 of 2.",
        # Two seeds on one side: both lower or both higher, 2 of the 4 ways.
        "If the change made no difference, all 2 seeds would still fall on one side in 1 of 2 such comparisons.",
    ]
    assert comparison_sentences(found()) == []
    lost = Outcome(DIVERGED, 30, 2.3, diverged_at=30)
    told, _ = comparison_sentences(found(done(0.9, 0.2), done(0.8, 0.4), lost, lost))
    assert "accuracy lower at 2" in told
    assert told.endswith("it diverged at 2 of 2.")


def test_notes_follow_the_settings():
    assert "ResNet-8 of width 8" in scale_note(CONFIG)
    assert "at a constant rate" in scale_note(CONFIG)
    assert "with a linear decay" in scale_note(four_steps("numbers", 6e-3))
    assert "steps of 1 example at" in scale_note(four_steps("surfaces", 6e-3))
    assert "is the row *Adam for steps 1-4" in choice_note("digits", Choice("adam", "radam", "radam"))
    assert "the same steps as the row *RAdam*" in choice_note("digits", Choice("momentum", "radam", "radam"))
    assert "is the last row" in choice_note("digits", Choice("adam", "adam", "radam"))


def test_every_task_has_a_table_before_anything_is_trained():
    for task in ("numbers", "text", "images", "surfaces"):
        start = json.loads(drawn(four_steps(task, 1e-2).to_json()))["start"]
        assert start["sentences"] == []
        assert start["table"]["head"][1] in ("exact match, %", "perplexity", "accuracy, %", "distance")
