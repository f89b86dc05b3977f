"""Appendix C as a sweep: the first settings are the presets that are recorded, and any methods make one."""

import numpy as np
import pytest

from dashboard.asked.config import PHASES
from dashboard.asked.four_steps import LONGEST_LABEL, ROWS, Choice, four_steps, same_row, usual_rate
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.runs.identity import lane_ids
from demo_models import TASKS
from radam_core.methods import METHODS


def test_the_first_settings_are_the_presets_lane_by_lane():
    for task, lr, preset in (("digits", 0.1, "appendix-c"), ("numbers", 6e-3, "appendix-c-numbers")):
        made = four_steps(task, lr)
        assert made == SWEEPS[preset].config
        assert lane_ids(made) == lane_ids(SWEEPS[preset].config)
        assert usual_rate(task) == lr


@pytest.mark.parametrize("first", PHASES)
def test_any_two_methods_make_a_sweep(first):
    for second in PHASES:
        choice = Choice(first, second, "radam")
        made = four_steps("digits", 0.1, choice, seeds=1)
        labels = [one.label for one in made.contenders]
        assert len(labels) == (len(ROWS) if same_row("digits", choice) else len(ROWS) + 1)
        assert max(map(len, labels)) <= LONGEST_LABEL
        assert made.dense_steps == 8


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("after", PHASES)
def test_any_method_may_go_on_from_there_on_any_task(after, task):
    made = four_steps(task, usual_rate(task), Choice("momentum", "adam-linear", after), seeds=2)
    assert made.seeds == (0, 1)
    assert made.size == 2 * len(made.contenders)
    own = made.cells[-1].lane.as_lane(made.steps).method
    assert [last for last, _ in own.phases] == ([4, 8] if after != "adam-linear" else [4])


@pytest.mark.parametrize(
    ("choice", "row"),
    [
        (Choice("radam", "radam", "radam"), "radam"),
        # RAdam's first four steps are momentum steps: rho_4 is below 4 at both values of beta2.
        (Choice("momentum", "radam", "radam"), "radam"),
        (Choice("radam", "adam", "radam"), "sgd-4-adam-8-radam"),
        # GI-Adam is Adam from its second step on.
        (Choice("momentum", "gi-adam", "radam"), "sgd-4-adam-8-radam"),
        (Choice("adam", "adam", "adam"), "adam"),
        (Choice("adam", "adam", "radam"), None),
        (Choice("gi-adam", "radam", "radam"), None),
        (Choice("adam", "radam", "radam-exact"), None),
        (Choice("adam-linear", "radam", "radam"), None),
    ],
)
@pytest.mark.parametrize("task", ["digits", "numbers"])
def test_a_choice_that_takes_the_steps_of_a_row_is_that_row(choice, row, task):
    assert same_row(task, choice) == row


def test_the_own_row_does_in_each_phase_what_was_chosen():
    made = four_steps("digits", 0.1, Choice("adam", "momentum", "adam-eps"), seeds=1)
    method = made.cells[-1].lane.as_lane(made.steps).method
    t = np.arange(1, 13)
    whole = method.coefficients(t)
    for phase, name in ((slice(0, 4), "adam"), (slice(4, 8), "momentum"), (slice(8, 12), "adam-eps")):
        for got, expected in zip(whole, METHODS[name].coefficients(t), strict=True):
            np.testing.assert_array_equal(got[phase], expected[phase])
    assert made.contenders[-1].label == "Adam / Momentum / Adam-eps"


def test_a_warmup_or_a_freeze_ends_within_the_run():
    assert four_steps("digits", 0.1, Choice("adam", "adam", "adam-linear")).cells[-1].lane.warmup_steps == 200
    assert four_steps("digits", 0.1, Choice("adam-2k", "adam", "adam")).cells[-1].lane.frozen_steps == 50


@pytest.mark.parametrize("choice", [Choice("sgd", "adam", "radam"), Choice("adam", "x", "radam"), Choice("a", "", "")])
def test_a_method_that_keeps_other_averages_gets_a_sentence(choice):
    with pytest.raises(ValueError, match=r"the method of steps .* must be one of adam, adam-linear"):
        four_steps("digits", 0.1, choice)


def test_a_rate_that_is_not_allowed_gets_a_sentence():
    with pytest.raises(ValueError, match="lr must be greater than 0"):
        four_steps("digits", 0.0)
