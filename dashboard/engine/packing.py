"""How lanes are shared out to workers: a race's as many packs as workers are idle, a sweep's in wide ones.

A pack holds lanes of one stack, those of one seed on the task at one choice of its settings, whose batches are then
the same: so no bit of a lane depends on its pack. A lane alone has a twin beside it (`radam_core/race/race.py`), so
that more packs than one for two lanes gain nothing: seven lanes have four workers' worth of work, however many there
are. A GPU takes them all.
"""

from itertools import pairwise

from dashboard.asked.config import MOST_LANES
from dashboard.asked.kinds import RunConfig
from radam_core.race.plan import LEAST_STACKED

# Lanes of a sweep that one worker stacks. Wider ones gain less and less, and hold their cells back until all are done.
WIDEST = 36


def share_out(config: RunConfig, places: list[int], idle: int, on_gpu: bool = False) -> list[list[int]]:
    """The lanes at these places as packs, in their order."""
    packs: list[list[int]] = []
    for lanes in _stacks(config, places):
        packs += _cut(lanes, 1 if on_gpu else packs_for(len(lanes), idle - len(packs)))
    return packs


def share_out_wide(config: RunConfig, places: list[int], workers: int, on_gpu: bool = False) -> list[list[int]]:
    """The same for throughput: as wide as pays. The last stacks are cut, so that no worker is idle beside them."""
    stacks = _stacks(config, places)
    whole = len(stacks) - (0 if on_gpu else len(stacks) % workers)
    packs: list[list[int]] = []
    for number, lanes in enumerate(stacks):
        count = -(-len(lanes) // (MOST_LANES if on_gpu else WIDEST))
        if number >= whole and not on_gpu:  # as many for each worker
            count = packs_for(len(lanes), workers * -(-count // workers))
        packs += _cut(lanes, count)
    return packs


def packs_for(lanes: int, idle: int) -> int:
    return max(1, min(idle, -(-lanes // LEAST_STACKED)))


def _stacks(config: RunConfig, places: list[int]) -> list[list[int]]:
    by_key: dict[tuple[object, ...], list[int]] = {}
    for place in places:
        by_key.setdefault(config.stack_key(place), []).append(place)
    return list(by_key.values())


def _cut(lanes: list[int], count: int) -> list[list[int]]:
    least, larger = divmod(len(lanes), count)
    ends = [least * k + min(k, larger) for k in range(count + 1)]
    return [lanes[start:end] for start, end in pairwise(ends)]
