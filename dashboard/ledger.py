"""The runs under way: what workers say of them goes into the store and out to the viewers, here and nowhere else.

Whatever goes wrong with one run, a full disk or a worker that speaks nonsense, ends that run and not the others.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Future
from distributed.scheduler import KilledWorker

from dashboard import worker
from dashboard.feed import Feeds
from dashboard.job import Job
from dashboard.store import CUT_OFF, FAILED, FINISHED, PAUSED, QUEUED, RUNNING, Store
from dashboard.store import StoredFrame as Stored

LEAST_MEASURED_STEPS = 50  # of a run whose speed is remembered: setting up would weigh too much in a shorter one
LOST_MESSAGE = "The connection to the Dask scheduler was lost. What was recorded is here; Train runs it again."
LONGEST_REASON = 500
log = logging.getLogger(__name__)


class Ledger:
    """Not for two threads at once: the dispatcher holds its lock around every call."""

    def __init__(self, store: Store, feeds: Feeds, send_wish: Callable[[Job, str], object]) -> None:
        self.store, self.feeds, self.send_wish = store, feeds, send_wish
        self.jobs: dict[str, Job] = {}  # in the order in which they came
        self.trouble = "The workers are starting."  # why runs wait that would otherwise not; empty if there is no such

    def add(self, job: Job) -> None:
        self.jobs[job.run] = job
        self.show_queue()

    def take_in(self, notes: list[Any]) -> None:
        """What workers said, in its order. A run's frames are written down together, up to the next word on it: nobody
        sees the steps of a race that goes on beside the state it had before."""
        frames: dict[str, list[Stored]] = {}
        for note in notes:
            job = self._job_of(note)
            if job is None:
                continue
            if isinstance(note, dict) and "frame" in note:
                stored = Stored(note["number"], note["last"], note["frame"], note["samples"])
                frames.setdefault(job.run, []).append(stored)
                continue
            with self._only_this_fails(job):
                if not self._take_frames(job, frames.pop(job.run, [])):
                    continue
                if isinstance(note, dict):
                    self._turned(job, note)
                else:
                    self._failed(job, note)
        for run, rest in frames.items():
            with self._only_this_fails(self.jobs[run]):
                self._take_frames(self.jobs[run], rest)

    @contextmanager
    def _only_this_fails(self, job: Job) -> Iterator[None]:
        """Whatever goes wrong with what a worker said of a run ends that run, not the thread that serves them all."""
        try:
            yield
        except Exception as error:
            log.exception("Run %s cannot go on.", job.run)
            self.send_wish(job, worker.STOP)
            self.over(job, FAILED, _reason(error))

    def _job_of(self, note: "dict[str, Any] | Future[Any]") -> Job | None:
        """The run that a note is about; None if it is over, or if an earlier attempt at it is meant."""
        key = note["key"] if isinstance(note, dict) else note.key
        return next((job for job in self.jobs.values() if job.future is not None and job.future.key == key), None)

    def _started(self, job: Job) -> None:
        job.started()
        if job.wish != worker.GO:
            self.send_wish(job, job.wish)

    def _take_frames(self, job: Job, frames: list[Stored]) -> bool:
        """Whether they are stored now. A full disk, say, ends this run; the others can perhaps go on."""
        if not frames:
            return True
        try:
            self.store.add_frames(job.run, frames)
        except sqlite3.Error as error:
            self.send_wish(job, worker.STOP)
            self.over(job, FAILED, f"The frames cannot be stored: {error}")
            return False
        for frame in frames:
            job.take(frame)
        self.show(job, job.state)
        return True

    def _turned(self, job: Job, note: dict[str, Any]) -> None:
        """A worker says that a race started, was paused, goes on, or ended."""
        state = note["state"]
        if note.get("started"):
            self._started(job)
        if state in (RUNNING, PAUSED):
            self.show(job, state)
        elif state == FINISHED and len(job.feed.frames) != note["frames"]:
            self.over(job, FAILED, f"{note['frames'] - len(job.feed.frames)} frames were lost on their way here.")
        else:
            if state == FINISHED and note["step"] >= LEAST_MEASURED_STEPS:
                self.store.add_speed(job.config, note["seconds"] / note["step"])
            self.over(job, state)

    def _failed(self, job: Job, future: "Future[Any]") -> None:
        """Dask's last word on a race, which matters only if the race itself could not say one."""
        if future.status == "error":
            self.over(job, FAILED, _reason(future.exception()))
        elif future.status in ("cancelled", "lost"):  # nobody here cancels: the scheduler has gone
            self.over(job, CUT_OFF, LOST_MESSAGE)

    def over(self, job: Job, state: str, message: str = "") -> None:
        self.jobs.pop(job.run, None)
        job.future = None
        self.show(job, state, message)
        with _even_if_the_disk_is_full():
            for gone in self.store.trim():
                self.feeds.forget(gone)
        self.show_queue()

    def show(self, job: Job, state: str, message: str | None = None) -> None:
        """Tells the store of a new state, and the viewers of anything new."""
        if message is not None:
            job.message = message
        if state != job.state:
            with _even_if_the_disk_is_full():
                self.store.set_state(job.run, state, job.message)
        job.turn(state)
        job.feed.set_status(job.status())
        job.feed.wake()

    def show_queue(self) -> None:
        waiting = [job for job in self.jobs.values() if job.waits]
        for position, job in enumerate(waiting, 1):
            if (job.position, job.message) != (position, self.trouble):
                job.position = position
                self.show(job, QUEUED, self.trouble)


@contextmanager
def _even_if_the_disk_is_full() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        log.warning("The store cannot be written: %s", error)


def _reason(error: BaseException) -> str:
    """Why a race could not run, in words for a visitor."""
    if isinstance(error, KilledWorker):
        return "Worker after worker was lost while running this: it may need more memory than there is."
    return (str(error) or type(error).__name__)[:LONGEST_REASON]
