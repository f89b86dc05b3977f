"""How a race's lanes are shared out to workers: as many packs as workers are idle, and one where none is.

A pack holds lanes of one seed, whose batches are then the same: so no bit of a lane depends on its pack. A lane alone
has a twin beside it (`radam_core/race/race.py`), so that more packs than one for two lanes gain nothing: seven lanes
have four workers' worth of work, however many there are. A GPU takes them all.
"""

from itertools import pairwise

from dashboard.asked.config import RaceConfig
from radam_core.race.plan import LEAST_STACKED


def share_out(config: RaceConfig, places: list[int], idle: int, on_gpu: bool = False) -> list[list[int]]:
    """The lanes at these places as packs, in their order."""
    by_seed: dict[int, list[int]] = {}
    for place in places:
        by_seed.setdefault(config.lanes[place].seed, []).append(place)
    packs: list[list[int]] = []
    for lanes in by_seed.values():
        count = 1 if on_gpu else packs_for(len(lanes), idle - len(packs))
        least, larger = divmod(len(lanes), count)
        ends = [least * k + min(k, larger) for k in range(count + 1)]
        packs += [lanes[start:end] for start, end in pairwise(ends)]
    return packs


def packs_for(lanes: int, idle: int) -> int:
    return max(1, min(idle, -(-lanes // LEAST_STACKED)))
