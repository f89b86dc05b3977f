"""Who may start a run now: so many a minute and so many at a time, for a visitor, for an address, and in all.

A visitor is a cookie, the same in all tabs of a browser. Whoever clears it, or speaks to the server without one, is
known by their address, which has bounds of its own; they are wider, since a class behind one router has one address.
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.strategies import MovingWindowRateLimiter

from dashboard.hosting.counts import Counts
from dashboard.hosting.settings import Hosting, hosting
from dashboard.runs.store import default_folder

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
    """Hold `lock` from `refusal` until the run is under way, and `began` was told: then no two pass as one, whichever
    processes they ask. What is counted is in `counts`, which the processes share."""

    def __init__(self, limits: Hosting, counts: Counts | None = None) -> None:
        self.limits, self.counts = limits, counts or Counts()
        self._rate = MovingWindowRateLimiter(self.counts)
        self._per_visitor = RateLimitItemPerMinute(limits.starts_per_visitor, namespace="visitor")
        self._per_address = RateLimitItemPerMinute(limits.starts_per_address, namespace="address")
        self._figures = RateLimitItemPerMinute(limits.figures_per_address, namespace="figures")

    @property
    def lock(self) -> AbstractContextManager[object]:
        return self.counts.write()

    def refusal(self, asks: Who, under_way: Callable[[str], bool], count: int = 1) -> str:
        """Why so many runs cannot be started now, in a sentence; empty if they can."""
        begun, limits = self._begun(under_way), self.limits
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
        with self.counts.write() as db:
            self.count(asks)
            db.execute("insert or replace into begun values (?, ?, ?)", (run, asks.visitor, asks.address))

    def _begun(self, under_way: Callable[[str], bool]) -> list[Who]:
        """Who began the runs that are under way; the others are not counted any more."""
        with self.counts.write() as db:
            rows = db.execute("select run, visitor, address from begun").fetchall()
            over = [run for run, _, _ in rows if not under_way(run)]
            db.executemany("delete from begun where run = ?", [(run,) for run in over])
        return [Who(visitor, address) for run, visitor, address in rows if run not in over]

    def count(self, asks: Who) -> None:
        """Something else that takes a worker's time, such as a measurement."""
        self._rate.hit(self._per_visitor, asks.visitor)
        self._rate.hit(self._per_address, asks.address)

    def figure(self, address: str) -> int:
        """Counts a figure; after how many seconds it may be asked for again, and 0 if it may be made now."""
        place = network(address)
        try:
            return 0 if self._rate.hit(self._figures, place) else self._seconds(self._figures, place)
        except sqlite3.Error:  # a full disk, say: few are made at a time anyway
            return 0

    def _seconds(self, rate: RateLimitItem, key: str) -> int:
        return max(1, round(self._rate.get_window_stats(rate, key).reset_time - time.time()))


@cache
def starts() -> Starts | None:
    """What the visitors of this hosted copy have started; None where it is nobody's but its user's."""
    limits = hosting()
    return None if limits is None else Starts(limits, Counts(default_folder() / "counts.sqlite"))
