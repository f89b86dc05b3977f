"""The run store: one run per question, frames kept once, bounded, and whole after a hard kill."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import lane
from dashboard.runs import identity
from dashboard.runs.identity import lane_ids, package_version, run_id
from dashboard.runs.records import Record
from dashboard.runs.speeds import add_speed, speeds_on
from dashboard.runs.states import CUT_OFF, FINISHED, PAUSED, QUEUED, RUNNING, STOPPED
from dashboard.runs.store import Store

ROOT = Path(__file__).resolve().parents[2]


def config(seed: int = 0, **changes) -> RaceConfig:
    return RaceConfig.make({"task": "surfaces", "lanes": [lane("radam", 1e-2)], "seed": seed, **changes})


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    yield made
    made.close()


def records(*numbers: int, body: str = "{}", ends: bool = False) -> list[Record]:
    return [Record(n, 10 * n + 10, ends, body) for n in numbers]


def add(store: Store, config: RaceConfig, *found: Record) -> None:
    """The same records for each of its lanes."""
    store.add_records((lane, record) for lane in lane_ids(config) for record in found)


def test_a_package_that_is_not_installed_has_no_version_and_stops_nothing():
    assert package_version("numpy")[0].isdecimal()
    assert package_version("radam-lab-has-no-such-package") == "missing"


def test_an_id_is_the_configuration_and_the_code(monkeypatch):
    first = run_id(config())
    assert len(first) == 20
    assert run_id(RaceConfig.make(config().to_json())) == first
    assert run_id(config(seed=1)) != first
    monkeypatch.setattr(identity, "code_version", lambda: "another")
    assert run_id(config()) != first


def test_what_the_code_version_leaves_out_is_there_and_no_race_is_made_of_it():
    core = Path(identity.__file__).resolve().parents[2] / "radam_core"
    for name in identity.BESIDE:
        assert (core / name).is_dir() or (core / f"{name}.py").is_file()
    names = [f"radam_core.{name.replace('/', '.')}" for name in identity.BESIDE]
    loaded = f"""
import importlib, pkgutil, sys
import dashboard.asked.config, dashboard.runs.records, demo_models, radam_core.race.race, radam_core.race.threads
for module in pkgutil.walk_packages(demo_models.__path__, "demo_models."):
    importlib.import_module(module.name)
print([name for name in {names!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", loaded], cwd=core.parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_lane_is_its_numbers_and_not_its_label_or_its_neighbours():
    lanes = [lane("adam", 1e-2), lane("radam", 1e-2)]
    first, second = lane_ids(config(lanes=lanes))
    assert lane_ids(config(lanes=[lane("radam", 1e-2, "mine", beta2=0.999)])) == (second,)  # as the method has it
    assert lane_ids(config(lanes=[lane("sgd", 1.0), *lanes]))[1:] == (first, second)
    assert lane_ids(config(lanes=[lane("adam", 1e-2, seed=1)]))[0] == lane_ids(config(1, lanes=lanes))[0]
    others = [
        config(lanes=lanes, steps=7),
        config(lanes=lanes, batch_size=3),
        config(lanes=lanes, settings={"noise": 0.3}),
        config(lanes=lanes, record_every=3),
        config(1, lanes=lanes),
        config(lanes=[lane("adam", 2e-2)]),
        config(lanes=[lane("adam", 1e-2, weight_decay=0.1)]),
        config(lanes=[lane("adam", 1e-2, clip=1.0)]),
        config(lanes=[lane("adam", 1e-2, warmup="linear", warmup_steps=5)]),
    ]
    assert len({lane_ids(other)[0] for other in others} | {first}) == 1 + len(others)


def test_the_same_configuration_is_one_run(store):
    run = store.add(config())
    assert run.state == QUEUED
    for state in (QUEUED, RUNNING, PAUSED):
        store.set_state(run.id, state, "why")
        assert store.add(config()).state == state
    for state in (STOPPED, CUT_OFF, "failed"):
        store.set_state(run.id, state, "why")
        again = store.add(config())
        assert (again.id, again.state, again.message) == (run.id, QUEUED, "")
    assert len(store.recent()) == 1


def test_a_record_is_kept_once(store):
    (lane,) = store.add(config()).lanes
    add(store, config(), *records(0, 1))
    add(store, config(), *records(1, 2, body="other"))
    assert [record.body for record in store.records(lane)] == ["{}", "{}", "other"]
    assert [record.number for record in store.records(lane, after=0)] == [1, 2]
    assert store.run(run_id(config())).step == 30


def test_a_run_is_finished_when_its_lanes_are_whoever_trained_them(store):
    both = config(lanes=[lane("radam", 1e-2), lane("adam", 1e-2)])
    store.set_state(store.add(both).id, STOPPED, "why")
    add(store, config(), *records(0, ends=True))
    found = store.run(run_id(both))
    assert (found.state, found.message, found.step) == (STOPPED, "why", 0)
    assert store.known(lane_ids(both)) == set(lane_ids(config()))
    add(store, both, *records(0, ends=True))
    found = store.run(run_id(both))
    assert (found.state, found.message, found.step) == (FINISHED, "", both.steps)


def test_unknown_runs(store):
    assert store.run("0" * 20) is None
    assert store.records("0" * 20) == []


def test_the_longest_unused_goes_first_and_never_one_under_way(tmp_path):
    each = 100 + len(config().to_json())  # what it keeps of a lane: its part of the configuration, and its records
    store = Store(tmp_path, most_bytes=5 * each // 2)
    ids = []
    for seed in range(4):
        run = store.add(config(seed))
        add(store, config(seed), *records(0, body="x" * 100))
        store.set_state(run.id, RUNNING if seed == 0 else STOPPED)
        ids.append(run.id)
    store.touch(ids[1])
    assert store.trim() == [ids[2], ids[3]]  # four where two and a half fit; 0 runs, 1 was looked at last
    assert store.trim() == []
    assert store.records(lane_ids(config(2))[0]) == []
    assert store.run(ids[0]).state == RUNNING
    store.close()


def test_a_run_of_another_version_is_passed_over(tmp_path, store):
    old, new = (store.add(config(seed)).id for seed in (1, 2))
    with sqlite3.connect(tmp_path / "runs.sqlite") as db:
        db.execute("update runs set config = json_set(config, '$.settings.old_setting', 1) where id = ?", (old,))
    db.close()
    assert store.run(old) is None
    assert [run.id for run in store.recent()] == [new]


@pytest.mark.parametrize("content", ["tables", "noise"])
def test_a_store_of_another_version_is_moved_aside_and_says_so(tmp_path, content):
    path = tmp_path / "runs.sqlite"
    if content == "tables":
        db = sqlite3.connect(path)
        db.executescript(
            "pragma journal_mode = wal; create table runs (id text, frames text); insert into runs values (1, 2)"
        )
        db.close()
    else:
        path.write_bytes(b"no database at all" * 1000)
    store = Store(tmp_path)
    (aside,) = tmp_path.glob("runs-form-*.sqlite")
    assert store.moved.endswith(f"{aside.name}.")
    assert store.recent() == []
    store.add(config())
    store.close()
    if content == "tables":
        db = sqlite3.connect(aside)
        assert db.execute("select * from runs").fetchall() == [("1", "2")]
        db.close()
    again = Store(tmp_path)
    assert (again.moved, len(again.recent())) == ("", 1)
    again.close()


def test_threads_may_write_at_once(store):
    (lane,) = store.add(config()).lanes

    def write() -> None:
        for n in range(50):
            add(store, config(), *records(n))

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert [record.number for record in store.records(lane)] == list(range(50))


def test_a_hard_kill_loses_nothing_recorded_and_the_run_says_so(tmp_path):
    script = f"""
import os, signal, sys
from pathlib import Path
from tests.dashboard.test_store import *
store = Store(Path({str(tmp_path)!r}))
run = store.add(config())
add(store, config(), *records(0, 1, 2))
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
    assert store.add(config()).state == QUEUED
    assert store.records(*run.lanes) == records(0, 1, 2)
    store.close()


def test_the_folder_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("RADAM_LAB_RUNS", str(tmp_path / "deep" / "runs"))
    store = Store()
    assert store.path == tmp_path / "deep" / "runs" / "runs.sqlite"
    assert store.path.exists()
    store.close()


def test_speeds_are_remembered_by_task_and_settings(store):
    add_speed(store, config(), 0.5)
    add_speed(store, config(), 0.25)
    (speed,) = speeds_on(store, "surfaces", "auto")
    assert (speed.lanes, speed.batch_size, speed.seconds_per_step) == (1, 1, 0.25)
    assert speeds_on(store, "numbers", "auto") == []


def test_a_full_disk_is_said_and_what_comes_after_it_is_kept(store):
    store.add(config())
    add(store, config(), *records(0))
    lane = lane_ids(config())[0]
    (pages,) = store._db.execute("pragma page_count").fetchone()
    store._db.execute(f"pragma max_page_count = {pages}")
    for _ in range(2):  # and not that there is a transaction in a transaction, or none to be rolled back
        with pytest.raises(sqlite3.OperationalError, match="full"):
            store.add_records([(lane, record) for record in records(1, body="x" * 100_000)])
    store._db.execute("pragma max_page_count = 1000000")
    store.add_records([(lane, record) for record in records(1)])
    assert [record.number for record in store.records(lane)] == [0, 1]


def test_what_cannot_be_committed_leaves_no_transaction_behind(store, monkeypatch):
    class Full:
        """A connection to a disk on which the last page of a transaction does not fit."""

        def __init__(self, real: sqlite3.Connection) -> None:
            self.real = real

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

        def execute(self, text: str, *values: object) -> object:
            if text == "commit":
                raise sqlite3.OperationalError("database or disk is full")
            return self.real.execute(text, *values)

    with monkeypatch.context() as disk:
        disk.setattr(store, "_db", Full(store._db))
        with pytest.raises(sqlite3.OperationalError, match="full"):
            store.add(config())
    assert store.add(config()).state == QUEUED


def test_a_store_that_cannot_be_written_can_be_opened_and_read(tmp_path, store):
    store.add(config())
    add(store, config(), *records(0))
    store._db.execute("begin immediate")  # nobody else can write from here on
    try:
        second = Store(tmp_path)
        assert second.run(run_id(config())) is not None
        second.close()
    finally:
        store._db.execute("rollback")
