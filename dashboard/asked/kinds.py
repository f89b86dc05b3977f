"""The kinds of runs: a race, and a sweep, which is a larger one. Both are lists of lanes with a configuration."""

from dashboard.asked.config import RaceConfig
from dashboard.asked.sweep_config import SweepConfig

RunConfig = RaceConfig | SweepConfig
KINDS: dict[str, type[RaceConfig] | type[SweepConfig]] = {kind.kind: kind for kind in (RaceConfig, SweepConfig)}
