"""What the tour and its lesson plan say is what the recordings hold, whichever they are."""

from pathlib import Path

import numpy as np
import pytest

from dashboard.tour import outcomes

LESSON = (Path(__file__).resolve().parents[2] / "docs" / "LESSON.md").read_text(encoding="utf-8")
SENTENCES = " ".join(LESSON.split())


def test_what_the_tour_says_of_its_fan_is_what_it_draws():
    assert outcomes.fan_ratio(5) == pytest.approx(3.318, abs=1e-3)
    assert len(outcomes.fan().t) == len(set(outcomes.fan().t))
    # The exact spread of ln(psi) at step 5 is 0.42 of the mean or so: twenty draws cover some four of it.
    assert outcomes.reaches(0.99) == 277


def test_adam_answers_without_looking_and_radam_does_not():
    asked, said, _ = zip(*outcomes.samples("figure-1", "Adam"), strict=True)
    assert (len(set(asked)), len(set(said))) == (4, 1)
    assert all(said == right for _, said, right in outcomes.samples("figure-1", "RAdam"))


def test_the_plan_tells_which_lanes_learn():
    slow = [outcomes.learned("figure-1", label) for label in ("Adam + warmup 200", "RAdam", "GI-Adam")]
    assert all(one.count == one.seeds for one in slow)
    assert outcomes.learned("figure-1", "Adam").count == 0
    assert "the slow starts learn at every seed, Adam at none" in LESSON
    strict = outcomes.learned("figure-1", "Adam-2k")
    assert strict.count < strict.seeds / 2
    assert "a well-filled $v$ does not save Adam-2k, small steps save GI-Adam" in LESSON
    _, *without = outcomes.models()
    assert all(one.count == one.seeds for one in without)
    assert "Pre-LN and the ResNet learn without" in LESSON


def test_the_plan_tells_the_numbers_that_come_out():
    assert outcomes.gradient_fall("Adam") == pytest.approx(3, abs=0.5)
    assert "three powers of ten in ten steps" in LESSON
    short = outcomes.ends("figure-1", "Adam + warmup 50")
    assert f"from {min(short):.1g} to {max(short):.2g} |" in LESSON
    assert f"{outcomes.fan_ratio():.1f} times at step 5" in LESSON
    assert f"{outcomes.reaches(outcomes.SHORT_BETA2)}: a tenth of that" in LESSON


def test_the_plan_answers_the_question_about_smaller_rates():
    adam, _, radam = outcomes.in_force()
    place = int(np.flatnonzero(adam.rates == 0.003)[0])
    same_mean = int(np.argmin(np.abs(radam.multiplier * radam.rates - 0.003)))
    plain = f"{adam.learned[place]} of {len(adam.ends[place])}"
    rectified = f"{radam.learned[same_mean]} of {len(radam.ends[same_mean])}"
    assert f"Adam learns at {plain} seeds, RAdam with the same mean at {rectified}:" in SENTENCES
