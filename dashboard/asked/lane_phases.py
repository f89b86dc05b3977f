"""What a lane's settings make of its steps, in words: they alone decide it, so a page knows it for the whole race."""

import numpy as np

from radam_core.methods import BRANCHES
from radam_core.race.frames import schedule_columns
from radam_core.race.plan import Lane

FROZEN, MOMENTUM, WARMING_UP, TRAINING = "frozen", "momentum-only", "warming up", "training"
WARM = 0.5  # of the learning rate


def lane_phases(lane: Lane, steps: int) -> list[tuple[int, str]]:
    """The first step of each phase, and the phase. `lane_states.py` has their rules in words."""
    columns = {name: column[:, 0] for name, column in schedule_columns([lane], np.arange(1, steps + 1)).items()}
    rising = np.diff(columns["multiplier"], append=columns["multiplier"][-1]) > 0  # from here to the next step
    rules = {
        FROZEN: columns["branch"] == BRANCHES.index("no step"),
        MOMENTUM: columns["branch"] == BRANCHES.index("momentum"),
        WARMING_UP: (columns["multiplier"] < WARM) & rising,
    }
    phases = np.select(list(rules.values()), list(rules), TRAINING)
    changes = np.flatnonzero(phases[1:] != phases[:-1]) + 1
    return [(int(i) + 1, str(phases[i])) for i in (0, *changes)]
