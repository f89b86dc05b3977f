"""What a lane's settings make of its steps, in words: they alone decide it, so a page knows it for the whole race."""

import numpy as np

from radam_core.entry import Lane
from radam_core.frames import schedule_columns
from radam_core.methods import BRANCHES

FROZEN, MOMENTUM, WARMING_UP, LEARNING = "frozen", "momentum-only", "warming up", "learning"
WARM = 0.5  # of the learning rate


def lane_phases(lane: Lane, steps: int) -> list[tuple[int, str]]:
    """The first step of each phase, and the phase. `live_states.js` states the rules to the reader."""
    columns = {name: column[:, 0] for name, column in schedule_columns([lane], np.arange(1, steps + 1)).items()}
    rising = np.diff(columns["multiplier"], append=columns["multiplier"][-1]) > 0  # from here to the next step
    rules = {
        FROZEN: columns["branch"] == BRANCHES.index("no step"),
        MOMENTUM: columns["branch"] == BRANCHES.index("momentum"),
        WARMING_UP: (columns["multiplier"] < WARM) & rising,
    }
    phases = np.select(list(rules.values()), list(rules), LEARNING)
    changes = np.flatnonzero(phases[1:] != phases[:-1]) + 1
    return [(int(i) + 1, str(phases[i])) for i in (0, *changes)]
