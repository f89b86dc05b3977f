"""The workers: a Dask cluster inside the app unless `DASK_SCHEDULER_ADDRESS` names another one.

Each worker holds several races, which take turns on its cores (`time_slices.py`), and is warm before it gets one. The
workers of another cluster need this project's packages, and `OMP_NUM_THREADS=1`: a lane's last bits depend on the
number of threads, and its id promises the same bits everywhere.
"""

import logging
import math
import os
import time
from dataclasses import dataclass
from multiprocessing import spawn
from typing import Any

import dask
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster, system
from distributed.comm.core import CommClosedError

from dashboard.engine.warm import Warm

RACES_PER_WORKER = 4  # each then shows something new every second, however many wait
WORKER_BYTES = 3 << 30  # a worker takes up to 1 GB with torch in it; the rest is for the machine's owner
CONNECT_SECONDS, MEND_SECONDS = 10, 60
# How a worker's memory is kept (by glibc; other systems do not read it): in pages of 2 MB where the system has them,
# instead of 512 times as many, in one heap for all threads, and not given back between two steps. Races run in threads
# beside the main one, whose own heaps of at most 64 MB are mapped and cleared again and again: a hundred page faults in
# a step of digits, and none like this; some 4% of a worker's time, tried by hand.
_MEMORY = {"hugetlb": 1, "arena_max": 1, "mmap_threshold": 32 << 20, "trim_threshold": 1 << 30}
_MALLOC = {"GLIBC_TUNABLES": ":".join(f"glibc.malloc.{name}={value}" for name, value in _MEMORY.items())}
log = logging.getLogger(__name__)
_prepared = spawn.get_preparation_data


def _without_main(name: str) -> dict[str, Any]:
    """What a new process is told. A worker needs nothing of the program that starts it: under Streamlit that would be
    a page's script, which multiprocessing would run again in every worker that takes a dead one's place."""
    told = _prepared(name)
    ours = name.startswith("Dask Worker")
    return {key: value for key, value in told.items() if not (ours and key.startswith("init_main"))}


@dataclass(frozen=True)
class Layout:
    """How many workers the embedded cluster has, and the torch threads of each."""

    workers: int
    threads: int


def layout(cores: int | None = None, memory_bytes: int | None = None) -> Layout:
    """A worker a core with one torch thread, as far as there are 3 GB for each.
    `RADAM_LAB_WORKERS` bounds them, for a machine that has other things to do; with 0 of them nothing is trained.

    A second thread does not help the small models of this house, and a second worker doubles what many visitors get.
    A step of all lanes at one thread and at two, in milliseconds, the fastest of many taken in turns on two cores:
    figure-1-quick 78 and 90, digits 12 and 14, language-model 42 and 50, valley 0.54 and 0.55.
    """
    cores = CPU_COUNT if cores is None else cores  # of the container, where there is one
    memory_bytes = int(system.MEMORY_LIMIT) if memory_bytes is None else memory_bytes
    workers = max(1, min(cores, memory_bytes // WORKER_BYTES))
    most = _most_workers()
    return Layout(workers=workers if most is None else min(workers, most), threads=1)


def can_train(plan: Layout | None = None) -> bool:
    """Whether there is to be any worker, of this machine or of another cluster."""
    if os.environ.get("DASK_SCHEDULER_ADDRESS", ""):
        return True
    return (_most_workers() if plan is None else plan.workers) != 0


def _most_workers() -> int | None:
    given = os.environ.get("RADAM_LAB_WORKERS", "")
    if given and not given.isdecimal():
        raise ValueError(f"RADAM_LAB_WORKERS must be a whole number from 0 on, got {given!r}")
    return int(given) if given else None


@dataclass
class Cluster:
    """A client, and the embedded cluster behind it if there is one."""

    client: Client
    local: LocalCluster | None
    mended: float = -math.inf  # when workers were last replaced: the new ones take some seconds to be there

    @classmethod
    def open(cls, plan: Layout | None = None) -> "Cluster":
        """Blocks until the workers are warm: some seconds. `OSError` if another cluster does not answer."""
        try:
            return cls._open(plan, Warm())
        except CommClosedError as error:  # a task took its process along; it shall do that only when it is raced
            log.warning("The workers were lost while they warmed up, and are used cold: %s", error)
            return cls._open(plan, Warm(cold=True))

    @classmethod
    def _open(cls, plan: Layout | None, warm: Warm) -> "Cluster":
        address = os.environ.get("DASK_SCHEDULER_ADDRESS", "")
        if address:
            cluster = cls(Client(address, timeout=CONNECT_SECONDS, set_as_default=False), None)
        else:
            cluster = cls._embedded(layout() if plan is None else plan)
        try:
            cluster.client.register_plugin(warm)
        except BaseException:
            cluster.close()
            raise
        return cluster

    @classmethod
    def for_own_models(cls, plan: Layout) -> "Cluster":
        """Cold workers on this machine, whatever `DASK_SCHEDULER_ADDRESS` says: they run a file of its owner, one pack
        at a time, and may start processes of their own, as a DataLoader does."""
        quiet = {"distributed.worker.state_machine": "error"}  # a pack that is left when somebody stops it is no news
        with dask.config.set({"logging": quiet}):
            return cls._embedded(plan, packs_each=1, daemon=False)

    @classmethod
    def _embedded(cls, plan: Layout, packs_each: int = RACES_PER_WORKER, daemon: bool = True) -> "Cluster":
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), plan.threads)
        # Threads that spin while they wait slow each other down tenfold where cores are shared.
        environment = {**threads, "OMP_WAIT_POLICY": "passive", **_MALLOC}
        settings = {
            "distributed.nanny.pre-spawn-environ": environment,
            # Dask's own web pages are of no use here, and a hosted copy should not show them.
            "distributed.scheduler.http.routes": [],
            "distributed.worker.http.routes": [],
            "distributed.worker.profile.enabled": False,  # it looks into every thread a hundred times a second
            "distributed.worker.daemon": daemon,
        }
        spawn.get_preparation_data = _without_main
        # Until a dead worker that is not back is given up; 15 seconds are too few where several die in a row, or on a
        # slow machine. Read when a worker dies, and so no setting of the block below.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "5 minutes"})
        with dask.config.set(settings):
            local = LocalCluster(
                n_workers=plan.workers,
                threads_per_worker=packs_each,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                worker_dashboard_address=None,
            )
        return cls(Client(local, set_as_default=False), local)

    def slots(self) -> int:
        """How many races fit in at a time."""
        return sum(self.client.nthreads().values())

    def mend(self) -> None:
        """Brings workers back that are gone for good. Dask starts one again that dies, but gives it up if it is not
        there some time later (`_embedded`). The new one has a name of its own: the old one may still be on its way."""
        if self.local is None or time.monotonic() - self.mended < MEND_SECONDS:
            return
        wanted = len(self.local.worker_spec)
        for name in set(self.local.worker_spec) - set(self.local.workers):
            del self.local.worker_spec[name]
        if len(self.local.worker_spec) < wanted:
            self.mended = time.monotonic()
            self.local.scale(wanted)

    def close(self) -> None:
        self.client.close()
        if self.local is not None:
            self.local.close()
