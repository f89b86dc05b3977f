"""How long something will take, as people say it."""

from dashboard.asked.sweep_config import SweepConfig
from dashboard.engine.engine import Engine


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def sweep_cost(engine: Engine, config: SweepConfig) -> str:
    """What a sweep has still to train, and how long that will take."""
    expected, lanes = engine.estimate(config), config.size
    if not expected.new:
        return f"All {lanes} lanes were trained before: there is nothing to wait for"
    told = f"{lanes} lanes" if expected.new == lanes else f"{expected.new} of {lanes} lanes are new: {expected.new}"
    where = "on this machine" if expected.measured else "on two laptop cores"
    return f"{told} × {config.steps:,} steps, about {duration(expected.seconds)} {where}"
