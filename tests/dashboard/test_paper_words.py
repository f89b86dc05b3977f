"""What the paper's rows say in words: readings that hold in the recordings, the paper's own numbers, the sizes of ours,
and the rows of theory by other means than the core's."""

import re
import statistics

import numpy as np
import pytest
from scipy.special import gammaln

from dashboard.asked.sweep_presets import MAP_RATES, SWEEPS
from dashboard.paper.claims import AGREES, NOT_HERE, PARTLY
from dashboard.paper.measures import ACCURACY, EXACT_MATCH, FAILED_RATES, FINAL_LOSS, PERPLEXITY, by_seed
from dashboard.paper.results import judge, recorded_findings, results
from dashboard.paper.rows import LEARNS, ROWS, Claim
from demo_models import TASKS
from radam_core.theory import rectification


def test_what_the_readings_say_of_lanes_that_are_not_judged():
    figure_1, rates, text = (recorded_findings(name)[0] for name in ("figure-1", "map", "language-model"))
    labels = ("Adam-eps 1e-2", "Adam + warmup 200")
    large_eps, warm = (by_seed(figure_1, label, FINAL_LOSS, {}) for label in labels)
    assert all(loss < 0.5 * 2.8207 for loss in large_eps.values()), "it learns"
    assert statistics.mean(large_eps.values()) > statistics.mean(warm.values()), "and ends above the warmup of 200"
    exact = by_seed(figure_1, "Adam + warmup 50", EXACT_MATCH, {})
    assert sum(share < 0.5 for share in exact.values()) == 1, "it fails at one seed of five"
    assert len(exact) == 5
    failed = by_seed(rates, "Adam + warmup", FAILED_RATES, {"warmup_steps": 1000})
    assert all(count <= 1 for count in failed.values()), "it learns at nearly all of the eight rates"
    for seed in failed:
        spans = {}
        for label, at in (("RAdam", {}), ("Adam + warmup", {"warmup_steps": 0})):
            ends = [by_seed(rates, label, FINAL_LOSS, {"lr": lr, **at})[seed] for lr in MAP_RATES]
            spans[label] = max(ends) / min(ends)
        assert spans["RAdam"] > spans["Adam + warmup"], "by the decades the order is the other way round"
    adam, warmed = (by_seed(text, label, PERPLEXITY, {}) for label in ("Adam", "Adam + warmup"))
    assert statistics.mean(warmed.values()) > statistics.mean(adam.values())


def test_what_the_readings_say_of_the_judged_lanes():
    figure_1, rates = (recorded_findings(name)[0] for name in ("figure-1", "map"))
    for label, seeds in (("Adam + warmup 200", 5), ("RAdam", 5), ("Adam", 0)):
        assert judge(figure_1, Claim(FINAL_LOSS, label, LEARNS)).held == f"{seeds} of 5"
    tuned, plain = (by_seed(rates, label, EXACT_MATCH, {}) for label in ("Adam + warmup", "RAdam"))
    assert all(tuned[seed] > plain[seed] for seed in plain), "tuned, the warmup is better at every seed"
    settings = [len([1 for cell in rates.config.cells if (cell.contender, cell.seed) == (k, 0)]) for k in (0, 1)]
    assert settings == [64, 8]
    at = {
        length: by_seed(rates, "Adam + warmup", FINAL_LOSS, {"lr": 0.02, "warmup_steps": length})
        for length in (1000, 2000)
    }
    radam = statistics.mean(by_seed(rates, "RAdam", FINAL_LOSS, {"lr": 0.02}).values())
    assert all(statistics.mean(ends.values()) < radam for ends in at.values())
    digits, numbers = (recorded_findings(name)[0] for name in ("appendix-c", "appendix-c-numbers"))
    first, second = "Adam for steps 1-4, then RAdam", "SGD for 1-4, Adam for 5-8, then RAdam"
    plain, one, other = (list(by_seed(digits, label, ACCURACY, {}).values()) for label in ("RAdam", first, second))
    assert sum(value < 0.9 for value in plain + one + other) == 1, "a single lane, far behind"
    rest = [value for value in other if value > 0.9]
    assert min(statistics.mean(one), statistics.mean(rest)) > statistics.mean(plain)
    harmed = [by_seed(numbers, label, FINAL_LOSS, {}) for label in ("RAdam", first, second)]
    assert all(harmed[0][seed] < min(harmed[1][seed], harmed[2][seed]) for seed in harmed[0])


def test_every_row_that_does_not_agree_has_a_reading():
    for one in results():
        assert one.verdict in (AGREES, NOT_HERE) or one.row.reading, one.row.name


# As they stand in the paper: row, method, number. Figure 7's are of the text below it.
TABLES = {
    "language-model": (("RAdam", "35.70"), ("Adam", "36.92")),
    "cifar-10": (("SGD", "91.51"), ("RAdam", "91.38"), ("Adam", "90.54")),
    "imagenet": (("SGD", "69.86"), ("RAdam", "67.62"), ("Adam", "66.54")),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_papers_numbers_stand_by_their_methods(name):
    (row,) = (row for row in ROWS if row.name == name)
    said = {method: number for number, method in re.findall(r"([\d.]+) for (\w+)", row.paper)}
    assert said == dict(TABLES[name])


def test_the_papers_other_numbers():
    said = {row.name: row.paper for row in ROWS}
    assert said["nmt"] == "BLEU 34.76 against 34.66 (IWSLT'14 De-En), 28.48 against 28.56, 27.27 against 27.03."
    assert said["warmup-lengths"] == "Best warmup 91.29, RAdam 91.38; at 0.1 with 100 steps 90.13, RAdam 91.06."
    assert said["appendix-c"] == (
        "Accuracy 91.08 for RAdam throughout, 89.98 with Adam for 1-4, 90.29 with SGD for 1-4 and Adam for 5-8."
    )


def test_the_rows_of_theory_by_other_means():
    """Formulas with plain gamma functions, and a simulation of a thousand trajectories by a plain loop."""
    found = {one.row.name: one for one in results() if one.row.theory}

    def variance(rho):
        return rho / (rho - 2) - rho / 2 * np.exp(2 * (gammaln((rho - 1) / 2) - gammaln(rho / 2)))

    assert (np.diff(variance(np.geomspace(2.1, 1000, 400))) < 0).all()
    assert (found["theorem-1"].verdict, found["theorem-1"].judged[0].held) == (AGREES, "399 of 399")
    degrees = np.arange(5.0, 501)
    apart = np.abs(degrees / (2 * (degrees - 2) * (degrees - 4)) / variance(degrees) - 1)
    assert found["approximation"].judged[0].held == f"{(apart < 0.1).sum()} of {len(degrees)}"
    assert (found["approximation"].verdict, apart.mean() < 0.1) == (PARTLY, True)
    rng, steps = np.random.default_rng(7), (5, 50, 500, 6000)
    for mean in (0, 0.001, 0.01, 0.1, 1, 10):
        v, seen = np.zeros(1000), {}
        for t in range(1, steps[-1] + 1):
            v = 0.999 * v + 0.001 * (mean + rng.standard_normal(len(v))) ** 2
            if t in steps:
                seen[t] = float(np.var(np.sqrt((1 - 0.999**t) / v)))
        evened = {t: spread * float(rectification(t, 0.999)) ** 2 for t, spread in seen.items()}
        assert seen[5] > seen[6000]
        assert max(evened.values()) / min(evened.values()) < max(seen.values()) / min(seen.values())
    assert [one.held for one in found["simulation"].judged] == ["6 of 6", "6 of 6"]
    assert found["simulation"].verdict == AGREES


def test_the_sizes_that_the_rows_name():
    numbers, digits = (TASKS[name].open() for name in ("numbers", "digits"))
    assert sum(p.numel() for p in numbers.make_model(0).parameters()) == 131_361
    assert SWEEPS["figure-1"].config.steps == 1000
    frozen = {
        name: {c.lane.get("frozen_steps") for c in SWEEPS[name].config.contenders} for name in ("figure-1", "collapse")
    }
    assert frozen == {"figure-1": {None, 200}, "collapse": {None, 50}}
    assert SWEEPS["collapse"].config.steps == 100
    assert SWEEPS["warmup-lengths"].config.steps == 1500
    assert {SWEEPS[name].config.steps for name in ("digits", "appendix-c", "language-model", "rates")} == {500}
    assert SWEEPS["digits"].config.settings["depth"] == 8
    assert {cell.lane.lr for cell in SWEEPS["digits"].config.cells} == {0.01, 0.03}
    assert len(digits.held_out[1]) == 360
    assert numbers.held_out == 128
