"""What viewers share: each lane's records as they go over the wire, a run's status, and one wake-up for all of them.

A record's text is made once, where it trains, and the same bytes go to everyone who watches a race with that lane in
it. A viewer holds nothing but the number of the next record it needs of each lane, so that a slow one costs no memory.
"""

import asyncio
import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from dashboard.runs.records import Record
from dashboard.runs.states import OVER
from dashboard.runs.store import Run

RECORDS_PER_WRITE = 64  # of each lane
Places = tuple[int, ...]  # how far a viewer is: of a race by lane, the number of the next record
_PLACES = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})*")


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


class Feed(ABC):
    """What the viewers of a run share: its status, one wake-up, and news in numbered parts."""

    lanes: list[LaneFeed]  # of a race all, by place; of a sweep those that are not over

    def __init__(self) -> None:
        self.status_event = b""
        self.closed = False  # the server goes: viewers have to leave
        self.read_at = 0.0  # by the monotonic clock, when the store was last asked for news
        self._lock = threading.Lock()
        self._waiting: dict[asyncio.AbstractEventLoop, asyncio.Future[None]] = {}
        self.status = Status("")

    @property
    @abstractmethod
    def size(self) -> int:
        """In bytes."""

    @property
    @abstractmethod
    def complete(self) -> bool:
        """Whether there is nothing left to train of it."""

    @abstractmethod
    def news(self, after: Places) -> tuple[bytes, Places]:
        """An event with what there is from these numbers on, and those it comes to; empty if nothing."""

    @abstractmethod
    def places(self, text: str | None) -> Places:
        """The numbers that an event's id says, or those of the start."""

    @abstractmethod
    def restored(self, run: Run[Any]) -> Status:
        """Its status as the store has it."""

    def reread(self, lane: Callable[[str], LaneFeed]) -> None:
        """Takes in what the store has of its lanes by now."""
        for known in self.lanes:
            lane(known.id)

    def set_status(self, status: Status) -> None:
        if status != self.status:
            self.status, self.status_event = status, event("status", status.as_json().encode())

    @property
    def watched(self) -> bool:
        """Whether somebody waits for what comes next."""
        return bool(self._waiting)

    def changed(self) -> "asyncio.Future[None]":
        """Done at the next wake-up. Take it before looking at the news, and nothing is missed."""
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


class RunFeed(Feed):
    """A race's lanes, by place, with all their records."""

    def __init__(self, run: Run[Any], lanes: list[LaneFeed]) -> None:
        super().__init__()
        self.lanes = lanes
        self._latest: tuple[Places, Places, bytes] | None = None
        self.set_status(self.restored(run))

    def restored(self, run: Run[Any]) -> Status:
        return Status(run.state, step=run.step, steps=run.config.steps, message=run.message)

    @property
    def size(self) -> int:
        return sum(lane.size for lane in self.lanes)

    @property
    def complete(self) -> bool:
        return all(lane.complete for lane in self.lanes)

    @property
    def start(self) -> Places:
        return (0,) * len(self.lanes)

    def places(self, text: str | None) -> Places:
        """By lane: the next record that is wanted."""
        if text is None or len(text) > 1000 or not _PLACES.fullmatch(text):
            return self.start
        places = tuple(map(int, text.split(".")))
        return places if len(places) == len(self.lanes) else self.start

    def news(self, after: Places) -> tuple[bytes, Places]:
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


def _finish(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
