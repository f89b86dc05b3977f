"""What the viewers of a sweep share: every cell's loss as it grows, in outline, and never the records themselves.

The news are a list that only grows, `[cell, point, loss, metric]` each, whose points are those of `grid_steps`; a
viewer is at a number of that list. A viewer of another server process, or of one before a restart, starts anew: to be
told twice changes nothing.
"""

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from dashboard.asked.grid import Grid
from dashboard.evidence.outcomes import Outcome
from dashboard.runs.feed import Feed, LaneFeed, Places, Status, event
from dashboard.runs.outlines import Outline, from_json, to_json
from dashboard.runs.store import Run, Store

PACE_SECONDS = 0.25  # between two looks at the lanes' records
NEWS_PER_WRITE = 5000
_LOOKING = ThreadPoolExecutor(1, thread_name_prefix="radam-lab-outlines")  # for all sweeps: none waits for long


class SweepFeed(Feed):
    """Blocks while it is made: what was trained before and never outlined is read."""

    def __init__(self, run: Run[Any], config: Grid, store: Store, lane: Callable[[str], LaneFeed]) -> None:
        super().__init__()
        self.config, self.store = config, store
        self.epoch = secrets.randbelow(10**9)  # of the list: another feed's numbers say nothing here
        self.over_cells = 0  # grows as cells end: what follows from them is then out of date
        self._places: dict[str, list[int]] = {}  # two cells may be one lane
        for place, identity in enumerate(run.lanes):
            self._places.setdefault(identity, []).append(place)
        self._news: list[bytes] = []
        self._outcomes = [Outcome()] * config.size
        self._told = [0] * config.size  # points, by cell
        self._looking = threading.Lock()
        self._scheduled, self._looked = False, 0.0
        known = {name: found for name, body in store.outlines(list(self._places)).items() if (found := from_json(body))}
        for identity, outcome in known.items():
            self._tell(identity, outcome)
        self._open = {identity: lane(identity) for identity in self._places if identity not in known}
        self._outlines = {identity: self._outline(self._places[identity][0]) for identity in self._open}
        self.look()
        self.set_status(self.restored(run))

    def _outline(self, place: int) -> Outline:
        config = self.config
        lane = config.cells[place].lane.as_lane(config.steps)
        return Outline(lane, config.steps, next(iter(config.judged_by), None))

    @property
    def lanes(self) -> list[LaneFeed]:  # type: ignore[override]
        return list(self._open.values())

    @property
    def size(self) -> int:
        return sum(lane.size for lane in self.lanes) + 20 * len(self._news)

    @property
    def complete(self) -> bool:
        return not self._open

    @property
    def told(self) -> int:
        """How many news there were: it grows with every point of every lane."""
        return len(self._news)

    def outcomes(self) -> list[Outcome]:
        """By place, as they are now."""
        return list(self._outcomes)

    def lane_steps(self) -> int:
        """That were trained of its lanes; one that diverged has come to its end."""
        steps = self.config.steps
        found = (self._outcomes[places[0]] for places in self._places.values())
        return sum(steps if outcome.over else outcome.last for outcome in found)

    def restored(self, run: Run[Any]) -> Status:
        steps = len(self._places) * self.config.steps
        return Status(run.state, step=self.lane_steps(), steps=steps, message=run.message)

    def reread(self, lane: Callable[[str], LaneFeed]) -> None:
        super().reread(lane)
        self.look()

    def wake(self) -> None:
        """Viewers look once the new records are outlined, a few times a second."""
        if self.closed:
            super().wake()
            return
        with self._lock:
            scheduled, self._scheduled = self._scheduled, True
        if not scheduled:
            _LOOKING.submit(self._look_and_wake)

    def _look_and_wake(self) -> None:
        time.sleep(max(0.0, PACE_SECONDS - (time.monotonic() - self._looked)))
        with self._lock:
            self._scheduled = False
        try:
            self.look()
        finally:
            super().wake()

    def look(self) -> None:
        """Outlines what has come of the open lanes, and keeps the outlines of those that are over."""
        with self._looking:
            done = {}
            for identity, feed in list(self._open.items()):
                outline = self._outlines[identity]
                if outline.records == len(feed.records):
                    continue
                while outline.records < len(feed.records):
                    outline.add(feed.records[outline.records])
                outcome = outline.outcome
                self._tell(identity, outcome)
                if outcome.over:
                    done[identity] = to_json(outcome)
            if done:
                with suppress(sqlite3.Error):  # a full disk: they are made again of the records
                    self.store.add_outlines(done)
            for identity in done:
                del self._open[identity], self._outlines[identity]
            self._looked = time.monotonic()

    def _tell(self, identity: str, outcome: Outcome) -> None:
        for place in self._places[identity]:
            self._outcomes[place] = outcome
            self.over_cells += outcome.over
            for point in range(self._told[place], len(outcome.losses)):
                said = [place, point, _short(outcome.losses[point]), _short(outcome.metrics[point])]
                self._news.append(json.dumps(said, separators=(",", ":")).encode())
            self._told[place] = len(outcome.losses)
            if outcome.diverged_at is not None:  # from here on there is nothing, and that is told
                self._news.append(json.dumps([place, len(outcome.losses), None, None]).encode())

    def places(self, text: str | None) -> Places:
        parts = (text or "").split(".")
        if len(parts) == 2 and all(part.isdecimal() and len(part) < 10 for part in parts):
            epoch, number = map(int, parts)
            if epoch == self.epoch and number <= len(self._news):
                return (number,)
        return (0,)

    def news(self, after: Places) -> tuple[bytes, Places]:
        (start,) = after
        end = min(len(self._news), start + NEWS_PER_WRITE)
        if end <= start:
            return b"", after
        return event("cells", b"[%b]" % b",".join(self._news[start:end]), f"{self.epoch}.{end}"), (end,)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
