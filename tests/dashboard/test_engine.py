"""The engine on a real Dask cluster: one run a question, a fair share, and races that survive their workers."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dashboard import headless, worker
from dashboard.cluster import RACES_PER_WORKER, Layout, layout
from dashboard.config import RaceConfig
from dashboard.engine import Engine
from dashboard.ledger import LOST_MESSAGE
from dashboard.presets import lane
from dashboard.store import CUT_OFF, FAILED, FINISHED, PAUSED, QUEUED, RUNNING, STOPPED, Store
from radam_core.frames import encode_frame

DASK = Path(sys.executable).with_name("dask")
ROOT = Path(__file__).resolve().parents[2]
LANES = [lane("adam", 1e-2), lane("radam", 1e-2), lane("sgd", 1e-4)]


def config(steps: int = 300, seed: int = 0, **changes) -> RaceConfig:
    values = {"task": "surfaces", "lanes": LANES, "steps": steps, "steps_per_frame": 50, "seed": seed, **changes}
    return RaceConfig.make(values)


def long_config(seed: int) -> RaceConfig:
    """Hours by the estimate, so that it takes one of the places for long runs."""
    many = [lane("adam", 1e-3, f"lane {k}") for k in range(64)]
    return config(100_000, seed=seed, lanes=many)


def wait_for(condition, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.02)


def wait_until_over(engine: Engine, run: str, seconds: float = 120.0) -> str:
    wait_for(lambda: engine.status(run).over, seconds)
    return engine.status(run).state


def stored(engine: Engine, run: str) -> list[str]:
    return [frame.body for frame in engine.store.frames(run)]


def plain(config: RaceConfig) -> list[str]:
    """The frames of the same race in this process, with no engine around it."""
    return [encode_frame(frame) for frame in headless.frames(config)]


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
    assert store.frames(late)
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
    assert status.lane_steps_per_second > 0
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
    time.sleep(0.5)
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
    wait_for(lambda: len(stored(engine, run)) > len(before))
    assert stored(engine, run)[: len(before)] == before
    engine.stop(run)
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


def test_a_killed_worker_is_replaced_and_no_frame_differs(engine):
    undisturbed = config(4000, seed=4)
    run = engine.submit(undisturbed)
    wait_for(lambda: engine.status(run).step > 200)
    engine.pause(run)  # so that it is in the middle, however fast the machine
    wait_for(lambda: engine.status(run).state == PAUSED)
    (pid,) = engine.cluster.client.run(os.getpid).values()
    assert pid != os.getpid()
    os.kill(pid, signal.SIGKILL)
    recorded = stored(engine, run)
    assert len(recorded) < 80
    wait_for(lambda: "worker was lost" in engine.status(run).message)
    assert engine.status(run).step >= 50 * (len(recorded) - 1)  # viewers see a pause, not a restart
    wait_for(lambda: engine.status(run).state == PAUSED)  # the new worker was told
    engine.resume(run)
    assert wait_until_over(engine, run) == FINISHED
    assert stored(engine, run) == plain(undisturbed)


def test_a_full_disk_ends_the_run_in_hand_and_not_the_engine(engine, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    run = engine.submit(config(20_000, seed=10))
    wait_for(lambda: engine.status(run).step > 0)
    with monkeypatch.context() as disk:
        for name in ("add_frames", "set_state", "trim"):
            disk.setattr(engine.store, name, full)
        wait_for(lambda: engine.status(run).over)
        assert engine.status(run).state == FAILED
        assert "The frames cannot be stored: database or disk is full" in engine.status(run).message
    after = engine.submit(config(seed=11))
    assert wait_until_over(engine, after) == FINISHED
    assert stored(engine, after) == plain(config(seed=11))


def test_a_worker_that_says_nonsense_ends_its_own_run_only(engine):
    run = engine.submit(config(20_000, seed=12))
    wait_for(lambda: engine.status(run).step > 0)
    key = engine.dispatcher.ledger.jobs[run].future.key
    engine.dispatcher._notes.put({"run": run, "key": key, "surprise": True})
    assert wait_until_over(engine, run) == FAILED
    assert wait_until_over(engine, engine.submit(config(seed=13))) == FINISHED


def test_a_race_that_needs_more_memory_than_there_is_is_refused(engine):
    lanes = [lane("adam", 1e-3, f"lane {k}") for k in range(64)]
    settings = {"depth": 12, "width": 256, "heads": 8}
    run = engine.submit(RaceConfig.make({"task": "numbers", "lanes": lanes, "settings": settings}))
    assert wait_until_over(engine, run) == FAILED
    assert "lanes times the model's size may be at most" in engine.status(run).message


def test_the_variance_probe_runs_in_a_worker(engine):
    options = {"steps": 20, "streams": 4, "batch_size": 1, "points": 4}
    future = engine.measure_variance("surfaces", {}, beta2=0.9, **options)
    found = future.result(timeout=120)
    assert len(found["t"]) == len(found["mean"]) <= 4
    assert len(found["quartiles"]) == 3


def test_probes_take_one_place_a_worker_and_the_queue_knows_it(engine, tmp_path, monkeypatch):
    monkeypatch.setattr("dashboard.engine.LONG_SECONDS", float("inf"))
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


class Processes:
    """A scheduler and workers of their own, as `dask` starts them on other machines."""

    def __init__(self, folder: Path) -> None:
        self.file, self.log = folder / "scheduler.json", (folder / "log").open("w")
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *command: str) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        arguments = [DASK, *command, "--no-dashboard", "--host", "127.0.0.1"]
        process = subprocess.Popen(arguments, cwd=ROOT, env=environment, stdout=self.log, stderr=self.log)
        self.running.append(process)
        return process

    def scheduler(self, port: int = 0) -> "subprocess.Popen[bytes]":
        self.file.unlink(missing_ok=True)
        process = self.start("scheduler", "--port", str(port), "--scheduler-file", str(self.file))
        wait_for(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))  # not written at once
        return process

    def worker(self) -> None:
        self.start("worker", "--scheduler-file", str(self.file), "--nthreads", "2", "--no-nanny")

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def end(self) -> None:
        for process in self.running:
            process.kill()  # they have no children: nothing is left behind
            process.wait(30)
        self.log.close()


@pytest.fixture
def processes(tmp_path):
    made = Processes(tmp_path)
    yield made
    made.end()


def test_a_race_on_a_separate_cluster(processes, tmp_path, monkeypatch):
    processes.scheduler()
    processes.worker()
    processes.worker()
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", processes.address)
    store = Store(tmp_path)
    engine = Engine(store)
    engine.start()
    assert engine.wait_until_ready(120)
    wait_for(lambda: len(engine.cluster.client.nthreads()) == 2)
    wait_for(lambda: engine.devices() is not None)  # known as soon as there is a worker
    assert engine.cluster.local is None
    runs = [engine.submit(config(600, seed=seed)) for seed in (5, 6)]
    assert [wait_until_over(engine, run) for run in runs] == [FINISHED, FINISHED]
    assert stored(engine, runs[0]) == plain(config(600, seed=5))
    engine.close()
    store.close()


def test_a_scheduler_that_was_started_again_is_another_one(processes, tmp_path, monkeypatch):
    scheduler = processes.scheduler()
    processes.worker()
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", processes.address)
    monkeypatch.setattr("dashboard.dispatcher.TRY_AGAIN_SECONDS", 0.5)
    store = Store(tmp_path)
    engine = Engine(store)
    engine.start()
    run = engine.submit(config(100_000))
    wait_for(lambda: engine.status(run).step > 0)
    scheduler.kill()
    scheduler.wait(30)
    processes.scheduler(int(processes.address.rpartition(":")[2]))
    processes.worker()
    assert wait_until_over(engine, run) == CUT_OFF
    assert engine.status(run).message == LOST_MESSAGE
    assert wait_until_over(engine, engine.submit(config(seed=1))) == FINISHED
    engine.close()
    store.close()


def test_a_scheduler_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://127.0.0.1:1")
    monkeypatch.setattr("dashboard.cluster.CONNECT_SECONDS", 1)
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
        raise AttributeError("module 'dashboard.worker' has no attribute 'Warm'")

    monkeypatch.setattr("dashboard.dispatcher.Cluster.open", open_cluster)
    monkeypatch.setattr("dashboard.dispatcher.TRY_AGAIN_SECONDS", 0.1)
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
    [(1, 1, 1, 1), (2, 8, 2, 1), (8, 16, 5, 1), (8, 6, 2, 4), (64, 256, 64, 1)],
)
def test_the_layout_fits_cores_and_memory(cores, gigabytes, workers, threads):
    assert layout(cores, gigabytes << 30) == Layout(workers, threads)


def test_turns_are_taken_in_order_and_newcomers_go_first():
    turns = worker.Turns(slice_seconds=0.0)
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
