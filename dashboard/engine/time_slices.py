"""A fair share of a worker: the races in it take turns of a quarter of a second, and a newcomer goes first.

One race at a time uses the worker's cores, so that races neither fight over them nor over Python's lock. However long
the others are, a race gets its next turn after each of them had one, and a click shows its first frame at once.
"""

import threading
import time
from collections import deque

SLICE_SECONDS = 0.25


class TimeSlices:
    """The line before a worker's cores. A race is whoever calls: any object of its own."""

    def __init__(self, slice_seconds: float = SLICE_SECONDS) -> None:
        self.slice_seconds = slice_seconds
        self._changed = threading.Condition()
        self._line: deque[object] = deque()
        self._holder: object | None = None
        self._since = 0.0

    def take(self, race: object, first: bool = False) -> None:
        """Waits for a turn: at the end of the line, or before everyone else."""
        with self._changed:
            if first:
                self._line.appendleft(race)
            else:
                self._line.append(race)
            self._changed.wait_for(lambda: self._holder is None and self._line[0] is race)
            self._line.popleft()
            self._holder, self._since = race, time.monotonic()

    def give(self, race: object) -> None:
        """Ends the race's turn, if it has one."""
        with self._changed:
            if self._holder is race:
                self._holder = None
                self._changed.notify_all()

    def over(self) -> bool:
        """Whether the turn has lasted long enough and others wait. A cheap question: asked before every step."""
        return bool(self._line) and time.monotonic() - self._since > self.slice_seconds
