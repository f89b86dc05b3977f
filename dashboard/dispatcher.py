"""The thread that hands runs to the workers, takes in what they say, writes it down, and wakes the viewers.

It owns the cluster; the pages' threads only leave it notes. Dask does the rest: a worker that dies is replaced, and its
races run again from step 0, which changes nothing that is stored.

Fair share: races in a worker take turns. And of the places that the workers have, long runs get at most half, so that
a short one never waits behind a row of long ones.
"""

import logging
import queue
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from distributed import Future
from distributed.scheduler import KilledWorker

from dashboard import worker
from dashboard.cluster import Cluster, Layout
from dashboard.feed import Feeds
from dashboard.job import Job
from dashboard.store import CUT_OFF, CUT_OFF_MESSAGE, FAILED, FINISHED, PAUSED, QUEUED, RUNNING, STOPPED, Store
from dashboard.store import StoredFrame as Stored

PACE_SECONDS = 0.08  # what comes within this time is written down and sent on together
TRY_AGAIN_SECONDS = 5.0
LEAST_MEASURED_STEPS = 50  # of a run whose speed is remembered: setting up would weigh too much in a shorter one
NO_WORKERS = "The Dask cluster has no workers now."
LOST_MESSAGE = "The connection to the Dask scheduler was lost. What was recorded is here; Train runs it again."
LONGEST_REASON = 500
_END = object()
log = logging.getLogger(__name__)


class Dispatcher:
    def __init__(self, store: Store, feeds: Feeds, plan: Layout | None) -> None:
        self.store, self.feeds, self.plan = store, feeds, plan
        self.cluster: Cluster | None = None
        self.trouble = "The workers are starting."
        self.devices: tuple[str, ...] | None = None
        self.topic = f"radam-lab-{uuid.uuid4().hex}"
        self.jobs: dict[str, Job] = {}  # those under way, in the order in which they came
        self.probes: list[Future[Any]] = []  # the places in workers that measurements take
        self.lock = threading.RLock()
        self._notes: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._errands = ThreadPoolExecutor(1, thread_name_prefix="radam-lab-errands")
        self._thread = threading.Thread(target=self._work, name="radam-lab-dispatcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._notes.put(_END)
        self._thread.join(30)
        self._errands.shutdown(wait=False, cancel_futures=True)

    def add(self, job: Job) -> None:
        with self.lock:
            self.jobs[job.run] = job
            self._show_queue()
        self._notes.put(None)

    def wish(self, run: str, wish: str) -> None:
        """What a visitor wants of a run; nothing happens to one that is over."""
        with self.lock:
            job = self.jobs.get(run)
            if job is None:
                return
            job.wish = wish
            if job.future is not None:
                self._errands.submit(self._send_wish, job, wish)
            elif wish == worker.STOP:
                self._over(job, STOPPED)
            else:
                self._show(job, PAUSED if wish == worker.PAUSE else QUEUED)
            self._show_queue()
        self._notes.put(None)

    def _send_wish(self, job: Job, wish: str) -> None:
        cluster = self.cluster
        if cluster is not None:
            cluster.client.run(worker.set_wish, job.run, wish, on_error="ignore")

    def _work(self) -> None:
        ended = False
        while not ended:
            try:
                cluster = self._open()
            except Exception as error:  # not there, without this project's packages, or with older ones: it may change
                self.trouble = f"The Dask cluster cannot be used: {error}"
                log.warning(self.trouble)
                with self.lock:
                    self._show_queue()
                ended = self._ended_within(TRY_AGAIN_SECONDS)
                continue
            try:
                ended = self._until_lost(cluster)
            except OSError as error:
                log.warning("The Dask scheduler was lost: %s", error)
            self._leave(cluster, CUT_OFF_MESSAGE if ended else LOST_MESSAGE)
        with self.lock:
            for job in list(self.jobs.values()):
                self._over(job, CUT_OFF, CUT_OFF_MESSAGE)

    def _open(self) -> Cluster:
        cluster = Cluster.open(self.plan)
        cluster.client.subscribe_topic(self.topic, lambda event: self._notes.put(event[1]))
        self._ask_for_devices(cluster)
        self.cluster, self.trouble = cluster, ""
        return cluster

    def _ask_for_devices(self, cluster: Cluster) -> None:
        found = cluster.client.run(worker.devices, on_error="ignore")
        self.devices = max((tuple(names) for names in found.values()), key=len, default=None)

    def measure(self, function: Any, *arguments: Any, **options: Any) -> "Future[Any] | None":
        """Has a worker compute something on the side; None while each of them has such work, or there is none."""
        cluster = self.cluster
        if cluster is None:
            return None
        workers = len(cluster.client.nthreads())
        with self.lock:
            self.probes = [probe for probe in self.probes if not probe.done()]
            if len(self.probes) >= workers:
                return None
            self.probes.append(cluster.client.submit(function, *arguments, **options))
            return self.probes[-1]

    def _leave(self, cluster: Cluster, message: str) -> None:
        """Ends the races that were handed out; those that wait go on waiting."""
        with self.lock:
            out = [job for job in self.jobs.values() if job.future is not None]
            if cluster.client.status == "running":
                cluster.client.unsubscribe_topic(self.topic)
                for job in out:
                    self._send_wish(job, worker.STOP)
            for job in out:
                self._over(job, CUT_OFF, message)
            self.cluster, self.probes = None, []
        cluster.close()

    def _ended_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                if self._notes.get(timeout=left) is _END:
                    return True
            except queue.Empty:
                break
        return False

    def _until_lost(self, cluster: Cluster) -> bool:
        """Works until the engine is closed (True) or the scheduler is gone (False)."""
        handled = 0.0
        # A scheduler that was started again at the same address is another one: it knows nothing of our topic.
        scheduler = cluster.client.scheduler_comm
        while cluster.client.status == "running" and cluster.client.scheduler_comm is scheduler:
            if self.devices is None:
                self._ask_for_devices(cluster)
            self._hand_out(cluster)
            notes = []
            try:
                notes.append(self._notes.get(timeout=1.0))
                time.sleep(max(0.0, PACE_SECONDS - (time.monotonic() - handled)))
                while True:
                    notes.append(self._notes.get_nowait())
            except queue.Empty:
                handled = time.monotonic()
            if _END in notes:
                return True
            with self.lock:
                self._take_in([note for note in notes if note is not None])
        return False

    def _hand_out(self, cluster: Cluster) -> None:
        """Gives waiting runs to the workers, in their order, as far as there is room."""
        if not any(job.waits for job in self.jobs.copy().values()):
            return
        slots = cluster.slots()
        with self.lock:
            self.trouble = "" if slots else NO_WORKERS
            slots -= sum(not probe.done() for probe in self.probes)
            out = [job for job in self.jobs.values() if job.future is not None and job.state != PAUSED]
            room, room_for_long = slots - len(out), max(1, slots // 2) - sum(job.long for job in out)
            for job in [job for job in self.jobs.values() if job.waits]:
                if room <= 0:
                    break
                if job.long and room_for_long <= 0:
                    continue
                room, room_for_long = room - 1, room_for_long - job.long
                self._hand(job, cluster)
            self._show_queue()

    def _hand(self, job: Job, cluster: Cluster) -> None:
        # A key of its own for every attempt: a race that a server left behind on a cluster must not be taken for it.
        key = f"race-{job.run}-{uuid.uuid4().hex[:8]}"
        job.future = cluster.client.submit(worker.train, job.run, self.topic, job.config.to_json(), key=key, pure=False)
        job.future.add_done_callback(self._notes.put)
        self._show(job, RUNNING, "")

    def _take_in(self, notes: list[Any]) -> None:
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
            self._errands.submit(self._send_wish, job, worker.STOP)
            self._over(job, FAILED, _reason(error))

    def _job_of(self, note: "dict[str, Any] | Future[Any]") -> Job | None:
        """The run that a note is about; None if it is over, or if an earlier attempt at it is meant."""
        key = note["key"] if isinstance(note, dict) else note.key
        return next((job for job in self.jobs.values() if job.future is not None and job.future.key == key), None)

    def _started(self, job: Job) -> None:
        job.started()
        if job.wish != worker.GO:
            self._errands.submit(self._send_wish, job, job.wish)

    def _take_frames(self, job: Job, frames: list[Stored]) -> bool:
        """Whether they are stored now. A full disk, say, ends this run; the others can perhaps go on."""
        if not frames:
            return True
        try:
            self.store.add_frames(job.run, frames)
        except sqlite3.Error as error:
            self._errands.submit(self._send_wish, job, worker.STOP)
            self._over(job, FAILED, f"The frames cannot be stored: {error}")
            return False
        for frame in frames:
            job.take(frame)
        self._show(job, job.state)
        return True

    def _turned(self, job: Job, note: dict[str, Any]) -> None:
        """A worker says that a race started, was paused, goes on, or ended."""
        state = note["state"]
        if note.get("started"):
            self._started(job)
        if state in (RUNNING, PAUSED):
            self._show(job, state)
        elif state == FINISHED and len(job.feed.frames) != note["frames"]:
            self._over(job, FAILED, f"{note['frames'] - len(job.feed.frames)} frames were lost on their way here.")
        else:
            if state == FINISHED and note["step"] >= LEAST_MEASURED_STEPS:
                self.store.add_speed(job.config, note["seconds"] / note["step"])
            self._over(job, state)

    def _failed(self, job: Job, future: "Future[Any]") -> None:
        """Dask's last word on a race, which matters only if the race itself could not say one."""
        if future.status == "error":
            self._over(job, FAILED, _reason(future.exception()))
        elif future.status in ("cancelled", "lost"):  # nobody here cancels: the scheduler has gone
            self._over(job, CUT_OFF, LOST_MESSAGE)

    def _over(self, job: Job, state: str, message: str = "") -> None:
        self.jobs.pop(job.run, None)
        job.future = None
        self._show(job, state, message)
        with _even_if_the_disk_is_full():
            for gone in self.store.trim():
                self.feeds.forget(gone)
        self._show_queue()

    def _show(self, job: Job, state: str, message: str | None = None) -> None:
        """Tells the store of a new state, and the viewers of anything new."""
        if message is not None:
            job.message = message
        if state != job.state:
            with _even_if_the_disk_is_full():
                self.store.set_state(job.run, state, job.message)
        job.turn(state)
        job.feed.set_status(job.status())
        job.feed.wake()

    def _show_queue(self) -> None:
        waiting = [job for job in self.jobs.values() if job.waits]
        for position, job in enumerate(waiting, 1):
            if (job.position, job.message) != (position, self.trouble):
                job.position = position
                self._show(job, QUEUED, self.trouble)


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
