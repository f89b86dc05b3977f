"""A class opens a page in the same second: until the last of 100 visitors has it, idle and while every worker trains.

Beside each page stands a Streamlit app of three lines with our settings, opened by as many in the same run. The
visitors are websockets without browsers, on the machine that serves them.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psutil

from bench.driving.crowd import visit_at_once
from bench.driving.watching import ROOT, Server, free_port, wait_for_port
from bench.interleaved import Result
from dashboard.asked.presets import PRESETS
from dashboard.navigation import PAGES

VISITORS, REPEATS = 100, 3
ALLOWED_S = {"idle": 3.0, "training": 6.0}
_THREE_LINES = 'import streamlit as st\nst.title("Three lines")\nst.markdown("of Streamlit")\n'


def run() -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            with _three_lines(Path(folder)) as (plain, pid):
                yield from _pages(server, "idle", plain, pid)
                runs = [_train(server, seed) for seed in range(psutil.cpu_count())]
                yield from _pages(server, "training", plain, pid)
                for run in runs:
                    server.tell(stop=run)
        finally:
            server.stop()


@contextmanager
def _three_lines(folder: Path) -> Iterator[tuple[str, int]]:
    """Its address and its process id."""
    script = folder / "three_lines.py"
    script.write_text(_THREE_LINES)
    port = free_port()
    flags = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    # In our folder, where our settings are.
    with subprocess.Popen([sys.executable, "-m", "streamlit", "run", str(script), *flags], cwd=ROOT) as process:
        try:
            wait_for_port(process, port, 60)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()


def _train(server: Server, seed: int) -> str:
    """A race that outlasts the measurement, on its way."""
    config = PRESETS["figure-1"].config.changed(seed=seed, steps=20_000, evaluate_every=20_000, record_every=20)
    run = str(server.tell(submit=json.loads(config.to_json())))
    next(event for event in server.events(run) if event.name == "frame")
    return run


def _pages(server: Server, when: str, plain: str, plain_pid: int) -> Iterator[Result]:
    ours = f"http://127.0.0.1:{server.port}/lab"
    crowds = {page.name: (ours, page.name, server.process.pid) for page in PAGES}
    crowds["three lines"] = (plain, "home", plain_pid)
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in crowds}
    for _ in range(REPEATS):
        for name, crowd in crowds.items():
            took[name].append(_crowd(*crowd))
    typical = {name: tuple(median(each) * 1e3 for each in zip(*times, strict=True)) for name, times in took.items()}
    for page in PAGES:
        last, processor = typical[page.name]
        times = {"last": last, "of the processor": processor, "three lines": typical["three lines"][0]}
        allowed = ALLOWED_S[when]
        name = f"crowd: last of {VISITORS} has {page.name}, {when}, of {allowed:g} s"
        yield Result(name, last / (1e3 * allowed), 1.0, False, times)


def _crowd(address: str, page: str, pid: int) -> tuple[float, float]:
    """Seconds until the last has the page, and seconds that the server computed for all of them."""
    visit_at_once(address, page, 1)  # so that the first of the class does not pay for the imports
    before = _computed(pid)
    visits = visit_at_once(address, page, VISITORS)
    assert not any("exception" in visit.elements for visit in visits)
    return max(visit.seconds for visit in visits), _computed(pid) - before


def _computed(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)
