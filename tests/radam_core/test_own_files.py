"""Files of own runs: what was recorded comes back, a cut is told, and a hostile file is a sentence and nothing more."""

import json

import numpy as np
import pytest
import torch

from bench.own_models import OWN_MODELS
from dashboard.runs.records import decode, encode
from radam_core import race_model, read_run, save_run, sweep_model
from radam_core.own import run_reading

TIED = OWN_MODELS["tied MLP"]
LANES = {"RAdam": "radam", "wild": lambda p: torch.optim.SGD(p, 1e9)}


@pytest.fixture(scope="module")
def raced(tmp_path_factory):
    recording = race_model(TIED.make, TIED.loss, TIED.batch, LANES, steps=12, evaluate=lambda m: {"one": 1.0})
    path = tmp_path_factory.mktemp("runs") / "race.jsonl"
    save_run(recording, path)
    return recording, path


def test_a_race_comes_back_as_it_was(raced):
    recording, path = raced
    run = read_run(path)
    assert (run.kind, run.way, run.why, run.ended) == ("race", recording.way, recording.why, "finished")
    assert [lane.label for lane in run.lanes] == list(LANES)
    assert run.lanes[0].settings["beta2"] == 0.999
    assert [lane.lost_at for lane in run.lanes] == list(recording.diverged_at)
    for k, lane in enumerate(run.lanes):
        known = len(lane.steps)
        assert known == (recording.diverged_at[k] or 12)
        for name in ("loss", "grad_norm", "update_rms", "angle", "lr", "r"):
            np.testing.assert_allclose(lane.column(name), recording.column(name)[:known, k], rtol=1e-6)
    assert run.lanes[0].metrics == {12: {"one": 1.0}}
    assert run.lanes[1].metrics == {}
    with pytest.raises(ValueError, match="file must be a new one"):
        save_run(recording, path)


def test_a_sweep_is_a_file_of_all_its_lanes(tmp_path):
    asked = {"steps": 20, "lrs": (1e-3, 1e-2), "warmups": (0, 5), "seeds": 2, "at_once": 3}
    found = sweep_model(TIED.make, TIED.loss, TIED.batch, **asked)
    save_run(found.recordings, tmp_path / "sweep.jsonl", "sweep")
    run = read_run(tmp_path / "sweep.jsonl")
    assert (run.kind, len(run.lanes)) == ("sweep", len(found.cells))
    for lane, cell in zip(run.lanes, found.cells, strict=True):
        assert (lane.settings["lr"], lane.settings["seed"]) == (cell.lr, cell.seed)
        assert lane.settings.get("warmup_steps", 0) == (cell.warmup_steps or 0)
        assert lane.column("loss").mean() == pytest.approx(cell.final_loss, rel=1e-6)  # of all 20 steps


def test_a_lane_of_a_file_is_a_record_of_the_dashboard(raced):
    recording, path = raced
    for k, lane in enumerate(read_run(path).lanes):
        record = encode(lane.frame(), 0)
        told = decode(record.body)
        assert record.ends
        assert told.diverged_at == recording.diverged_at[k]
        np.testing.assert_allclose(told.columns["loss"], recording.column("loss")[: len(told.steps), k], rtol=1e-6)
        for ours, theirs in zip(told.histograms, recording.histograms, strict=False):
            np.testing.assert_array_equal(ours.counts(), theirs.counts[:, k])


def test_a_file_cut_anywhere_is_read_as_far_as_it_goes_or_says_why(raced, tmp_path):
    whole, cut = raced[1].read_bytes(), tmp_path / "cut.jsonl"
    first = whole.index(b"\n") + 1
    for size in (0, 1, first - 1, first, *range(first + 1, len(whole), len(whole) // 40)):
        cut.write_bytes(whole[:size])
        if size < first:
            with pytest.raises(ValueError, match=r"cut.jsonl (is cut off within its first line|is empty): nothing"):
                read_run(cut)
            continue
        run = read_run(cut)
        assert run.ended is None
        assert ("is cut off within line" in run.notes[0]) or ("has no end" in run.notes[0])


HEAD = {"radam_lab": "run", "form": 1, "kind": "watch", "parameters": 2, "lanes": [{"label": "a", "optimizer": "b"}]}
GROUP = {"groups": ["all"], "counts": [[[0, 1, [2]]]] * 3}
HEADS = {
    "no JSON": (b"\x80\x04pickle", "line 1 of run.jsonl must be a JSON object"),
    "a list": (b"[1]", "line 1 of run.jsonl must be a JSON object"),
    "another file": (b"{}", "run.jsonl is no run of RAdam Lab"),
    "form": ({**HEAD, "form": 9}, "must be of form 1, got 9: another version wrote it"),
    "kind": ({**HEAD, "kind": "<script>"}, "kind in line 1 of run.jsonl must be one of race, sweep, watch"),
    "no lanes": ({**HEAD, "lanes": []}, "lanes in line 1 of run.jsonl must be a list of 1 to 1000 lanes"),
    "a lane": ({**HEAD, "lanes": [3]}, "a lane in line 1 of run.jsonl must be an object"),
    "a label": (
        {**HEAD, "lanes": [{"label": "x" * 9999, "optimizer": ""}]},
        "label in line 1 of run.jsonl must be text",
    ),
    "parameters": ({**HEAD, "parameters": 1e9}, "parameters in line 1 of run.jsonl must be a whole number"),
    "deep": (b"[" * 100_000, "line 1 of run.jsonl must be a JSON object"),
}
LINES = {
    "nan": (b'{"t":1,"loss":NaN}', "line 3 of run.jsonl must be a JSON object"),
    "digits": (b'{"t":1' + b"0" * 9999 + b"}", "line 3 of run.jsonl must be a JSON object"),
    "text": ({"t": 6, "loss": "1"}, "loss in line 3 of run.jsonl must be a number or null, got '1'"),
    "large": ({"t": 6, "loss": 10**400}, "loss in line 3 of run.jsonl must be a number or null"),
    "no step": ({"loss": 1}, "t in line 3 of run.jsonl must be a whole number from 0 to 1e"),
    "true": ({"t": True}, "t in line 3 of run.jsonl must be a whole number"),
    "back": ({"t": 5}, "t in line 3 of run.jsonl must be above 5, the step before it in its lane, got 5"),
    "lane": ({"t": 6, "lane": 7}, "lane in line 3 of run.jsonl must be below 1, got 7"),
    "metrics": ({"t": 6, "metrics": [1]}, "metrics in line 3 of run.jsonl must be at most 64 numbers by name"),
    "groups": ({"t": 6, "histogram": 3}, "groups in line 3 of run.jsonl must be 1 to 64 names"),
    "counts": ({"t": 6, "histogram": {**GROUP, "counts": [[]]}}, "counts in line 3 of run.jsonl must be 3 lists of 1"),
    "a bin": (
        {"t": 6, "histogram": {**GROUP, "counts": [[[0, -1, [2]]]] * 3}},
        r"a group's counts in line 3 of run.jsonl must be \[zeros, first bin, \[counts\]\]",
    ),
    "many bins": (
        {"t": 6, "histogram": {**GROUP, "counts": [[[0, 1, [1] * 300]]] * 3}},
        "a group's counts in line 3 of run.jsonl must end by bin 256, got 301",
    ),
}


def written(path, *lines):
    path.write_bytes(
        b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines) + b"\n"
    )
    return path


@pytest.mark.parametrize("name", HEADS)
def test_a_strange_head_is_a_sentence(name, tmp_path):
    head, sentence = HEADS[name]
    with pytest.raises(ValueError, match=sentence):
        read_run(written(tmp_path / "run.jsonl", head))


@pytest.mark.parametrize("name", LINES)
def test_a_strange_line_is_a_sentence(name, tmp_path):
    line, sentence = LINES[name]
    with pytest.raises(ValueError, match=sentence):
        read_run(written(tmp_path / "run.jsonl", HEAD, {"t": 5, "loss": None}, line))


def test_a_small_file_does_not_become_a_large_one(tmp_path, monkeypatch):
    path = written(tmp_path / "run.jsonl", HEAD, *({"t": t, "histogram": GROUP} for t in range(3)))
    assert len(read_run(path).lanes[0].histograms) == 3
    for limit, value, sentence in (
        ("MOST_BINS", 3 * 256 * 2, "must have at most 1,536 bins in its histograms, and line 4"),
        ("MOST_LINES", 3, "must have at most 3 lines, got 4"),
        ("MOST_BYTES", 16, "must have at most 0 MB"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(run_reading, limit, value)
            with pytest.raises(ValueError, match=sentence):
                read_run(path)
