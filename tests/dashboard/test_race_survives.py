"""A visitor's race when something is killed under it: a worker, or the server, in the real app and a real Chromium."""

import os
import signal
import time

import psutil

from dashboard.presets import PRESETS
from tests.conftest import free_port, running_server
from tests.dashboard.visiting import lane_states, mark, press, steps_drawn, stored, visitor, wait

# A dozen seconds of steps, and several frames a second.
SHORT = PRESETS["valley"].config.changed(steps=15_000, settings={"surface": "quadratic"}, seed=7)
LONG = SHORT.changed(steps=100_000)  # nobody waits for its end


def busiest_child(server: int) -> psutil.Process:
    """Of the server's workers, the one that trains: the one that computes most for half a second."""
    children = psutil.Process(server).children(recursive=True)
    before = [sum(child.cpu_times()[:2]) for child in children]
    time.sleep(0.5)
    used = [sum(child.cpu_times()[:2]) - start for child, start in zip(children, before, strict=True)]
    return children[used.index(max(used))]


def test_a_race_goes_on_after_its_worker_is_killed(browser, tmp_path):
    with (
        running_server(environment={"RADAM_LAB_RUNS": str(tmp_path)}) as (address, server),
        visitor(browser, f"{address}/race?config={SHORT.to_link()}") as page,
    ):
        press(page, "Train")
        wait(page, "d.state === 'running' && Number(d.step) >= 200")
        worker = busiest_child(server)
        worker.kill()
        before = int(mark(page, "step"))
        assert before < SHORT.steps, "the race was over before its worker was killed"
        wait(page, "d.ended === 'true' && d.state === 'finished' && Number(d.step) === a", SHORT.steps)
        assert not worker.is_running()
        _, frames = stored(tmp_path, mark(page, "run"))
        assert [frame.number for frame in frames] == list(range(len(frames)))
        wait(page, "Number(loss.points) === a", sum(len(frame.steps) for frame in frames))
        assert steps_drawn(page) == [step for frame in frames for step in frame.steps.tolist()]


def test_a_killed_server_comes_back_with_the_race_and_runs_it_again(browser, tmp_path):
    environment, port = {"RADAM_LAB_RUNS": str(tmp_path)}, free_port()
    with (
        running_server(environment=environment, port=port) as (address, server),
        visitor(browser, f"{address}/race?config={LONG.to_link()}") as page,
    ):
        press(page, "Train")
        wait(page, "d.state === 'running' && Number(d.step) >= 400 && Number(loss.points) > 0")
        workers = psutil.Process(server).children(recursive=True)
        os.kill(server, signal.SIGKILL)
        page.get_by_text("connection lost, trying again").wait_for()
        seen = int(mark(page, "step"))
        _, left = psutil.wait_procs(workers, timeout=120)
        assert not left, "workers outlived their server"
        with running_server(environment=environment, port=port):
            page.reload()
            wait(page, "d.state === 'cut off' && d.ended === 'true' && Number(loss.points) > 0")
            assert int(mark(page, "step")) >= seen
            assert steps_drawn(page)[0] == 1
            assert lane_states(page) == ["cut off"] * len(LONG.lanes)
            page.get_by_text("The server stopped while this was running").wait_for()
            press(page, "Train")
            wait(page, "d.state === 'running' && Number(d.step) > a", int(mark(page, "step")))
            assert stored(tmp_path, mark(page, "run"))[0].state == "running"
            press(page, "Stop")
            wait(page, "d.state === 'stopped'")
