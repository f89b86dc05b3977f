"""Races of a second or less for an engine of the tests' own, and waiting for what it does with them."""

import time

from dashboard import headless
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import lane
from dashboard.engine.engine import Engine

LANES = [lane("adam", 1e-2), lane("radam", 1e-2), lane("sgd", 1e-4)]


def config(steps: int = 300, seed: int = 0, **changes) -> RaceConfig:
    values = {"task": "surfaces", "lanes": LANES, "steps": steps, "steps_per_frame": 50, "seed": seed, **changes}
    return RaceConfig.make(values)


def long_config(seed: int) -> RaceConfig:
    """Hours by the estimate, so that it takes one of the places for long runs."""
    many = [lane("adam", 1e-3 + 1e-6 * k, f"lane {k}") for k in range(64)]
    return config(100_000, seed=seed, lanes=many)


def wait_for(condition, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.02)


def wait_until_over(engine: Engine, run: str, seconds: float = 120.0) -> str:
    wait_for(lambda: engine.status(run).over, seconds)
    return engine.status(run).state


def stored(engine: Engine, run: str) -> list[list[str]]:
    """What is kept of each lane."""
    return engine.records(run)


def recorded(engine: Engine, run: str) -> int:
    """How many records there are of the lane that has the fewest."""
    return min(map(len, stored(engine, run)))


def begins_with(whole: list[list[str]], part: list[list[str]]) -> bool:
    return all(lane[: len(before)] == before for lane, before in zip(whole, part, strict=True))


def plain(config: RaceConfig) -> list[list[str]]:
    """The records of the same race in this process, with no engine around it."""
    lanes: list[list[str]] = [[] for _ in config.lanes]
    for found in headless.records(config):
        for place, record in found.items():
            lanes[place].append(record.body)
    return lanes
