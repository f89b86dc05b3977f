"""A visitor's race when something is killed under it: a worker, or the server, in the real app and a real Chromium.

The slowest tests of all: new workers, a new server and a browser that finds them again. They buy what a visitor is
promised: nothing that was recorded is lost, whatever dies. The server works below a base path, as behind a proxy.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bench.driving.visiting import mark, press, visitor, wait
from dashboard.asked.presets import PRESETS
from tests.conftest import free_port, opened, running_server
from tests.dashboard.visiting import lane_phases, steps_drawn, stored, worker_of

# Some seconds of steps, and several frames a second.
SHORT = PRESETS["valley"].config.changed(steps=6000, settings={"surface": "quadratic"}, seed=7)
LONG = SHORT.changed(steps=100_000)  # nobody waits for its end
BELOW = "--server.baseUrlPath=lab"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def environment(runs) -> dict[str, str]:
    return {"RADAM_LAB_RUNS": str(runs), "RADAM_LAB_WORKERS": "1"}


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def started(environment, port) -> Iterator[tuple[str, int]]:
    """The address and the process of the server; the last test kills it."""
    with running_server(BELOW, environment=environment, port=port) as (address, process_id):
        yield f"{address}/lab", process_id


def test_the_app_works_below_a_base_path(browser, started):
    with opened(browser, f"{started[0]}/size") as page:
        drawn = "document.querySelector('.st-key-chart-variance-or-size .lab-chart')._fullData.at(-1).y.length"
        assert page.evaluate(drawn) > 50


def test_a_race_goes_on_after_its_worker_is_killed(browser, runs, started):
    address, server = started
    with visitor(browser, f"{address}/race?config={SHORT.to_link()}") as page:
        press(page, "Train")
        wait(page, "d.state === 'running' && Number(d.step) >= 200")
        worker = worker_of(server)
        worker.kill()
        before = int(mark(page, "step"))
        assert before < SHORT.steps, "the race was over before its worker was killed"
        wait(page, "d.ended === 'true' && d.state === 'finished' && Number(d.step) === a", SHORT.steps)
        assert not worker.is_running()
        _, recording = stored(runs, mark(page, "run"))
        wait(page, "Number(loss.points) === a", len(recording.steps))
        assert steps_drawn(page) == recording.lanes[-1].steps.tolist()


def test_a_killed_server_comes_back_with_the_race_and_goes_on(browser, runs, started, environment, port):
    address, server = started
    with visitor(browser, f"{address}/race?config={LONG.to_link()}", cut_off=True) as page:
        press(page, "Train")
        wait(page, "d.state === 'running' && Number(d.step) >= 400 && Number(loss.points) > 0")
        workers = psutil.Process(server).children(recursive=True)
        os.kill(server, signal.SIGKILL)
        page.get_by_text("connection lost, trying again").wait_for()
        seen = int(mark(page, "step"))
        _, left = psutil.wait_procs(workers, timeout=120)
        assert not left, "workers outlived their server"
        with running_server(BELOW, environment=environment, port=port):
            page.reload()
            wait(page, "d.state === 'running' && Number(d.step) > a && Number(loss.points) > 0", seen)
            assert steps_drawn(page)[0] == 1
            assert stored(runs, mark(page, "run"))[0].state == "running"
            press(page, "Stop")  # whose it was before
            wait(page, "d.state === 'stopped'")
            assert lane_phases(page) == ["stopped"] * len(LONG.lanes)
