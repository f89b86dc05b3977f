"""The kinds of runs: a race, and a sweep, which is a larger one; both are lists of lanes with a configuration, to be
trained. A run of an own model (`own_config.py`) was trained elsewhere: it is kept and shown, and that is all."""

from dashboard.asked.config import RaceConfig
from dashboard.asked.own_config import OwnConfig
from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.sweep_config import SweepConfig

RunConfig = RaceConfig | SweepConfig
KeptConfig = RunConfig | OwnConfig
KINDS: dict[str, type[RaceConfig] | type[SweepConfig]] = {kind.kind: kind for kind in (RaceConfig, SweepConfig)}
KEPT: dict[str, type[RaceConfig] | type[SweepConfig] | type[OwnConfig]] = {
    **KINDS,
    OwnConfig.kind: OwnConfig,
    OwnMapConfig.kind: OwnMapConfig,
}
