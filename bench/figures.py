"""Exports beside visitors: how long the server lets others wait while twenty people save a figure in the same second.

What a browser sends is a real figure of a race, drawn once. The others ask for a small file of the server's, as a page
does, every few milliseconds; their peer is the same server with nobody saving.
"""

import statistics
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.driving.watching import Server
from bench.interleaved import Result
from dashboard.figure_command import figure_options
from dashboard.figure_studio import Studio

AT_ONCE = 20
ROUNDS = 3
ALLOWED_WAIT_MS = 250.0  # a page's answer to a click may come that much later and still feel like one
ALLOWED_LAST_MS = 3000.0


def run() -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        with Studio(Path(folder) / "studio") as studio:
            _, svg = studio.figure("race", {"preset": "figure-1"}, ("loss",), figure_options("svg"))
            yield _each(studio)
        server = Server(Path(folder) / "served")
        try:
            yield from _at_once(f"http://127.0.0.1:{server.port}/lab", svg)
        finally:
            server.stop()


def _each(studio: Studio) -> Result:
    """A figure in a browser that is open: drawn, checked and turned into a PDF."""
    times = []
    for theme in ("light", "dark") * 5:
        start = time.perf_counter()
        studio.figure("race", {"preset": "figure-1"}, ("loss",), figure_options("pdf", theme=theme))
        times.append(1e3 * (time.perf_counter() - start))
    ms = statistics.median(times)
    return Result("figures: a PDF in a warm browser, of 1 s", ms / 1000, 1.0, False, {"pdf": ms, "worst": max(times)})


def _at_once(address: str, svg: bytes) -> Iterator[Result]:
    _answer(f"{address}/api/figures/pdf", svg)  # the fonts are read once
    alone = _waits(address, 2.0)
    waits, exports = [], []
    for _ in range(ROUNDS):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            start = time.perf_counter()
            asked = [pool.submit(_answer, f"{address}/api/figures/pdf", svg) for _ in range(AT_ONCE)]
            while not all(one.done() for one in asked):
                waits.append(_answer(f"{address}/_stcore/health"))
            exports.append(1e3 * (time.perf_counter() - start))
            assert all(one.result() for one in asked)
    worst = max(waits)
    times = {"worst": worst, "median": statistics.median(waits), "alone": statistics.median(alone)}
    yield Result("figures: others' wait while 20 export, of 250 ms", worst / ALLOWED_WAIT_MS, 1.0, False, times)
    last = max(exports)
    yield Result("figures: the last of 20 PDFs at once, of 3 s", last / ALLOWED_LAST_MS, 1.0, False, {"last": last})


def _waits(address: str, seconds: float) -> list[float]:
    end, found = time.perf_counter() + seconds, []
    while time.perf_counter() < end:
        found.append(_answer(f"{address}/_stcore/health"))
    return found


def _answer(url: str, body: bytes | None = None) -> float:
    """Milliseconds until the whole answer is there."""
    start = time.perf_counter()
    with urllib.request.urlopen(urllib.request.Request(url, body), timeout=60) as answer:
        answer.read()
    return 1e3 * (time.perf_counter() - start)
