"""What a race will cost, said before it starts: its new lanes, their steps, and how long they will take."""

from dataclasses import dataclass

from dashboard.asked.config import RaceConfig
from dashboard.engine.packing import packs_for
from dashboard.runs.store import Speed, Store, lane_ids, settings_key
from demo_models import TASKS
from radam_core.race.plan import LEAST_STACKED, plain_steps


@dataclass(frozen=True)
class Estimate:
    new: int  # lanes that nobody has trained to their end yet
    lane_steps: int  # of these
    seconds: float
    measured: bool  # on this machine; otherwise `seconds` is what two laptop cores would take


def estimate(config: RaceConfig, store: Store, workers: int) -> Estimate:
    """From the most similar earlier pack of the task: same settings before same batch size before as many lanes.

    Time is taken as proportional to lanes and to the batch, which overstates what more of either costs.
    """
    ids = set(lane_ids(config))
    new = len(ids - store.known(sorted(ids)))
    lane_steps = config.steps * new
    steps = plain_steps(config.steps, config.half_batch_steps)
    speeds = store.speeds(config.task, config.device)
    if not speeds:
        return Estimate(new, lane_steps, new * steps / TASKS[config.task].lane_steps_per_second, measured=False)
    wanted = settings_key(config)
    in_pack = max(-(-new // packs_for(new, workers)), LEAST_STACKED) if new else 0

    def unlike(speed: Speed) -> tuple[bool, bool, int]:
        return speed.settings != wanted, speed.batch_size != config.batch_size, abs(speed.lanes - in_pack)

    best = min(speeds, key=unlike)
    scale = in_pack / best.lanes * config.batch_size / best.batch_size
    return Estimate(new, lane_steps, steps * best.seconds_per_step * scale, measured=True)
