"""What a run will cost, said before it starts: its new lanes, their steps, and how long they will take."""

from dataclasses import dataclass

from dashboard.asked.kinds import RunConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.engine.packing import packs_for, share_out_wide
from dashboard.runs.identity import lane_ids
from dashboard.runs.speeds import Speed, settings_key, speeds_on
from dashboard.runs.store import Store
from demo_models import TASKS
from radam_core.race.plan import LEAST_STACKED, plain_steps

WIDE_GAIN = 2.5  # of a sweep's wide packs over what a task names: 438 for 100 on digits, 76 for 36 (bench sweep)


@dataclass(frozen=True)
class Estimate:
    new: int  # lanes that nobody has trained to their end yet
    lane_steps: int  # of these
    seconds: float
    measured: bool  # on this machine; otherwise `seconds` is what two laptop cores would take


def estimate(config: RunConfig, store: Store, workers: int) -> Estimate:
    """From the most similar earlier pack of the task: same settings before same batch size before as many lanes.

    Time is taken as proportional to lanes and to the batch, which overstates what more of either costs.
    """
    ids = lane_ids(config)
    known = store.known(sorted(set(ids)))
    new = [place for place, lane in enumerate(ids) if lane not in known and lane not in ids[:place]]
    lane_steps = config.steps * len(new)
    steps = plain_steps(config.steps, config.half_batch_steps, config.sharpness_every)
    speeds = speeds_on(store, config.task, config.device)
    if not speeds:
        speed = TASKS[config.task].lane_steps_per_second
        seconds = len(new) * steps / (speed * WIDE_GAIN if isinstance(config, SweepConfig) else speed)
        return Estimate(len(new), lane_steps, seconds, measured=False)
    if not isinstance(config, SweepConfig):
        in_pack = max(-(-len(new) // packs_for(len(new), workers)), LEAST_STACKED) if new else 0
        return Estimate(len(new), lane_steps, steps * _step_seconds(config, in_pack, speeds), measured=True)
    packs = [max(len(pack), LEAST_STACKED) for pack in share_out_wide(config, new, workers)] if new else []
    seconds = sum(steps * _step_seconds(config, lanes, speeds) for lanes in packs) / max(1, min(workers, len(packs)))
    return Estimate(len(new), lane_steps, seconds, measured=True)


def _step_seconds(config: RunConfig, lanes: int, speeds: list[Speed]) -> float:
    """Of a pack of so many lanes."""
    wanted = settings_key(config)

    def unlike(speed: Speed) -> tuple[bool, bool, int]:
        return speed.settings != wanted, speed.batch_size != config.batch_size, abs(speed.lanes - lanes)

    best = min(speeds, key=unlike)
    return best.seconds_per_step * lanes / best.lanes * config.batch_size / best.batch_size
