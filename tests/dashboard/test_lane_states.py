"""What a lane's loss has done, in words: on losses of real races, and the same in Python and in the browser.

`recorded_losses.json` has them at step 1 and every fourth step, each with the command that trained it, at one torch
thread (`OMP_NUM_THREADS=1`) and seed 0.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dashboard.asked.lane_states import LOSS_STATES, LossCourse, in_words
from demo_models import TASKS
from radam_core.race.plan import FINAL_STEPS

RECORDED: dict[str, list[float]] = {
    name: curve["losses"]
    for name, curve in json.loads(Path(__file__).with_name("recorded_losses.json").read_text(encoding="utf-8")).items()
}
BASELINES = {name: None if name == "has no baseline" else TASKS["numbers"].baseline for name in RECORDED}
LEARNING = ("learns", "learns slowly", "spikes", "begins late", "has no baseline")  # each ends far below half
ON_THE_WAY = {"", "above the baseline", "at the baseline", "at its first loss", "falling"}


def steps_of(losses: list[float]) -> list[int]:
    return [1, *range(4, 4 * len(losses), 4)]


def course_until(name: str, step: int) -> LossCourse:
    course, losses = LossCourse(), RECORDED[name]
    for t, loss in zip(steps_of(losses), losses, strict=True):
        if t <= step:
            course.add([t], [loss])
    return course


def states_of(name: str) -> list[str]:
    """At every recorded step."""
    course, found = LossCourse(), []
    for t, loss in zip(steps_of(RECORDED[name]), RECORDED[name], strict=True):
        course.add([t], [loss])
        found.append(course.state(BASELINES[name]))
    return found


# The means of 20 steps that stand behind the words are beside them; the baseline of `numbers` is 2.82, its half 1.41.
@pytest.mark.parametrize(
    ("name", "step", "mean", "state"),
    [
        ("stuck", 16, 3.08, ""),
        ("stuck", 20, 3.05, "at the baseline"),
        ("stuck", 400, 2.72, "at the baseline"),
        ("learns", 20, 3.28, "above the baseline"),
        ("learns", 40, 2.79, "at the baseline"),
        ("learns", 60, 2.09, "falling"),
        ("learns", 100, 1.20, "learned"),
        ("learns", 400, 0.02, "learned"),
        ("learns slowly", 120, 1.69, "falling"),
        ("learns slowly", 400, 0.47, "learned"),
        ("spikes", 260, 0.72, "learned, spiking (best 0.1846 at step 224)"),
        ("spikes", 400, 0.06, "learned"),
        ("begins late", 200, 3.81, "above the baseline"),
        ("begins late", 232, 2.76, "at the baseline"),
        ("begins late", 260, 1.63, "falling"),
        ("begins late", 400, 0.74, "learned"),
        ("collapses", 164, 0.19, "learned"),
        ("collapses", 320, 1.45, "spiking (best 0.1898 at step 164)"),
        ("collapses", 324, 1.53, "lost what it had learned (best 0.1898 at step 164)"),
        ("collapses", 340, 0.89, "learned, spiking (best 0.1898 at step 164)"),
        ("collapses", 400, 2.68, "lost what it had learned (best 0.1898 at step 164)"),
        ("gets half way", 368, 2.30, "falling"),
        ("gets half way", 440, 2.65, "at the baseline"),
        ("gets half way", 500, 2.40, "standing still (best 2.301 at step 368)"),
        ("has no baseline", 20, 2.33, "at its first loss"),
        ("has no baseline", 60, 1.43, "falling"),
        ("has no baseline", 200, 0.07, "learned"),
    ],
)
def test_the_state_of_a_real_lane_at_a_step(name, step, mean, state):
    course = course_until(name, step)
    recent = [loss for t, loss in zip(steps_of(RECORDED[name]), RECORDED[name], strict=True) if step - 20 < t <= step]
    assert course.now == pytest.approx(sum(recent) / len(recent))
    assert course.now == pytest.approx(mean, abs=0.006)
    assert course.state(BASELINES[name]) == state


@pytest.mark.parametrize("name", LEARNING)
def test_a_lane_that_learns_is_told_nothing_worse_than_where_it_stands_on_the_way(name):
    states = states_of(name)
    learned = next(i for i, state in enumerate(states) if state.startswith("learned"))
    assert set(states[:learned]) <= ON_THE_WAY
    assert all(state.startswith("learned") for state in states[learned:])


def test_a_lane_that_collapses_is_not_told_as_one_that_learned():
    assert in_words("finished", course_until("collapses", 400), BASELINES["collapses"]) == (
        "finished · lost what it had learned (best 0.1898 at step 164)"
    )
    assert set(states_of("stuck")) == {"", "at the baseline"}


def test_every_word_has_its_rule():
    told = {
        part for name in RECORDED for state in states_of(name) if state for part in state.split(" (")[0].split(", ")
    }
    assert {part.replace("its first loss", "the baseline") for part in told} == set(LOSS_STATES) - {"baseline"}


def test_the_browser_says_the_same_at_every_step(scripts):
    """Each loss as a course of its own step, with the baseline and without; also in larger parts, and with a gap."""

    def told_in_the_browser(losses: list[Any], baseline: float | None, size: int) -> list[str]:
        return scripts.evaluate(
            """async ([steps, losses, baseline, size]) => {
                const { LossCourse } = await load("live_loss.js")
                const course = new LossCourse()
                const told = []
                for (let i = 0; i < steps.length; i += size) {
                    course.add(steps.slice(i, i + size), losses.slice(i, i + size))
                    told.push(course.state(baseline))
                }
                return told
            }""",
            [steps_of(losses), losses, baseline, size],
        )

    def told_in_python(losses: list[Any], baseline: float | None, size: int) -> list[str]:
        course, told, steps = LossCourse(), [], steps_of(losses)
        numbers = [math.nan if loss is None else loss for loss in losses]
        for i in range(0, len(steps), size):
            course.add(steps[i : i + size], numbers[i : i + size])
            told.append(course.state(baseline))
        return told

    told = set()
    for losses in RECORDED.values():
        for baseline in (TASKS["numbers"].baseline, None):
            for size in (1, 7):
                for curve in (losses, [*losses[:50], None, None, *losses[52:]]):
                    found = told_in_python(curve, baseline, size)
                    assert told_in_the_browser(curve, baseline, size) == found
                    told |= {state.split(" (")[0] for state in found}
    assert len(told) == 10, told  # every state but "above its first loss"


@pytest.mark.parametrize("first", [0.0, -3.0])
def test_where_nothing_can_be_half_of_the_first_loss_nothing_is_said(first):
    course = LossCourse()
    course.add(range(1, 41), [first] * 40)
    assert course.state(None) == ""
    assert course.state(2.0) == "learned"


def test_a_best_that_is_long_ago_by_the_lanes_own_steps():
    """The best of 1.8 is at step 1020: it counts as late while it is within a fifth of all steps."""
    course = LossCourse()
    course.add(range(1, 1021), [4.0] * 1000 + [1.8] * 20)
    assert course.state(2.82) == "falling"
    course.add(range(1021, 1275), [1.9] * 254)
    assert course.state(2.82) == "falling"
    course.add([1275], [1.9])  # 255 steps ago, a fifth of 1275
    assert course.state(2.82) == "standing still (best 1.8 at step 1020)"
    assert FINAL_STEPS == 20


@pytest.mark.parametrize(
    ("best", "told"), [(7.8e-4, "7.80e-4"), (0.05, "0.05"), (0.123456, "0.1235"), (2e5, "2.00e+5")]
)
def test_a_small_best_is_not_told_as_none(scripts, best, told):
    steps, losses = list(range(1, 61)), [*[4 * best] * 20, *[best] * 20, *[2.2 * best] * 20]
    course = LossCourse()
    course.add(steps, losses)
    assert course.state(4 * best) == f"spiking (best {told} at step 40)"
    drawn = """async ([steps, losses, baseline]) => {
        const { LossCourse } = await load("live_loss.js")
        const course = new LossCourse()
        course.add(steps, losses)
        return course.state(baseline)
    }"""
    assert scripts.evaluate(drawn, [steps, losses, 4 * best]) == course.state(4 * best)


def test_a_lane_that_diverged_has_no_loss_to_speak_of():
    course = course_until("learns", 400)
    assert in_words("diverged at step 401", course, 2.82) == "diverged at step 401"
    assert in_words("stopped", LossCourse(), 2.82) == "stopped"
