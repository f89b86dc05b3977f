"""The job engine as pages and routes use it: configurations go in, runs come out, and no lane is trained twice."""

import logging
import time
from typing import Any, cast

from distributed import Future

from dashboard.asked.config import RaceConfig
from dashboard.asked.kinds import KeptConfig, RunConfig
from dashboard.asked.own_config import OwnConfig
from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.engine import worker
from dashboard.engine.cluster import Cluster, Layout, can_train
from dashboard.engine.commands import GO, PAUSE, STOP
from dashboard.engine.dispatcher import Dispatcher
from dashboard.engine.estimate import Estimate, estimate
from dashboard.engine.jobs import JOBS
from dashboard.engine.sharing import Sharing
from dashboard.runs.feed import Status
from dashboard.runs.feeds import Feeds
from dashboard.runs.identity import code_version, lane_ids, recorded_id
from dashboard.runs.processes import Processes
from dashboard.runs.states import CUT_OFF, ELSEWHERE, FINISHED, OLDER_MESSAGE, STOPPED
from dashboard.runs.store import Run, Store

LONG_SECONDS = 120.0  # a run that will take longer counts as long
log = logging.getLogger(__name__)
NO_TRAINING = "This copy trains nothing: it shows what was recorded. Your own copy trains everything."


class Engine:
    """`start` returns at once; runs that are submitted before the workers are warm wait in the queue."""

    def __init__(
        self, store: Store, plan: Layout | None = None, guest: bool = False, most_seconds: float | None = None
    ) -> None:
        """A `guest` uses a store that an app may serve meanwhile: it marks nothing there as cut off, and none of its
        own runs as under way, which only the app could then end. A run ends after `most_seconds`."""
        self.store, self.feeds = store, Feeds(store)
        self.trains = can_train(plan)
        self.processes = None if guest else Processes(store, self.trains)
        self.dispatcher = Dispatcher(store, self.feeds, plan, self.processes, most_seconds)
        self.sharing = None
        if self.processes is not None:
            self.sharing = Sharing(store, self.processes, self.feeds, self.dispatcher, self._take_up)

    def start(self) -> None:
        code_version()  # kept from here on: packages' versions cannot be asked for by many threads at once
        if self.sharing is not None:
            self.sharing.start()
        if self.trains:
            self.dispatcher.start()

    def close(self) -> None:
        """Ends the workers, and the races, unless another process goes on with them. What was recorded stays, and says
        that it was cut off."""
        self.feeds.close()
        if self.sharing is not None:
            self.sharing.close()
        self.dispatcher.close()
        if self.sharing is not None:
            self.sharing.left()

    def submit(self, config: RunConfig, visitor: str = "") -> str:
        """A visitor wants a configuration's run: those of its lanes start that are not known or under way. Its id.

        `ValueError` where nothing is trained, and some of them would have to be."""
        cost = self.estimate(config)
        if cost.new and not self.trains:
            raise ValueError(NO_TRAINING)
        self.feeds.open(self._add(config).id)  # what there is of a large one is read before anybody has to wait
        with self.dispatcher.lock:
            run = self._add(config, visitor)
            if run.state == FINISHED or not self.leads:  # nothing is to be trained, or another process does it
                self.feeds.open(run.id)
            elif self.dispatcher.knows(run.id):
                self.dispatcher.want(run.id, visitor, GO)
            else:
                self._race(run, {visitor: GO}, long=cost.seconds > LONG_SECONDS)
        return run.id

    def _add(self, config: RunConfig, visitor: str | None = None) -> Run[KeptConfig]:
        guest = self.processes is None
        return self.store.add(config, STOPPED, ELSEWHERE) if guest else self.store.add(config, wanted_by=visitor)

    def _race(self, run: Run[Any], wants: dict[str, str], long: bool) -> None:
        feed = self.feeds.open(run.id, fresh=True)
        assert feed is not None
        race = JOBS[run.config.kind](run.id, run.config, feed, long=long)
        race.wants.update(wants)
        self.dispatcher.add(race)

    def _take_up(self, run: str, wants: dict[str, str]) -> None:
        """A run that visitors of other processes want, or that a process had under way which is gone."""
        found = self.store.run(run)
        assert self.processes is not None
        if found is None or isinstance(found.config, OwnConfig) or found.state == FINISHED:
            self.processes.end(run, found.state if found else STOPPED, "", wants)  # there is nothing to train
        elif found.lanes != lane_ids(found.config):  # other lanes by now: the server was started again by newer code
            self.processes.end(run, CUT_OFF, OLDER_MESSAGE, wants)
        else:
            self._race(found, wants, long=self.estimate(found.config).seconds > LONG_SECONDS)

    @property
    def leads(self) -> bool:
        """Whether runs are trained by this process, and not by another one on the same store."""
        return self.processes is None or self.processes.leads

    def under_way(self, run: str) -> bool:
        return self.dispatcher.knows(run) or (not self.leads and self._wishes(run) != {})

    def _wishes(self, run: str) -> dict[str, str]:
        return {} if self.processes is None else self.processes.wishes(run).get(run, {})

    def _want(self, run: str, visitor: str, command: str) -> None:
        with self.dispatcher.lock:
            if self.leads or self.processes is None:
                self.dispatcher.want(run, visitor, command)
            elif self.under_way(run):
                self.processes.want(run, visitor, command)

    # Each of these is a visitor's own: a run goes while one of its visitors wants it to go, is paused when all of them
    # want that, and stops when the last has left. To resume a run is to want it, as to train it is.

    def pause(self, run: str, visitor: str = "") -> None:
        self._want(run, visitor, PAUSE)

    def resume(self, run: str, visitor: str = "") -> None:
        self._want(run, visitor, GO)

    def stop(self, run: str, visitor: str = "") -> None:
        self._want(run, visitor, STOP)

    def wants(self, run: str, visitor: str) -> str | None:
        """What a visitor wants of a run that is under way: "go", "pause", or None if it is not theirs."""
        return self.dispatcher.wants(run, visitor) if self.leads else self._wishes(run).get(visitor)

    def run(self, run: str) -> Run[RaceConfig] | None:
        """A race's; None if there is none."""
        found = self.store.run(run)
        return cast(Run[RaceConfig], found) if found and found.config.kind == RaceConfig.kind else None

    def sweep(self, run: str) -> Run[SweepConfig] | None:
        """A sweep's; None if there is none."""
        found = self.store.run(run)
        return cast(Run[SweepConfig], found) if found and found.config.kind == SweepConfig.kind else None

    def own(self, run: str) -> Run[OwnConfig] | None:
        """That of an own model; None if there is none."""
        found = self.store.run(run)
        return cast(Run[OwnConfig], found) if found and found.config.kind == OwnConfig.kind else None

    def own_map(self, run: str) -> Run[OwnMapConfig] | None:
        """The map of an own model's sweep; None if there is none."""
        found = self.store.run(run)
        return cast(Run[OwnMapConfig], found) if found and found.config.kind == OwnMapConfig.kind else None

    def recorded_race(self, config: RaceConfig) -> Run[RaceConfig] | None:
        """The recording of a configuration, whatever code made it; None if there is none."""
        return self.run(recorded_id(config.to_json()))

    def recorded_sweep(self, config: SweepConfig) -> Run[SweepConfig] | None:
        return self.sweep(recorded_id(config.to_json()))

    def recent(self, count: int = 20) -> list[Run[RaceConfig]]:
        """The races used last, the latest first."""
        return cast(list[Run[RaceConfig]], self.store.recent(count, RaceConfig.kind))

    def recent_sweeps(self, count: int = 20) -> list[Run[SweepConfig]]:
        return cast(list[Run[SweepConfig]], self.store.recent(count, SweepConfig.kind))

    def recent_own(self, count: int = 20) -> list[Run[OwnConfig]]:
        return cast(list[Run[OwnConfig]], self.store.recent(count, OwnConfig.kind))

    def recent_own_maps(self, count: int = 20) -> list[Run[OwnMapConfig]]:
        return cast(list[Run[OwnMapConfig]], self.store.recent(count, OwnMapConfig.kind))

    def status(self, run: str) -> Status | None:
        """Where a run stands now; None if there is no such run."""
        feed = self.feeds.open(run)
        return None if feed is None else feed.status

    def estimate(self, config: RunConfig) -> Estimate:
        return estimate(config, self.store, self.dispatcher.workers)

    def records(self, run: str) -> list[list[str]]:
        """What was recorded of a run, by lane."""
        found = self.store.run(run)
        return [[record.body for record in self.store.records(lane)] for lane in (found.lanes if found else ())]

    def devices(self) -> tuple[str, ...] | None:
        """What the workers can train on, the best one first; None while that is not known yet."""
        return self.dispatcher.devices

    @property
    def cluster(self) -> Cluster | None:
        return self.dispatcher.cluster

    @property
    def trouble(self) -> str:
        """Why nothing can be trained now, in words; empty when it can."""
        return self.dispatcher.under_way.trouble if self.trains else NO_TRAINING

    def wait_until_ready(self, timeout: float) -> bool:
        end = time.monotonic() + timeout
        while self.trains and self.cluster is None and time.monotonic() < end:
            time.sleep(0.05)
        return self.cluster is not None

    def measure_variance(self, task: str, settings: dict[str, Any], **options: Any) -> "Future[dict[str, Any]] | None":
        """The gradient-variance probe in a worker (`worker.measure_variance`); None while no worker is free for it."""
        return self.dispatcher.measure(worker.measure_variance, task, settings, **options)


_engine: Engine | None = None  # a plain holder: st.cache_resource refuses what holds a Dask client


def running_engine() -> Engine | None:
    """The engine that the app's lifespan started; None in a bare script run, where nothing can be trained."""
    return _engine


def set_running_engine(engine: Engine | None) -> None:
    global _engine
    _engine = engine
