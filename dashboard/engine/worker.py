"""What runs in a worker: a pack of lanes that sends its records out as they come and obeys its visitors' commands.

Torch is reached only through the race and the tasks, imported inside the functions: the server imports this module to
name its functions, and must not load torch. Messages leave with `log_event`; commands come in by `set_command`, which
the server calls on the worker directly, so that a race never waits for an answer.
"""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import astuple
from functools import lru_cache
from typing import Any

from distributed import Worker, get_worker, secede

from dashboard.asked.config import RaceConfig
from dashboard.engine.commands import GO, PAUSE, STOP
from dashboard.engine.time_slices import TimeSlices
from dashboard.runs.records import lane_records
from dashboard.runs.states import FINISHED, PAUSED, RUNNING, STOPPED
from demo_models import TASKS
from radam_core.race.plan import LEAST_STACKED

LONGEST_PAUSE_SECONDS = 3600.0  # a paused race holds memory; one that was forgotten ends
BUFFERS, FLOAT_BYTES = 5, 4  # a lane's parameters, gradients, two moments and their update
SHARE_OF_MEMORY = 0.25  # of a worker's memory that one race may take: it holds four at a time
SLICES = TimeSlices()
_CONTROLS: dict[str, "PackControl"] = {}


class TaskError(RuntimeError):
    """Why a task cannot be used, in words for a visitor.

    Also when it calls `sys.exit`: Dask lets a SystemExit end the worker, and with it the other races there.
    """


class PackControl:
    """What a pack asks before each step: whether it is its turn, and what its visitors want."""

    def __init__(self, key: str, worker: Worker, tell: Any, lanes: int) -> None:
        self.key, self.worker, self.tell = key, worker, tell
        self.command, self.keep = GO, tuple(range(lanes))
        self.seconds = 0.0  # of training: what others took, and pauses, are not in it
        self._changed = threading.Condition()
        self._since = self._looked = time.monotonic()
        self._has_turn = self._has_left_the_pool = False

    def set_command(self, command: str, keep: tuple[int, ...]) -> None:
        with self._changed:
            self.command, self.keep = command, keep
            self._changed.notify_all()

    def proceed(self, step: int) -> bool:  # noqa: ARG002 - the form of a control
        if self.command == PAUSE:
            self._pause()
        elif SLICES.over():
            self.give_turn()
            self.take_turn()
        return self.command != STOP and not self._abandoned()

    def take_turn(self, first: bool = False) -> None:
        SLICES.take(self, first)
        self._since, self._has_turn = time.monotonic(), True

    def give_turn(self) -> None:
        if self._has_turn:
            self.seconds += time.monotonic() - self._since
            self._has_turn = False
            SLICES.give(self)

    def _pause(self) -> None:
        """Leaves its place in the worker to others and waits; it keeps its state in memory."""
        self.give_turn()
        self.tell(state=PAUSED)
        if not self._has_left_the_pool:
            secede()
            self._has_left_the_pool = True
        end = time.monotonic() + LONGEST_PAUSE_SECONDS
        with self._changed:
            while self.command == PAUSE and time.monotonic() < end and not self._abandoned():
                self._changed.wait(1.0)
            if self.command == PAUSE:
                self.command = STOP
        if self.command == GO:
            self.tell(state=RUNNING)
        self.take_turn(first=True)

    def _abandoned(self) -> bool:
        """Whether the server that asked for the race is gone: Dask has then cancelled the task."""
        now = time.monotonic()
        if now - self._looked < 1.0:
            return False
        self._looked = now
        task = self.worker.state.tasks.get(self.key)
        return task is None or task.state == "cancelled"


def train(topic: str, config_json: str) -> None:
    """A whole pack. Its last message says how it ended; an error is the task's own."""
    from radam_core.race.race import Race

    worker = get_worker()
    key = str(worker.get_current_task())

    def tell(**message: Any) -> None:
        worker.log_event(topic, {"key": key, **message})

    config = RaceConfig.make(config_json)
    control = PackControl(key, worker, tell, len(config.lanes))
    _CONTROLS[key] = control
    try:
        tell(state=RUNNING, started_in=worker.address)
        problem = opened(config.task, json.dumps(config.settings, sort_keys=True))
        # Models are made in one's turn alone: their weights come from torch's random numbers, which are the process's,
        # and two threads that draw at once get each other's.
        control.take_turn(first=True)
        _refuse_what_does_not_fit(problem, len(config.lanes), worker.memory_manager.memory_limit)
        race = Race(problem, config.plan())
        open_lanes, step, lane_steps = set(range(len(config.lanes))), 0, 0
        for records in lane_records(race, control, lambda: control.keep):
            tell(records=[[place, *astuple(record)] for place, record in records.items()])
            last = max(record.last for record in records.values())
            step, lane_steps = last, lane_steps + len(records) * (last - step)
            open_lanes -= {place for place, record in records.items() if record.ends}
        control.give_turn()
        done = not open_lanes & set(control.keep)
        whole = lane_steps == step * len(config.lanes)
        tell(state=FINISHED if done else STOPPED, step=step, whole=whole, seconds=control.seconds)
    except SystemExit as error:
        raise TaskError(f"The task {config.task!r} ended the race: {in_words(error)}") from error
    finally:
        control.give_turn()
        _CONTROLS.pop(key, None)


def _refuse_what_does_not_fit(problem: Any, lanes: int, limit: int | None) -> None:
    """A worker that runs out of memory dies, and takes the other races in it along."""
    size = sum(parameter.numel() for parameter in problem.make_model(0).parameters())
    needed = BUFFERS * FLOAT_BYTES * max(lanes, LEAST_STACKED) * size
    if limit is not None and needed > limit * SHARE_OF_MEMORY:
        raise ValueError(
            f"lanes times the model's size may be at most {limit * SHARE_OF_MEMORY / 1e9:.1f} GB on this machine, "
            f"got {needed / 1e9:.1f} GB: {lanes} lanes of {size:,} parameters"
        )


@lru_cache(maxsize=4)
def opened(task: str, settings_json: str) -> Any:
    """A task with its data read. It holds no state of a race, so that the next one on it starts a second earlier."""
    try:
        return TASKS[task].open(json.loads(settings_json))
    except (Exception, SystemExit) as error:
        raise TaskError(f"The task {task!r} cannot be opened: {in_words(error)}") from error


def set_command(key: str, command: str, keep: tuple[int, ...]) -> None:
    """Called on a worker's event loop while the pack computes in a thread; `keep` are the lanes still wanted."""
    control = _CONTROLS.get(key)
    if control is not None:
        control.set_command(command, keep)


def measure_variance(task: str, settings: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """The gradient-variance probe in a worker: its result as plain lists and numbers."""
    from radam_core.race.gradient_variance import measure_gradient_variance

    race = object()
    problem = opened(task, json.dumps(dict(settings), sort_keys=True))

    def share(_: int) -> None:
        if SLICES.over():
            SLICES.give(race)
            SLICES.take(race)

    SLICES.take(race, first=True)
    try:
        found = measure_gradient_variance(problem, progress=share, **options)
    except SystemExit as error:
        raise TaskError(f"The task {task!r} ended the measurement: {in_words(error)}") from error
    finally:
        SLICES.give(race)
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in vars(found).items()}


def devices() -> list[str]:
    """Those that a race can run on here, the best one first."""
    from radam_core.race.race import choose_device

    found = []
    for name in ("cuda", "mps", "cpu"):
        try:
            found.append(choose_device(name).type)
        except ValueError:
            continue
    return found


def in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
