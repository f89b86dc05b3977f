"""A run that is under way: what the engine knows of it beyond what is stored."""

import time
from dataclasses import dataclass, field
from typing import Any

from dashboard.config import RaceConfig
from dashboard.feed import Feed, Status
from dashboard.store import OVER, PAUSED, QUEUED, RUNNING, StoredFrame
from dashboard.worker import GO

AGAIN = "A worker was lost. The run started again; what was recorded before stays."


@dataclass
class Job:
    run: str
    config: RaceConfig
    feed: Feed
    long: bool  # takes one of the places for long runs
    recorded: int = 0  # the last step that is stored
    future: Any = None  # Dask's, once it is handed out
    wish: str = GO  # what its watchers want, whichever worker it may be on
    state: str = QUEUED
    position: int | None = None
    message: str = ""
    step: int = 0  # the last one of this attempt; behind `recorded` while frames come in again
    attempts: int = 0
    lane_steps: int = 0
    _clock: float | None = field(default=None, repr=False)  # since when it trains without a pause
    _seconds: float = 0.0

    @property
    def waits(self) -> bool:
        """For a place in a worker."""
        return self.future is None and self.wish == GO and self.state not in OVER

    def started(self) -> None:
        """By its first worker, or by another one after that was lost: from step 0 either way."""
        self.attempts += 1
        self.step = self.lane_steps = 0
        self._clock, self._seconds = time.monotonic(), 0.0
        if self.attempts > 1:
            self.message = AGAIN

    def take(self, stored: StoredFrame) -> None:
        self.step = stored.last
        self.recorded = max(self.recorded, stored.last)
        frame = self.feed.add(stored)
        ends = frame.diverged_at if frame is not None else (None,) * len(self.config.lanes)
        self.lane_steps = sum(self.step if at is None else min(at, self.step) for at in ends)

    def turn(self, state: str) -> None:
        """Into a state; the clock of its speed stands still in a pause."""
        now = time.monotonic()
        if state == PAUSED and self._clock is not None:
            self._seconds, self._clock = self._seconds + now - self._clock, None
        elif state == RUNNING and self.state == PAUSED:
            self._clock = now
        if state != QUEUED:
            self.position = None
        self.state = state

    def status(self) -> Status:
        seconds = self._seconds + (0.0 if self._clock is None else time.monotonic() - self._clock)
        known = self.step > 0 and seconds > 0
        rest = self.config.steps - self.step
        return Status(
            state=self.state,
            position=self.position,
            step=self.recorded,
            steps=self.config.steps,
            lane_steps_per_second=float(f"{self.lane_steps / seconds:.4g}") if known else None,
            seconds_left=float(f"{rest * seconds / self.step:.4g}") if known and self.state not in OVER else None,
            message=self.message,
        )
