"""Packs of an own model's lanes over all cores. Every worker opens the file itself and sends back what it recorded."""

import logging
import queue
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dashboard.engine.cluster import Cluster, layout

LOOK_SECONDS = 0.5
Work = Callable[[int], Any]  # from a pack's number to its recording; it must survive the trip to a worker


class Stopped:
    asked = False


@contextmanager
def stoppable() -> Iterator[Stopped]:
    """Ctrl-C once leaves the packs that are not done; twice ends it at once, as usual."""
    stopped = Stopped()

    def stop(*_: object) -> None:
        stopped.asked = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)


def workers_for(packs: int) -> int:
    """How many there are to be; below 2 a command trains in its own process."""
    return min(packs, layout().workers)


def trained(work: Work, packs: int, told: Callable[[int], None], stopped: Stopped) -> dict[int, Any]:
    """The packs' recordings by their numbers: all of them, or those that were done when it was stopped."""
    count = workers_for(packs)
    pairs = _in_workers(work, packs, count, stopped) if count > 1 else _here(work, packs, stopped)
    found: dict[int, Any] = {}
    for number, recording in pairs:
        found[number] = recording
        told(len(found))
    return found


def _here(work: Work, packs: int, stopped: Stopped) -> Iterator[tuple[int, Any]]:
    for number in range(packs):
        if stopped.asked:
            return
        yield number, work(number)


def _in_workers(work: Work, packs: int, count: int, stopped: Stopped) -> Iterator[tuple[int, Any]]:
    logging.getLogger("distributed.nanny").setLevel(logging.ERROR)  # a worker that is stopped in a pack is ended
    cluster = Cluster.for_own_models(replace(layout(), workers=count))
    try:
        submit = cluster.client.submit
        under_way = {submit(_at_one_thread, work, k, key=f"own-{k}", pure=False): k for k in range(packs)}
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for future in under_way:
            future.add_done_callback(done.put)
        while under_way and not stopped.asked:
            try:
                future = done.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
            yield under_way.pop(future), future.result()
    finally:
        cluster.close()


def _at_one_thread(work: Work, number: int) -> Any:
    """In a worker, whose core is one of several."""
    from radam_core.race.threads import one_thread

    with one_thread():
        return work(number)
