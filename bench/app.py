"""`figure-1` in the app, watched by one client, against the same race in one process and against plain loops.

The app shares a race's lanes out over its idle workers, of one thread each. So it gains what the cores give: with two
of them 4 lanes and 3, where the three lanes' worker is done first. With eight cores seven lanes would have four packs,
not seven: kernels round otherwise for a lane alone, which has a twin beside it, so that two lanes take as long as one.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.driving.watching import ROOT, Server
from bench.interleaved import Result
from bench.plain_loops import plain_seconds
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS
from demo_models import TASKS

STEPS, REPEATS = 200, 3  # of 1,000: a race's start and end weigh less in the whole one
PLAIN_STEPS = 60  # a plain loop has no such start
CONFIG = PRESETS["figure-1"].config.changed(steps=STEPS, evaluate_every=STEPS)


def run() -> Iterator[Result]:
    times: dict[str, list[float]] = {"app": [], "one process": [], "plain loops": []}
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            _watched(server, CONFIG.changed(seed=1000, steps=20, evaluate_every=20))
            for seed in range(REPEATS):
                times["app"].append(_watched(server, CONFIG.changed(seed=seed)))
                times["one process"].append(_one_process(seed))
                problem = TASKS[CONFIG.task].open(CONFIG.settings)
                plain = plain_seconds(problem, CONFIG.lanes, seed, PLAIN_STEPS, CONFIG.batch_size)
                times["plain loops"].append(plain)
        finally:
            server.stop()
    steps = {"app": STEPS, "one process": STEPS, "plain loops": PLAIN_STEPS}
    lanes = len(CONFIG.lanes)
    per_step = {name: statistics.median(taken) * 1e3 / (lanes * steps[name]) for name, taken in times.items()}
    speeds = ", ".join(f"{name} {1e3 / ms:.0f}" for name, ms in per_step.items())
    print(f"lane-steps a second: {speeds}")
    for peer, bar in (("one process", 1.5), ("plain loops", 3.5)):
        shown = {name: per_step[name] for name in ("app", peer)}
        yield Result(f"app: figure-1, a lane-step over {peer}", per_step[peer] / per_step["app"], bar, True, shown)


def _watched(server: Server, config: RaceConfig) -> float:
    """Seconds from the order to the end of the stream."""
    start = time.perf_counter()
    *_, end = server.events(str(server.tell(submit=json.loads(config.to_json()))))
    assert end.data["state"] == "finished", end
    return time.perf_counter() - start


def _one_process(seed: int) -> float:
    """Seconds that the command line says it took at one thread, without the start of Python."""
    options = ["--preset", "figure-1", "--steps", str(STEPS), "--seed", str(seed), "--fresh", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "dashboard", "race", *options],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return float(json.loads(done.stdout)["seconds"])
