"""What the viewers of a run share: its frames as ready-made events, its status, and one wake-up for all of them.

A frame is encoded once, when it comes or when an old run is opened, and the same bytes go to everyone. A viewer holds
nothing but the number of the next frame it needs, so that a slow one costs no memory.
"""

import asyncio
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from dashboard.store import OVER, Run, Store, StoredFrame
from dashboard.wire import wire_bytes
from radam_core.entry import Lane
from radam_core.frames import Frame, decode_frame

MOST_CACHED_BYTES = 64 << 20  # of runs that are over; those under way are always held


@dataclass(frozen=True)
class Status:
    """Where a run stands, as the `status` event and the page show it."""

    state: str  # queued, running, paused, finished, stopped, failed or cut off
    position: int | None = None  # in the queue: 1 is next
    step: int = 0  # the last one recorded
    steps: int = 0
    lane_steps_per_second: float | None = None
    seconds_left: float | None = None
    message: str = ""

    @property
    def over(self) -> bool:
        return self.state in OVER

    def as_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


def event(name: str, data: bytes, number: int | None = None) -> bytes:
    identity = b"" if number is None else b"id: %d\n" % number
    return b"%bevent: %b\ndata: %b\n\n" % (identity, name.encode(), data)


class Feed:
    """One run's events. `frames[i]` is frame i: a run's frames are a gapless beginning of one sequence."""

    def __init__(self, run: Run) -> None:
        self.lanes: Sequence[Lane] = run.config.entry().lanes
        self.frames: list[bytes] = []
        self.bytes = 0
        self.status = Status("", steps=run.config.steps)
        self.status_event = b""
        self.closed = False  # the server goes: viewers have to leave
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.AbstractEventLoop, asyncio.Future[None]] = {}
        self.set_status(Status(run.state, step=run.step, steps=run.config.steps, message=run.message))

    def add(self, stored: StoredFrame) -> Frame | None:
        """Takes the next frame; one that is not the next is left out, and None says so. Wakes nobody yet."""
        if stored.number != len(self.frames):
            return None
        frame = decode_frame(stored.body, self.lanes)
        samples = None if stored.samples is None else json.loads(stored.samples)
        self.frames.append(event("frame", wire_bytes(frame, samples), stored.number))
        self.bytes += len(self.frames[-1])
        return frame

    def set_status(self, status: Status) -> None:
        if status != self.status:
            self.status, self.status_event = status, event("status", status.as_json().encode())

    def changed(self) -> "asyncio.Future[None]":
        """Done at the next wake-up. Take it before looking at the frames, and nothing is missed."""
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
        self._feeds: OrderedDict[str, Feed] = OrderedDict()
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}

    def cached(self, run: str) -> Feed | None:
        """Without touching the disk: what a server's event loop may ask."""
        with self._lock:
            feed = self._feeds.get(run)
            if feed is not None:
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

    def _read(self, run: str) -> Feed | None:
        found = self.store.run(run)
        if found is None:
            return None
        feed = Feed(found)
        for stored in self.store.frames(run):
            feed.add(stored)
        with self._lock:
            feed = self._feeds.setdefault(run, feed)  # all viewers must wait at the same one
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
        total = sum(feed.bytes for feed in self._feeds.values())
        for run, feed in list(self._feeds.items())[:-1]:
            if total <= self.most_bytes:
                break
            if feed.status.over:
                total -= feed.bytes
                del self._feeds[run]
