"""How near the measured sharpness comes to the largest eigenvalue, on the races of the page on Post-LN and Pre-LN; and
what it costs.

The largest eigenvalue of the same batch is that of a longer search: the same products, thirty of them, from the
direction that the measured step had found.
"""

import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from bench.interleaved import Result, medians
from dashboard.asked.config import RaceConfig
from dashboard.asked.norms import NORMS, norm_race
from dashboard.asked.presets import PRESETS
from demo_models import TASKS
from radam_core.race.plan import SHARP
from radam_core.race.race import Race
from radam_core.race.sharpness import Sharpness
from radam_core.race.threads import one_thread

LONGER = 30  # products
EVERY = 3  # of the measured steps one is compared: odd, so that both kinds have their turn
FIRST = 15  # the first steps' directions are guesses still
NEVER = 10**6


def run() -> Iterator[Result]:
    with one_thread():
        shares = {norm: list(_shares(norm_race(norm))) for norm in NORMS}
        for norm, found in shares.items():
            early = [share for t, share in found if t < FIRST]
            later = [share for t, share in found if t >= FIRST]
            least, most = min(later), max(share for _, share in found)
            said = f"from step {FIRST} on {least:.2f} to {most:.3f} of the largest eigenvalue"
            print(f"{NORMS[norm]}: {said}, before {min(early):.2f} to {max(early):.2f} ({len(found)} compared)")
            yield Result(f"sharpness: median share of the largest, {norm}", statistics.median(later), 0.75, True, {})
        for task, config in (("numbers", norm_race("post")), ("digits", PRESETS["digits"].config)):
            yield _cost(task, config)


def _shares(config: RaceConfig) -> Iterator[tuple[int, float]]:
    """By step and lane: what was measured over what a longer search finds at the same place."""
    race = Race(TASKS[config.task].open(config.settings), config.plan())
    measure, asked = race._measure_sharpness, iter(range(NEVER))
    found: list[tuple[int, float]] = []

    def compared(t: int, *given: Any) -> Any:
        own = race.sharpness
        longer = Sharpness(race.lanes, products=LONGER)
        longer.turn = own.turn
        measured = measure(t, *given)
        if next(asked) % EVERY == 0:
            longer.best = dict(own.best)
            race.sharpness = longer
            largest = measure(t, *given)
            race.sharpness = own
            found.extend((t, float(share)) for share in (measured / largest)[np.isfinite(largest)])
        return measured

    race._measure_sharpness = compared  # type: ignore[method-assign, assignment]
    for t in range(1, config.steps + 1):
        race.step(t)
    yield from found


def _cost(task: str, config: RaceConfig) -> Result:
    """A step that is measured, in steps that are not."""
    plan = replace(config.plan(), half_batch_steps=0, dense_steps=0, steps=NEVER, evaluate_every=NEVER)
    races = {
        every: Race(TASKS[config.task].open(config.settings), replace(plan, sharpness_every=every)) for every in (0, 1)
    }
    steps = {every: iter(range(1, NEVER)) for every in races}
    times = medians(
        {
            "not measured": lambda: races[0].step(next(steps[0])),
            "measured": lambda: races[1].step(next(steps[1])),
        },
        repeats=30,
        warmup=5,
    )
    ratio = times["measured"] / times["not measured"] - 1
    return Result(f"sharpness: steps that a measurement takes, {task}", ratio, 2 * SHARP, False, times)
