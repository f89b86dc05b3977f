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

from dashboard.__main__ import main
from dashboard.config import RaceConfig
from dashboard.headless import run
from dashboard.presets import PRESETS
from demo_models import TASKS
from radam_core.frames import decode_frame
from tests.demo_models.plain_loops import one_thread

ROOT = Path(__file__).resolve().parents[2]


@one_thread()
def command(*arguments):
    return main(arguments)


def test_json_is_one_object(capsys, tmp_path):
    options = ("--preset", "figure-1", "--seed", "3", "--steps", "24", "--batch-size", "4", "--device", "cpu")
    code = command("race", *options, "--set", "numbers.depth=1", "--json", "--out", str(tmp_path))
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
    assert (kept.seed, kept.steps, kept.settings["depth"]) == (3, 24, 1)
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8")) == result
    lines = (tmp_path / "frames.jsonl").read_text(encoding="utf-8").splitlines()
    frames = [decode_frame(line, kept.entry().lanes) for line in lines]
    losses = np.concatenate([frame.loss for frame in frames])
    final = losses[-20:].mean(0)
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
        (("--steps", "0"), "steps must be at least 1 and at most 100000, got 0"),
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
    frames = (tmp_path / "out" / "frames.jsonl").read_text(encoding="utf-8")
    assert command(*arguments) == 2
    assert "out holds frames.jsonl already" in capsys.readouterr().err
    assert (tmp_path / "out" / "frames.jsonl").read_text(encoding="utf-8") == frames


def test_a_task_that_cannot_be_opened_leaves_no_folder(tmp_path, capsys):
    missing = ("--set", f"text.file={tmp_path / 'missing.txt'}")
    assert command("race", "--task", "text", *missing, "--out", str(tmp_path / "out")) == 2
    assert "missing.txt" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


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
    frames = tmp_path / "frames.jsonl"
    deadline = time.monotonic() + 60
    while not (frames.exists() and frames.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    result = json.loads(out)
    assert 0 < result["steps"] < 100_000
    assert {lane["status"] for lane in result["lanes"]} == {"stopped", "diverged"}
    assert len(frames.read_text(encoding="utf-8").splitlines()) > 0


def test_configurations_and_lists_need_no_torch():
    code = "import sys, dashboard.__main__, demo_models; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
