"""Training as anyone would write it: a plain model, an optimizer of `torch.optim`, one run after the other."""

import time
from collections.abc import Iterable
from typing import Any

import torch

from dashboard.asked.config import LaneConfig

_MAKERS: dict[str, Any] = {"radam": torch.optim.RAdam, "sgd": torch.optim.SGD}


def plain_seconds(
    problem: Any, lanes: Iterable[LaneConfig], seed: int, steps: int, batch_size: int, evaluate: bool = False
) -> float:
    """Seconds of the same models and batches, at torch's own threads; schedules, which cost nothing, are left out.
    With `evaluate` each model is measured on held-out data once, after its last step."""
    start = time.perf_counter()
    for lane in lanes:
        model = problem.make_model(seed)
        optimizer = _MAKERS.get(lane.method, torch.optim.Adam)(model.parameters(), lr=lane.lr)
        for t in range(1, steps + 1):
            loss = problem.loss(model, problem.batch(seed, t, batch_size))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if evaluate:
            with torch.no_grad():
                problem.evaluate(model.eval())
    return time.perf_counter() - start
