"""Two processes behind nginx, hosted: until the last of 200 visitors has a page, and until another one leads.

As a teacher starts them: `deploy/processes.sh` and `deploy/nginx.conf`, on free ports. Beside each crowd of 200 stands
one of 100 at one of the processes alone, in the same run.
"""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.driving.crowd import visit_at_once
from bench.driving.watching import ROOT, free_port, wait_for_port
from bench.interleaved import Result
from dashboard.navigation import PAGES

# By how many processes serve them: how many visitors, and seconds until the last of them has to have the page.
CROWDS = {2: (200, 4.0), 1: (100, 3.0)}
HANDOVER_S = 15.0
START_S = 180.0


def run() -> Iterator[Result]:
    if shutil.which("nginx") is None:
        print("nginx is not installed: nothing is measured of several processes", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder, _processes(Path(folder)) as (proxy, single):
        for page in PAGES:
            for count, address in ((2, proxy), (1, single)):
                visitors, allowed = CROWDS[count]
                name = f"processes: last of {visitors} has {page.name}, by {count}, of {allowed:g} s"
                last, computed = _crowd(Path(folder), address, page.name, visitors)
                times = {"last": last * 1e3, "of the processors": computed * 1e3}
                yield Result(name, last / allowed, 1.0, False, times)
        seconds = _handover(Path(folder))
        name = f"processes: another one leads after a kill, of {HANDOVER_S:g} s"
        yield Result(name, seconds / HANDOVER_S, 1.0, False, {"until it leads": seconds * 1e3})


@contextmanager
def _processes(folder: Path) -> Iterator[tuple[str, str]]:
    """The addresses of nginx and of one process behind it."""
    first = next(port for port in iter(free_port, 0) if _is_free(port + 1))
    front = free_port()
    settings = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    for own, other in (("8500", f"127.0.0.1:{front}"), (":8501", f":{first}"), (":8502", f":{first + 1}")):
        settings = re.sub(rf"(listen |127\.0\.0\.1){own}\b", rf"\g<1>{other}", settings)
    (folder / "nginx.conf").write_text(settings, encoding="utf-8")
    environment = {
        **os.environ,
        "RADAM_LAB_RUNS": str(folder),
        "RADAM_LAB_BIN": str(Path(sys.executable).parent),
        "RADAM_LAB_SCHEDULER_PORT": str(free_port()),
    }
    starting = [str(ROOT / "deploy" / "processes.sh"), "2", "1", str(first)]
    quiet = subprocess.DEVNULL
    with (
        subprocess.Popen(starting, env=environment, stdout=quiet, stderr=quiet) as processes,
        subprocess.Popen(["nginx", "-p", folder, "-c", folder / "nginx.conf"]) as nginx,
    ):
        try:
            for process, port in ((nginx, front), (processes, first), (processes, first + 1)):
                wait_for_port(process, port, START_S)
            _until(lambda: len(_alive(folder)) == 2)
            yield f"http://127.0.0.1:{front}", f"http://127.0.0.1:{first}"
        finally:
            nginx.terminate()
            processes.terminate()


def _is_free(port: int) -> bool:
    return not any(one.laddr.port == port for one in psutil.net_connections("tcp") if one.laddr)


def _alive(folder: Path) -> dict[int, bool]:
    """By process id whether it leads, as the store has it."""
    database = sqlite3.connect(folder / "runs.sqlite", timeout=10)
    try:
        rows = database.execute("select name, leads from processes").fetchall()
    except sqlite3.OperationalError:  # not made yet
        rows = []
    finally:
        database.close()
    return {int(name.split()[2]): bool(leads) for name, leads in rows}


def _crowd(folder: Path, address: str, page: str, visitors: int) -> tuple[float, float]:
    """Seconds until the last has the page, and seconds that all processes computed for it."""
    for _ in range(4):  # so that the first of the class does not pay for the imports, in either process
        visit_at_once(address, page, 1)
    before = _computed(folder)
    visits = visit_at_once(address, page, visitors)
    assert not any("exception" in visit.elements for visit in visits)
    return max(visit.seconds for visit in visits), _computed(folder) - before


def _computed(folder: Path) -> float:
    times = [psutil.Process(process).cpu_times() for process in _alive(folder)]
    return float(sum(time.user + time.system for time in times))


def _handover(folder: Path) -> float:
    (leader,) = (process for process, leads in _alive(folder).items() if leads)
    os.kill(leader, signal.SIGKILL)
    began = time.monotonic()
    _until(lambda: any(leads for process, leads in _alive(folder).items() if process != leader))
    return time.monotonic() - began


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + START_S
    while not condition():
        assert time.monotonic() < end, f"waited {START_S:g} s in vain"
        time.sleep(0.05)
