"""What a scenario did, in figures, and what it missed, in sentences; and how much of everything a run of it does."""

import threading
from array import array
from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Amount:
    """How much of the full soak is done: counts and durations are given as the full one has them."""

    scale: float = 1.0

    def count(self, full: int, least: int = 1) -> int:
        return max(least, round(full * self.scale))

    def seconds(self, full: float, least: float = 1.0) -> float:
        return max(least, full * self.scale)


class Delays:
    """In seconds; from any thread."""

    def __init__(self) -> None:
        self._values, self._lock = array("d"), threading.Lock()

    def add(self, seconds: float) -> None:
        with self._lock:
            self._values.append(max(0.0, seconds))

    def __len__(self) -> int:
        return len(self._values)

    def quantile(self, share: float) -> float:
        values = sorted(self._values)
        return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0

    def told(self) -> str:
        """As a table has it."""
        if not self._values:
            return "none"
        parts = (("median", self.quantile(0.5)), ("p95", self.quantile(0.95)), ("worst", self.quantile(1.0)))
        return ", ".join(f"{name} {_duration(value)}" for name, value in parts)


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


@dataclass
class Outcome:
    """`figures` are the report's, in their order; `requests` counts what was sent, by kind."""

    requests: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    figures: dict[str, str] = field(default_factory=dict)
    misses: list[str] = field(default_factory=list)
    left_out: str = ""  # why it could not be run here

    def sent(self, kind: str, error: str = "") -> None:
        self.requests[kind] += 1
        if error:
            self.errors[f"{kind}: {error}"] += 1

    def require(self, holds: bool, otherwise: str) -> bool:
        if not holds:
            self.misses.append(otherwise)
        return holds

    def no_errors(self) -> None:
        for told, count in self.errors.most_common(10):
            self.misses.append(f"{told} ({count} times)")

    @property
    def passed(self) -> bool:
        return not self.misses
