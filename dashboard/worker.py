"""What runs in a worker: a race that sends its frames out as they come and listens to what its watchers wish.

Torch is reached only through the race and the tasks, imported inside the functions: the server imports this module to
name its functions, and must not load torch. Messages leave with `log_event`; wishes come in by `set_wish`, which the
server calls on the worker directly, so that a race never waits for an answer.
"""

import json
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker, secede

from dashboard.config import RaceConfig
from dashboard.presets import PRESETS
from dashboard.store import FINISHED, PAUSED, RUNNING, STOPPED
from dashboard.turns import Turns
from demo_models import TASKS
from radam_core.frames import STOPPED as LANE_STOPPED
from radam_core.frames import encode_frame

GO, PAUSE, STOP = "go", "pause", "stop"
LONGEST_PAUSE_SECONDS = 3600.0  # a paused race holds memory; one that was forgotten ends
BUFFERS, FLOAT_BYTES = 5, 4  # a lane's parameters, gradients, two moments and their update
SHARE_OF_MEMORY = 0.25  # of a worker's memory that one race may take: it holds four at a time
TURNS = Turns()
_CONTROLS: dict[str, "RemoteControl"] = {}


class RemoteControl:
    """What a race asks before each step: whether it is its turn, and what its watchers wish."""

    def __init__(self, key: str, worker: Worker, tell: Any) -> None:
        self.key, self.worker, self.tell = key, worker, tell
        self.wish = GO
        self.seconds = 0.0  # of training: what others took, and pauses, are not in it
        self._changed = threading.Condition()
        self._since = self._looked = time.monotonic()
        self._has_turn = self._has_left_the_pool = False

    def set_wish(self, wish: str) -> None:
        with self._changed:
            self.wish = wish
            self._changed.notify_all()

    def proceed(self, step: int) -> bool:  # noqa: ARG002 - the form of a control
        if self.wish == PAUSE:
            self._pause()
        elif TURNS.over():
            self.give_turn()
            self.take_turn()
        return self.wish != STOP and not self._abandoned()

    def take_turn(self, first: bool = False) -> None:
        TURNS.take(self, first)
        self._since, self._has_turn = time.monotonic(), True

    def give_turn(self) -> None:
        if self._has_turn:
            self.seconds += time.monotonic() - self._since
            self._has_turn = False
            TURNS.give(self)

    def _pause(self) -> None:
        """Leaves its place in the worker to others and waits; it keeps its state in memory."""
        self.give_turn()
        self.tell(state=PAUSED)
        if not self._has_left_the_pool:
            secede()
            self._has_left_the_pool = True
        end = time.monotonic() + LONGEST_PAUSE_SECONDS
        with self._changed:
            while self.wish == PAUSE and time.monotonic() < end and not self._abandoned():
                self._changed.wait(1.0)
            if self.wish == PAUSE:
                self.wish = STOP
        if self.wish == GO:
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


def train(run: str, topic: str, config_json: str) -> None:
    """A whole race. Its last message says how it ended; an error is the task's own."""
    from radam_core.race import Race

    worker = get_worker()
    key = str(worker.get_current_task())

    def tell(**message: Any) -> None:
        worker.log_event(topic, {"run": run, "key": key, **message})

    config = RaceConfig.make(config_json)
    control = RemoteControl(key, worker, tell)
    _CONTROLS[run] = control
    try:
        tell(state=RUNNING, started=True)
        problem = opened(config.task, json.dumps(config.settings, sort_keys=True))
        _refuse_what_does_not_fit(problem, len(config.lanes), worker.memory_manager.memory_limit)
        control.take_turn(first=True)
        race = Race(problem, config.entry())
        frames = 0
        for frame in race.frames(control):
            # A frame that a stop cuts short would be one the whole race never has: it stays here.
            if LANE_STOPPED in frame.status:
                break
            frames += 1
            tell(
                frame=encode_frame(frame),
                number=frame.number,
                last=frame.last,
                samples=_samples(problem, race.model) if frame.metrics else None,
            )
        done = frames > 0 and frame.finished and LANE_STOPPED not in frame.status
        control.give_turn()
        tell(state=FINISHED if done else STOPPED, frames=frames, step=frame.last, seconds=control.seconds)
    finally:
        control.give_turn()
        if _CONTROLS.get(run) is control:
            del _CONTROLS[run]


def _refuse_what_does_not_fit(problem: Any, lanes: int, limit: int | None) -> None:
    """A worker that runs out of memory dies, and takes the other races in it along."""
    size = sum(parameter.numel() for parameter in problem.make_model(0).parameters())
    needed = BUFFERS * FLOAT_BYTES * lanes * size
    if limit is not None and needed > limit * SHARE_OF_MEMORY:
        raise ValueError(
            f"lanes times the model's size may be at most {limit * SHARE_OF_MEMORY / 1e9:.1f} GB on this machine, "
            f"got {needed / 1e9:.1f} GB: {lanes} lanes of {size:,} parameters"
        )


@lru_cache(maxsize=4)
def opened(task: str, settings_json: str) -> Any:
    """A task with its data read. It holds no state of a race, so that the next one on it starts a second earlier."""
    return TASKS[task].open(json.loads(settings_json))


def _samples(problem: Any, model: Any) -> str | None:
    """A few answers of every lane in words, if the task has such, as JSON."""
    if not hasattr(problem, "samples"):
        return None
    model.eval()
    rows = problem.samples(model)
    model.train()
    return json.dumps(rows, separators=(",", ":"), ensure_ascii=False)


def set_wish(run: str, wish: str) -> None:
    """Called on a worker's event loop while the race computes in a thread."""
    control = _CONTROLS.get(run)
    if control is not None:
        control.set_wish(wish)


def measure_variance(task: str, settings: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """The gradient-variance probe in a worker: its result as plain lists and numbers."""
    from radam_core.gradient_variance import measure_gradient_variance

    race = object()
    problem = opened(task, json.dumps(dict(settings), sort_keys=True))

    def share(_: int) -> None:
        if TURNS.over():
            TURNS.give(race)
            TURNS.take(race)

    TURNS.take(race, first=True)
    try:
        found = measure_gradient_variance(problem, progress=share, **options)
    finally:
        TURNS.give(race)
    return {
        "t": found.t.tolist(),
        "mean": found.mean.tolist(),
        "quartiles": found.quartiles.tolist(),
        "signal": float(found.signal),
        "coordinates": int(found.coordinates),
    }


def devices() -> list[str]:
    """Those that a race can run on here, the best one first."""
    from radam_core.race import choose_device

    found = []
    for name in ("cuda", "mps", "cpu"):
        try:
            found.append(choose_device(name).type)
        except ValueError:
            continue
    return found


class Warm(WorkerPlugin):
    """Makes a worker ready before its first race: torch and the tasks imported, and two steps of the first preset."""

    name = "radam-lab-warm"

    def setup(self, worker: Worker) -> None:  # noqa: ARG002 - a plugin's form
        from radam_core.race import Race

        for task in TASKS.values():
            import_module(task.module)
        config = next(iter(PRESETS.values())).config
        race = Race(opened(config.task, json.dumps(config.settings, sort_keys=True)), config.entry())
        for t in (1, 2):
            race.step(t)
