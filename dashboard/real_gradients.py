"""The gradient-variance probe as the variance page asks for it: measured in a worker, once for all visitors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future

from dashboard.engine import running_engine
from demo_models import TASKS
from radam_core.domains import FloatArray

STEPS, STREAMS = 100, 16
MEASURED_TASKS = ("digits", "numbers", "text")
# Smaller than the race's: the variance is a matter of single coordinates, and the probe runs 16 models at once.
_SETTINGS: dict[str, dict[str, Any]] = {"digits": {}, "numbers": {"depth": 2}, "text": {"vocabulary": 500, "width": 32}}

_asked: dict[tuple[str, float], "Future[dict[str, Any]]"] = {}
_MOST_ASKED = 64


@dataclass(frozen=True)
class RealGradients:
    """Var[psi_t] sigma^2 over gradient streams at the steps t: its mean and quartiles over coordinates."""

    t: FloatArray
    mean: FloatArray
    quartiles: FloatArray
    signal: float
    coordinates: int


def ask(task: str, beta2: float) -> "RealGradients | str | None":
    """The measurement; None while it or its worker is under way; a sentence if it cannot be had."""
    engine = running_engine()
    if engine is None:
        return "Measuring needs the app's workers: start it with `streamlit run app.py`."
    key = (task, beta2)
    future = _asked.get(key)
    if future is None or future.status in ("lost", "cancelled"):
        settings = TASKS[task].check(_SETTINGS[task])
        future = engine.measure_variance(task, settings, beta2=beta2, steps=STEPS, streams=STREAMS)
        if future is None:
            return None
        while len(_asked) >= _MOST_ASKED:
            _asked.pop(next(iter(_asked)))
        _asked[key] = future
    if not future.done():
        return None
    if future.status == "error":
        _asked.pop(key, None)
        return f"The measurement failed: {future.exception()}"
    found = future.result()
    return RealGradients(
        t=np.array(found["t"]),
        mean=np.array(found["mean"]),
        quartiles=np.array(found["quartiles"]),
        signal=found["signal"],
        coordinates=found["coordinates"],
    )
