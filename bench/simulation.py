"""`simulate_variance` at the paper's size against the loop that the paper's figure describes."""

from collections.abc import Iterator

import numpy as np

from bench.interleaved import Result, medians, slowdown, speedup
from radam_core.simulation import simulate_variance
from radam_core.theory import rectification

BETA2, STEPS, TRAJECTORIES, MUS = 0.999, 6000, 5000, (0.0, 0.001, 0.01, 0.1, 1.0, 10.0)


def plain_loop() -> list[np.ndarray]:
    """One loop over the steps for each mu, with its own samples, keeping both variances of every step."""
    generator = np.random.default_rng(0)
    r = rectification(np.arange(1, STEPS + 1), BETA2)
    curves = []
    for mu in MUS:
        v = np.zeros(TRAJECTORIES)
        curve = np.empty((2, STEPS))
        for t in range(1, STEPS + 1):
            g = generator.normal(mu, 1.0, TRAJECTORIES)
            v = BETA2 * v + (1 - BETA2) * g * g
            psi = 1 / np.sqrt(v / (1 - BETA2**t))
            curve[:, t - 1] = psi.var(), (r[t - 1] * psi).var()
        curves.append(curve)
    return curves


def run() -> Iterator[Result]:
    times = medians(
        {"ours": lambda: simulate_variance(BETA2, STEPS, MUS, TRAJECTORIES), "plain loop": plain_loop}, repeats=3
    )
    yield speedup("simulate_variance at the paper's size: over a loop", "ours", "plain loop", 10, times)
    times["2 seconds"] = 2000.0
    yield slowdown("simulate_variance at the paper's size: of 2 s", "ours", "2 seconds", 1, times)
