"""The run store: one run per question, frames kept once, bounded, and whole after a hard kill."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dashboard import store as stores
from dashboard.config import RaceConfig
from dashboard.presets import lane
from dashboard.store import CUT_OFF, FINISHED, PAUSED, QUEUED, RUNNING, STOPPED, Store, StoredFrame, run_id

ROOT = Path(__file__).resolve().parents[2]


def config(seed: int = 0, **changes) -> RaceConfig:
    return RaceConfig.make({"task": "surfaces", "lanes": [lane("radam", 1e-2)], "seed": seed, **changes})


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    yield made
    made.close()


def frames(*numbers: int, body: str = "{}") -> list[StoredFrame]:
    return [StoredFrame(n, 10 * n + 10, body) for n in numbers]


def test_an_id_is_the_configuration_and_the_code(monkeypatch):
    first = run_id(config())
    assert len(first) == 20
    assert run_id(RaceConfig.make(config().to_json())) == first
    assert run_id(config(seed=1)) != first
    monkeypatch.setattr(stores, "code_version", lambda: "another")
    assert run_id(config()) != first


def test_the_same_configuration_is_one_run_and_computed_once(store):
    run, needed = store.add(config())
    assert needed
    assert run.state == QUEUED
    for state in (QUEUED, RUNNING, PAUSED, FINISHED):
        store.set_state(run.id, state)
        assert store.add(config()) == (store.run(run.id), False)
    for state in (STOPPED, CUT_OFF, "failed"):
        store.set_state(run.id, state, "why")
        again, needed = store.add(config())
        assert (again.id, again.state, again.message, needed) == (run.id, QUEUED, "", True)
    assert len(store.recent()) == 1


def test_a_frame_is_kept_once(store):
    run, _ = store.add(config())
    assert store.add_frames(run.id, frames(0, 1)) == frames(0, 1)
    assert store.add_frames(run.id, frames(1, 2, body="other")) == frames(2, body="other")
    assert [frame.body for frame in store.frames(run.id)] == ["{}", "{}", "other"]
    assert [frame.number for frame in store.frames(run.id, after=0)] == [1, 2]
    assert store.run(run.id).step == 30


def test_unknown_runs(store):
    assert store.run("0" * 20) is None
    assert store.frames("0" * 20) == []


def test_the_longest_unused_goes_first_and_never_one_under_way(tmp_path):
    each = 100 + len(config().to_json())  # what it keeps of a run: its configuration and its frames
    store = Store(tmp_path, most_bytes=5 * each // 2)
    ids = []
    for seed in range(4):
        run, _ = store.add(config(seed))
        store.add_frames(run.id, frames(0, body="x" * 100))
        store.set_state(run.id, RUNNING if seed == 0 else FINISHED)
        ids.append(run.id)
    store.touch(ids[1])
    assert store.trim() == [ids[2], ids[3]]  # four where two and a half fit; 0 runs, 1 was looked at last
    assert store.trim() == []
    assert store.frames(ids[2]) == []
    assert store.run(ids[0]).state == RUNNING
    store.close()


def test_a_run_of_another_version_is_passed_over(tmp_path, store):
    old, new = (store.add(config(seed))[0].id for seed in (1, 2))
    with sqlite3.connect(tmp_path / "runs.sqlite") as db:
        db.execute("update runs set config = json_set(config, '$.settings.old_setting', 1) where id = ?", (old,))
    db.close()
    assert store.run(old) is None
    assert [run.id for run in store.recent()] == [new]


def test_threads_may_write_at_once(store):
    run, _ = store.add(config())
    new: list[StoredFrame] = []

    def write() -> None:
        for n in range(50):
            new.extend(store.add_frames(run.id, frames(n)))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(frame.number for frame in new) == list(range(50))
    assert [frame.number for frame in store.frames(run.id)] == list(range(50))


def test_a_hard_kill_loses_nothing_recorded_and_the_run_says_so(tmp_path):
    script = f"""
import os, signal, sys
from pathlib import Path
from tests.dashboard.test_store import *
store = Store(Path({str(tmp_path)!r}))
run, _ = store.add(config())
store.add_frames(run.id, frames(0, 1, 2))
store.set_state(run.id, RUNNING)
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=60, env={**os.environ, "PYTHONPATH": "."})
    assert done.returncode == -signal.SIGKILL
    store = Store(tmp_path)
    assert store.recover() == 1
    run = store.run(run_id(config()))
    assert run.state == CUT_OFF
    assert "Train runs it again" in run.message
    again, needed = store.add(config())
    assert needed
    assert again.state == QUEUED
    assert store.frames(run.id) == frames(0, 1, 2)
    store.close()


def test_the_folder_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("RADAM_LAB_RUNS", str(tmp_path / "deep" / "runs"))
    store = Store()
    assert store.path == tmp_path / "deep" / "runs" / "runs.sqlite"
    assert store.path.exists()
    store.close()


def test_speeds_are_remembered_by_task_and_settings(store):
    store.add_speed(config(), 0.5)
    store.add_speed(config(), 0.25)
    (speed,) = store.speeds("surfaces", "auto")
    assert (speed.lanes, speed.batch_size, speed.seconds_per_step) == (1, 1, 0.25)
    assert store.speeds("numbers", "auto") == []
