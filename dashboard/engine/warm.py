"""Makes a worker ready before its first race: torch and the tasks imported, and two steps of the first preset.

A task that fails at it is passed over: it fails again when it is raced, alone and with its reason.
"""

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module

from distributed import Worker, WorkerPlugin

from dashboard.asked.presets import PRESETS
from dashboard.engine.worker import in_words, opened
from demo_models import TASKS

NICENESS = 10
log = logging.getLogger(__name__)


class Warm(WorkerPlugin):
    name = "radam-lab-warm"

    def __init__(self, cold: bool = False) -> None:
        self.cold = cold  # torch alone, for workers that do not survive the tasks

    def setup(self, worker: Worker) -> None:  # noqa: ARG002 - a plugin's form
        from radam_core.race.race import Race

        _step_aside()
        if self.cold:
            return
        for task in TASKS.values():
            with _passed_over(f"The task {task.name!r} cannot be imported"):
                import_module(task.module)
        config = next(iter(PRESETS.values())).config
        with _passed_over("The warm-up race failed"):
            race = Race(opened(config.task, json.dumps(config.settings, sort_keys=True)), config.plan())
            for t in (1, 2):
                race.step(t)


def _step_aside() -> None:
    """Pages first: where cores are short, the server and the browser beside it get them before the training does."""
    with suppress(AttributeError, OSError):  # not on every system
        os.nice(max(0, NICENESS - os.nice(0)))


@contextmanager
def _passed_over(what: str) -> Iterator[None]:
    try:
        yield
    except (Exception, SystemExit) as error:
        log.warning("%s: %s", what, in_words(error))
