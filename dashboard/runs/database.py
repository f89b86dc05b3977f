"""A SQLite file of ours: safe to use from any thread, and by several processes."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT_SECONDS = 10  # for another process that writes


class Database:
    """One connection under one lock."""

    def __init__(self, path: Path | None, schema: str, *pragmas: str) -> None:
        """Without a path in memory, for this process alone."""
        self._lock, self._inside = threading.RLock(), False
        self._db = sqlite3.connect(
            path or ":memory:", check_same_thread=False, isolation_level=None, timeout=WAIT_SECONDS
        )
        self._db.row_factory = sqlite3.Row
        for pragma in ("journal_mode = wal", *pragmas):
            self._db.execute(f"pragma {pragma}")
        self._db.executescript(schema)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One at a time, of all processes: all of it is kept, or nothing. Whoever is inside may enter again."""
        with self._lock:
            if self._inside:
                yield self._db
                return
            self._db.execute("begin immediate")
            self._inside = True
            try:
                yield self._db
                self._db.execute("commit")
            except BaseException:
                if self._db.in_transaction:  # SQLite has rolled back by itself where the disk is full; or has not
                    self._db.execute("rollback")
                raise
            finally:
                self._inside = False

    def read(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock:
            return self._db.execute(query, values).fetchall()
