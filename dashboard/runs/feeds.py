"""The feeds of runs that are under way or were looked at lately, made from the store when they are asked for."""

import threading
from collections import OrderedDict
from typing import Any
from weakref import WeakValueDictionary

from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.runs.feed import Feed, LaneFeed, RunFeed
from dashboard.runs.store import Run, Store
from dashboard.runs.sweep_feed import SweepFeed

MOST_CACHED_BYTES = 64 << 20  # of runs that are over; those under way are always held


class Feeds:
    def __init__(self, store: Store, most_bytes: int = MOST_CACHED_BYTES) -> None:
        self.store, self.most_bytes = store, most_bytes
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
            self._feeds.move_to_end(run)
            return feed

    def open(self, run: str) -> Feed | None:
        """Reads an old run once, however many ask for it; None if there is no such run. Blocks."""
        with self._lock:
            opening = self._opening.setdefault(run, threading.Lock())
        with opening:
            try:
                return self.cached(run) or self._read(run)
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

    def _read(self, run: str) -> Feed | None:
        found = self.store.run(run)
        if found is None:
            return None
        with self._lock:
            feed = self._feeds.get(run)  # all viewers must wait at the same one
        if feed is None:
            feed = self._made(found)
        else:
            feed.reread(self.lane)
        with self._lock:
            if feed.status.over and found.over and self._feeds.get(run) is feed:  # others went on with its lanes
                feed.set_status(feed.restored(found))
            self._feeds[run] = feed
            self._feeds.move_to_end(run)
            self._forget()
        return feed

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
            if feed.status.over:
                total -= feed.size
                del self._feeds[run]
