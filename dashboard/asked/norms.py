"""Post-LN beside Pre-LN: the same lanes on the same task, with the layer norm after the sum or before the layer.

Why these settings: those of the protocol (`protocol.py`), at which Post-LN Adam was known to fail, in 300 steps, in
which r_t at beta2 0.99 gets to 0.92; the curvature every fifth step, since it is followed from one measured step to the
next.
"""

from functools import lru_cache
from typing import Any

from dashboard.asked import protocol
from dashboard.asked.config import RaceConfig
from dashboard.asked.protocol import lane

NORMS = {"post": "Post-LN", "pre": "Pre-LN"}
DEPTH, STEPS, SHARPNESS_EVERY, DENSE_STEPS = 6, 300, 5, 10


@lru_cache(256)
def norm_race(
    norm: str,
    depth: int = DEPTH,
    lr: float = protocol.LR,
    warmup_steps: int = protocol.UNTUNED,
    seed: int = 0,
    steps: int = STEPS,
) -> RaceConfig:
    """Adam, Adam with a warmup, and RAdam on `numbers`, with everything measured that the page shows."""
    shared: dict[str, Any] = {"beta2": protocol.BETA2, "decay": "linear"}
    lanes = [
        lane("adam", lr, **shared),
        lane("adam-linear", lr, f"Adam + warmup {warmup_steps}", warmup_steps=warmup_steps, **shared),
        lane("radam", lr, **shared),
    ]
    return RaceConfig.make(
        {
            "task": "numbers",
            "settings": {"norm": norm, "depth": depth},
            "lanes": lanes,
            "seed": seed,
            "steps": steps,
            "sharpness_every": SHARPNESS_EVERY,
            "dense_steps": DENSE_STEPS,
        }
    )
