"""A class's predictions in the tour, pooled under a code: no names, no accounts, and nothing that outlives the day.

They are in the store's file, in tables of their own. Of a visitor there is a hash that differs from class to class;
of each step their first prediction counts, because after it the answer is open. All of it is bounded: classes, what a
visitor may open, visitors of a class, and a class's life.
"""

import hashlib
import re
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LIFE_SECONDS = 24 * 3600.0
MOST_CLASSES, MOST_OF_ONE, MOST_PUPILS, LONGEST = 100, 3, 400, 40
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ23456789"  # none that is read as another, and no vowels: no words by chance
_LENGTH = 5
CODE = re.compile(f"[{_LETTERS}]{{{_LENGTH}}}")

_SCHEMA = """
create table if not exists classes (code text primary key, opened_by text not null, opened real not null);
create table if not exists predictions (
    code text not null references classes (code) on delete cascade, step text not null, visitor text not null,
    prediction text not null, primary key (code, step, visitor));
"""

Pooled = tuple[tuple[str, int], ...]  # predictions and how many made each


class Classes:
    """A connection for each call: a pool is asked for now and then, by whichever process a visitor is served by."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        database = sqlite3.connect(self.path, timeout=10, isolation_level=None)
        try:
            database.execute("pragma foreign_keys = on")
            database.executescript(_SCHEMA)
            yield database
        finally:
            database.close()

    def open(self, visitor: str, now: float | None = None) -> str:
        """A new class's code; `ValueError` for a visitor who has opened too many."""
        now, by = time.time() if now is None else now, _anonymous("", visitor)
        code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        with self._database() as db:
            db.execute("begin immediate")
            db.execute("delete from classes where opened < ?", (now - LIFE_SECONDS,))
            (own,) = db.execute("select count(*) from classes where opened_by = ?", (by,)).fetchone()
            if own >= MOST_OF_ONE:
                db.execute("commit")
                raise ValueError(f"You have opened {own} classes in the last 24 hours, and there may be no more.")
            # Where all places are taken, the one with the fewest predictions goes: no robot drives a real class out.
            db.execute(
                "delete from classes where code in (select code from classes order by "
                "(select count(*) from predictions where predictions.code = classes.code) desc, opened desc "
                "limit -1 offset ?)",
                (MOST_CLASSES - 1,),
            )
            db.execute("insert or replace into classes values (?, ?, ?)", (code, by, now))
            db.execute("commit")
        return code

    def exists(self, code: str, now: float | None = None) -> bool:
        if not CODE.fullmatch(code):
            return False
        since = (time.time() if now is None else now) - LIFE_SECONDS
        with self._database() as db:
            return bool(db.execute("select 1 from classes where code = ? and opened >= ?", (code, since)).fetchone())

    def add(self, code: str, step: str, visitor: str, prediction: str) -> None:
        """A visitor's first prediction of a step; `ValueError` where it cannot be taken."""
        if not self.exists(code):
            raise ValueError(f"There is no class {code[:_LENGTH]!r} any more: a class lasts 24 hours.")
        if len(prediction) > LONGEST:
            raise ValueError(f"A prediction must have at most {LONGEST} letters.")
        name = _anonymous(code, visitor)
        with self._database() as db:
            db.execute("begin immediate")
            others = "select count(distinct visitor) from predictions where code = ? and visitor != ?"
            full = db.execute(others, (code, name)).fetchone()[0] >= MOST_PUPILS
            if not full:
                db.execute("insert or ignore into predictions values (?, ?, ?, ?)", (code, step, name, prediction))
            db.execute("commit")
        if full:
            raise ValueError(f"The class is full: it takes the predictions of {MOST_PUPILS} visitors.")

    def pooled(self, code: str, step: str) -> Pooled:
        """In the order of their codes, so that nobody can be told by theirs."""
        with self._database() as db:
            rows = db.execute(
                "select prediction, count(*) from predictions where code = ? and step = ? group by 1 order by 1",
                (code, step),
            ).fetchall()
        return tuple((str(prediction), int(count)) for prediction, count in rows)


def _anonymous(code: str, visitor: str) -> str:
    return hashlib.sha256(f"{code}:{visitor}".encode()).hexdigest()[:16]
