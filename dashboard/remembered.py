"""Results that many visitors share: computed once, while those who ask for the same wait for it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Generic, ParamSpec, TypeVar

Value = TypeVar("Value")
P = ParamSpec("P")


class Remembered(Generic[Value]):
    """The most recently used results by key. Unlike `st.cache_data`, a hit copies nothing: do not change a result."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._under_way: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            turn = self._under_way.setdefault(key, Lock())
        with turn:
            with self._lock:
                if key in self._values:
                    return self._values[key]
            value = compute()
            with self._lock:
                self._values[key] = value
                self._under_way.pop(key, None)
                while len(self._values) > self._most:
                    self._values.popitem(last=False)
        return value


def shared(most: int) -> Callable[[Callable[P, Value]], Callable[P, Value]]:
    """A function whose results are computed once for all visitors, the `most` recently used ones kept.

    It must follow from its arguments alone, and they must be hashable: settings, not arrays.
    """

    def once(function: Callable[P, Value]) -> Callable[P, Value]:
        results: Remembered[Value] = Remembered(most)

        @wraps(function)
        def result(*settings: P.args, **named: P.kwargs) -> Value:
            key = (settings, tuple(sorted(named.items())))
            return results.get(key, lambda: function(*settings, **named))

        return result

    return once
