"""What is counted over all processes of a hosted copy: starts and figures a minute, and who began which run.

A small SQLite file beside the runs, which `limits` uses as its storage. Ages are by the monotonic clock, which all
processes of a machine share and no clock of the day moves. It begins anew with the machine: what lies in its future is
forgotten.
"""

import sqlite3
import time
from pathlib import Path

from limits.storage import Storage
from limits.storage.base import MovingWindowSupport

from dashboard.runs.database import Database

_SCHEMA = """
create table if not exists hits (key text not null, at real not null);
create table if not exists begun (run text primary key, visitor text not null, address text not null);
create index if not exists hits_by_key on hits (key, at);
"""


class Counts(Storage, MovingWindowSupport):
    STORAGE_SCHEME = ["radam-lab"]  # noqa: RUF012 - the form that `limits` asks for

    def __init__(self, path: Path | None = None) -> None:
        """Without a path in memory, for this process alone."""
        super().__init__()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        # What a power cut loses of it has no meaning after it.
        self.database = Database(path, _SCHEMA, "synchronous = off")
        self.write, self.close = self.database.write, self.database.close

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        now = time.monotonic()
        with self.write() as db:
            if self._hits(db, key, expiry, now)[0] + amount > limit:
                return False
            db.execute("delete from hits where at < ? or at > ?", (now - expiry, now))
            db.executemany("insert into hits values (?, ?)", [(key, now)] * amount)
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:  # noqa: ARG002 - its form
        """The start is by the clock of the day, as `limits` has it."""
        now = time.monotonic()
        with self.write() as db:
            count, first = self._hits(db, key, expiry, now)
        return time.time() - (now - first), count

    @staticmethod
    def _hits(db: sqlite3.Connection, key: str, expiry: int, now: float) -> tuple[int, float]:
        """How many there are, and when the first of them was."""
        found = "select count(*), coalesce(min(at), ?) from hits where key = ? and at between ? and ?"
        count, first = db.execute(found, (now, key, now - expiry, now)).fetchone()
        return int(count), float(first)

    @property
    def base_exceptions(self) -> type[Exception]:
        return sqlite3.Error

    def check(self) -> bool:
        return True

    def reset(self) -> int:
        with self.write() as db:
            return db.execute("delete from hits").rowcount

    def clear(self, key: str) -> None:
        with self.write() as db:
            db.execute("delete from hits where key = ?", (key,))

    # Of fixed windows, which nobody asks for here.

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        raise NotImplementedError

    def get(self, key: str) -> int:
        raise NotImplementedError

    def get_expiry(self, key: str) -> float:
        raise NotImplementedError
