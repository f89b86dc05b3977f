"""The thread that hands runs to the workers and takes in what they say, for the ledger to write down and show.

It owns the cluster; the pages' threads only leave it notes. Dask does the rest: a worker that dies is replaced, and its
races run again from step 0, which changes nothing that is stored.

Fair share: races in a worker take turns. And of the places that the workers have, long runs get at most half, so that
a short one never waits behind a row of long ones.
"""

import logging
import queue
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from distributed import Future

from dashboard import worker
from dashboard.cluster import Cluster, Layout
from dashboard.feed import Feeds
from dashboard.job import Job
from dashboard.ledger import LOST_MESSAGE, Ledger
from dashboard.store import CUT_OFF, CUT_OFF_MESSAGE, PAUSED, QUEUED, RUNNING, STOPPED, Store

PACE_SECONDS = 0.08  # what comes within this time is written down and sent on together
TRY_AGAIN_SECONDS = 5.0
NO_WORKERS = "The Dask cluster has no workers now."
_END = object()
log = logging.getLogger(__name__)


class Dispatcher:
    def __init__(self, store: Store, feeds: Feeds, plan: Layout | None) -> None:
        self.plan = plan
        self.ledger = Ledger(store, feeds, self._send_wish)
        self.cluster: Cluster | None = None
        self.devices: tuple[str, ...] | None = None
        self.topic = f"radam-lab-{uuid.uuid4().hex}"
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
            self.ledger.add(job)
        self._notes.put(None)

    def wish(self, run: str, wish: str) -> None:
        """What a visitor wants of a run; nothing happens to one that is over."""
        with self.lock:
            job = self.ledger.jobs.get(run)
            if job is None:
                return
            job.wish = wish
            if job.future is not None:
                self._send_wish(job, wish)
            elif wish == worker.STOP:
                self.ledger.over(job, STOPPED)
            else:
                self.ledger.show(job, PAUSED if wish == worker.PAUSE else QUEUED)
            self.ledger.show_queue()
        self._notes.put(None)

    def _send_wish(self, job: Job, wish: str) -> None:
        """Without waiting until it has arrived."""
        self._errands.submit(self._tell_workers, job, wish)

    def _tell_workers(self, job: Job, wish: str) -> None:
        cluster = self.cluster
        if cluster is not None:
            cluster.client.run(worker.set_wish, job.run, wish, on_error="ignore")

    def _work(self) -> None:
        ended = False
        while not ended:
            try:
                cluster = self._open()
            except Exception as error:  # not there, without this project's packages, or with older ones: it may change
                self.ledger.trouble = f"The Dask cluster cannot be used: {error}"
                log.warning(self.ledger.trouble)
                with self.lock:
                    self.ledger.show_queue()
                ended = self._ended_within(TRY_AGAIN_SECONDS)
                continue
            try:
                ended = self._until_lost(cluster)
            except Exception as error:  # mostly an OSError; whatever it is, this thread must go on
                log.warning("The Dask scheduler was lost: %r", error)
            self._leave(cluster, CUT_OFF_MESSAGE if ended else LOST_MESSAGE)
        with self.lock:
            for job in list(self.ledger.jobs.values()):
                self.ledger.over(job, CUT_OFF, CUT_OFF_MESSAGE)

    def _open(self) -> Cluster:
        cluster = Cluster.open(self.plan)
        cluster.client.subscribe_topic(self.topic, lambda event: self._notes.put(event[1]))
        self._ask_for_devices(cluster)
        self.cluster, self.ledger.trouble = cluster, ""
        return cluster

    def _ask_for_devices(self, cluster: Cluster) -> None:
        found = cluster.client.run(worker.devices, on_error="ignore")
        self.devices = max((tuple(names) for names in found.values()), key=len, default=None)

    def measure(self, function: Any, *arguments: Any, **options: Any) -> "Future[Any] | None":
        """Has a worker compute something on the side; None while each of them has such work, or there is none."""
        cluster = self.cluster
        try:
            workers = len(cluster.client.nthreads()) if cluster is not None else 0
        except OSError:  # the scheduler has just gone
            return None
        with self.lock:
            self.probes = [probe for probe in self.probes if not probe.done()]
            if cluster is None or len(self.probes) >= workers:
                return None
            self.probes.append(cluster.client.submit(function, *arguments, **options))
            return self.probes[-1]

    def _leave(self, cluster: Cluster, message: str) -> None:
        """Ends the races that were handed out; those that wait go on waiting."""
        with self.lock:
            out = [job for job in self.ledger.jobs.values() if job.future is not None]
            if cluster.client.status == "running":
                cluster.client.unsubscribe_topic(self.topic)
                for job in out:
                    self._tell_workers(job, worker.STOP)
            for job in out:
                self.ledger.over(job, CUT_OFF, message)
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
                self.ledger.take_in([note for note in notes if note is not None])
        return False

    def _hand_out(self, cluster: Cluster) -> None:
        """Gives waiting runs to the workers, in their order, as far as there is room."""
        if not any(job.waits for job in self.ledger.jobs.copy().values()):
            return
        slots = cluster.slots()
        with self.lock:
            self.ledger.trouble = "" if slots else NO_WORKERS
            slots -= sum(not probe.done() for probe in self.probes)
            out = [job for job in self.ledger.jobs.values() if job.future is not None and job.state != PAUSED]
            room, room_for_long = slots - len(out), max(1, slots // 2) - sum(job.long for job in out)
            for job in [job for job in self.ledger.jobs.values() if job.waits]:
                if room <= 0:
                    break
                if job.long and room_for_long <= 0:
                    continue
                room, room_for_long = room - 1, room_for_long - job.long
                self._hand(job, cluster)
            self.ledger.show_queue()

    def _hand(self, job: Job, cluster: Cluster) -> None:
        # A key of its own for every attempt: a race that a server left behind on a cluster must not be taken for it.
        key = f"race-{job.run}-{uuid.uuid4().hex[:8]}"
        job.future = cluster.client.submit(worker.train, job.run, self.topic, job.config.to_json(), key=key, pure=False)
        job.future.add_done_callback(self._notes.put)
        self.ledger.show(job, RUNNING, "")
