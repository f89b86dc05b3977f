"""The feeds of runs that are under way or were looked at lately, made from the store when they are asked for.

In the process that trains, they are told what is new. In another one they read it from the store, a few times a second
and only while somebody looks at them (`processes.py`).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.runs.feed import Feed, LaneFeed, RunFeed, Status
from dashboard.runs.store import Run, Store
from dashboard.runs.sweep_feed import SweepFeed

MOST_CACHED_BYTES = 64 << 20  # of runs that are over; those under way are always held
LEFT_SECONDS = 60.0  # after which one that another process trains, and nobody looks at, is not held any more
PACE_SECONDS = 0.25  # between two looks at the store, for a run that another process trains


class Feeds:
    def __init__(self, store: Store, most_bytes: int = MOST_CACHED_BYTES) -> None:
        self.store, self.most_bytes = store, most_bytes
        self.told_by: Callable[[str], Status | None] | None = None  # how a run stands that another process trains
        self._feeds: OrderedDict[str, Feed] = OrderedDict()
        self._lanes: WeakValueDictionary[str, LaneFeed] = WeakValueDictionary()  # held by the runs and jobs with them
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}

    def cached(self, run: str) -> Feed | None:
        """Without touching the disk: what a server's event loop may ask. None if there may be more on it."""
        with self._lock:
            feed = self._feeds.get(run)
            if feed is None or (feed.status.over and not feed.complete):
                return None
            if self.told_by and not feed.status.over and time.monotonic() - feed.read_at > PACE_SECONDS:
                return None
            self._feeds.move_to_end(run)
            return feed

    def open(self, run: str, fresh: bool = False) -> Feed | None:
        """Reads an old run once, however many ask for it; None if there is no such run. With `fresh` once more, since
        another process may have gone on with it. Blocks."""
        with self._lock:
            opening = self._opening.setdefault(run, threading.Lock())
        with opening:
            try:
                return (not fresh and self.cached(run)) or self._read(run)
            finally:
                with self._lock:
                    self._opening.pop(run, None)

    def lane(self, lane: str) -> LaneFeed:
        """With all that is stored of it: another race, or the command line, may have gone on with it. Blocks."""
        with self._lock:
            feed = self._lanes.setdefault(lane, LaneFeed(lane))
        if not feed.complete:
            for record in self.store.records(lane, after=len(feed.records) - 1):
                feed.add(record)
        return feed

    def _grown(self, lanes: Sequence[str]) -> Callable[[str], LaneFeed]:
        """The same, and without a look at the records of those that have come no further."""
        stored = self.store.reached(lanes)

        def lane(identity: str) -> LaneFeed:
            known = self._lanes.get(identity)
            return known if known and (known.step, known.complete) == stored.get(identity) else self.lane(identity)

        return lane

    def _read(self, run: str) -> Feed | None:
        found = self.store.run(run)
        if found is None:
            return None
        with self._lock:
            feed = self._feeds.get(run)  # all viewers must wait at the same one
        if feed is None:
            feed = self._made(found)
        else:
            feed.reread(self._grown([lane.id for lane in feed.lanes]))
        feed.read_at = time.monotonic()
        followed = self._followed(run, found, feed)
        with self._lock:
            if followed:
                feed.set_status(followed)
            elif feed.status.over and found.over and self._feeds.get(run) is feed:  # others went on with its lanes
                feed.set_status(feed.restored(found))
            self._feeds[run] = feed
            self._feeds.move_to_end(run)
            self._forget()
        return feed

    def _followed(self, run: str, found: Run[Any], feed: Feed) -> Status | None:
        """How a run stands by the store's word, which is the last one where another process trains."""
        if self.told_by is None:
            return None
        told = None if found.over else self.told_by(run)
        return told or replace(feed.restored(found), lane_steps_per_second=feed.status.lane_steps_per_second)

    def follow(self) -> None:
        """Shows those who look at runs that another process trains what the store has of them by now. Blocks."""
        with self._lock:
            watched = [run for run, feed in self._feeds.items() if feed.watched and not feed.status.over]
        for run in watched:
            feed = self._read(run)
            if feed is not None:
                feed.wake()

    def _made(self, run: Run[Any]) -> Feed:
        if isinstance(run.config, SweepConfig | OwnMapConfig):
            return SweepFeed(run, run.config, self.store, self.lane)
        return RunFeed(run, [self.lane(lane) for lane in run.lanes])

    def forget(self, run: str) -> None:
        with self._lock:
            self._feeds.pop(run, None)

    def close(self) -> None:
        """Ends all streams. Blocks nothing: it may run on the server's event loop."""
        with self._lock:
            feeds = list(self._feeds.values())
        for feed in feeds:
            feed.closed = True
            feed.wake()

    def _forget(self) -> None:
        """Lets go of the runs that nobody has looked at for longest; the newest stays, and what is under way."""
        total = sum(feed.size for feed in self._feeds.values())
        for run, feed in list(self._feeds.items())[:-1]:
            if total <= self.most_bytes:
                break
            left = self.told_by and not feed.watched and time.monotonic() - feed.read_at > LEFT_SECONDS
            if feed.status.over or left:
                total -= feed.size
                del self._feeds[run]
