"""Pause, resume and stop: what a race asks between its steps."""

import threading
from typing import Protocol


class Control(Protocol):
    """Asked before every step. It may wait, which pauses the race; False ends it, after a last frame.

    An implementation that asks another process should do so every few steps only: the race asks often.
    """

    def proceed(self, step: int) -> bool: ...


class Switch:
    """A control for another thread to hold."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.paused, self.stopped = False, False

    def pause(self) -> None:
        self._set(paused=True)

    def resume(self) -> None:
        self._set(paused=False)

    def stop(self) -> None:
        """For good; a paused race ends, too."""
        self._set(stopped=True)

    def proceed(self, step: int) -> bool:  # noqa: ARG002 - the form of a control
        with self._changed:
            self._changed.wait_for(lambda: self.stopped or not self.paused)
            return not self.stopped

    def _set(self, *, paused: bool | None = None, stopped: bool = False) -> None:
        with self._changed:
            self.paused = self.paused if paused is None else paused
            self.stopped = self.stopped or stopped
            self._changed.notify_all()
