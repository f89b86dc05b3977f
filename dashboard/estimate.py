"""What a race will cost, said before it starts: its lane-steps, and its seconds if this machine has run the like."""

from dataclasses import dataclass

from dashboard.config import RaceConfig
from dashboard.store import Speed, Store, settings_key

# Lane-steps a second on two laptop cores, for a machine that has run nothing yet. Only the order of magnitude counts.
TYPICAL = {"numbers": 36.0, "digits": 100.0, "text": 150.0, "images": 2.0, "surfaces": 3000.0}


@dataclass(frozen=True)
class Estimate:
    lane_steps: int
    seconds: float
    measured: bool  # on this machine; otherwise `seconds` is what two laptop cores would take


def estimate(config: RaceConfig, store: Store) -> Estimate:
    """From the most similar earlier run of the task: same settings before same batch size before as many lanes.

    Time is taken as proportional to lanes and to the batch, which overstates what more of either costs.
    """
    lane_steps = config.steps * len(config.lanes)
    speeds = store.speeds(config.task, config.device)
    if not speeds:
        return Estimate(lane_steps, lane_steps / TYPICAL[config.task], measured=False)
    wanted = settings_key(config)

    def unlike(speed: Speed) -> tuple[bool, bool, int]:
        lanes = abs(speed.lanes - len(config.lanes))
        return speed.settings != wanted, speed.batch_size != config.batch_size, lanes

    best = min(speeds, key=unlike)
    scale = len(config.lanes) / best.lanes * config.batch_size / best.batch_size
    return Estimate(lane_steps, config.steps * best.seconds_per_step * scale, measured=True)
