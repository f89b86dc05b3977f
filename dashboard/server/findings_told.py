"""What a sweep has found, as the event that its viewers get: made once for all of them, and not all the time.

Two pages tell it in their own way: `VIEWS` has what each of them gets, by the name in the address of its stream.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from dashboard.browser.four_steps_findings import four_steps_json
from dashboard.browser.sweep_findings import findings_json
from dashboard.evidence.findings import Findings
from dashboard.runs.feed import event
from dashboard.runs.sweep_feed import SweepFeed

PACE_SECONDS = 2.0
SWEEP, FOUR_STEPS = "sweep", "four-steps"


@dataclass(frozen=True)
class _View:
    made: Callable[[Findings], bytes]
    age: Callable[[SweepFeed], int]  # grows with what it speaks of


VIEWS = {
    SWEEP: _View(findings_json, lambda feed: feed.over_cells),
    FOUR_STEPS: _View(four_steps_json, lambda feed: feed.told),  # it draws lanes that are under way, too
}


@dataclass
class _Told:
    age: int = -1  # of what the event speaks of
    at: float = 0.0
    event: bytes = b""
    making: threading.Lock = field(default_factory=threading.Lock)


_TOLD: "WeakKeyDictionary[SweepFeed, dict[str, _Told]]" = WeakKeyDictionary()
_LOCK = threading.Lock()


async def findings_event(feed: SweepFeed, now: bool, view: str = SWEEP) -> bytes:
    """The latest one; with `now` it speaks of all that is known."""
    with _LOCK:
        told = _TOLD.setdefault(feed, {}).setdefault(view, _Told())
    due = now or time.monotonic() - told.at >= PACE_SECONDS
    if due and told.age != VIEWS[view].age(feed):
        await asyncio.to_thread(_make, feed, told, VIEWS[view])
    return told.event


def _make(feed: SweepFeed, told: _Told, view: _View) -> None:
    with told.making:
        age = view.age(feed)
        if told.age != age:
            found = Findings.of(feed.config, feed.outcomes())
            told.event = event("findings", view.made(found))
            told.age, told.at = age, time.monotonic()
