"""Sweeps without a browser: from the command line and from Python, on the app's own store."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from dashboard.__main__ import main
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.runs.states import FINISHED
from dashboard.runs.store import Store
from dashboard.sweeping import sweep

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ["--preset", "valley-rates", "--seeds", "2", "--steps", "60", "--axis", "lr=0.01, 0.1"]


def command(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    environment = {"RADAM_LAB_RUNS": str(folder / "runs"), "RADAM_LAB_WORKERS": "1", "PATH": ""}
    return subprocess.run(
        [sys.executable, "-m", "dashboard", "sweep", *OPTIONS, *options],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )


def test_a_sweep_from_the_command_line_is_resumable_and_the_apps(tmp_path, monkeypatch):
    """Slow: workers of its own. The second time there is nothing to train, and no worker is started."""
    done = command(tmp_path, "--json", "--out", str(tmp_path / "out"))
    found = json.loads(done.stdout)
    assert (found["new"], found["lanes"], found["lane_steps"]) == (16, 16, 16 * 60)
    assert found["lane_steps_per_second"] > 0
    assert "16 lane-steps" not in done.stderr
    assert "of 960 lane-steps" in done.stderr
    keys = {"method", "label", "lr", "warmup_steps", "beta2", "seed", "final_loss", "metric", "status", "learns"}
    assert all(keys <= set(cell) for cell in found["cells"])
    assert [row["label"] for row in found["summary"]] == ["Adam", "Adam + warmup 200", "RAdam (authors)", "SGD"]
    assert all({"robust_share", "lr_sensitivity", "shortest_warmup"} <= set(row) for row in found["summary"])
    assert all({"measure", "at_step", "auc"} <= set(row) for row in found["early_signs"])
    table = pd.read_parquet(tmp_path / "out" / "cells.parquet")
    assert len(table) == len(pd.read_csv(tmp_path / "out" / "cells.csv")) == 16
    assert set(table["seed"]) == {0, 1}
    config = SweepConfig.make((tmp_path / "out" / "config.json").read_text())

    monkeypatch.setenv("RADAM_LAB_RUNS", str(tmp_path / "runs"))
    again = sweep("valley-rates", seeds=2, steps=60, axes={"lr": (0.01, 0.1)})
    assert again.config == config
    assert again.cells() == found["cells"]
    store = Store()
    (run,) = store.recent(kind="sweep")
    assert (run.state, run.config) == (FINISHED, config)
    store.close()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--axis", "lr=nonsense"], "lr must be numbers"),
        (["--axis", "colour=1"], "--axis must be NAME=VALUES with one of lr, warmup_steps, beta2"),
        (["--axis", "lr=1e-3 to 1 in 900"], "at most 1,000 cells"),
        (["--axis", "lr=-1"], "lr must be greater than 0, got -1"),
        (["--seeds", "0"], "--seeds must be from 1 to 100, got 0"),
        (["--steps", "0"], "steps must be at least 1 and at most 100,000, got 0"),
        (["--set", "numbers.depth=99"], "depth must be a whole number from 1 to 12, got 99"),
        (["--set", "digits.depth=8"], "--set must be numbers.SETTING=VALUE"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_started(capsys, options, sentence):
    assert main(["sweep", "--preset", "map", *options]) == 2
    assert sentence in capsys.readouterr().err


def test_sweeps_are_listed_one_a_line_and_have_links(capsys):
    assert main(["sweeps"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == list(SWEEPS)
    assert main(["sweep", "--preset", "map", "--link"]) == 0
    assert capsys.readouterr().out.strip().endswith("/sweep?preset=map")
    assert main(["sweep", "--preset", "map", "--steps", "200", "--link"]) == 0
    link = capsys.readouterr().out.strip().partition("config=")[2]
    assert SweepConfig.from_link(link) == SWEEPS["map"].config.changed(steps=200)


def test_a_sweep_that_there_is_not():
    with pytest.raises(ValueError, match="preset must be one of rates, "):
        sweep("nonsense")
