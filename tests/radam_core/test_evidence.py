"""What many runs say together, each measure against cases worked by hand and against a second implementation."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from radam_core.evidence import auc, grid_weights, learns, lr_sensitivity, robust_share, shortest_warmup

NAN = math.nan
UNEVEN = (1, 10, 1000)  # gaps of 1 and 2 decades: widths 1, 1.5 and 2, so that the weights are 2, 3 and 4 ninths
TWO_OF_THREE, ONE_OF_THREE, ALL, NONE = [True, False, True], [False, True, False], [True] * 3, [False] * 3


@pytest.mark.parametrize(
    ("final_loss", "reference", "expected"),
    [
        (0.99, 2.0, True),
        (1.0, 2.0, False),  # exactly half is not below it
        (2.5, 2.0, False),
        (NAN, 2.0, False),  # it diverged
        (1.0, NAN, False),
        (math.inf, 2.0, False),
        (0.0, 1e-30, True),
    ],
)
def test_a_run_learns_below_half_of_the_reference(final_loss, reference, expected):
    assert learns(final_loss, reference) is expected


@pytest.mark.parametrize(
    ("lrs", "expected"),
    [
        ((0.003,), [1]),
        ((0.1, 100), [1 / 2, 1 / 2]),
        ((0.001, 0.01, 0.1, 1), [1 / 4] * 4),
        (UNEVEN, [2 / 9, 3 / 9, 4 / 9]),
        ((0.01, 0.02, 0.16, 0.32), [1 / 6, 2 / 6, 2 / 6, 1 / 6]),  # 1, 3 and 1 octaves: widths 1, 2, 2, 1
    ],
)
def test_a_rate_stands_for_half_of_the_way_to_its_neighbours(lrs, expected):
    assert grid_weights(lrs) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=30)
@given(st.lists(st.integers(-1200, 400).map(lambda k: k / 100), min_size=2, max_size=8, unique=True))
def test_weights_are_the_parts_between_the_borders(decades):
    """A second implementation: borders half way between neighbours, the outer ones as far outwards as the inner ones
    are inwards; a weight is the part of the whole between its two borders."""
    logs = sorted(decades)
    inner = [(a + b) / 2 for a, b in itertools.pairwise(logs)]
    borders = [2 * logs[0] - inner[0], *inner, 2 * logs[-1] - inner[-1]]
    parts = np.diff(borders) / (borders[-1] - borders[0])
    found = grid_weights([10**x for x in logs])
    assert found == pytest.approx(parts, rel=1e-6)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("lrs", [(0.1, 0.01), (0.1, 0.1), (1, 3, 2)])
def test_rates_must_rise(lrs):
    with pytest.raises(ValueError, match="lrs must rise, got"):
        grid_weights(lrs)


@pytest.mark.parametrize(
    ("values", "better", "expected"),
    [
        ((0.90, 0.96, 1.00), "higher", 7 / 9),  # at least 0.95
        ((0.90, 0.94, 1.00), "higher", 4 / 9),
        ((1.06, 1.04, 1.00), "lower", 7 / 9),  # at most 1.05
        ((1.00, 9.00, 1.00), "lower", 6 / 9),  # two are best, and lie apart
        ((3.00, 3.00, 3.00), "higher", 1),
        ((0.00, 0.00, 0.00), "higher", 1),
        ((0.00, 0.01, 0.00), "lower", 6 / 9),  # 5% of nothing is nothing
        ((-1.00, -0.96, -0.90), "lower", 5 / 9),  # at most -0.95: the margin is on the worse side whatever the sign
        ((-1.00, -1.04, -1.10), "higher", 5 / 9),  # at least -1.05
        ((NAN, 1.00, 0.99), "higher", 7 / 9),
        ((1.00, NAN, NAN), "lower", 2 / 9),
        ((NAN, NAN, NAN), "higher", 0),
    ],
)
def test_robust_share_is_the_part_of_the_grid_within_five_percent(values, better, expected):
    assert robust_share(UNEVEN, values, better) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("final", "first", "expected"),
    [
        ((1, 2), (4, 4), 1 / 2),  # 3/2 - 1
        ((2, 2, 2), (5, 5, 5), 0),
        ((1, 2, NAN), (4, 4, 4), 4 / 3),  # ends 1, 2, 4: 7/3 - 1
        ((1, 9), (3, 3), 1),  # ends 1, 3: 2 - 1
        ((1, math.inf), (3, 3), 1),
        ((NAN, NAN), (2, 4), 1),  # ends 2, 4: 3 - 2
        ((0.5,), (7,), 0),
    ],
)
def test_sensitivity_is_the_mean_end_less_the_best(final, first, expected):
    assert lr_sensitivity(final, first) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("learned", "steps", "expected"),
    [
        ({0: NONE, 100: TWO_OF_THREE, 200: ALL}, math.inf, 100),  # two thirds of 3 seeds are 2
        ({0: NONE, 100: ONE_OF_THREE, 200: ALL}, math.inf, 200),
        ({0: ALL, 100: NONE, 200: ALL}, math.inf, 200),  # from which on
        ({0: ALL, 100: ALL, 200: NONE}, math.inf, None),
        ({200: ALL, 0: ALL, 100: ALL}, math.inf, 0),  # in whatever order they are
        ({0: NONE, 100: NONE}, math.inf, None),
        ({}, math.inf, None),
        ({0: NONE, 100: ALL, 500: NONE}, 300, 100),  # 500 says nothing in 300 steps
        ({0: NONE, 100: NONE, 500: ALL}, 300, None),
        ({300: ALL}, 300, 300),
        ({500: ALL, 1000: ALL}, 300, None),
        ({50: [True] * 3 + [False] * 2}, math.inf, None),  # 3 of 5 are less than two thirds
        ({50: [True] * 4 + [False] * 2}, math.inf, 50),  # 4 of 6 are two thirds
        ({50: [True]}, math.inf, 50),
    ],
)
def test_the_shortest_warmup_from_which_on_most_seeds_learn(learned, steps, expected):
    assert shortest_warmup(learned, steps) == expected


@settings(max_examples=50)
@given(
    st.dictionaries(st.integers(0, 9), st.lists(st.booleans(), min_size=1, max_size=7), max_size=6),
    st.integers(0, 9),
)
def test_the_shortest_warmup_by_its_definition(learned, steps):
    """In whole numbers: a length works if 3 times those that learned are at least 2 times the seeds."""
    known = [length for length in learned if length <= steps]
    works = {length: 3 * sum(learned[length]) >= 2 * len(learned[length]) for length in known}
    from_there_on = [length for length in known if all(works[longer] for longer in known if longer >= length)]
    assert shortest_warmup(learned, steps) == min(from_there_on, default=None)


@pytest.mark.parametrize(
    ("failed", "learned", "expected"),
    [
        ([3], [1, 2], 1),
        ([1], [2, 3], 0),
        ([1, 1], [1, 1, 1], 1 / 2),
        ([2, 2], [1, 2], 3 / 4),  # of four pairs two are won and two are ties
        ([1, 4], [2, 3, 5], 2 / 6),  # 4 > 2 and 4 > 3
        ([NAN, 3], [1, NAN], 1),  # without a score they are passed over
        ([1], [], None),
        ([], [1, 2], None),
        ([], [], None),
        ([NAN], [1], None),  # nothing is left of the one kind
    ],
)
def test_auc_counts_the_pairs_that_a_score_tells_apart(failed, learned, expected):
    found = auc([*failed, *learned], [True] * len(failed) + [False] * len(learned))
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-12))


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(-3, 3) | st.floats(-1e6, 1e6), st.booleans()), min_size=2, max_size=40))
def test_auc_is_the_area_under_the_curve(cells):
    """Against scikit-learn's, which integrates the ROC curve; turned round, the score tells the other way round."""
    scores, failed = [score for score, _ in cells], [lost for _, lost in cells]
    if len(set(failed)) < 2:
        assert auc(scores, failed) is None
        return
    assert auc(scores, failed) == pytest.approx(roc_auc_score(failed, scores), rel=1e-12, abs=1e-12)
    assert auc([-score for score in scores], failed) == pytest.approx(1 - auc(scores, failed), abs=1e-12)
