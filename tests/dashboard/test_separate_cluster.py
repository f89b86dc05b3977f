"""The engine on a Dask cluster that others started, as on other machines, not all of which have every package.

One scheduler, three workers and one engine serve the whole file: starting a worker costs six seconds of a core. And
two server processes on one such cluster, of which one is killed.
"""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pandas as pd
import pytest
from distributed import Client

from dashboard import headless
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import lane
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import contender
from dashboard.engine.engine import Engine
from dashboard.engine.under_way import LOST_MESSAGE
from dashboard.evidence.findings import Findings
from dashboard.runs.outlines import from_json, outline_of
from dashboard.runs.records import Record
from dashboard.runs.states import CUT_OFF, FAILED, FINISHED, PAUSED, STOPPED
from dashboard.runs.store import Store
from tests.conftest import running_server
from tests.dashboard.engines import config, plain, stored, wait_for, wait_until_over

DASK = Path(sys.executable).with_name("dask")
ROOT = Path(__file__).resolve().parents[2]
# Packages as two of the three workers find them; `digits` needs the first, `numbers` and the warm-up race the second.
BROKEN = {
    "sklearn": "raise ModuleNotFoundError(\"No module named 'sklearn'\")",
    "num2words": "import sys; sys.exit(3)",
}
DEADLY = {"sklearn": "import os; os._exit(1)"}


class Processes:
    """A scheduler and workers of their own, as `dask` starts them on other machines."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file, self.log = folder, folder / "scheduler.json", (folder / "log").open("w")
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *command: str, path: str = str(ROOT)) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        arguments = [DASK, *command, "--no-dashboard", "--host", "127.0.0.1"]
        process = subprocess.Popen(arguments, cwd=ROOT, env=environment, stdout=self.log, stderr=self.log)
        self.running.append(process)
        return process

    def scheduler(self, port: int = 0) -> "subprocess.Popen[bytes]":
        self.file.unlink(missing_ok=True)
        process = self.start("scheduler", "--port", str(port), "--scheduler-file", str(self.file))
        wait_for(lambda: self.file.exists() and self.file.read_text().rstrip().endswith("}"))  # not written at once
        return process

    def worker(self, packages: dict[str, str] | None = None) -> None:
        """With packages of its own before those that are installed."""
        folder = self.folder / f"packages-{len(self.running)}"
        for name, source in (packages or {}).items():
            (folder / name).mkdir(parents=True)
            (folder / name / "__init__.py").write_text(source)
        path = f"{folder}{os.pathsep}{ROOT}"
        self.start("worker", "--scheduler-file", str(self.file), "--nthreads", "2", "--no-nanny", path=path)

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def end(self) -> None:
        for process in self.running:
            process.kill()  # they have no children: nothing is left behind
            process.wait(30)
        self.log.close()


@pytest.fixture(scope="module")
def processes(tmp_path_factory) -> Iterator[Processes]:
    made = Processes(tmp_path_factory.mktemp("dask"))
    made.scheduler()
    for packages in (None, BROKEN, DEADLY):
        made.worker(packages)
    with Client(made.address, set_as_default=False) as client:
        client.wait_for_workers(3, timeout=120)
    yield made
    made.end()


@pytest.fixture(scope="module")
def engine(processes, tmp_path_factory) -> Iterator[Engine]:
    store = Store(tmp_path_factory.mktemp("runs"))
    made = Engine(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DASK_SCHEDULER_ADDRESS", processes.address)
        patch.setattr("dashboard.engine.dispatcher.TRY_AGAIN_SECONDS", 0.5)
        made.start()
        assert made.wait_until_ready(120), made.trouble
        yield made
    made.close()
    store.close()


def test_what_goes_wrong_while_workers_warm_up_is_passed_over(engine, processes):
    said = (processes.folder / "log").read_text()
    for sentence in (
        "The task 'digits' cannot be imported: ModuleNotFoundError: No module named 'sklearn'",
        "The task 'numbers' cannot be imported: SystemExit: 3",
        "The warm-up race failed: TaskError: The task 'numbers' cannot be opened: SystemExit: 3",
    ):
        assert said.count(sentence) == 1, sentence
    wait_for(lambda: engine.trouble == "")
    wait_for(lambda: len(engine.cluster.client.nthreads()) == 2)  # the third did not survive it


def test_races_run_on_the_workers_of_others(engine):
    wait_for(lambda: engine.devices() is not None)  # known as soon as there is a worker
    assert engine.cluster.local is None
    runs = [engine.submit(config(600, seed=seed)) for seed in (5, 6)]
    assert [wait_until_over(engine, run) for run in runs] == [FINISHED, FINISHED]
    assert stored(engine, runs[0]) == plain(config(600, seed=5))


def test_a_sweep_has_the_same_table_on_a_cluster_as_in_one_process(engine):
    """Two workers of others train it in packs; here each cell is trained as a race of its own, without an engine."""
    asked = SweepConfig.make(
        {
            "task": "surfaces",
            "contenders": [contender("adam-linear", "Adam + warmup"), contender("radam", profile="authors")],
            "axes": {"lr": (0.01, 0.02), "warmup_steps": (0, 100)},
            "steps": 300,
            "steps_per_frame": 50,
            "seeds": (0, 1),
        }
    )
    run = engine.submit(asked)
    assert wait_until_over(engine, run) == FINISHED
    feed = engine.feeds.open(run)
    feed.look()
    outlines = [from_json(outline_of(asked, place, _trained_alone(asked, place))) for place in range(asked.size)]
    on_the_cluster, here = (Findings.of(asked, found).table() for found in (feed.outcomes(), outlines))
    pd.testing.assert_frame_equal(on_the_cluster, here)


def _trained_alone(asked: SweepConfig, place: int) -> list[Record]:
    race = asked.only([place])
    return [found[0] for found in headless.records(race)]


@pytest.mark.parametrize(
    ("task", "settings", "reason"),
    [
        ("digits", {"width": 2}, "ModuleNotFoundError: No module named 'sklearn'"),
        ("numbers", {"depth": 1, "width": 16, "heads": 2}, "SystemExit: 3"),
    ],
)
def test_a_task_that_one_worker_cannot_import_fails_there_alone(engine, task, settings, reason):
    said: dict[str, str] = {}
    for seed in count():  # Dask chooses the worker: until it was on both
        values = {"task": task, "lanes": [lane("adam", 1e-3)], "steps": 2, "batch_size": 2, "settings": settings}
        run = engine.submit(RaceConfig.make({**values, "seed": seed}))
        state = wait_until_over(engine, run)
        said[state] = engine.status(run).message
        assert seed < 20, said
        if len(said) == 2:
            break
    assert said == {FINISHED: "", FAILED: f"The task {task!r} cannot be opened: {reason}"}
    assert len(engine.cluster.client.nthreads()) == 2
    assert wait_until_over(engine, engine.submit(config(seed=7))) == FINISHED


def test_a_task_whose_data_cannot_be_read_says_so(engine):
    values = {"task": "text", "lanes": [lane("adam", 1e-3)], "steps": 2, "settings": {"file": "/nowhere"}}
    run = engine.submit(RaceConfig.make(values))
    assert wait_until_over(engine, run) == FAILED
    assert engine.status(run).message.startswith(
        "The task 'text' cannot be opened: ValueError: file must be a text file, got '/nowhere'"
    )


def test_a_second_server_process_shows_the_first_ones_runs_and_goes_on_with_them_when_it_is_killed(
    processes, tmp_path, monkeypatch
):
    """Slow, by the start of a real server. It buys that a class which two processes serve loses nothing with one."""
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", processes.address)
    environment = {"RADAM_LAB_RUNS": str(tmp_path), "RADAM_LAB_RECORDINGS": "none"}
    with running_server(environment=environment) as (address, first):
        store = Store(tmp_path)
        second = Engine(store)
        second.start()
        try:
            assert not second.leads
            stopped, asked = second.submit(config(100_000, seed=41), "ann"), config(3000, seed=42)
            wait_for(lambda: second.status(stopped).step > 0)  # trained by the first, and seen here
            run = second.submit(asked, "ann")
            second.pause(run, "ann")
            second.stop(stopped, "ann")
            wait_for(lambda: second.status(stopped).state == STOPPED)
            wait_for(lambda: second.status(run).state == PAUSED)
            with urllib.request.urlopen(f"{address}/api/runs/{run}", timeout=30) as answer:
                told = json.load(answer)
            assert (told["status"]["state"], told["status"]["wanted_by"]) == (PAUSED, 1)
            assert second.wait_until_ready(120), second.trouble
            os.kill(first, signal.SIGKILL)
            wait_for(lambda: second.leads)
            wait_for(lambda: second.dispatcher.knows(run))
            assert second.status(run).state == PAUSED
            second.resume(run, "ann")
            assert wait_until_over(second, run) == FINISHED
            assert stored(second, run) == plain(asked)
        finally:
            second.close()
            store.close()


def test_a_scheduler_that_was_started_again_is_another_one(engine, processes):
    """The last one here: it ends the workers of the others."""
    run = engine.submit(config(100_000))
    wait_for(lambda: engine.status(run).step > 0)
    processes.running[0].kill()
    processes.running[0].wait(30)
    processes.scheduler(int(processes.address.rpartition(":")[2]))
    processes.worker()
    assert wait_until_over(engine, run) == CUT_OFF
    assert engine.status(run).message == LOST_MESSAGE
    assert wait_until_over(engine, engine.submit(config(seed=1))) == FINISHED
