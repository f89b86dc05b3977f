"""The live race as its visitors feel it: the real server, its workers, and up to 200 viewers, all on this machine.

The viewers share the cores with the training that they watch, which a class's own computers would not.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from bench.driving.chromium import CHROMIUM_FLAGS
from bench.driving.visiting import flawless_page, press, visitor, wait
from bench.driving.watching import Server
from bench.interleaved import Result
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS
from dashboard.export.chrome import find

VIEWERS = 200
NOTICED_S = 0.5  # a shorter wait is over before anyone could read a place
ALLOWED_DELAY_MS, ALLOWED_FIRST_FRAME_MS, ALLOWED_RECORDING_MS = 250.0, 1500.0, 2000.0


def run() -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            _finish(server, PRESETS["valley"].config.changed(seed=10_000))  # the workers are warm after it
            yield _recorded(server)
            yield _first_frame(server)
            yield _first_point(server)
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


# Since the navigation: when a recorded race's curves and losses are on the screen, and when plotly.js has drawn it.
_SEEN = """() => {
    window.seen = {}
    const look = () => {
        const loss = document.querySelector('[data-chart=loss]')?.dataset ?? {}
        const [card] = document.querySelectorAll('.lab-card[data-loss]')
        const curves = Number(loss.sketched ?? loss.points ?? 0) > 100
        if (curves && Number(card?.dataset.loss)) window.seen.curves ??= performance.now()
        if (Number(loss.points ?? 0) > 100) window.seen.chart ??= performance.now()
        else setTimeout(look, 5)
    }
    look()
}"""


def _recorded(server: Server) -> Result:
    """A first visit to the race page, where nothing was trained yet and nothing is in the browser's cache."""
    times: dict[str, list[float]] = {"curves": [], "chart": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(CHROMIUM_FLAGS))
        for _ in range(5):
            with flawless_page(browser) as page:
                page.add_init_script(f"({_SEEN})()")
                page.goto(f"http://127.0.0.1:{server.port}/lab/race")
                wait(page, "d.state === 'finished' && Number(d.step) === 1000 && Number(loss.points) > 100")
                for name, at in page.evaluate("window.seen").items():
                    times[name].append(at)
        browser.close()
    curves, chart = (statistics.median(times[name]) for name in ("curves", "chart"))
    seen = {"median": curves, "worst": max(times["curves"]), "by plotly.js": chart, "allowed": ALLOWED_RECORDING_MS}
    return Result(
        "live: first visit to a recorded race, its curves and losses seen, of 2 s",
        curves / ALLOWED_RECORDING_MS,
        1.0,
        False,
        seen,
    )


def _first_frame(server: Server) -> Result:
    """From the order to train figure-1 to the arrival of its first frame, without a browser."""
    times = []
    for seed in range(1, 6):
        start = time.perf_counter()
        run = submit(server, PRESETS["figure-1"].config.changed(seed=seed))
        next(event for event in server.events(run) if event.name == "records")
        times.append((time.perf_counter() - start) * 1e3)
        server.tell(stop=run)
        for event in server.events(run):
            if event.name == "end":
                break
    median = statistics.median(times)
    times_ms = {"median": median, "worst": max(times), "allowed": ALLOWED_FIRST_FRAME_MS}
    return Result("live: order to first frame, of 1.5 s", median / ALLOWED_FIRST_FRAME_MS, 1.0, False, times_ms)


# From the click itself to the animation frame in which the loss chart has a point, by the page's own clock.
_TIMED_CLICK = """() => {
    window.took = new Promise((resolve) => {
        document.addEventListener('click', (click) => {
            const look = () => {
                const points = Number(document.querySelector('[data-chart=loss]')?.dataset.points ?? 0)
                points > 0 ? resolve(performance.now() - click.timeStamp) : requestAnimationFrame(look)
            }
            look()
        }, { capture: true, once: true })
    })
}"""


def _first_point(server: Server) -> Result:
    """From a visitor's click on Train, figure-1, to the first point that a real Chromium has drawn."""
    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(CHROMIUM_FLAGS))
        for seed in range(11, 16):
            link = PRESETS["figure-1"].config.changed(seed=seed).to_link()
            with visitor(browser, f"http://127.0.0.1:{server.port}/lab/race?config={link}") as page:
                page.wait_for_selector("[data-test-script-state=notRunning]", state="attached")
                page.wait_for_selector("[data-chart=loss][data-drawn]")
                page.evaluate(_TIMED_CLICK)
                press(page, "Train")
                times.append(page.evaluate("window.took"))
                press(page, "Stop")
                wait(page, "d.ended === 'true'")
        browser.close()
    median = statistics.median(times)
    times_ms = {"median": median, "worst": max(times), "allowed": ALLOWED_FIRST_FRAME_MS}
    return Result(
        "live: click to first point on screen, of 1.5 s", median / ALLOWED_FIRST_FRAME_MS, 1.0, False, times_ms
    )


def _viewers(server: Server) -> Iterator[Result]:
    """Delays from the frame's arrival at the scheduler to a viewer's, and what 200 viewers cost the training."""
    config = PRESETS["figure-1-quick"].config.changed(steps=90, steps_per_frame=2)  # records at 4 Hz and more
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
            if line.startswith(b"id: "):  # 12.12.11: the next record of each lane
                arrivals.append((min(map(int, line[4:].split(b"."))) - 1, time.time()))
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
    with ThreadPoolExecutor(len(runs)) as visitors:
        waits = list(visitors.map(lambda run: _wait_in_queue(server, run), runs))
    together = time.perf_counter() - start
    print(f"{sum(wait > NOTICED_S for wait in waits)} of {len(runs)} waited, for up to {max(waits):.1f} s")
    assert max(waits) > NOTICED_S, "nobody had to wait: more visitors are needed"
    times = {"one by one": single * 1e3, "together": together * 1e3}
    return Result("live: ten visitors at once, against one by one", together / single, 1.2, False, times)


def _wait_in_queue(server: Server, run: str) -> float:
    """Watches a race to its end; how many seconds it waited. Its place was in sight all the while, but for a moment."""
    start, waited, unplaced = time.perf_counter(), 0.0, 0.0
    before: dict[str, Any] = {}  # the status until now
    since = 0.0
    for event in server.events(run):
        now = time.perf_counter() - start
        if before.get("state") == "queued":
            waited = now
            unplaced += 0.0 if before["position"] else now - since
        before, since = event.data if event.name != "records" else {}, now
    assert unplaced <= NOTICED_S, f"{run} waited {unplaced:.1f} s without a place in the queue"
    assert event.name == "end", event
    assert event.data["state"] == "finished", event
    return waited


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
