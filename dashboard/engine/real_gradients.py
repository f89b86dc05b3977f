"""The gradient-variance probe as the variance page asks for it: measured in a worker, once for all visitors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future

from dashboard.engine.engine import NO_TRAINING, running_engine
from dashboard.remembered import Remembered
from demo_models import TASKS
from radam_core.domains import FloatArray

STEPS, STREAMS, BATCH_SIZE = 100, 16, 32
MEASURED_TASKS = tuple(sorted(name for name, task in TASKS.items() if task.probe_settings is not None))

_asked: dict[tuple[str, float], "Future[dict[str, Any]]"] = {}
_MOST_ASKED = 64


@dataclass(frozen=True, eq=False)
class RealGradients:
    """What `radam_core.race.gradient_variance.GradientVariance` holds, without torch.

    There is one of each measurement, and it equals itself alone.
    """

    t: FloatArray
    quartiles: FloatArray
    reference: FloatArray
    mean: FloatArray
    theory: FloatArray
    signal: float
    coordinates: int
    left_out: int


_measured: Remembered[RealGradients] = Remembered(_MOST_ASKED)


def ask(task: str, beta2: float) -> "RealGradients | str | None":
    """The measurement; None while it or its worker is under way; a sentence if it cannot be had."""
    engine = running_engine()
    if engine is None:
        return "Measuring needs the app's workers: start it with `streamlit run app.py`."
    if not engine.trains:
        return NO_TRAINING
    key = (task, beta2)
    future = _asked.get(key)
    if future is None or future.status in ("lost", "cancelled"):
        settings = TASKS[task].check(TASKS[task].probe_settings or {})
        sizes = {"steps": STEPS, "streams": STREAMS, "batch_size": BATCH_SIZE}
        future = engine.measure_variance(task, settings, beta2=beta2, **sizes)
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
    return _measured.get(future.key, lambda: _read(future.result()))


def asked_before(task: str, beta2: float) -> bool:
    """Whether there is such a measurement, or one is under way."""
    return (task, beta2) in _asked


def _read(found: dict[str, Any]) -> RealGradients:
    parts: dict[str, Any] = {
        name: np.array(value) if isinstance(value, list) else value for name, value in found.items()
    }
    return RealGradients(**parts)
