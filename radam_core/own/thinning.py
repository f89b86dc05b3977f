"""A run of any length in some hundred lines: the first steps all, later ones in buckets of a hundredth of the way.

Of a bucket its rows with the lowest and the highest value of every quantity stay, and its last: a spike is never
hidden, and what is kept are real steps, not means. So a million steps leave 850 buckets, and ten million 1,080.
"""

import math
from collections.abc import Mapping

KEPT_ALL = 200  # of the first steps
BUCKETS = 100  # as many steps as this part of those before
Row = tuple[int, Mapping[str, float]]  # a step, and its values by name


class Thinned:
    def __init__(self) -> None:
        self._count, self._until = 0, 0
        self._low: dict[str, Row] = {}
        self._high: dict[str, Row] = {}
        self._odd: Row | None = None  # the first of the bucket that has a loss that is not finite
        self._last: Row | None = None

    def add(self, t: int, values: Mapping[str, float]) -> list[Row]:
        """The rows that stay for good from now on: this one, or those of the bucket that it completes."""
        row = (t, values)
        self._count += 1
        if self._count <= KEPT_ALL:
            return [row]
        if self._last is None:
            self._until = self._count + max(1, self._count // BUCKETS)
        self._last = row
        for name, value in values.items():
            if not math.isfinite(value):
                continue
            if name not in self._low or value < self._low[name][1][name]:
                self._low[name] = row
            if name not in self._high or value > self._high[name][1][name]:
                self._high[name] = row
        if self._odd is None and not math.isfinite(values.get("loss", 0.0)):
            self._odd = row
        return self.finish() if self._count + 1 >= self._until else []

    def pending(self) -> list[Row]:
        """What of the bucket in hand would stay if it ended now."""
        found = [*self._low.values(), *self._high.values(), self._odd, self._last]
        by_step = {row[0]: row for row in found if row is not None}
        return [by_step[t] for t in sorted(by_step)]

    def finish(self) -> list[Row]:
        rows = self.pending()
        self._low, self._high, self._odd, self._last = {}, {}, None, None
        return rows
