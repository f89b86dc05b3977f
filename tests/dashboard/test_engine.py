"""The engine on a real Dask cluster: one run a question, a fair share, and races that survive their workers."""

import os
import signal
import sqlite3
import sys
import threading
import time
import types

import dask
import pytest
from torch import nn

from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import lane
from dashboard.engine import worker
from dashboard.engine.cluster import RACES_PER_WORKER, Layout, layout
from dashboard.engine.engine import Engine
from dashboard.runs.states import CUT_OFF, FAILED, FINISHED, PAUSED, QUEUED, RUNNING, STOPPED
from dashboard.runs.store import Store
from tests.dashboard.engines import (
    begins_with,
    config,
    long_config,
    plain,
    recorded,
    stored,
    wait_for,
    wait_until_over,
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("runs"))
    made = Engine(store, Layout(workers=1, threads=1))
    made.start()
    early = made.submit(config(seed=98))  # before the workers are there
    assert (made.status(early).state, made.status(early).position) == (QUEUED, 1)
    assert made.status(early).message == "The workers are starting."
    assert made.wait_until_ready(120)
    assert wait_until_over(made, early) == FINISHED
    yield made
    late = made.submit(config(50_000, seed=99))  # it is still running when the engine goes
    wait_for(lambda: made.status(late).step > 0)
    made.close()
    assert store.run(late).state == CUT_OFF
    assert all(store.records(lane) for lane in store.run(late).lanes)
    store.close()


def test_a_run_is_what_the_race_gives_and_the_same_question_is_one_run(engine):
    run = engine.submit(config())
    assert engine.submit(config()) == run
    assert wait_until_over(engine, run) == FINISHED
    assert stored(engine, run) == plain(config())
    assert engine.submit(config()) == run
    assert engine.status(run).state == FINISHED
    status = engine.status(run)
    assert (status.step, status.steps, status.position) == (300, 300, None)
    assert engine.estimate(config(600)).measured
    assert not engine.estimate(config(600).changed(device="cpu")).measured
    assert "cpu" in engine.devices()


def test_pause_resume_stop_and_run_again(engine):
    slow = config(20_000, seed=1)
    run = engine.submit(slow)
    wait_for(lambda: engine.status(run).step > 0)
    engine.pause(run)
    wait_for(lambda: engine.status(run).state == PAUSED)
    step = engine.status(run).step
    assert wait_until_over(engine, engine.submit(config(seed=8))) == FINISHED  # another one has the worker meanwhile
    assert engine.status(run).step == step
    assert engine.store.run(run).state == PAUSED
    engine.resume(run)
    wait_for(lambda: engine.status(run).step > step)
    assert (engine.status(run).state, engine.status(run).message) == (RUNNING, "")
    engine.stop(run)
    assert wait_until_over(engine, run) == STOPPED
    before = stored(engine, run)
    assert before
    assert engine.submit(slow) == run  # pressed again: it goes on behind what is recorded
    wait_for(lambda: recorded(engine, run) > len(before[0]))
    assert begins_with(stored(engine, run), before)
    wait_for(lambda: engine.status(run).lane_steps_per_second)  # told after the records are stored
    engine.stop(run)
    assert wait_until_over(engine, run) == STOPPED


def goes_on(engine: Engine, run: str) -> bool:
    """Twenty frames further: a command would have come through long before."""
    step = engine.status(run).step
    wait_for(lambda: engine.status(run).step >= step + 1000 or engine.status(run).state != RUNNING)
    return engine.status(run).state == RUNNING


def test_a_run_goes_while_one_of_its_visitors_wants_it_to(engine):
    slow = config(100_000, seed=30)
    run = engine.submit(slow, "ann")
    assert engine.submit(slow, "bob") == run
    wait_for(lambda: engine.status(run).step > 0)
    engine.stop(run, "eve")  # who only looks on
    engine.pause(run, "eve")
    engine.pause(run, "ann")
    assert [engine.wants(run, name) for name in ("ann", "bob", "eve")] == ["pause", "go", None]
    assert engine.status(run).wanted_by == 2
    assert goes_on(engine, run)
    engine.pause(run, "bob")
    wait_for(lambda: engine.status(run).state == PAUSED)
    engine.resume(run, "ann")
    wait_for(lambda: engine.status(run).state == RUNNING)
    engine.stop(run, "ann")  # bob's pause is what is left
    wait_for(lambda: engine.status(run).state == PAUSED)
    assert (engine.wants(run, "ann"), engine.status(run).wanted_by) == (None, 1)
    engine.stop(run, "bob")
    assert wait_until_over(engine, run) == STOPPED
    assert (engine.wants(run, "bob"), engine.status(run).wanted_by) == (None, 0)


def test_a_run_that_is_wanted_again_while_it_stops_goes_on(engine):
    slow = config(100_000, seed=31)
    run = engine.submit(slow, "ann")
    wait_for(lambda: engine.status(run).step > 0)
    with engine.dispatcher.lock:  # the worker has stopped, and nobody here has heard of it yet
        (pack,) = engine.dispatcher.under_way.races[run].packs
        engine.stop(run, "ann")
        wait_for(pack.future.done)
        before = stored(engine, run)
        engine.submit(slow, "bob")
    wait_for(lambda: engine.status(run).step > 0 and not engine.status(run).message)  # it has come as far as before
    wait_for(lambda: recorded(engine, run) > len(before[0]))
    assert begins_with(stored(engine, run), before)
    assert (engine.status(run).state, engine.status(run).wanted_by) == (RUNNING, 1)
    engine.stop(run, "bob")
    assert wait_until_over(engine, run) == STOPPED


def test_a_paused_run_can_be_stopped(engine):
    run = engine.submit(config(20_000, seed=2))
    wait_for(lambda: engine.status(run).step > 0)
    engine.pause(run)
    wait_for(lambda: engine.status(run).state == PAUSED)
    engine.stop(run)
    assert wait_until_over(engine, run) == STOPPED


def test_an_impossible_race_fails_with_the_reason(engine):
    missing = next(name for name in ("mps", "cuda") if name not in engine.devices())
    run = engine.submit(config().changed(device=missing))
    assert wait_until_over(engine, run) == FAILED
    assert "device must be one of auto, " in engine.status(run).message
    assert engine.store.run(run).message == engine.status(run).message


def test_long_runs_leave_room_and_the_queue_shows_its_places(engine):
    half = RACES_PER_WORKER // 2
    long = [engine.submit(long_config(seed)) for seed in range(half + 2)]
    wait_for(lambda: [engine.status(run).state for run in long] == [RUNNING] * half + [QUEUED] * 2)
    assert [engine.status(run).position for run in long[half:]] == [1, 2]
    short = engine.submit(config(seed=3))  # behind all of them, and yet
    assert wait_until_over(engine, short) == FINISHED
    assert [engine.status(run).state for run in long] == [RUNNING] * half + [QUEUED] * 2
    engine.stop(long[half])
    assert engine.status(long[half]).state == STOPPED
    assert engine.status(long[half + 1]).position == 1
    for run in reversed(long):
        engine.stop(run)
        assert wait_until_over(engine, run) == STOPPED


def test_a_killed_worker_is_replaced_and_no_record_differs(engine):
    """Slow: a new worker takes its six seconds. It buys that Dask's own rescue leaves no trace in the records."""
    undisturbed = config(3000, seed=4)
    expected = plain(undisturbed)
    run = engine.submit(undisturbed)
    wait_for(lambda: engine.status(run).step > 0)
    engine.pause(run)  # so that it is in the middle, however fast the machine
    wait_for(lambda: engine.status(run).state == PAUSED)
    (pid,) = engine.cluster.client.run(os.getpid).values()
    assert pid != os.getpid()
    os.kill(pid, signal.SIGKILL)
    before = recorded(engine, run)
    assert before < len(expected[0])
    wait_for(lambda: "worker was lost" in engine.status(run).message)
    assert engine.status(run).step >= 50 * (before - 1)  # viewers see a pause, not a restart
    wait_for(lambda: engine.status(run).state == PAUSED)  # the new worker was told
    engine.resume(run)
    assert wait_until_over(engine, run) == FINISHED
    assert stored(engine, run) == expected


def test_a_worker_that_dask_gives_up_comes_back_and_runs_no_page(engine, tmp_path, monkeypatch):
    """Slow, as the one above. Dask drops a worker that is not back in time; Streamlit's main module is a page."""
    page = tmp_path / "page.py"
    page.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()", encoding="utf-8")
    main = types.ModuleType("__main__")
    main.__file__, main.__spec__ = str(page), None
    monkeypatch.setitem(sys.modules, "__main__", main)
    (pid,) = engine.cluster.client.run(os.getpid).values()
    (nanny,) = engine.cluster.local.workers.values()
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 ms"}):
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: nanny not in engine.cluster.local.workers.values())
        wait_for(lambda: set(engine.cluster.client.run(os.getpid, on_error="ignore").values()) - {pid})
    assert wait_until_over(engine, engine.submit(config(seed=5))) == FINISHED
    assert not (tmp_path / "ran").exists()


def test_a_full_disk_ends_the_run_in_hand_and_not_the_engine(engine, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    run = engine.submit(config(20_000, seed=10))
    wait_for(lambda: engine.status(run).step > 0)
    with monkeypatch.context() as disk:
        for name in ("add_records", "set_state", "trim"):
            disk.setattr(engine.store, name, full)
        wait_for(lambda: engine.status(run).over)
        assert engine.status(run).state == FAILED
        assert "The records cannot be stored: database or disk is full" in engine.status(run).message
    after = engine.submit(config(seed=11))
    assert wait_until_over(engine, after) == FINISHED
    assert stored(engine, after) == plain(config(seed=11))
    assert engine.submit(config(20_000, seed=10)) == run  # the store could not be told that it had failed
    wait_for(lambda: engine.status(run).state == RUNNING)
    engine.stop(run)
    assert wait_until_over(engine, run) == STOPPED


def test_a_worker_that_says_nonsense_ends_its_own_run_only(engine):
    run = engine.submit(config(20_000, seed=12))
    wait_for(lambda: engine.status(run).step > 0)
    (pack,) = engine.dispatcher.under_way.races[run].packs
    engine.dispatcher._notes.put({"key": pack.key, "surprise": True})
    assert wait_until_over(engine, run) == FAILED
    assert wait_until_over(engine, engine.submit(config(seed=13))) == FINISHED


def test_a_race_that_needs_more_memory_than_there_is_is_refused(engine):
    lanes = [lane("adam", 1e-3 + 1e-6 * k, f"lane {k}") for k in range(64)]
    settings = {"depth": 12, "width": 256, "heads": 8}
    run = engine.submit(RaceConfig.make({"task": "numbers", "lanes": lanes, "settings": settings}))
    assert wait_until_over(engine, run) == FAILED
    assert "lanes times the model's size may be at most" in engine.status(run).message


def test_the_variance_probe_runs_in_a_worker(engine):
    options = {"steps": 20, "streams": 4, "batch_size": 1, "points": 4}
    future = engine.measure_variance("surfaces", {}, beta2=0.9, **options)
    found = future.result(timeout=120)
    assert len(found["t"]) == len(found["mean"]) <= 4
    assert len(found["quartiles"]) == len(found["reference"]) == 3
    assert (found["coordinates"], found["left_out"]) == (2, 0)


def test_probes_take_one_place_a_worker_and_the_queue_knows_it(engine, tmp_path, monkeypatch):
    monkeypatch.setattr("dashboard.engine.engine.LONG_SECONDS", float("inf"))
    done = tmp_path / "done"
    engine.dispatcher.measure(lambda path: [time.sleep(0.05) for _ in iter(path.exists, True)], done)
    assert engine.measure_variance("surfaces", {}, beta2=0.7) is None
    runs = [engine.submit(config(100_000, seed=20 + k)) for k in range(RACES_PER_WORKER)]
    expected = [RUNNING] * (RACES_PER_WORKER - 1) + [QUEUED]
    wait_for(lambda: [engine.status(run).state for run in runs] == expected)
    assert engine.status(runs[-1]).position == 1
    done.touch()
    wait_for(lambda: engine.status(runs[-1]).state == RUNNING)
    for run in runs:
        engine.stop(run)
        assert wait_until_over(engine, run) == STOPPED


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://127.0.0.1:1")
    monkeypatch.setattr("dashboard.engine.cluster.CONNECT_SECONDS", 1)
    store = Store(tmp_path)
    engine = Engine(store)
    engine.start()
    run = engine.submit(config())
    wait_for(lambda: "127.0.0.1:1" in engine.status(run).message)
    assert engine.status(run).state == QUEUED
    engine.close()
    assert store.run(run).state == CUT_OFF
    store.close()


def test_workers_that_cannot_be_used_yet_are_tried_again(tmp_path, monkeypatch):
    attempts = []

    def open_cluster(plan):
        attempts.append(plan)
        raise AttributeError("module 'dashboard.engine.worker' has no attribute 'Warm'")

    monkeypatch.setattr("dashboard.engine.dispatcher.Cluster.open", open_cluster)
    monkeypatch.setattr("dashboard.engine.dispatcher.TRY_AGAIN_SECONDS", 0.1)
    store = Store(tmp_path)
    engine = Engine(store)
    engine.start()
    run = engine.submit(config())
    wait_for(lambda: len(attempts) > 2)
    assert "no attribute 'Warm'" in engine.status(run).message
    assert engine.status(run).state == QUEUED
    engine.close()
    store.close()


@pytest.mark.parametrize(
    ("cores", "gigabytes", "workers", "threads"),
    [(1, 1, 1, 1), (2, 8, 2, 1), (8, 16, 5, 1), (8, 6, 2, 1), (64, 256, 64, 1)],
)
def test_the_layout_fits_cores_and_memory(cores, gigabytes, workers, threads):
    assert layout(cores, gigabytes << 30) == Layout(workers, threads)


def test_who_runs_the_app_can_bound_its_workers(monkeypatch):
    monkeypatch.setenv("RADAM_LAB_WORKERS", "3")
    assert [layout(cores, 64 << 30) for cores in (2, 8)] == [Layout(2, 1), Layout(3, 1)]
    monkeypatch.setenv("RADAM_LAB_WORKERS", "0")
    assert layout(8, 64 << 30) == Layout(0, 1)
    for wrong in ("-1", "many", "1.5"):
        monkeypatch.setenv("RADAM_LAB_WORKERS", wrong)
        with pytest.raises(ValueError, match=f"RADAM_LAB_WORKERS must be a whole number from 0 on, got '{wrong}'"):
            layout(8, 64 << 30)


def test_turns_are_taken_in_order_and_newcomers_go_first():
    turns = worker.TimeSlices(slice_seconds=0.0)
    turns.take("a")
    assert not turns.over()  # nobody waits
    order: list[str] = []

    def wait(name: str, first: bool) -> None:
        turns.take(name, first)
        order.append(name)
        turns.give(name)

    threads = []
    for name, first in (("b", False), ("c", False), ("new", True)):
        threads.append(threading.Thread(target=wait, args=(name, first)))
        threads[-1].start()
        wait_for(lambda: len(turns._line) == len(threads))
    assert turns.over()
    turns.give("a")
    for thread in threads:
        thread.join(10)
    assert order == ["new", "b", "c"]


def test_a_pack_makes_its_models_in_its_turn(monkeypatch):
    """Two threads that draw from torch's random numbers at once get each other's: in a class, now and then, a race was
    refused as one that draws random numbers, or had other weights than its seed's."""
    holders = []

    def make_model(seed):  # noqa: ARG001 - a problem's form
        holders.append(worker.SLICES._holder)
        return nn.Linear(1000, 1000)

    here = types.SimpleNamespace(
        address="here",
        get_current_task=lambda: "a pack",
        log_event=lambda *_: None,
        memory_manager=types.SimpleNamespace(memory_limit=1000),
    )
    monkeypatch.setattr(worker, "get_worker", lambda: here)
    monkeypatch.setattr(worker, "opened", lambda *_: types.SimpleNamespace(make_model=make_model))
    with pytest.raises(ValueError, match="lanes times the model's size may be at most"):
        worker.train("topic", config().to_json())
    assert [type(holder) for holder in holders] == [worker.PackControl]
    assert worker.SLICES._holder is None
