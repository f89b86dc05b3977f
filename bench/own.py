"""Own models: six lanes of `race_model`, with all it checks and measures, against plain loops; and what `watch` costs.

A contender's time is that of a whole call, from the model to the last step, at one torch thread for all: what is
checked before the first step and the ways that are tried in the first ones are in it.
"""

import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import nn

from bench.interleaved import Result, medians, speedup
from bench.own_models import OWN_MODELS, OwnModel
from radam_core import race_model, watch
from radam_core.own import watching
from radam_core.race.threads import one_thread

STEPS, REPEATS, SWEEPS = 60, 3, 2
LOWEST, MOST = 0.9, 1.05
WATCHED_STEPS, CHUNK, LONG_STEPS = 400, 5, 100_000
SWEPT_STEPS = 300

# Six lanes as loops have them, and as a user names them here: our methods, and a function for what is none of them.
LOOPS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "Adam": partial(torch.optim.Adam, lr=1e-3),
    "AdamW": partial(torch.optim.AdamW, lr=1e-3, weight_decay=0.01),
    "RAdam": partial(torch.optim.RAdam, lr=1e-3),
    "SGD": partial(torch.optim.SGD, lr=1e-2, momentum=0.9),
    "NAdam": partial(torch.optim.NAdam, lr=1e-3),
    "Adam, slow": partial(torch.optim.Adam, lr=1e-4),
}
LANES: dict[str, Any] = {
    "Adam": {"method": "adam", "lr": 1e-3},
    "AdamW": {"method": "adam", "lr": 1e-3, "weight_decay": 0.01},
    "RAdam": {"method": "radam", "lr": 1e-3},
    "SGD": {"method": "sgd", "lr": 1e-2},
    "NAdam": LOOPS["NAdam"],
    "Adam, slow": {"method": "adam", "lr": 1e-4},
}


def run() -> Iterator[Result]:
    with one_thread():
        for name, model in OWN_MODELS.items():
            yield _raced(name, model)
        yield _watched()
        yield _long()
    yield _swept()


def _raced(name: str, model: OwnModel) -> Result:
    """A race asks for each step's batch: while it waits, the loops take the step before, so that both see the same
    machine; of several races the median."""
    ratios, times, way = [], [], ""
    for _ in range(REPEATS):
        ours, theirs, way = _side_by_side(model)
        ratios.append(theirs / ours)
        times.append((ours, theirs))
    ours, theirs = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
    told = f"6 lanes of {name} ({way}, {len(LANES) * STEPS / ours * 1e3:.0f} lane-steps/s): over plain loops"
    return Result(told, statistics.median(ratios), LOWEST, True, {"race_model": ours, "plain loops": theirs})


def _side_by_side(model: OwnModel) -> tuple[float, float, str]:
    """Seconds of a whole race, those of the loops, and the way it took."""
    loops = [_steps(model, make) for make in LOOPS.values()]
    waited = 0.0

    def batch(t: int) -> Any:
        nonlocal waited
        start, state = time.perf_counter(), torch.get_rng_state()
        for loop in loops:
            next(loop)
        torch.set_rng_state(state)
        waited += time.perf_counter() - start
        return model.batch(t)

    start = time.perf_counter()
    way = race_model(model.make, model.loss, batch, LANES, steps=STEPS).way
    return time.perf_counter() - start - waited, waited, way


def _steps(
    model: OwnModel, make: Callable[[Any], torch.optim.Optimizer], file: Path | None = None, most: float = watching.MOST
) -> Iterator[None]:
    """Training as anyone would write it, a step at a time; watched, if there is a file."""
    module = model.make()
    optimizer = make(module.parameters())
    watched = watch(module, optimizer, file, most=most) if file else None
    for t in itertools.count(1):
        loss = model.loss(module, model.batch(t))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        if watched:
            watched.loss(loss)
        yield


def _watched() -> Result:
    """Two loops in turns. What is watched takes the other's time for its own, so that it is given half of its share;
    all of the first steps are in it, which have most of the measuring. Seconds of the processor, which other programs
    on the machine do not take, and the median over pairs that stood beside each other; of several runs the median."""
    ratios, middle = [], {}
    for _ in range(REPEATS):
        times = _watched_once()
        ratios.append(statistics.median(ours / theirs for ours, theirs in zip(*times.values(), strict=True)))
        middle = {name: statistics.median(values) for name, values in times.items()}
    name = f"{WATCHED_STEPS} steps of an encoder: watched, of plain ({min(ratios):.3f} to {max(ratios):.3f})"
    return Result(name, statistics.median(ratios), MOST, False, middle)


def _watched_once() -> dict[str, list[float]]:
    """Milliseconds of each chunk of steps."""
    model, made = OWN_MODELS["TransformerEncoderLayer"], LOOPS["RAdam"]
    with tempfile.TemporaryDirectory() as folder:
        watched = _steps(model, made, Path(folder) / "run.jsonl", most=watching.MOST / 2)
        loops = {"watched": watched, "plain": _steps(model, made)}
        times: dict[str, list[float]] = {name: [] for name in loops}
        for number in range(WATCHED_STEPS // CHUNK):
            for name in sorted(loops, reverse=bool(number % 2)):  # each follows the other as often
                start = time.thread_time()
                for _ in itertools.islice(loops[name], CHUNK):
                    pass
                times[name].append(1e3 * (time.thread_time() - start))
    return times


def _swept() -> Result:
    """A sweep of 25 lanes as a whole command, start and end in it: over the workers, and in one process at torch's own
    number of threads. The first needs some seconds to start them, which a sweep of 60 steps does not win back."""
    command = [sys.executable, "-m", "dashboard", "sweep", "--problem", "bench/own_models.py:problem", "--fresh"]
    command += ["--steps", str(SWEPT_STEPS)]

    def run(workers: str) -> None:
        environment = {**os.environ, "RADAM_LAB_WORKERS": workers}
        subprocess.run(command, check=True, capture_output=True, env=environment, timeout=900)

    contenders = {"workers": partial(run, ""), "one process": partial(run, "1")}
    times = medians(contenders, SWEEPS, warmup=0)
    name = f"a sweep of an encoder, 25 lanes of {SWEPT_STEPS} steps: over the workers, over one process"
    return speedup(name, "workers", "one process", 1.0, times)


def _long() -> Result:
    """This process's memory after 100,000 watched steps, against at 20,000; and how large the file is."""
    model = nn.Linear(4, 1)
    optimizer, x, resident = torch.optim.RAdam(model.parameters()), torch.ones(1, 4), {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        with watch(model, optimizer, file) as watched:
            for t in range(1, LONG_STEPS + 1):
                optimizer.zero_grad()
                loss = model(x).square().sum()
                torch.autograd.backward(loss)
                optimizer.step()
                watched.loss(loss)
                if t in (LONG_STEPS // 5, LONG_STEPS):
                    resident[t] = psutil.Process().memory_info().rss / 1e6
        size = file.stat().st_size / 1e3
    name = f"{LONG_STEPS:,} watched steps (file {size:.0f} kB): memory at the end, of a fifth"
    return Result(name, resident[LONG_STEPS] / resident[LONG_STEPS // 5], 1.02, False, {})
