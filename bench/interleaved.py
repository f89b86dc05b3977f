"""How everything here is measured: contenders take turns in one run, and medians are compared as ratios."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """How `name` fared: a ratio against a peer, the bar it must reach, and the medians behind it in milliseconds."""

    name: str
    ratio: float
    bar: float
    higher_is_better: bool
    milliseconds: dict[str, float]

    @property
    def reached(self) -> bool:
        return self.ratio >= self.bar if self.higher_is_better else self.ratio <= self.bar

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "reached": self.reached}


def medians(contenders: Mapping[str, Callable[[], object]], repeats: int, warmup: int = 1) -> dict[str, float]:
    """The median milliseconds of each contender; every repeat runs all of them, one after the other."""
    for _ in range(warmup):
        for run in contenders.values():
            run()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def speedup(name: str, ours: str, peer: str, bar: float, times: dict[str, float]) -> Result:
    """How many times faster than its peer ours is; at least `bar` is wanted."""
    return Result(name, times[peer] / times[ours], bar, True, {ours: times[ours], peer: times[peer]})


def slowdown(name: str, ours: str, peer: str, bar: float, times: dict[str, float]) -> Result:
    """How many times its peer's time ours takes; at most `bar` is allowed."""
    return Result(name, times[ours] / times[peer], bar, False, {ours: times[ours], peer: times[peer]})
