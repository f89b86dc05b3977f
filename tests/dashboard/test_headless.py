"""The command line, as a user runs it, and the same from Python."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from dashboard.__main__ import main
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS
from dashboard.headless import Recording, run
from dashboard.runs.records import decode
from dashboard.runs.store import Store
from demo_models import TASKS
from radam_core.race.threads import one_thread

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def runs(tmp_path_factory, monkeypatch):
    """Where the command line keeps what it trains, as the app would."""
    folder = tmp_path_factory.mktemp("runs")
    monkeypatch.setenv("RADAM_LAB_RUNS", str(folder))
    return folder


@one_thread()
def command(*arguments):
    return main(arguments)


def test_json_is_one_object(capsys, tmp_path):
    options = ("--preset", "figure-1", "--seed", "3", "--steps", "24", "--batch-size", "4", "--device", "cpu")
    halved = ("--half-batch-steps", "5")
    code = command("race", *options, *halved, "--set", "numbers.depth=1", "--json", "--out", str(tmp_path))
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert code == 0
    assert result["lane_steps_per_second"] > 0
    assert [lane["label"] for lane in result["lanes"]] == [lane.label for lane in PRESETS["figure-1"].config.lanes]
    assert {lane["status"] for lane in result["lanes"]} == {"finished"}
    assert all(lane["diverged_at"] is None for lane in result["lanes"])
    assert set(result["lanes"][0]["metric"]) == set(TASKS["numbers"].metrics)
    assert "step 24 of 24, 0 s left" in printed.err

    kept = RaceConfig.make((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert (kept.seed, kept.steps, kept.settings["depth"], kept.half_batch_steps) == (3, 24, 1, 5)
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8")) == result
    lines = (tmp_path / "records.jsonl").read_text(encoding="utf-8").splitlines()
    by_lane = {
        lane.label: [line for line in map(json.loads, lines) if line["lane"] == lane.label] for lane in kept.lanes
    }
    losses = [np.concatenate([decode(json.dumps(line)).columns["loss"] for line in one]) for one in by_lane.values()]
    final = [loss[-20:].mean() for loss in losses]
    np.testing.assert_allclose([lane["final_loss"] for lane in result["lanes"]], final, atol=1e-5)


def test_table_and_divergence(capsys, tmp_path):
    lanes = [{"label": "calm", "method": "adam", "lr": 1e-3}, {"label": "wild", "method": "sgd", "lr": 1e3}]
    path = tmp_path / "race.json"
    path.write_text(json.dumps({"task": "surfaces", "lanes": lanes, "steps": 50}), encoding="utf-8")
    assert command("race", "--config", str(path)) == 0
    out = capsys.readouterr().out
    assert "calm" in out
    assert "diverged at step 2" in out


def test_task_by_name_takes_words_as_settings(capsys):
    assert command("race", "--task", "surfaces", "--steps", "30", "--set", "surfaces.surface=beale", "--json") == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--set", "numbers.depth=99"), "numbers.depth must be a whole number from 1 to 12, got 99"),
        (("--set", "digits.depth=8"), "--set must be numbers.SETTING=VALUE for this race, got 'digits.depth=8'"),
        (("--steps", "0"), "steps must be at least 1 and at most 100,000, got 0"),
        (("--set", "numbers.source_file=/nowhere"), "source_file and target_file must be given together"),
        (("--set", f"numbers.label_smoothing={'9' * 400}"), "numbers.label_smoothing must be a number from"),
    ],
)
def test_mistakes_are_explained(capsys, options, message):
    assert command("race", "--preset", "figure-1", *options) == 2
    assert message in capsys.readouterr().err


def test_a_recording_is_never_written_over(tmp_path, capsys):
    arguments = ("race", "--preset", "valley", "--steps", "20", "--out", str(tmp_path / "out"))
    assert command(*arguments) == 0
    frames = (tmp_path / "out" / "records.jsonl").read_text(encoding="utf-8")
    assert command(*arguments) == 2
    assert "out holds records.jsonl already" in capsys.readouterr().err
    assert (tmp_path / "out" / "records.jsonl").read_text(encoding="utf-8") == frames


def test_a_task_that_cannot_be_opened_leaves_no_folder(tmp_path, capsys):
    missing = ("--set", f"text.file={tmp_path / 'missing.txt'}")
    assert command("race", "--task", "text", *missing, "--out", str(tmp_path / "out")) == 2
    assert "missing.txt" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def result_of(capsys, *options: str) -> dict:
    assert command("race", "--preset", "valley", "--steps", "40", "--json", *options) == 0
    return json.loads(capsys.readouterr().out)


def test_what_was_trained_before_is_taken_from_the_store_and_one_lane_changed_is_trained(capsys, runs):
    first = result_of(capsys)
    assert all(lane["trained"] for lane in first["lanes"])
    again = result_of(capsys)
    assert (again["lane_steps"], [lane["trained"] for lane in again["lanes"]]) == (0, [False] * 5)
    assert [lane["final_loss"] for lane in again["lanes"]] == [lane["final_loss"] for lane in first["lanes"]]
    changed = result_of(capsys, "--lane", "RAdam.lr=3e-3", "--lane", "RAdam.beta2=0.99")
    assert [lane["label"] for lane in changed["lanes"] if lane["trained"]] == ["RAdam"]
    assert changed["lane_steps"] == 40
    fresh = result_of(capsys, "--fresh")
    assert all(lane["trained"] for lane in fresh["lanes"])
    store = Store(runs)
    assert [(run.state, run.config.steps) for run in store.recent()] == [("finished", 40)] * 2  # the app shows both
    assert store.recent()[0].config.lanes[3].beta2 == 0.99
    store.close()


def test_what_goes_into_the_store_is_trained_at_one_thread_as_the_app_does(runs):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    store = Store(runs)
    try:
        for kept, threads in ((store, 1), (None, 2)):
            trained = Recording(PRESETS["valley"].config.changed(steps=40)).train(kept)
            next(trained)
            assert torch.get_num_threads() == threads
            assert list(trained)
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
        store.close()


def test_the_address_of_a_race_is_printed_without_training(capsys, runs):
    def link(*options: str) -> str:
        assert main(["race", *options, "--link"]) == 0
        return capsys.readouterr().out.strip()

    assert link("--preset", "valley") == "http://localhost:8501/race?preset=valley"
    assert link("--task", "digits") == "http://localhost:8501/race?task=digits"
    text = link("--preset", "valley", "--lane", "RAdam.lr=3e-3").removeprefix("http://localhost:8501/race?config=")
    assert RaceConfig.from_link(text).lanes[3].lr == 3e-3
    assert not list(runs.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("RAdam.lr=0", "lane 'RAdam': lr must be above 0 and at most 10,000, got 0"),
        ("RAdam.speed=3", "lane 'RAdam': speed"),
        ("Nobody.lr=1", "--lane must be LABEL.SETTING=VALUE with one of Adam, "),
        ("RAdam.lr", "--lane must be LABEL.SETTING=VALUE"),
    ],
)
def test_a_lane_that_cannot_be_changed_so_is_named(capsys, change, message):
    assert command("race", "--preset", "valley", "--lane", change) == 2
    assert message in capsys.readouterr().err


def test_lists(capsys):
    assert main(["tasks"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name}: " in out for name in TASKS)
    assert "numbers.depth = 6" in out
    assert main(["presets"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name}: " in out for name in PRESETS)


def test_three_lines_from_python():
    with one_thread():
        recording = run("valley", steps=40, record_every=1)
    assert recording.column("loss").shape == (40, 5)
    assert recording.steps.tolist() == list(range(1, 41))
    assert recording.summary()["lanes"][0]["label"] == "Adam"
    with pytest.raises(ValueError, match="preset must be one of figure-1"):
        run("figure-9")


@pytest.mark.flaky(reruns=1)  # a real process, as in tests/conftest.py
def test_ctrl_c_keeps_what_was_recorded(tmp_path):
    arguments = ["race", "--preset", "valley", "--steps", "100000", "--json", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "dashboard", *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    frames = tmp_path / "records.jsonl"
    deadline = time.monotonic() + 60
    while not (frames.exists() and frames.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    result = json.loads(out)
    assert 0 < result["steps"] < 100_000
    assert "stopped" in {lane["status"] for lane in result["lanes"]} <= {"stopped", "diverged"}
    assert len(frames.read_text(encoding="utf-8").splitlines()) > 0


def test_configurations_and_lists_need_no_torch():
    code = "import sys, dashboard.__main__, demo_models; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
