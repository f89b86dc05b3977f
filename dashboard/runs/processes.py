"""Several server processes on one store: who is there, which one trains, and what visitors of all of them want.

One process leads: it hands lanes to the workers and writes down what they say, for visitors of every process, so that
queue, fair share and "no lane is trained twice" hold over all of them. The others write into the same tables what their
visitors want, and read what they show. When the leader's beat stands still, another one leads, and takes up every run
that somebody wants from what was recorded.

A beat is a number that its process counts up. Others judge by their own monotonic clock how long it has stood still:
no clock is compared with another one's, and none of a day's. Where the system says that a process is gone (`alive.py`),
nobody waits for that.
"""

import json
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from dashboard.runs import alive
from dashboard.runs.feed import Status
from dashboard.runs.store import Store

BEAT_SECONDS = 1.0
EXPIRED_SECONDS = 10.0  # a process whose beat stood still for so long is gone
MOST_HANDOVERS = 5  # of a run, from one that is gone to the next: it may be what they die of
_SCHEMA = """
create table if not exists processes (
    id text primary key, name text not null, beat integer not null, trains integer not null, leads integer not null);
create table if not exists statuses (run text primary key references runs (id) on delete cascade, body text not null);
create table if not exists handovers (
    run text primary key references runs (id) on delete cascade, times integer not null);
"""

Wishes = dict[str, dict[str, str]]  # run -> visitor -> GO or PAUSE, of those who want the run


@dataclass(frozen=True)
class Other:
    """Another process, as it was last seen."""

    beat: int
    since: float  # by this process's monotonic clock
    trains: bool


class NotLeadingError(sqlite3.Error):
    """The store cannot be written by this process: another one has the word."""


class Processes:
    """This process among those of a store. It leads until it has joined them, as one that is alone."""

    def __init__(self, store: Store, trains: bool) -> None:
        self.store, self.trains, self.id = store, trains, secrets.token_hex(8)
        self.name = alive.name()
        self.leads, self.joined = True, False
        self.others: dict[str, Other] = {}
        self._looked = 0.0
        with store.write() as db:
            for statement in _SCHEMA.split(";"):
                db.execute(statement)

    def look(self, now: float | None = None) -> None:
        """Beats, forgets those who are gone, and leads where nobody does."""
        now = time.monotonic() if now is None else now
        was_away, self._looked = now - self._looked > EXPIRED_SECONDS / 2, now
        with self.store.write() as db:
            beat = "insert into processes values (?, ?, 0, ?, 0) on conflict (id) do update set beat = beat + 1"
            db.execute(beat, (self.id, self.name, self.trains))
            others = {}
            for row in db.execute("select * from processes where id != ?", (self.id,)).fetchall():
                seen = self.others.get(row["id"])
                # Who was stopped for a while cannot tell whether others were stopped, too.
                moved = seen is None or was_away or seen.beat != row["beat"]
                other = Other(row["beat"], now if moved or seen is None else seen.since, bool(row["trains"]))
                if now - other.since > EXPIRED_SECONDS or alive.is_gone(row["name"], self.name):
                    db.execute("delete from processes where id = ?", (row["id"],))
                else:
                    others[row["id"]] = other
            if self.trains:
                vacant = "not exists (select 1 from processes where leads)"
                db.execute(f"update processes set leads = 1 where id = ? and {vacant}", (self.id,))
            (leads,) = db.execute("select leads from processes where id = ?", (self.id,)).fetchone()
        self.others, self.leads, self.joined = others, bool(leads), True

    def leave(self) -> None:
        with self.store.write() as db:
            db.execute("delete from processes where id = ?", (self.id,))
        self.leads = self.joined = False

    @property
    def heirs(self) -> bool:
        """Whether another process can go on with what this one trains."""
        return any(other.trains for other in self.others.values())

    def wishes(self, run: str | None = None) -> Wishes:
        where, values = ("", ()) if run is None else ("where run = ?", (run,))
        found: Wishes = {}
        for row in self.store.read(f"select run, visitor, command from wishes {where}", *values):
            found.setdefault(row["run"], {})[row["visitor"]] = row["command"]
        return found

    def want(self, run: str, visitor: str, command: str) -> None:
        """A visitor's own word on a run that is under way, in place of their last one. Who does not want the run has
        nothing to pause or stop."""
        with self.store.write() as db:
            db.execute(_WANT[command], {"run": run, "visitor": visitor})

    def turn(self, run: str, state: str, message: str) -> None:
        """The state of a run that is trained here."""
        with self._leading() as db:
            db.execute(_TURN, (state, message, time.time(), run))

    def end(self, run: str, state: str, message: str, visitors: Iterable[str]) -> None:
        """A run is over for those who wanted it. A wish that has come in meanwhile stays, and starts it again."""
        with self._leading() as db:
            db.execute(_TURN, (state, message, time.time(), run))
            db.executemany("delete from wishes where run = ? and visitor = ?", [(run, one) for one in visitors])
            db.execute("delete from statuses where run = ?", (run,))
            db.execute("delete from handovers where run = ?", (run,))

    def inherit(self) -> dict[str, int]:
        """Run by run that was under way when this process began to lead: how many led before it while it was."""
        self.store.recover()
        with self.store.write() as db:
            db.execute("delete from statuses")
            db.execute(
                "insert into handovers select distinct run, 1 from wishes where true "
                "on conflict (run) do update set times = times + 1"
            )
            return {row["run"]: row["times"] for row in db.execute("select run, times from handovers").fetchall()}

    def give_up(self) -> None:
        """All that was under way: there is no process that trains."""
        with self.store.write() as db:
            db.execute("delete from wishes")
        self.store.recover()

    def tell(self, statuses: Mapping[str, str]) -> None:
        """The other processes, how runs stand; as JSON, by run."""
        with self.store.write() as db:
            known = "select ?, ? where exists (select 1 from runs where id = ?)"
            rows = [(run, body, run) for run, body in statuses.items()]
            db.executemany(f"insert or replace into statuses {known}", rows)

    def told(self, run: str) -> Status | None:
        rows = self.store.read("select body from statuses where run = ?", run)
        return Status(**json.loads(rows[0]["body"])) if rows else None

    @contextmanager
    def _leading(self) -> Iterator[sqlite3.Connection]:
        """To write what the leader alone may say. One that others took for dead has not heard of it yet, perhaps."""
        with self.store.write() as db:
            own = db.execute("select leads from processes where id = ?", (self.id,)).fetchone()
            if self.joined and not (own and own["leads"]):
                raise NotLeadingError("another process trains now")
            yield db


_TURN = "update runs set state = ?, message = ?, updated = ? where id = ?"
_WANT = {
    "go": "insert or replace into wishes values (:run, :visitor, 'go')",
    "pause": "update wishes set command = 'pause' where run = :run and visitor = :visitor",
    "stop": "delete from wishes where run = :run and visitor = :visitor",
}
