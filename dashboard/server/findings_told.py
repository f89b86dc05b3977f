"""What a sweep has found, as the event that its viewers get: made once for all of them, and not all the time."""

import asyncio
import threading
import time
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from dashboard.browser.sweep_findings import findings_json
from dashboard.evidence.findings import Findings
from dashboard.runs.feed import event
from dashboard.runs.sweep_feed import SweepFeed

PACE_SECONDS = 2.0


@dataclass
class _Told:
    over_cells: int = -1  # that the event speaks of
    at: float = 0.0
    event: bytes = b""
    making: threading.Lock = field(default_factory=threading.Lock)


_TOLD: "WeakKeyDictionary[SweepFeed, _Told]" = WeakKeyDictionary()
_LOCK = threading.Lock()


async def findings_event(feed: SweepFeed, now: bool) -> bytes:
    """The latest one; with `now` it speaks of all cells that are over."""
    with _LOCK:
        told = _TOLD.setdefault(feed, _Told())
    due = now or time.monotonic() - told.at >= PACE_SECONDS
    if due and told.over_cells != feed.over_cells:
        await asyncio.to_thread(_make, feed, told)
    return told.event


def _make(feed: SweepFeed, told: _Told) -> None:
    with told.making:
        count = feed.over_cells
        if told.over_cells != count:
            found = Findings.of(feed.config, feed.outcomes())
            told.event = event("findings", findings_json(found))
            told.over_cells, told.at = count, time.monotonic()
