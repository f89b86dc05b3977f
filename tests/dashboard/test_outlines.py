"""A lane in outline: what its records say, against a second, naive reading of the same records and frames."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import lane
from dashboard.evidence.outcomes import DIVERGED, FINISHED, UNDER_WAY, WAITING, Outcome
from dashboard.evidence.signs import AT_STEPS, SIGNS
from dashboard.evidence.steps import grid_steps
from dashboard.headless import Recording, frames, records
from dashboard.runs.outlines import FORM, Outline, from_json, median_log10, to_json
from dashboard.runs.records import decode, encode, pack_counts, unpack_counts
from radam_core.race.frames import BIN_OF_ONE, BINS, COUNTED, schedule_columns
from radam_core.race.quantities import BY_GROUP
from radam_core.race.threads import one_thread
from radam_core.theory import rho, rho_inf, variance_log_psi_exact

BIN = math.log10(2)  # a bin's width
WARMUP = 100
# The last lane: without momentum, on a curvature of 100, y is multiplied by 1 - 2.06 = -1.06 a step. The loss begins at
# 8 + 50 and is lost above 5,800 = 50 * 1.06^(2 (t - 1)): at t = 1 + ln 116 / (2 ln 1.06) = 41.8, so at step 42.
VALLEY = RaceConfig.make(
    {
        "task": "surfaces",
        "settings": {"surface": "quadratic", "noise": 0.1},
        "steps": 130,
        "steps_per_frame": 20,
        "record_every": 1,
        "evaluate_every": 30,
        "lanes": [
            lane("adam", 0.02),
            lane("adam-linear", 0.02, "Adam + warmup", warmup_steps=WARMUP),
            lane("radam", 0.02, beta2=0.99),
            lane("sgd", 0.0005),
            lane("sgd", 0.0206, "too fast", beta1=0.0),
        ],
    }
)
LOST = 4
WORDS = RaceConfig.make(
    {
        "task": "numbers",
        "settings": {"depth": 1, "width": 8, "heads": 1},
        "steps": 52,
        "steps_per_frame": 10,
        "batch_size": 2,
        "evaluate_every": 52,
        "lanes": [lane("adam", 0.01)],
    }
)


def trained(config):
    """The bodies of every lane's records, by lane."""
    told = [[] for _ in config.lanes]
    with one_thread():
        for found in records(config):
            for place, record in found.items():
                told[place].append(record)
    return told


def outline(config, place, told):
    made = Outline.of_task(config.plan().lanes[place], config.task, config.steps)
    for record in told:
        made.add(record.body)
    return made


@pytest.fixture(scope="module")
def valley():
    return trained(VALLEY)


@pytest.fixture(scope="module")
def valley_frames():
    with one_thread():
        return list(frames(VALLEY))


@pytest.fixture(scope="module")
def words_frames():
    with one_thread():
        return list(frames(WORDS))


@pytest.fixture(scope="module")
def words(words_frames):
    return [[encode(frame, 0) for frame in words_frames]]


def recorded(told):
    """Of a lane: loss by step."""
    parts = [decode(record.body) for record in told]
    return {int(t): float(loss) for part in parts for t, loss in zip(part.steps, part.columns["loss"], strict=True)}


def mean_before(losses, t):
    """The recorded ones of the last 20 steps up to t."""
    return np.mean([loss for step, loss in losses.items() if t - 20 < step <= t])


# ---- the course and the end


@pytest.mark.parametrize(
    ("steps", "expected"),
    [(1, [1]), (3, [1, 2, 3]), (60, list(range(1, 61))), (600, [1, *range(10, 601, 10)])],
)
def test_the_steps_of_a_course(steps, expected):
    assert grid_steps(steps) == expected


@pytest.mark.parametrize("place", range(len(VALLEY.lanes)))
def test_a_lane_ends_as_its_recording_does(valley, place):
    recording = Recording(VALLEY)
    for record in valley[place]:
        recording.add(place, record)
    found, other = outline(VALLEY, place, valley[place]).outcome, recording.lanes[place]
    assert found.final_loss == pytest.approx(other.final_loss, rel=1e-6, nan_ok=True)
    assert (found.status, found.diverged_at, found.last) == (other.status, other.diverged_at, other.last)
    assert found.latest == pytest.approx(dict(other.latest), rel=1e-6)
    assert math.isnan(found.final_loss) == (place == LOST)


@pytest.mark.parametrize("place", range(LOST))
def test_a_loss_is_the_mean_of_the_last_steps(valley, place):
    found, losses = outline(VALLEY, place, valley[place]).outcome, recorded(valley[place])
    grid = grid_steps(VALLEY.steps)
    assert len(losses) == VALLEY.steps
    assert found.first_loss == losses[1]
    assert found.losses == pytest.approx([mean_before(losses, t) for t in grid], rel=2e-6)
    assert found.final_loss == pytest.approx(mean_before(losses, VALLEY.steps), rel=2e-6)
    assert found.losses[-1] == pytest.approx(found.final_loss, rel=1e-6)


@pytest.mark.parametrize("place", [0, LOST])
def test_a_metric_is_carried_forward_until_the_next(valley, valley_frames, place):
    measured = {t: float(found["distance"][place]) for frame in valley_frames for t, found in frame.metrics.items()}
    assert list(measured) == [30, 60, 90, 120, 130]
    found = outline(VALLEY, place, valley[place]).outcome
    grid = [t for t in grid_steps(VALLEY.steps) if t <= found.last]
    known = {t: value for t, value in measured.items() if found.diverged_at is None or t < found.diverged_at}
    expected = [next((known[t] for t in sorted(known, reverse=True) if t <= step), None) for step in grid]
    assert found.metrics[0] is None
    assert found.metrics == tuple(None if value is None else pytest.approx(value, rel=1e-6) for value in expected)


def test_a_lane_that_diverged_has_a_course_and_no_end(valley):
    made = outline(VALLEY, LOST, valley[LOST])
    found, losses = made.outcome, recorded(valley[LOST])
    assert found.status == DIVERGED
    assert found.diverged_at == found.last == 42
    assert losses[found.diverged_at] > 100 * losses[1] >= losses[found.diverged_at - 1]  # the race's rule
    assert (found.over, made.complete, math.isnan(found.final_loss)) == (True, True, True)
    grid = [t for t in grid_steps(VALLEY.steps) if t <= found.last]
    assert found.losses == pytest.approx([mean_before(losses, t) for t in grid], rel=2e-6)
    assert set(found.signs["gradient"]) == {10, 25}
    assert found.latest.keys() == {"distance"}  # as it was at step 30


def test_a_lane_is_waiting_then_under_way_then_finished(valley):
    made, seen = outline(VALLEY, 0, []), []
    assert (made.outcome.status, made.outcome.over, made.outcome.losses) == (WAITING, False, ())
    grid = grid_steps(VALLEY.steps)
    for record in valley[0]:
        made.add(record.body)
        found = made.outcome
        seen.append(found.status)
        assert (made.records, found.last) == (len(seen), record.last)
        assert len(found.losses) == len(found.metrics) == sum(t <= record.last for t in grid)
        assert math.isnan(found.final_loss) == (not record.ends)
    assert seen == [UNDER_WAY] * (len(valley[0]) - 1) + [FINISHED]


@pytest.fixture(scope="module")
def sparse():
    """Every third step, in frames of 10: most steps of the course, and of the signs, lie between the recorded ones."""
    config = VALLEY.changed(record_every=3, steps_per_frame=10, lanes=[lane("adam", 0.02)])
    return config, trained(config)[0]


def test_a_loss_does_not_look_ahead_to_the_next_recorded_step(sparse):
    config, told = sparse
    losses = recorded(told)
    assert {1, 3, 6, 129, 130} <= set(losses)
    assert not {2, 4, 7} & set(losses)
    found = outline(config, 0, told).outcome
    expected = [mean_before(losses, t) for t in grid_steps(config.steps)]
    assert found.losses == pytest.approx(expected, rel=2e-6)


def test_the_signs_do_not_depend_on_how_often_a_lane_is_recorded(sparse, valley):
    """It is the same lane; and a sign at step 10 is of step 10."""
    config, told = sparse
    found, every = outline(config, 0, told).outcome.signs, outline(VALLEY, 0, valley[0]).outcome.signs
    assert set(found) == set(every)
    for name, expected in every.items():
        assert found[name] == pytest.approx(expected, rel=1e-4), name


# ---- the early signs


def histograms(found):
    return {histogram.t: histogram for frame in found for histogram in frame.histograms}


def column(found, name, t, place):
    return next(float(f.columns[name][list(f.steps).index(t), place]) for f in found if t in f.steps)


@pytest.mark.parametrize("t", AT_STEPS)
@pytest.mark.parametrize("place", range(LOST))
def test_the_signs_of_a_lane_are_those_of_its_frames(valley, valley_frames, place, t):
    signs = outline(VALLEY, place, valley[place]).outcome.signs
    counts = {step: histogram.counts[0, place].sum(0) for step, histogram in histograms(valley_frames).items()}
    assert signs["gradient"][t] == pytest.approx(median_log10(counts[t]), rel=1e-5)
    assert signs["gradient_fall"][t] == pytest.approx(median_log10(counts[1]) - median_log10(counts[t]), abs=1e-5)
    for name in ("update_rms", "relative_update"):
        assert signs[name][t] == pytest.approx(column(valley_frames, name, t, place), rel=1e-5)
    assert "layers" not in signs  # a point has one group of parameters


@pytest.mark.parametrize("t", AT_STEPS)
def test_the_multiplier_is_the_warmup_or_the_rectification(valley, t):
    """Adam 1, a linear warmup t / T_w, RAdam the paper's r_t, SGD 1."""
    ends, rho_t = float(rho_inf(0.99)), float(rho(t, 0.99))
    r_t = math.sqrt((rho_t - 4) * (rho_t - 2) * ends / ((ends - 4) * (ends - 2) * rho_t))
    found = [outline(VALLEY, place, valley[place]).outcome.signs["multiplier"][t] for place in range(LOST)]
    assert found == pytest.approx([1, t / WARMUP, r_t, 1], rel=1e-5)
    assert found == pytest.approx(schedule_columns(VALLEY.plan().lanes[:LOST], [t])["multiplier"][0], rel=1e-5)


@pytest.mark.parametrize("t", AT_STEPS)
def test_the_spread_in_theory_is_that_of_psi_times_the_square_of_the_multiplier(valley, t):
    signs = [outline(VALLEY, place, valley[place]).outcome.signs for place in range(LOST)]
    for place, beta2 in enumerate((0.999, 0.999, 0.99)):
        expected = float(variance_log_psi_exact(t, beta2)) * signs[place]["multiplier"][t] ** 2
        assert signs[place]["psi_theory"][t] == pytest.approx(expected, rel=3e-5)
    assert signs[1]["psi_theory"][t] == pytest.approx(signs[0]["psi_theory"][t] * (t / WARMUP) ** 2, rel=1e-5)
    assert "psi_theory" not in signs[3]  # SGD adapts nothing


@pytest.mark.parametrize("t", AT_STEPS)
def test_the_signs_of_a_network(words, words_frames, t):
    signs = outline(WORDS, 0, words[0]).outcome.signs
    found = histograms(words_frames)
    norms = found[t].by_group["grad_norm"][0]
    assert len(norms) > 1
    assert signs["layers"][t] == pytest.approx(float(norms[0]) / float(norms[-1]), rel=1e-5)
    for name in {sign.name for sign in SIGNS} & set(found[t].spread):
        expected = float(found[t].spread[name][0])
        assert signs.get(name, {}).get(t, math.nan) == pytest.approx(expected, rel=1e-5, nan_ok=True)
    assert signs["psi_across"][t] > 0
    assert set(signs) <= {sign.name for sign in SIGNS}


def test_what_is_measured_at_no_early_step_is_no_sign(words):
    signs = outline(WORDS, 0, words[0]).outcome.signs
    assert {t for found in signs.values() for t in found} == set(AT_STEPS)
    short = outline(WORDS, 0, words[0][:-1]).outcome  # frames of 10 steps: all but the last have come to 50
    assert short.last == 50
    assert short.signs == signs


# ---- medians of histograms


def counted(values):
    """By powers of two, from the numbers' own exponents: |x| = m 2^e with m from 1/2, so that it is in bin e - 1."""
    counts = np.zeros(BINS, np.int64)
    for value in values:
        counts[math.frexp(value)[1] - 1 + BIN_OF_ONE if value else 0] += 1
    return counts


@settings(max_examples=60)
@given(st.lists(st.floats(-35, 35).map(lambda x: 10**x), min_size=1, max_size=41).filter(lambda x: len(x) % 2))
def test_a_median_is_right_within_a_bin(values):
    """Of an odd number of values it is one of them, and in its bin. Between two it would lie anywhere between."""
    assert abs(median_log10(counted(values)) - np.median(np.log10(values))) <= BIN * (1 + 1e-9)


def test_a_median_of_many_is_right_to_a_few_percent_of_a_bin():
    values = np.exp(np.random.default_rng(0).normal(-3, 2, 20_000))
    assert median_log10(counted(values)) == pytest.approx(np.median(np.log10(values)), abs=0.05 * BIN)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.5], BIN / 2),  # one of two in the bin from 1 to 2: half of it
        ([1.0, 4.0, 4.5, 5.0], 2 * BIN + BIN / 3),  # the first of three in the bin from 4 to 8
        ([0.0, 0.0, 1.0], (-BIN_OF_ONE + 0.75) * BIN),  # zeros are least: 3/2 of 2 in bin 0
        ([0.0, 2.0, 3.0], BIN + BIN / 4),  # 1/2 of 2 in the bin from 2 to 4
        ([], math.nan),
    ],
)
def test_a_median_lies_straight_between_the_ends_of_its_bin(values, expected):
    assert median_log10(counted(values)) == pytest.approx(expected, rel=1e-12, nan_ok=True)


# ---- counts in records


@settings(max_examples=60)
@given(
    st.lists(
        st.dictionaries(st.integers(0, BINS - 1), st.integers(0, 2**32 - 1), max_size=6), min_size=1, max_size=6
    ).map(lambda rows: [[row.get(k, 0) for k in range(BINS)] for row in rows])
)
def test_counts_are_the_same_after_they_were_packed(rows):
    counts = np.array(rows, np.uint32)
    np.testing.assert_array_equal(unpack_counts(pack_counts(counts)), counts)


@pytest.mark.parametrize("race", ["valley", "words"])
def test_the_histograms_of_a_record_are_those_of_its_frame(race, request):
    told, found = request.getfixturevalue(race), request.getfixturevalue(f"{race}_frames")
    by_step = histograms(found)
    read = {histogram.t: histogram for record in told[0] for histogram in decode(record.body).histograms}
    assert set(read) == set(by_step) >= {1, 5, *AT_STEPS}
    for t, histogram in read.items():
        expected = by_step[t]
        assert histogram.counts().shape == (len(COUNTED), len(expected.groups), BINS)
        np.testing.assert_array_equal(histogram.counts(), expected.counts[:, 0])
        for name in BY_GROUP:
            np.testing.assert_array_equal(histogram.by_group(name), expected.by_group[name][0])
        known = {name: values[0] for name, values in expected.spread.items() if np.isfinite(values[0])}
        assert histogram.spread == pytest.approx({name: float(value) for name, value in known.items()}, rel=1e-6)


# ---- kept as text


@pytest.mark.parametrize("place", [0, 2, LOST])
def test_an_outcome_is_the_same_after_it_was_written(valley, place):
    found = outline(VALLEY, place, valley[place]).outcome
    text = to_json(found)
    again = from_json(text)
    assert to_json(again) == text
    for field in dataclasses.fields(Outcome):
        if field.name not in ("first_loss", "final_loss"):
            assert getattr(again, field.name) == getattr(found, field.name), field.name
    assert (again.first_loss, again.final_loss) == pytest.approx(
        (found.first_loss, found.final_loss), rel=1e-6, nan_ok=True
    )
    assert len(text) < 5000


def test_an_outcome_of_which_nothing_is_known_is_one():
    again = from_json(to_json(Outcome()))
    assert math.isnan(again.first_loss)
    assert math.isnan(again.final_loss)
    assert (again.status, again.losses, dict(again.signs), again.diverged_at) == (WAITING, (), {}, None)


@pytest.mark.parametrize("form", [FORM + 1, FORM - 1, None, "missing"])
def test_an_outline_of_another_form_is_made_again(form):
    plain = {**json.loads(to_json(Outcome())), "form": form}
    if form == "missing":
        del plain["form"]
    assert from_json(json.dumps(plain)) is None
