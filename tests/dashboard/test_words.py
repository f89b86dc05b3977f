"""Sentences, formulas and snippets say what `radam_core` says, at settings where they could be wrong."""

import re

import numpy as np
import pytest

from dashboard.figures.methods import WARMUP_CURVES, authors_adam_2k_factors
from dashboard.figures.results import Settling
from dashboard.forms import controls
from dashboard.words import formulas, snippets
from dashboard.words import sentences as words
from radam_core import theory
from radam_core.comparison import closest_warmup, effective_warmups, warmup_factors
from radam_core.methods import METHODS, PROFILES
from radam_core.schedules import linear_warmup


@pytest.mark.parametrize(("t", "beta2"), [(5, 0.999), (1, 0.9), (100, 0.99)])
def test_rho_formula_has_the_numbers_of_the_step(t, beta2):
    limit = 2 / (1 - beta2) - 1
    value = limit - 2 * t * beta2**t / (1 - beta2**t)
    text = formulas.rho_formula(t, beta2).replace("{,}", "")
    assert rf"2 \cdot {t} \cdot {beta2:g}^{{{t}}}" in text
    assert f"= {value:.5g}, " in text
    assert text.endswith(f"= {limit:.5g}")


def test_rectification_formula_tells_not_defined_from_not_used():
    used = formulas.rectification_formula(100, 0.999, 4.0)
    rho_t, limit = theory.rho(100, 0.999), 1999.0
    by_hand = np.sqrt((rho_t - 4) * (rho_t - 2) * limit / ((limit - 4) * (limit - 2) * rho_t))
    assert used.endswith(f"= {by_hand:.4f}")
    # rho_4 is just below 4 and rho_5 = 4.996 between the thresholds: defined, but with threshold 5 not used.
    assert r"not defined: } \rho_t = 3.9975 \le 4" in formulas.rectification_formula(4, 0.999, 5.0)
    between = formulas.rectification_formula(5, 0.999, 5.0)
    assert "not defined" not in between
    assert f"= {float(theory.rectification(5, 0.999)):.4f}" in between
    assert r"not used yet: } \rho_t \le 5" in between
    assert "not used" not in formulas.rectification_formula(6, 0.999, 5.0)


def test_every_drawn_warmup_has_a_line_with_formula_and_source():
    assert WARMUP_CURVES.keys() == warmup_factors(1, 0.999, 1, 1).keys()
    lines = formulas.warmup_lines().splitlines()
    assert len(lines) == 6
    for line in lines:
        assert re.fullmatch(r"- \*\*.+\*\*, \$w_t = .+\$: .+ \*.+ 20\d\d\*", line), line


def test_beta2_facts_at_one_threshold_and_at_two():
    facts, cost = controls.beta2_facts(0.999, (4.0,)), effective_warmups(0.999, 0, 0, 4.0)["radam"]
    assert f"starts at step 5 and costs **{cost:,.0f} full-rate steps**, as a linear warmup over" in facts
    length = float(facts.rsplit(" ", 1)[1].replace(",", ""))
    assert theory.effective_warmup(linear_warmup(length)(np.arange(1, 5000))) == pytest.approx(cost, abs=0.5)
    assert "starts at step 8" in controls.beta2_facts(0.65, (4.0,))
    assert "never starts" not in controls.beta2_facts(0.65, (4.0,))
    five = controls.beta2_facts(0.65, (5.0,))
    assert "never starts" in five
    assert "costs" not in five
    both = controls.beta2_facts(0.65, (4.0, 5.0))
    assert "threshold 4: $r_t$ starts at step 8" in both
    assert "threshold 5: **$r_t$ never starts**" in both


def test_implementations_that_never_rectify_are_named_with_what_they_do():
    assert words.never_rectified_profiles(0.7, list(PROFILES)) is None
    assert words.never_rectified_profiles(0.65, ["paper"]) is None
    at_065 = words.never_rectified_profiles(0.65, list(PROFILES))
    assert "The authors' code** waits for $\\rho_t$ to reach 5 and never takes a step." in at_065
    assert at_065.count("momentum steps for ever") == 3
    assert "The paper" not in at_065
    assert words.never_rectified_profiles(0.6, list(PROFILES)).count("momentum steps for ever") == 4


@pytest.mark.parametrize(("shape", "rule"), [("linear", "2,000"), ("exponential", "1,000")])
def test_closest_sentence_gives_length_distance_and_rule(shape, rule):
    closest = closest_warmup(0.999, shape)
    sentence = words.closest_sentence(shape, closest, 0.999)
    assert f"**{closest.length:,.0f} steps**" in sentence
    assert f"{closest.rms_difference:.3f}" in sentence
    assert f"says {rule}." in sentence
    assert "never starts" in words.closest_sentence(shape, closest_warmup(0.6, shape), 0.6)


def test_sentences_about_real_gradients_say_their_numbers():
    told = words.real_gradients_sentence(np.array([5.0, 100.0]), np.array([1.304, 1.1]))
    assert "**1.10 to 1.30 times** that of Gaussian gradients" in told
    assert "(steps 5 to 100; 1.10 at the last)" in told
    told = words.means_sentence(100.0, 0.0051, 0.004, 0.39)
    assert "is 0.0051 at step 100, and that of the exact variance at each one's own $\\mu/\\sigma$ is 0.004" in told
    assert "The median $\\mu/\\sigma$ is 0.39" in told
    assert words.left_out_sentence(19_074, 0, 5.0) == "All 19,074 parameters are in it."
    assert "11,360 of the 37,268 parameters (**30%**) are left out" in words.left_out_sentence(25_908, 11_360, 5.0)
    assert "no gradient by step 5." in words.left_out_sentence(25_908, 11_360, 5.0)


def test_variance_sentence_compares_step_five_with_the_last():
    t = np.array([3.0, 5.0, 6000.0])
    exact = theory.variance_exact(t, 0.999)
    assert (
        f"At step 5 the variance is **{exact[1] / exact[2]:,.0f} times** that at step 6,000"
        in words.variance_sentence(t, exact)
    )
    assert "**1.4 times**" in words.variance_sentence(t, np.array([3.0, 1.4, 1.0]))


SIZE = Settling(start=1.0, final=0.16, step=29, hardly_changes=False, last=6000)
VARIANCE = Settling(start=1.1, final=0.00025, step=3072, hardly_changes=False, last=6000)


@pytest.mark.parametrize(
    ("size", "variance", "known", "beta2", "said", "unsaid"),
    [
        (
            SIZE,
            VARIANCE,
            53,
            0.999,
            ["**step 29**", "from **step 53** on", "**step 3,072**", "starts at step 5"],
            "hardly",
        ),
        (SIZE, Settling(1.0, 0.03, 20, False, 200), None, 0.9, ["**never falls to a tenth**"], "below a tenth"),
        (SIZE, Settling(1.0, 0.01, None, False, 12_000), 53, 0.9999, ["still falling at step 12,000"], "1,2"),
        (Settling(1.0, 1.0, 1, True, 6000), VARIANCE, 3, 0.999, ["hardly changes", "first is finite"], "falls from"),
        (SIZE, Settling(1.3, 0.31, 7, False, 200), None, 0.5, ["never rectifies"], "starts at"),
    ],
    ids=["usual", "never known", "not settled", "flat", "never"],
)
def test_size_sentence_says_only_what_the_curves_show(size, variance, known, beta2, said, unsaid):
    sentence = words.size_sentence(size, variance, known, beta2)
    for part in [*said, "no evidence of which does the harm"]:
        assert part in sentence
    assert unsaid not in sentence
    assert "settles first" not in sentence.replace("Which of them settles first is no evidence", "")


def test_size_sentence_gives_r_where_the_size_settles_and_where_the_rate_is_known():
    sentence = words.size_sentence(SIZE, VARIANCE, 53, 0.999)
    for step in (29, 53):
        assert f" {theory.rectification(step, 0.999):.2g} at step {step}" in sentence


@pytest.mark.parametrize(("beta1", "beta2"), [(0.9, 0.999), (0.0, 0.99)])
def test_bound_sentence_has_the_bound_of_gradients_that_reach_it(beta1, beta2):
    def reached(t):
        ages = np.arange(t)[::-1]
        a, w = beta1**ages / np.sum(beta1**ages), beta2**ages / np.sum(beta2**ages)
        g = a / w
        return a @ g / np.sqrt(w @ g**2)

    sentence = words.bound_sentence(beta1, beta2)
    assert f"1 at step 1, {reached(5):.3g} at step 5, {reached(20_000):.2g} in the limit" in sentence
    assert "without a limit" in words.bound_sentence(0.99, 0.9)


def test_rise_sentence_starts_where_the_threshold_is_passed():
    assert f"starts at {theory.rectification(5, 0.999):.2g} in step 5, has reached 0.65 by step 1,000" in (
        words.rise_sentence(0.999, 4.0)
    )
    assert "in step 6," in words.rise_sentence(0.999, 5.0)
    assert "by step" not in words.rise_sentence(0.65, 4.0)  # it starts after the memory of three steps
    assert "never starts" in words.rise_sentence(0.65, 5.0)


def test_rectified_sentence_says_how_much_variance_the_first_step_is_left():
    left = theory.rectification(5, 0.99) ** 2 * theory.variance_exact(5, 0.99) / theory.variance_exact(np.inf, 0.99)
    assert f"at step 5 it leaves {left:.2g} of that" in words.rectified_sentence(0.99)
    assert "no $r_t$" in words.rectified_sentence(0.6)


def test_adam_2k_in_the_authors_code_is_described_by_its_factors():
    said = authors_adam_2k_factors()
    assert said.startswith(", ".join(f"{1 - 0.9**k:.2g}" for k in (1, 2, 3)))
    assert 1 - 0.9**21 < 0.9 < 1 - 0.9**22
    assert "above 0.9 from $k$ = 22 on" in said
    assert METHODS["adam-2k"].betas[0] == 0.9


@pytest.mark.parametrize(
    ("profile", "reasons"),
    [
        ("paper", ["rectify above 4"]),
        ("authors", ["take no step below the threshold"]),
        ("optax", ["add epsilon after bias correction"]),
        ("keras", ["add epsilon after bias correction"]),
    ],
)
def test_why_not_torch_names_each_setting_that_torch_lacks(profile, reasons):
    assert snippets.torch_snippet(profile, 1e-3, (0.9, 0.999), 0.0) is None
    assert snippets.why_not_torch(profile) == f"`torch.optim.RAdam` cannot be told to {' or to '.join(reasons)}."
