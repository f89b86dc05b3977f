"""What is recorded: every race with a name, the sweeps behind the paper's rows, and the two races and the sweep of the
norms page.

Not recorded, because they take longer than all others together: the paper's own ResNets (hours, and files to fetch),
and the sweeps that no page rests on.
"""

from functools import cache

from dashboard.asked.kinds import RunConfig
from dashboard.asked.norms import NORMS, norm_race
from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_presets import SWEEPS

HOURS = ("resnet-20", "resnet-18")
LONG_SWEEPS = ("map-long", "best-against-best", "beta2")


@cache
def catalogue() -> dict[str, RunConfig]:
    """By the name of the file."""
    races = {f"race-{name}": preset.config for name, preset in PRESETS.items() if name not in HOURS}
    norms = {f"norms-{norm}": norm_race(norm) for norm in NORMS}
    sweeps = {f"sweep-{name}": preset.config for name, preset in SWEEPS.items() if name not in LONG_SWEEPS}
    return {**races, **norms, **sweeps}
