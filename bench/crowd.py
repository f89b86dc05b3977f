"""A class opens a page in the same second: until the last of 100 visitors has it, idle and while every worker trains.

The server is a hosted copy, as a class would meet it. Beside each page stands a Streamlit app of three lines with our
settings, opened by as many in the same run. The visitors are websockets without browsers, on the machine that serves
them. While a race trains on every worker nobody's page may take longer than twice what it takes on the idle server.
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psutil

from bench.driving.crowd import visit_at_once
from bench.driving.watching import ROOT, free_port, wait_for_port
from bench.interleaved import Result
from bench.soak.host import Host, hosted
from bench.soak.ledger import Ledger
from bench.soak.outcome import Outcome
from bench.soak.starters import Starter
from bench.soak.viewers import warm, watch
from dashboard.asked.presets import PRESETS
from dashboard.navigation import PAGES

VISITORS, REPEATS = 100, 3
ALLOWED_S, ALLOWED_TIMES = 3.0, 2.0
IDLE, TRAINING, THREE_LINES = "idle", "training", "three lines"
STEPS = 2000  # the most that a hosted copy allows: minutes
PATIENCE = 300.0
_SCRIPT = 'import streamlit as st\nst.title("Three lines")\nst.markdown("of Streamlit")\n'
Times = dict[
    str, tuple[float, float]
]  # by page: milliseconds until the last had it, and those that the server computed


def run() -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder, hosted(Path(folder)) as host:
        found = measured(host, Path(folder), REPEATS)
    yield from results(found)


def measured(host: Host, folder: Path, repeats: int, visitors: int = VISITORS) -> dict[str, Times]:
    """Idle, and then while races train; the three lines were opened in both."""
    asyncio.run(warm(host))  # workers that are starting are not idle
    with _three_lines(folder) as (plain, pid):
        idle = _times(host, plain, pid, repeats, visitors)
        asyncio.run(_train(host, len(host.workers())))
        return {IDLE: idle, TRAINING: _times(host, plain, pid, repeats, visitors)}


def results(found: dict[str, Times], visitors: int = VISITORS) -> Iterator[Result]:
    for when, times in found.items():
        for page in PAGES:
            last, processor = times[page.name]
            shown = {"last": last, "of the processor": processor, THREE_LINES: times[THREE_LINES][0]}
            if when == IDLE:
                name = f"crowd: last of {visitors} has {page.name}, idle, of {ALLOWED_S:g} s"
                yield Result(name, last / (1e3 * ALLOWED_S), 1.0, False, shown)
            else:
                name = f"crowd: the same of {page.name} while races train"
                yield Result(name, last / found[IDLE][page.name][0], ALLOWED_TIMES, False, shown)


@contextmanager
def _three_lines(folder: Path) -> Iterator[tuple[str, int]]:
    """Its address and its process id."""
    script = folder / "three_lines.py"
    script.write_text(_SCRIPT)
    port = free_port()
    flags = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    # In our folder, where our settings are.
    command = [sys.executable, "-m", "streamlit", "run", str(script), *flags]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for_port(process, port, 60)
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()


async def _train(host: Host, races: int) -> None:
    """As many races as there are workers, all on their way, which outlast the measurement."""
    for seed in range(races):
        config = PRESETS["figure-1"].config.changed(seed=900 + seed, steps=STEPS, evaluate_every=STEPS)
        ledger, outcome = Ledger(), Outcome()
        refused = await Starter(seed).start(host, config, outcome)
        assert not refused, refused
        await asyncio.wait_for(watch(host, ledger.watch(config), ledger, outcome, leave_after=1), PATIENCE)


def _times(host: Host, plain: str, plain_pid: int, repeats: int, visitors: int) -> Times:
    crowds = {page.name: (host.address, page.name, host.server.pid) for page in PAGES}
    crowds[THREE_LINES] = (plain, "home", plain_pid)
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in crowds}
    for _ in range(repeats):
        for name, crowd in crowds.items():
            took[name].append(_crowd(*crowd, visitors))
    return {
        name: (median(last for last, _ in times) * 1e3, median(own for _, own in times) * 1e3)
        for name, times in took.items()
    }


def _crowd(address: str, page: str, pid: int, visitors: int) -> tuple[float, float]:
    """Seconds until the last has the page, and seconds that the server computed for all of them."""
    visit_at_once(address, page, 1)  # so that the first of the class does not pay for the imports
    before = _computed(pid)
    visits = visit_at_once(address, page, visitors)
    assert not any("exception" in visit.elements for visit in visits), f"somebody saw an error on {page}"
    return max(visit.seconds for visit in visits), _computed(pid) - before


def _computed(pid: int) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)
