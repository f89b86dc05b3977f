"""Lanes by an optimizer of torch in links, sweeps, the lanes' table, the command line, charts and words."""

import json

import numpy as np
import pytest

from dashboard.__main__ import main
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import lane, task_race
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import contender
from dashboard.evidence.outcomes import Outcome, cell_outcomes, cell_row
from dashboard.figures.methods import METHOD_ROWS
from dashboard.figures.race import race_figures
from dashboard.forms.race_lanes import lane_table, lanes_of, shared_settings
from dashboard.headless import run
from dashboard.words.race_words import glossary
from radam_core.torch_methods import LANE_METHODS, TORCH_METHODS

BASE = task_race("surfaces").changed(steps=12)
EVERY = [{"label": name, "method": name, "lr": 1e-4} for name in TORCH_METHODS if name != "torch.Muon"]


def with_lane(**settings):
    return BASE.changed(lanes=[{"label": "a", "method": "torch.NAdam", "lr": 1e-2, **settings}])


def test_a_link_may_name_every_one_of_them():
    config = BASE.changed(lanes=[*EVERY, lane("torch.Muon", 1e-2)])
    assert RaceConfig.from_link(config.to_link()) == config
    assert {one.method.label for one in config.plan().lanes} == set(TORCH_METHODS)


def test_equal_lanes_have_equal_ids_and_others_do_not():
    plain = with_lane()
    given = with_lane(options={"momentum_decay": 4e-3}, beta2=0.999, eps=1e-8)
    assert plain.lane_json(0) == given.lane_json(0)
    ids = {
        with_lane(**settings).lane_json(0)
        for settings in ({}, {"options": {"momentum_decay": 0.1}}, {"beta1": 0.5}, {"method": "torch.Adam"})
    }
    assert len(ids | {with_lane(method="adam").lane_json(0)}) == 5
    assert with_lane(options={"momentum_decay": 1}) == with_lane(options={"momentum_decay": 1.0})
    assert with_lane(options={}).to_json() == plain.to_json()
    with pytest.raises(TypeError, match="frozen"):
        with_lane(options={"momentum_decay": 1}).lanes[0].options["momentum_decay"] = 2


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (
            {"threshold": 5},
            "lane 'a': torch.NAdam has no threshold; it has lr, clip, weight_decay, warmup, decay, beta1",
        ),
        ({"steps_1_4": "adam"}, "steps_1_4 and steps_5_8 are for lanes whose method"),
        ({"frozen_steps": 5}, "torch.NAdam has no frozen_steps"),
        ({"options": {"momentum_decay": "a lot"}}, "momentum_decay must be a number at least 0 and at most 1"),
        ({"options": {"__class__": 1}}, "torch.NAdam has no option '__class__'"),
        ({"options": [1]}, "options"),
        ({"method": "radam", "options": {"d": 1.0}}, "options are for lanes by an optimizer of torch, got radam"),
        ({"method": "torch.Rprop", "warmup": "linear", "warmup_steps": 5}, "torch.Rprop has no warmup, warmup_steps"),
        ({"method": "torch.Rprop", "weight_decay": 0.1}, "torch.Rprop has no weight_decay"),
        ({"method": "torch.Adagrad", "beta2": 0.9}, "torch.Adagrad has no beta2; it has lr"),
        ({"method": "torch.LBFGS"}, "method must be 'adam'"),
        ({"warmup": "linear"}, "warmup_steps must be given"),
        ({"beta2": 1.5}, "beta2 must be above 0 and below 1"),
    ],
)
def test_what_such_a_lane_does_not_have_is_refused_with_what_it_has(settings, says):
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        with_lane(**settings)


def test_they_race_and_every_chart_and_word_copes():
    config = BASE.changed(lanes=[*EVERY, lane("radam", 1e-2)], half_batch_steps=0, sharpness_every=5)
    summary = run(config).summary()
    assert {one["status"] for one in summary["lanes"]} == {"finished"}
    figures = race_figures(config)
    rho = [trace.name for trace in figures["rho"].data]
    assert not any("Adagrad" in str(name) for name in rho)
    assert "torch.NAdam" in glossary(config)
    assert set(METHOD_ROWS) >= set(LANE_METHODS)
    assert all(row.about.endswith(".") for row in METHOD_ROWS.values())


def test_a_sweep_gives_them_the_axes_that_they_have():
    adagrad = contender("torch.Adagrad")
    warmed = {**contender("torch.Adamax"), "lane": {"warmup": "linear", "decay": "cosine"}}
    axes = {"lr": [1e-3, 1e-2], "beta2": [0.9, 0.99], "warmup_steps": [0, 5]}
    config = SweepConfig.make(
        {"task": "surfaces", "steps": 12, "contenders": [adagrad, warmed], "axes": axes, "seeds": [0]}
    )
    assert config.size == 2 + 2 * 2 * 2
    assert SweepConfig.from_link(config.to_link()) == config
    rows = [
        cell_row(config, found) for found in cell_outcomes(config, {cell.place: Outcome() for cell in config.cells})
    ]
    assert [row["beta2"] for row in rows[:3]] == [None, None, 0.9]


def test_the_table_of_lanes_gives_back_what_it_was_made_of():
    config = BASE.changed(
        lanes=[
            {"label": "a", "method": "torch.SGD", "lr": 0.1, "options": {"momentum": 0.9, "nesterov": True}},
            {"label": "b", "method": "torch.Muon", "lr": 0.2, "options": {"adjust_lr_fn": "match_rms_adamw"}},
            {"label": "c", "method": "torch.NAdam", "lr": 0.2, "beta2": 0.9},
            {"label": "d", "method": "adam", "lr": 0.2, "beta2": 0.9},
        ]
    )
    table = lane_table(config)
    assert table["options"].tolist()[:2] == ["momentum=0.9, nesterov=true", "adjust_lr_fn=match_rms_adamw"]
    shared = shared_settings(config)
    assert shared.beta2 == 0.9
    assert config.changed(lanes=lanes_of(table, shared)) == config
    table.loc[0, "options"] = "momentum"
    with pytest.raises(ValueError, match="options must be NAME=VALUE, with commas between them, got 'momentum'"):
        lanes_of(table, shared)


def test_the_command_line_adds_and_sets_them(capsys):
    added = ["--lane", "N.method=torch.NAdam", "--lane", "N.lr=0.02", "--lane", "N.momentum_decay=0.01"]
    assert main(["race", "--task", "surfaces", "--steps", "5", "--fresh", "--json", *added]) == 0
    lanes = json.loads(capsys.readouterr().out)["lanes"]
    assert lanes[-1]["label"] == "N"
    assert np.isfinite(lanes[-1]["final_loss"])
    assert main(["race", "--task", "surfaces", "--fresh", *added[:2], "--lane", "N.nope=1"]) == 2
    assert "torch.NAdam has no option 'nope'; its own are momentum_decay" in capsys.readouterr().err
