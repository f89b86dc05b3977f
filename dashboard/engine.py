"""The job engine as pages and routes use it: configurations go in, runs come out, and everyone watches the same one."""

import time
from typing import Any

from distributed import Future

from dashboard import worker
from dashboard.cluster import Cluster, Layout
from dashboard.config import RaceConfig
from dashboard.dispatcher import Dispatcher
from dashboard.estimate import Estimate, estimate
from dashboard.feed import Feeds, Status
from dashboard.job import Job
from dashboard.store import Run, Store
from radam_core.frames import Frame, decode_frame

LONG_SECONDS = 120.0  # a run that will take longer counts as long


class Engine:
    """`start` returns at once; runs that are submitted before the workers are warm wait in the queue."""

    def __init__(self, store: Store, plan: Layout | None = None) -> None:
        self.store, self.feeds = store, Feeds(store)
        self.dispatcher = Dispatcher(store, self.feeds, plan)

    def start(self) -> None:
        self.store.recover()
        self.dispatcher.start()

    def close(self) -> None:
        """Ends the races and the workers. What was recorded stays, and says that it was cut off."""
        self.feeds.close()
        self.dispatcher.close()

    def submit(self, config: RaceConfig) -> str:
        """Runs a configuration unless it is under way or finished already; its run's id either way."""
        with self.dispatcher.lock:
            run, needed = self.store.add(config)
            if needed:
                feed = self.feeds.open(run.id)
                assert feed is not None
                cost = estimate(config, self.store)
                self.dispatcher.add(Job(run.id, config, feed, long=cost.seconds > LONG_SECONDS, recorded=run.step))
        return run.id

    def pause(self, run: str) -> None:
        self.dispatcher.wish(run, worker.PAUSE)

    def resume(self, run: str) -> None:
        self.dispatcher.wish(run, worker.GO)

    def stop(self, run: str) -> None:
        self.dispatcher.wish(run, worker.STOP)

    def run(self, run: str) -> Run | None:
        return self.store.run(run)

    def recent(self, count: int = 20) -> list[Run]:
        """The runs used last, the latest first."""
        return self.store.recent(count)

    def status(self, run: str) -> Status | None:
        """Where a run stands now; None if there is no such run."""
        feed = self.feeds.open(run)
        return None if feed is None else feed.status

    def frames(self, run: str) -> list[Frame]:
        """All that is recorded of a run."""
        found = self.store.run(run)
        if found is None:
            return []
        lanes = found.config.entry().lanes
        return [decode_frame(stored.body, lanes) for stored in self.store.frames(run)]

    def estimate(self, config: RaceConfig) -> Estimate:
        return estimate(config, self.store)

    def devices(self) -> tuple[str, ...] | None:
        """What the workers can train on, the best one first; None while that is not known yet."""
        return self.dispatcher.devices

    @property
    def cluster(self) -> Cluster | None:
        return self.dispatcher.cluster

    @property
    def trouble(self) -> str:
        """Why nothing can be trained now, in words; empty when it can."""
        return self.dispatcher.ledger.trouble

    def wait_until_ready(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while self.cluster is None and time.monotonic() < end:
            time.sleep(0.05)
        return self.cluster is not None

    def measure_variance(self, task: str, settings: dict[str, Any], **options: Any) -> "Future[dict[str, Any]] | None":
        """The gradient-variance probe in a worker (`worker.measure_variance`); None while no worker is free for it."""
        return self.dispatcher.measure(worker.measure_variance, task, settings, **options)


_engine: Engine | None = None  # a plain holder: st.cache_resource refuses what holds a Dask client


def running_engine() -> Engine | None:
    """The engine that the app's lifespan started; None in a bare script run, where nothing can be trained."""
    return _engine


def hold(engine: Engine | None) -> None:
    global _engine
    _engine = engine
