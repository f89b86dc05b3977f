"""What viewers share: each lane's records as they go over the wire, a run's status, and one wake-up for all of them.

A record's text is made once, where it trains, and the same bytes go to everyone who watches a race with that lane in
it. A viewer holds nothing but the number of the next record it needs of each lane, so that a slow one costs no memory.
"""

import asyncio
import json
import threading
from collections import OrderedDict
from dataclasses import asdict, dataclass
from weakref import WeakSet, WeakValueDictionary

from dashboard.runs.records import Record
from dashboard.runs.states import OVER
from dashboard.runs.store import Run, Store

MOST_CACHED_BYTES = 64 << 20  # of runs that are over; those under way are always held
RECORDS_PER_WRITE = 64  # of each lane
Places = tuple[int, ...]  # by lane: the number of the next record that a viewer needs


@dataclass(frozen=True)
class Status:
    """Where a run stands, as the `status` event and the page show it."""

    state: str  # queued, running, paused, finished, stopped, failed or cut off
    position: int | None = None  # in the queue: 1 is next
    step: int = 0  # that all its lanes have come to
    steps: int = 0
    lane_steps_per_second: float | None = None
    seconds_left: float | None = None
    message: str = ""
    wanted_by: int = 0  # how many visitors want it now: a stop of one of them ends it only for the last

    @property
    def over(self) -> bool:
        return self.state in OVER

    def as_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


def event(name: str, data: bytes, identity: str | None = None) -> bytes:
    first = b"" if identity is None else b"id: %b\n" % identity.encode()
    return b"%bevent: %b\ndata: %b\n\n" % (first, name.encode(), data)


class LaneFeed:
    """One lane's records. `records[i]` is number i: they are a gapless beginning of one sequence."""

    def __init__(self, lane: str) -> None:
        self.id = lane
        self.records: list[bytes] = []
        self.size, self.step, self.complete = 0, 0, False
        self.watched_by: WeakSet[RunFeed] = WeakSet()
        self._lock = threading.Lock()

    def add(self, record: Record) -> bool:
        """Takes the next record; one that is not the next is left out, and False says so. Wakes nobody yet."""
        with self._lock:
            if record.number != len(self.records):
                return False
            self.records.append(record.body.encode())
            self.size += len(self.records[-1])
            self.step, self.complete = record.last, record.ends
            return True


class RunFeed:
    """One run's lanes, by place, and its status."""

    def __init__(self, run: Run, lanes: list[LaneFeed]) -> None:
        self.lanes = lanes
        self.status_event = b""
        self.closed = False  # the server goes: viewers have to leave
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.AbstractEventLoop, asyncio.Future[None]] = {}
        self._latest: tuple[Places, Places, bytes] | None = None
        self.status = Status("")
        self.set_status(Status(run.state, step=run.step, steps=run.config.steps, message=run.message))
        for lane in lanes:
            lane.watched_by.add(self)

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(lane.size for lane in self.lanes)

    @property
    def start(self) -> Places:
        return (0,) * len(self.lanes)

    def news(self, after: Places) -> tuple[bytes, Places]:
        """An event with what there is of each lane from these numbers on, and those it comes to; empty if nothing."""
        ends = tuple(
            min(len(lane.records), start + RECORDS_PER_WRITE) for lane, start in zip(self.lanes, after, strict=True)
        )
        if all(end <= start for start, end in zip(after, ends, strict=True)):
            return b"", after
        ends = tuple(max(pair) for pair in zip(after, ends, strict=True))
        latest = self._latest
        if latest is None or latest[:2] != (after, ends):  # most viewers ask for the same at the same time
            parts = (
                b'"%d":[%b]' % (place, b",".join(lane.records[start:end]))
                for place, (lane, start, end) in enumerate(zip(self.lanes, after, ends, strict=True))
                if end > start
            )
            made = event("records", b"{%b}" % b",".join(parts), ".".join(map(str, ends)))
            latest = self._latest = (after, ends, made)
        return latest[2], ends

    def set_status(self, status: Status) -> None:
        if status != self.status:
            self.status, self.status_event = status, event("status", status.as_json().encode())

    def changed(self) -> "asyncio.Future[None]":
        """Done at the next wake-up. Take it before looking at the records, and nothing is missed."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._waiting:
                self._waiting[loop] = loop.create_future()
            return self._waiting[loop]

    def wake(self) -> None:
        """All viewers look again; from any thread."""
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for loop, future in waiting.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_finish, future)


def _finish(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class Feeds:
    """The feeds of runs that are under way or were looked at lately, made from the store when they are asked for."""

    def __init__(self, store: Store, most_bytes: int = MOST_CACHED_BYTES) -> None:
        self.store, self.most_bytes = store, most_bytes
        self._feeds: OrderedDict[str, RunFeed] = OrderedDict()
        self._lanes: WeakValueDictionary[str, LaneFeed] = WeakValueDictionary()  # held by the runs and jobs with them
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}

    def cached(self, run: str) -> RunFeed | None:
        """Without touching the disk: what a server's event loop may ask. None if there may be more on it."""
        with self._lock:
            feed = self._feeds.get(run)
            if feed is None or (feed.status.over and not all(lane.complete for lane in feed.lanes)):
                return None
            self._feeds.move_to_end(run)
            return feed

    def open(self, run: str) -> RunFeed | None:
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

    def _read(self, run: str) -> RunFeed | None:
        found = self.store.run(run)
        if found is None:
            return None
        lanes = [self.lane(lane) for lane in found.lanes]
        with self._lock:
            feed = self._feeds.get(run)  # all viewers must wait at the same one
            if feed is None:
                feed = self._feeds[run] = RunFeed(found, lanes)
            elif feed.status.over and found.state != feed.status.state and found.over:  # others went on with its lanes
                feed.set_status(Status(found.state, step=found.step, steps=found.config.steps, message=found.message))
            self._feeds.move_to_end(run)
            self._forget()
        return feed

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
