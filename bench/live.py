"""The live race as its visitors feel it: the real server, its workers, and up to 200 viewers, all on this machine.

The viewers share the cores with the training that they watch, which a class's own computers would not.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.interleaved import Result
from dashboard.config import RaceConfig
from dashboard.presets import PRESETS
from tests.dashboard.watching import Server

VIEWERS = 200
ALLOWED_DELAY_MS, ALLOWED_FIRST_FRAME_MS = 250.0, 1500.0


def run() -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            _finish(server, PRESETS["valley"].config.changed(seed=10_000))  # the workers are warm after it
            yield _first_frame(server)
            yield from _viewers(server)
            yield _ten_visitors(server)
            yield _memory(server)
        finally:
            server.stop()


def submit(server: Server, config: RaceConfig) -> str:
    return str(server.tell(submit=json.loads(config.to_json())))


def _finish(server: Server, config: RaceConfig) -> dict[str, Any]:
    """A run watched to its end by one viewer; its last status."""
    *_, end = server.events(submit(server, config))
    assert end.name == "end", end
    assert end.data["state"] == "finished", end
    return dict(end.data)


def _first_frame(server: Server) -> Result:
    """From the click on figure-1 to the arrival of its first frame."""
    times = []
    for seed in range(1, 6):
        start = time.perf_counter()
        run = submit(server, PRESETS["figure-1"].config.changed(seed=seed))
        next(event for event in server.events(run) if event.name == "frame")
        times.append((time.perf_counter() - start) * 1e3)
        server.tell(stop=run)
        for event in server.events(run):
            if event.name == "end":
                break
    median = statistics.median(times)
    times_ms = {"median": median, "worst": max(times), "allowed": ALLOWED_FIRST_FRAME_MS}
    return Result("live: click to first frame, of 1.5 s", median / ALLOWED_FIRST_FRAME_MS, 1.0, False, times_ms)


def _viewers(server: Server) -> Iterator[Result]:
    """Delays from the frame's arrival at the scheduler to a viewer's, and what 200 viewers cost the training."""
    config = PRESETS["figure-1-quick"].config.changed(steps=90, steps_per_frame=2)  # frames at 4 Hz and more
    alone, watched = [], []
    delays: list[float] = []
    for repeat in range(3):
        alone.append(_finish(server, config.changed(seed=2 * repeat + 100))["lane_steps_per_second"])
        run = submit(server, config.changed(seed=2 * repeat + 101))
        arrivals, status = asyncio.run(_watch(server, run))
        watched.append(status["lane_steps_per_second"])
        sent = {int(number): at for number, at in server.tell(sent=run).items()}
        delays += [(at - sent[number]) * 1e3 for number, at in arrivals if number in sent]
    p95 = statistics.quantiles(delays, n=20)[-1]
    spread = {"median": statistics.median(delays), "p95": p95, "worst": max(delays)}
    yield Result(f"live: p95 delay of {VIEWERS} viewers, of 250 ms", p95 / ALLOWED_DELAY_MS, 1.0, False, spread)
    speeds = {"alone": statistics.median(alone), "watched": statistics.median(watched)}
    per_lane_step = {name: 1e3 / speed for name, speed in speeds.items()}
    ratio = speeds["watched"] / speeds["alone"]
    yield Result(f"live: training speed under {VIEWERS} viewers", ratio, 0.7, True, per_lane_step)


async def _watch(server: Server, run: str) -> tuple[list[tuple[int, float]], dict[str, Any]]:
    """Every viewer's (frame number, time of arrival), and the last status."""
    arrivals: list[tuple[int, float]] = []

    async def viewer() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 24)
        writer.write(f"GET /lab/api/runs/{run}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        last = b""
        async for line in reader:
            if line.startswith(b"id: "):
                arrivals.append((int(line[4:]), time.time()))
            elif line.startswith(b'data: {"state"'):
                last = line
            elif line == b"event: end\n":
                break
        writer.close()
        return last

    *_, status = await asyncio.wait_for(asyncio.gather(*(viewer() for _ in range(VIEWERS))), 300)
    return arrivals, dict(json.loads(status[6:]))


def _ten_visitors(server: Server) -> Result:
    """Ten different races pressed at once; one after the other is what they are measured against."""
    config = PRESETS["valley"].config.changed(steps=1000)
    start = time.perf_counter()
    for seed in range(10):
        _finish(server, config.changed(seed=200 + seed))
    single = time.perf_counter() - start
    start = time.perf_counter()
    runs = [submit(server, config.changed(seed=300 + seed)) for seed in range(10)]
    for run in runs:
        first, *_, end = server.events(run)
        assert end.data["state"] == "finished", end
        assert first.name == "frame" or first.data["state"] != "queued" or first.data["position"], first
    together = time.perf_counter() - start
    times = {"one by one": single * 1e3, "together": together * 1e3}
    return Result("live: ten visitors at once, against one by one", together / single, 1.2, False, times)


def _memory(server: Server) -> Result:
    """The server's resident memory after 100 short runs, against after the first 20."""
    config = PRESETS["valley"].config.changed(steps=100)
    sizes = {}
    for count in range(1, 101):
        _finish(server, config.changed(seed=400 + count))
        if count in (20, 100):
            sizes[count] = _resident_mb(server.process.pid)
    print(f"server memory: {sizes[20]:.0f} MB after 20 runs, {sizes[100]:.0f} MB after 100")
    return Result("live: server memory after 100 runs, against 20", sizes[100] / sizes[20], 1.1, False, {})


def _resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"process {pid} has no VmRSS in its status")
