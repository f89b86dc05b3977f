"""The races that the lab's claims rest on: what the protocol says of itself, and that the tables say what was found."""

import numpy as np
import pytest

from bench.evidence import read
from bench.reproduce import EVIDENCE, RESULTS, SECTIONS, best_rates, gradients, learned, losses, of_section
from dashboard.asked import protocol
from dashboard.asked.presets import PRESETS
from dashboard.paper.measures import by_seed, gradient_at
from dashboard.paper.results import recorded_findings
from dashboard.recorded.loading import recording
from dashboard.runs.outlines import from_json
from demo_models import TASKS
from radam_core.evidence import LEARNED
from radam_core.race.frames import schedule_columns
from radam_core.theory import first_rectified_step, rectification

FOUND = read(EVIDENCE)
PRESET_OF = {"collapse": "collapse", "figure-1": "figure-1", "horizon": "horizon", "best": "best-against-best"}


def first_step_at(r: float, beta2: float) -> int:
    steps = np.arange(first_rectified_step(beta2), 20_000)
    return int(steps[rectification(steps, beta2) >= r][0])


def test_what_the_protocol_says_of_r_is_so():
    for text in (protocol.__doc__, RESULTS.read_text(encoding="utf-8")):
        assert f"0.9 by step {first_step_at(0.9, protocol.BETA2)}" in text
    assert f"{first_step_at(0.9, 0.999):,} steps" in protocol.__doc__
    trap = " and ".join(f"{float(rectification(t, 0.999)):.2f}" for t in (1000, 2000))
    assert (trap, round(float(rectification(500, 0.999)), 2)) == ("0.65 and 0.83", 0.48)
    assert round(2 / (1 - protocol.BETA2)) == protocol.UNTUNED


@pytest.mark.parametrize("name", ["figure-1", "best-against-best", "warmups", "pre-ln"])
def test_r_arrives_long_before_the_end_and_every_rate_decays(name):
    config = PRESETS[name].config
    (radam,) = [lane for lane in config.plan().lanes if lane.method.rectify is not None]
    r = schedule_columns([radam], np.arange(1, config.steps + 1))["r"][:, 0]
    assert np.nanmax(r[: config.steps // 3]) >= 0.9
    assert {lane.method.decay for lane in config.plan().lanes} == {"linear"}


def test_figure_1_is_the_miniature_at_one_rate():
    config = PRESETS["figure-1"].config
    assert {lane.lr for lane in config.lanes} == {6e-3}
    assert (config.steps, config.batch_size) == (1000, 32)
    shape = {name: config.settings[name] for name in ("depth", "width", "heads", "norm")}
    assert shape == {"depth": 6, "width": 32, "heads": 4, "norm": "post"}
    methods = {lane.label: lane.method for lane in config.plan().lanes}
    assert {method.betas for method in methods.values()} == {(0.9, 0.99)}
    assert methods["Adam-2k"].frozen_steps == methods["Adam + warmup 200"].warmup_steps == 200
    assert not methods["Adam-2k"].count_frozen_steps
    assert (methods["Adam-eps 1e-4"].eps, methods["Adam-eps 1e-2"].eps) == (1e-4, 1e-2)


@pytest.mark.parametrize("section", PRESET_OF)
def test_a_preset_is_the_race_that_was_run_over_the_seeds(section):
    preset, raced = PRESETS[PRESET_OF[section]].config, SECTIONS[section].race(FOUND)
    shared = ("task", "settings", "steps", "batch_size", "lanes")
    assert [getattr(preset, name) for name in shared] == [getattr(raced, name) for name in shared]


@pytest.mark.parametrize("section", SECTIONS)
def test_every_lane_was_run_at_every_seed_and_the_table_says_what_it_came_to(section):
    own, config = of_section(section, FOUND), SECTIONS[section].race(FOUND)
    wanted = [(lane.label, seed) for lane in config.lanes for seed in SECTIONS[section].seeds]
    assert [(one.lane, one.seed) for one in own] == wanted
    assert all(one.steps == config.steps for one in own)
    assert SECTIONS[section].table(own) in RESULTS.read_text(encoding="utf-8")


def test_what_the_stories_count_is_what_the_recordings_show():
    """A regression: a sentence said of five seeds what the recording below it refuted."""
    over_seeds = {name: recorded_findings(name)[0] for name in ("figure-1", "collapse", "digits")}
    for one in over_seeds["figure-1"].lines:
        assert sum(one.rates[0].learned) == learned(losses("figure-1", one.label)), one.label
    for label in ("Adam", "Adam + warmup", "RAdam"):
        shown = by_seed(over_seeds["collapse"], label, gradient_at(10), {})
        assert np.mean(list(shown.values())) == pytest.approx(gradients(label, 10), abs=0.1)
    assert all(all(one.rates[0].learned) for one in over_seeds["digits"].lines)
    half = LEARNED * TASKS["numbers"].baseline
    for section in ("horizon", "best"):
        recorded = recording(f"race-{PRESET_OF[section]}")
        for lane, told in zip(recorded.config.lanes, recorded.lanes, strict=True):
            shown = from_json(told.outline).final_loss
            assert (shown < half) == (losses(section, lane.label)[recorded.config.seed] < half), lane.label


def test_the_best_rates_are_those_that_the_grid_found():
    assert best_rates(FOUND) == protocol.BEST
