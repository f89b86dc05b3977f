"""Own models: six lanes of `race_model`, with all it checks and measures, against plain loops; and what `watch` costs.

A contender's time is that of a whole call, from the model to the last step, at one torch thread for all: what is
checked before the first step and the ways that are tried in the first ones are in it.
"""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import nn

from bench.interleaved import Result, medians, slowdown, speedup
from bench.own_models import OWN_MODELS, OwnModel
from radam_core import race_model, watch
from radam_core.race.threads import one_thread

STEPS, REPEATS = 60, 3
LOWEST, MOST = 0.9, 1.05
WATCHED_STEPS, LONG_STEPS = 300, 100_000

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


def _raced(name: str, model: OwnModel) -> Result:
    ways = []

    def ours() -> None:
        ways.append(race_model(model.make, model.loss, model.batch, LANES, steps=STEPS).way)

    def loops() -> None:
        for make in LOOPS.values():
            _loop(model, make, STEPS)

    times = medians({"race_model": ours, "plain loops": loops}, REPEATS)
    speed = len(LANES) * STEPS / times["race_model"] * 1e3
    told = f"6 lanes of {name} ({ways[-1]}, {speed:.0f} lane-steps/s): over plain loops"
    return speedup(told, "race_model", "plain loops", LOWEST, times)


def _loop(model: OwnModel, make: Callable[[Any], torch.optim.Optimizer], steps: int, file: Path | None = None) -> None:
    torch.manual_seed(0)
    module = model.make()
    optimizer = make(module.parameters())
    watched = watch(module, optimizer, file) if file else None
    for t in range(1, steps + 1):
        loss = model.loss(module, model.batch(t))
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.step()
        if watched:
            watched.loss(loss)
    if watched:
        watched.close()


def _watched() -> Result:
    model, made = OWN_MODELS["TransformerEncoderLayer"], LOOPS["RAdam"]
    with tempfile.TemporaryDirectory() as folder:
        files = (Path(folder) / f"{number}.jsonl" for number in range(100))
        contenders = {
            "watched": lambda: _loop(model, made, WATCHED_STEPS, next(files)),
            "plain": lambda: _loop(model, made, WATCHED_STEPS),
        }
        times = medians(contenders, REPEATS)
    return slowdown(f"{WATCHED_STEPS} steps of an encoder: watched, of plain", "watched", "plain", MOST, times)


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
