"""`race` and `sweep --problem FILE:NAME`: an own model on the command line, into the store, and never where hosted."""

import json

import numpy as np
import pytest

from dashboard.__main__ import main
from dashboard.command_settings import INTERRUPTED
from dashboard.own_workers import trained
from dashboard.runs.store import Store
from radam_core import read_run
from radam_core.race.threads import one_thread

PROBLEM = """
import torch
from torch import nn
from beside import WIDTH
DATA = torch.randn(3, 16, WIDTH)

def batches(step):
    x = torch.randn(16, WIDTH, generator=torch.Generator().manual_seed(step))
    return x, x.sum(1, keepdim=True)

def problem():
    return {
        "model": lambda: nn.Linear(WIDTH, 1),
        "loss": lambda model, batch: nn.functional.mse_loss(model(batch[0]), batch[1]),
        "batches": batches,
        "steps": 25,
    }

def with_lanes():
    return {**problem(), "lanes": {"only": "adam"}, "lrs": (1e-2, 1e-1), "warmups": (0, 5), "radam": False}

nothing = {"model": 1}
misspelt = {**problem(), "step": 3}
plain = {**problem(), "way": "plain", "lrs": (1e-3, 1e-2), "warmups": (0, 5)}
plain["batches"] = [(x, x[:, :1]) for x in DATA]

def broken():
    def loss(model, batch):
        return batch["weights"] if isinstance(batch, dict) else {}["weights"]
    return {**problem(), "loss": loss}

def fails():
    return {"model": 1 / 0}
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("RADAM_LAB_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("RADAM_LAB_WORKERS", "1")  # in this process
    (tmp_path / "beside.py").write_text("WIDTH = 4\n", encoding="utf-8")
    path = tmp_path / "my_model.py"
    path.write_text(PROBLEM, encoding="utf-8")
    return path


def kept(address):
    store = Store()
    try:
        return store.run(address.strip().split("run=")[1])
    finally:
        store.close()


def test_a_race_of_an_own_model_is_told_and_kept(file, tmp_path, capsys):
    assert main(["race", "--problem", f"{file}:problem", "--seed", "2", "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "final loss" in out
    run = kept(out.splitlines()[-1])
    assert [lane.label for lane in run.config.lanes] == ["Adam", "Adam + warmup 100", "RAdam"]
    assert run.config.steps == 25
    assert "r" in run.config.columns
    saved = read_run(tmp_path / "out" / "run.jsonl")
    assert saved.lanes[0].settings["seed"] == 2
    assert main(["race", "--problem", f"{file}:problem", "--out", str(tmp_path / "out")]) == 2
    assert "--out must be a folder without a run.jsonl" in capsys.readouterr().err


def test_lanes_and_steps_may_be_the_problems_or_the_commands(file, capsys):
    assert main(["race", "--problem", f"{file}:with_lanes", "--steps", "30", "--json", "--fresh"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [lane["label"] for lane in told["lanes"]] == ["only"]
    assert told["address"] is None
    assert told["why"]


def test_a_sweep_of_an_own_model_answers_in_words(file, capsys):
    assert main(["sweep", "--problem", f"{file}:with_lanes", "--seeds", "2", "--axis", "lr=0.01"]) == 0
    out = capsys.readouterr().out
    assert "warmup 5" in out
    assert "/sweep?run=" in out.splitlines()[-1]
    run = kept(out.splitlines()[-1])
    assert [lane.label for lane in run.config.lanes] == [
        f"lr 0.01, warmup {length}, seed {seed}" for seed in (0, 1) for length in (0, 5)
    ]
    assert run.config.axes == {"lr": (0.01,), "warmup_steps": (0, 5)}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["race", "--problem", "{file}"], "--problem must be FILE:NAME"),
        (["race", "--problem", "missing.py:problem"], "--problem must be FILE:NAME"),
        (["race", "--problem", "{file}:missing"], "must give a dict with model, loss and batches"),
        (["race", "--problem", "{file}:nothing"], "must give a dict with model, loss and batches"),
        (["race", "--problem", "{file}:misspelt"], "a problem may have"),
        (["race", "--problem", "{file}:problem", "--lane", "a=1"], "--lane cannot be given with --problem"),
        (["race", "--problem", "{file}:problem", "--link"], "--link cannot be given with --problem"),
        (["sweep", "--problem", "{file}:problem", "--axis", "beta2=0.9"], "--axis of a problem must be NAME=VALUES"),
        (["race", "--problem", "{beside}:problem"], "beside.py cannot be run (line 1): SyntaxError"),
        (
            ["race", "--problem", "{file}:broken"],
            "my_model.py, line 29, in loss: the model fails by itself on the first",
        ),
        (["sweep", "--problem", "{file}:broken"], "before any lane: KeyError: 'weights'"),
        (["race", "--problem", "{file}:fails"], "my_model.py, line 33, in fails: ZeroDivisionError"),
    ],
)
def test_what_cannot_be_run_gets_a_sentence(file, arguments, sentence, capsys):
    beside = file.with_name("beside.py")
    if "{beside}:problem" in arguments:
        beside.write_text("not = python\n", encoding="utf-8")
    assert main([text.format(file=file, beside=beside) for text in arguments]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("command", ["race", "sweep"])
def test_a_hosted_copy_runs_no_file(command, file, monkeypatch, capsys):
    monkeypatch.setenv("RADAM_LAB_MODE", "hosted")
    file.write_text("raise SystemExit('it was run')\n", encoding="utf-8")
    assert main([command, "--problem", f"{file}:problem"]) == 2
    assert "which a hosted copy (RADAM_LAB_MODE=hosted) never does" in capsys.readouterr().err


def test_workers_train_the_same_to_the_bit(file, tmp_path, monkeypatch, capsys):
    """The file draws its data without a seed of its own: every process that opens it has the same all the same."""
    found = {}
    for workers in ("1", "2"):
        monkeypatch.setenv("RADAM_LAB_WORKERS", workers)
        out = tmp_path / workers
        with one_thread():
            assert main(["sweep", "--problem", f"{file}:plain", "--fresh", "--out", str(out)]) == 0
        found[workers] = {one.label: one.rows for one in read_run(out / "run.jsonl").lanes}
    assert "2 of 2 packs of lanes are trained, in 2 workers" in capsys.readouterr().err
    assert len(found["1"]) == 6
    assert found["1"] == found["2"]


def test_what_is_done_is_kept_when_it_is_stopped(file, monkeypatch, capsys):
    def stopped_early(work, packs, told, stopped):
        return trained(work, packs, lambda done: (told(done), setattr(stopped, "asked", done == 2)), stopped)

    monkeypatch.setattr("dashboard.own_command.trained", stopped_early)
    assert main(["sweep", "--problem", f"{file}:with_lanes", "--seeds", "3"]) == INTERRUPTED
    out = capsys.readouterr().out
    assert "Stopped after 2 of 3 packs: the map has gaps." in out
    assert kept(out.splitlines()[-1]).config.seeds == (0, 1)


def test_workers_with_other_data_are_told(file, capsys, monkeypatch):
    drawn = iter((1.0, 2.0))
    monkeypatch.setattr("dashboard.own_command.trained", lambda *_: {0: Began(next(drawn)), 1: Began(next(drawn))})
    assert main(["race", "--problem", f"{file}:problem"]) == 2
    assert "the lanes of seed 0 began with losses of 1 and 2 in two workers" in capsys.readouterr().err


class Began:
    """A recording, as far as its first loss."""

    seed = 0

    def __init__(self, loss):
        self._loss = loss

    def column(self, _):
        return np.array([[self._loss]])
