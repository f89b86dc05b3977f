"""Who may start a run now: so many a minute and so many at a time, for a visitor, for an address, and in all.

A visitor is a cookie, the same in all tabs of a browser. Whoever clears it, or speaks to the server without one, is
known by their address, which has bounds of its own; they are wider, since a class behind one router has one address.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from dashboard.hosting.settings import Hosting, hosting

_NETWORK = 64  # bits of an IPv6 address that are a household's: the others are free for anybody in it to choose


@dataclass(frozen=True)
class Who:
    visitor: str
    address: str


def who(visitor: str, address: str) -> Who:
    """By a cookie, empty where there is none, and an address: those without a cookie are one visitor together."""
    place = network(address)
    return Who(visitor or f"without a name at {place}", place)


def network(address: str) -> str:
    """What is counted as one address."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        return str(known.ipv4_mapped or ip_network((known, _NETWORK), strict=False))
    return str(known)


class Starts:
    """Hold `lock` from `refusal` until the run is under way, and `began` was told: then no two pass as one."""

    def __init__(self, limits: Hosting) -> None:
        self.limits, self.lock = limits, threading.RLock()
        self._rate = MovingWindowRateLimiter(MemoryStorage())
        self._per_visitor = RateLimitItemPerMinute(limits.starts_per_visitor, namespace="visitor")
        self._per_address = RateLimitItemPerMinute(limits.starts_per_address, namespace="address")
        self._figures = RateLimitItemPerMinute(limits.figures_per_address, namespace="figures")
        self._begun: dict[str, Who] = {}  # by run

    def refusal(self, asks: Who, under_way: Callable[[str], bool], count: int = 1) -> str:
        """Why so many runs cannot be started now, in a sentence; empty if they can."""
        self._begun = {run: one for run, one in self._begun.items() if under_way(run)}
        begun, limits = list(self._begun.values()), self.limits
        busy = (
            ("You have", sum(one.visitor == asks.visitor for one in begun), limits.runs_per_visitor),
            ("Your network has", sum(one.address == asks.address for one in begun), limits.runs_per_address),
            ("All visitors together have", len(begun), limits.runs),
        )
        for whose, active, most in busy:
            if active + count > most:
                runs = f"{active} run{'' if active == 1 else 's'} under way"
                return f"{whose} {runs}, and this hosted copy allows {most} at a time: wait for one, or stop one."
        rates = (("You", self._per_visitor, asks.visitor), ("Your network", self._per_address, asks.address))
        for whose, rate, key in rates:
            if not self._rate.test(rate, key, cost=count):
                return (
                    f"{whose} can start {rate.amount} runs a minute on this hosted copy: "
                    f"try again in {self._seconds(rate, key)} s."
                )
        return ""

    def began(self, asks: Who, run: str) -> None:
        self._rate.hit(self._per_visitor, asks.visitor)
        self._rate.hit(self._per_address, asks.address)
        self._begun[run] = asks

    def count(self, asks: Who) -> None:
        """Something else that takes a worker's time, such as a measurement."""
        self._rate.hit(self._per_visitor, asks.visitor)
        self._rate.hit(self._per_address, asks.address)

    def figure(self, address: str) -> int:
        """Counts a figure; after how many seconds it may be asked for again, and 0 if it may be made now."""
        place = network(address)
        return 0 if self._rate.hit(self._figures, place) else self._seconds(self._figures, place)

    def _seconds(self, rate: RateLimitItem, key: str) -> int:
        return max(1, round(self._rate.get_window_stats(rate, key).reset_time - time.time()))


@cache
def starts() -> Starts | None:
    """What the visitors of this hosted copy have started; None where it is nobody's but its user's."""
    limits = hosting()
    return None if limits is None else Starts(limits)
