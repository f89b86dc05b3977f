"""Races over several seeds, trained by two processes of one thread each: what each lane's loss was on the way.

A lane's numbers do not depend on the lanes beside it, so the packs here are cut for speed alone.
"""

import json
import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from dashboard.asked.config import RaceConfig
from dashboard.headless import frames
from radam_core.race.frames import BIN_OF_ONE, DIVERGED, Frame
from radam_core.race.plan import FINAL_STEPS
from radam_core.race.threads import one_thread

PROCESSES, LANES_IN_A_PACK = 2, 15
CHECKPOINTS = (100, 200, 500, 1000, 1500, 2000)


@dataclass(frozen=True)
class Outcome:
    """What became of a lane at a seed. Keys that are steps are text, as JSON has them."""

    section: str
    lane: str
    lr: float
    seed: int
    steps: int
    losses: dict[str, float]  # step -> the mean over the 20 steps up to it
    metric: float | None  # the task's first, at the end
    diverged_at: int | None
    gradient: dict[str, float]  # step -> median log10|g| over the parameters, where it was measured

    @property
    def final_loss(self) -> float:
        return self.losses.get(str(self.steps), np.nan)


def train(section: str, config: RaceConfig, seeds: Iterable[int], measure: bool = False) -> "list[Work]":
    """The packs of a race's lanes at these seeds."""
    places = range(len(config.lanes))
    packs = [places[i : i + LANES_IN_A_PACK] for i in range(0, len(places), LANES_IN_A_PACK)]
    return [Work(section, config.only(pack).changed(seed=seed).to_json(), measure) for seed in seeds for pack in packs]


@dataclass(frozen=True)
class Work:
    section: str
    config: str  # a race's, as JSON
    measure: bool


def outcomes(work: Sequence[Work]) -> Iterator[list[Outcome]]:
    """Of each pack, as soon as it is done."""
    context = multiprocessing.get_context("spawn")  # torch and its threads do not survive a fork
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        for done in as_completed([pool.submit(_raced, one) for one in work]):
            yield done.result()


def _raced(work: Work) -> list[Outcome]:
    config = RaceConfig.make(work.config)
    with one_thread():
        told = list(frames(config, measure=work.measure))
    steps = np.concatenate([frame.steps for frame in told])
    loss = np.concatenate([frame.loss for frame in told])
    return [_outcome(work.section, config, k, steps, loss[:, k], told) for k in range(len(config.lanes))]


def _outcome(
    section: str, config: RaceConfig, k: int, steps: np.ndarray, loss: np.ndarray, told: list[Frame]
) -> Outcome:
    lost = told[-1].status[k] == DIVERGED
    reached = (told[-1].diverged_at[k] or 0) - 1 if lost else config.steps
    checkpoints = sorted({*(t for t in CHECKPOINTS if t <= config.steps), config.steps})
    losses = {
        str(t): round(float(loss[(steps > t - FINAL_STEPS) & (steps <= t)].mean()), 5)
        for t in checkpoints
        if t <= reached
    }
    metrics = {t: found for frame in told for t, found in frame.metrics.items()}
    measured = [] if lost or not metrics else [float(values[k]) for values in metrics[max(metrics)].values()]
    return Outcome(
        section=section,
        lane=config.lanes[k].label,
        lr=config.lanes[k].lr,
        seed=config.seed,
        steps=config.steps,
        losses=losses,
        metric=round(measured[0], 5) if measured else None,
        diverged_at=told[-1].diverged_at[k],
        gradient={
            str(one.t): round(_median_log10(one.counts[0, k].sum(0)), 3)
            for frame in told
            for one in frame.histograms
            if one.counts[0, k].any()
        },
    )


def _median_log10(counts: np.ndarray) -> float:
    """Of magnitudes counted by powers of two, exact zeros left out, as if even within a power."""
    filled = counts.astype(np.float64)
    filled[0] = 0
    below = np.cumsum(filled)
    half = below[-1] / 2
    place = int(np.searchsorted(below, half))
    within = (half - (below[place] - filled[place])) / filled[place]
    return float((place + within - BIN_OF_ONE) * np.log10(2))


def read(path: Path) -> list[Outcome]:
    return [Outcome(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, found: Iterable[Outcome]) -> None:
    """In a fixed order: the file is compared line by line."""
    ordered = sorted(found, key=lambda one: (one.section, one.lane, one.lr, one.seed))
    path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in ordered), encoding="utf-8")
