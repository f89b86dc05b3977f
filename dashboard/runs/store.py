"""Where lanes are kept: one SQLite file, so that a refresh, a second visitor or a hard kill loses nothing recorded.

A lane is known by what decides its numbers (`identity.py`). A run is a race that somebody asked for: an ordered list of
labelled lanes.

A lane's records are always a beginning of the one sequence that its settings decide. A lane that trains again after a
killed worker, or is started again, gives the same records under the same numbers, and what is there already is kept.

A recording (`dashboard/recorded`) is a run of its own kind: found by its configuration, whatever code made it. Its ids
promise nothing about this code, so no run that is trained here takes a lane from it.

A run of an own model (`dashboard/own_runs.py`) is kept like any other, by what is in its files.
"""

import logging
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from dashboard.asked.config import RaceConfig
from dashboard.asked.kinds import KEPT, KeptConfig, RunConfig
from dashboard.asked.own_config import OwnConfig
from dashboard.asked.own_map import OwnMapConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.runs.database import Database
from dashboard.runs.identity import lane_ids, recorded_id, recorded_lane_ids, run_id
from dashboard.runs.records import Record
from dashboard.runs.states import ACTIVE, CUT_OFF, CUT_OFF_MESSAGE, FINISHED, OVER, QUEUED

MOST_BYTES = 1 << 30
log = logging.getLogger(__name__)

_FORM = 4  # of the tables below, kept in the file: what was written in another form is moved aside
_SCHEMA = """
create table if not exists lanes (
    id text primary key, steps integer not null, step integer not null default 0, complete integer not null default 0,
    used real not null, bytes integer not null default 0);
create table if not exists records (
    lane text not null references lanes (id) on delete cascade, number integer not null, last integer not null,
    ends integer not null, body text not null, primary key (lane, number));
create table if not exists outlines (
    lane text primary key references lanes (id) on delete cascade, body text not null);
create table if not exists runs (
    id text primary key, kind text not null, config text not null, state text not null,
    message text not null default '', created real not null, updated real not null, used real not null,
    recorded text not null default '');
create table if not exists run_lanes (
    run text not null references runs (id) on delete cascade, place integer not null, lane text not null,
    primary key (run, place));
create table if not exists speeds (
    task text not null, settings text not null, lanes integer not null, batch_size integer not null,
    device text not null, seconds_per_step real not null, measured real not null,
    primary key (task, settings, lanes, batch_size, device));
create table if not exists wishes (
    run text not null references runs (id) on delete cascade, visitor text not null, command text not null,
    primary key (run, visitor));
create index if not exists runs_by_use on runs (used);
create index if not exists lanes_by_use on lanes (used);
create index if not exists run_lanes_by_lane on run_lanes (lane);
"""


def default_folder() -> Path:
    return Path(os.environ.get("RADAM_LAB_RUNS") or "runs")


Config = TypeVar("Config", RaceConfig, SweepConfig, OwnConfig, OwnMapConfig, RunConfig, KeptConfig)


@dataclass(frozen=True)
class Run(Generic[Config]):
    """What is known of a run without its lanes' records."""

    id: str
    config: Config
    lanes: tuple[str, ...]  # their ids, by place
    state: str
    message: str
    step: int  # that all its lanes have come to
    created: float  # seconds since 1970, as are the next two
    updated: float
    used: float
    recorded: str = ""  # of a recording: when, where and by which code it was made, as JSON

    @property
    def over(self) -> bool:
        return self.state in OVER


class Store(Database):
    """Every call is a few short statements. `read` and `write` are for the modules of this room that have tables of
    their own in it."""

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        folder = default_folder() if folder is None else folder
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.most_bytes = folder / "runs.sqlite", most_bytes
        self.moved = _move_aside(self.path)  # in words, where an older store was
        # NORMAL in WAL mode keeps all that was committed when the process is killed; only a power cut may lose the end.
        super().__init__(self.path, _SCHEMA, "synchronous = normal", "foreign_keys = on")
        self._seen = -1
        if self.read("pragma user_version")[0][0] != _FORM:  # a full disk can be read, and not written
            self.read(f"pragma user_version = {_FORM}")

    def changed(self) -> bool:
        """Whether others have written to the file since this was asked last: one look at memory that they share."""
        ((number,),) = self.read("pragma data_version")
        seen, self._seen = self._seen, number
        return bool(number != seen)

    def recover(self) -> int:
        """Marks what a server that is gone left unfinished and nobody wants any more; how many runs that were."""
        with self.write() as db:
            return db.execute(
                "update runs set state = ?, message = ?, updated = ? where state in (?, ?, ?) "
                "and id not in (select run from wishes)",
                (CUT_OFF, CUT_OFF_MESSAGE, time.time(), *ACTIVE),
            ).rowcount

    def add(
        self, config: KeptConfig, state: str = QUEUED, message: str = "", wanted_by: str | None = None
    ) -> Run[KeptConfig]:
        """The configuration's run, with a place for each of its lanes; in this state, unless it is under way.
        With a visitor who wants it: whichever process trains then takes it up (`processes.py`)."""
        identity, lanes, text, now = run_id(config), lane_ids(config), config.to_json(), time.time()
        with self.write() as db:
            db.executemany(
                "insert into lanes (id, steps, used, bytes) values (?, ?, ?, ?) "
                "on conflict (id) do update set used = excluded.used",
                [(lane, config.steps, now, len(text) // len(lanes)) for lane in lanes],
            )
            active = ", ".join(f"'{state}'" for state in ACTIVE)
            db.execute(
                "insert into runs (id, kind, config, state, message, created, updated, used) "
                "values (?, ?, ?, ?, ?, ?, ?, ?) "
                f"on conflict (id) do update set used = excluded.used, "
                f"updated = case when state in ({active}) then updated else excluded.updated end, "
                f"message = case when state in ({active}) then message else excluded.message end, "
                f"state = case when state in ({active}) then state else excluded.state end",
                (identity, config.kind, text, state, message, now, now, now),
            )
            db.executemany(
                "insert or ignore into run_lanes (run, place, lane) values (?, ?, ?)",
                [(identity, place, lane) for place, lane in enumerate(lanes)],
            )
            if wanted_by is not None:  # and there is something left to train
                left = "select 1 from run_lanes join lanes on lanes.id = lane where run = ? and not complete"
                wish = f"insert or replace into wishes select ?, ?, 'go' where exists ({left})"
                db.execute(wish, (identity, wanted_by, identity))
        run = self.run(identity)
        assert run is not None
        return run

    def run(self, identity: str) -> Run[KeptConfig] | None:
        return next(iter(self._runs("where runs.id = ?", identity)), None)

    def recent(self, count: int = 20, kind: str = RaceConfig.kind) -> list[Run[KeptConfig]]:
        """The runs of a kind that were used last, the latest first."""
        return self._runs("where kind = ? and recorded = '' order by used desc limit ?", kind, count)

    def _runs(self, which: str, *values: Any) -> list[Run[KeptConfig]]:
        """Those whose configuration this version understands; another version's stay until they are trimmed."""
        rows = self.read(f"select * from runs {which}", *values)
        if not rows:
            return []
        marks = ", ".join("?" for _ in rows)
        members: dict[str, list[sqlite3.Row]] = {}
        for lane in self.read(
            "select run, lanes.id, complete, step, steps from run_lanes join lanes on lanes.id = run_lanes.lane "
            f"where run in ({marks}) order by run, place",
            *(row["id"] for row in rows),
        ):
            members.setdefault(lane["run"], []).append(lane)
        names = ("id", "created", "updated", "used", "recorded")
        found = []
        for row in rows:
            lanes = members.get(row["id"], [])
            if not lanes:
                continue
            done = all(lane["complete"] for lane in lanes)
            with suppress(ValueError):
                run = Run(
                    config=_config(row["kind"], row["config"]),
                    lanes=tuple(lane["id"] for lane in lanes),
                    # Lanes that another race finished are finished here, too.
                    state=FINISHED if done else row["state"],
                    message="" if done else row["message"],
                    step=min(lane["steps"] if lane["complete"] else lane["step"] for lane in lanes),
                    **{name: row[name] for name in names},
                )
                found.append(run)
        return found

    def known(self, lanes: Sequence[str]) -> set[str]:
        """Those of them that were trained to their end."""
        marks = ", ".join("?" for _ in lanes)
        rows = self.read(f"select id from lanes where complete and id in ({marks})", *lanes)
        return {row["id"] for row in rows}

    def reached(self, lanes: Sequence[str]) -> dict[str, tuple[int, bool]]:
        """By lane the step it has come to, and whether that is its end."""
        marks = ", ".join("?" for _ in lanes)
        rows = self.read(f"select id, step, complete from lanes where id in ({marks})", *lanes)
        return {row["id"]: (row["step"], bool(row["complete"])) for row in rows}

    def touch(self, identity: str) -> None:
        """Somebody looks at it: it is not the first to go."""
        now = time.time()
        with self.write() as db:
            db.execute("update runs set used = ? where id = ?", (now, identity))
            db.execute(
                "update lanes set used = ? where id in (select lane from run_lanes where run = ?)", (now, identity)
            )

    def set_state(self, identity: str, state: str, message: str = "") -> None:
        with self.write() as db:
            db.execute(
                "update runs set state = ?, message = ?, updated = ? where id = ?",
                (state, message, time.time(), identity),
            )

    def add_records(self, records: Iterable[tuple[str, Record]]) -> None:
        """Keeps records by their lane's id; what is there already stays."""
        with self.write() as db:
            for lane, record in records:
                inserted = db.execute(
                    "insert or ignore into records (lane, number, last, ends, body) values (?, ?, ?, ?, ?)",
                    (lane, record.number, record.last, record.ends, record.body),
                ).rowcount
                if inserted:
                    db.execute(
                        "update lanes set bytes = bytes + ?, step = max(step, ?), complete = max(complete, ?) "
                        "where id = ?",
                        (len(record.body), record.last, record.ends, lane),
                    )

    def records(self, lane: str, after: int = -1) -> list[Record]:
        rows = self.read(
            "select number, last, ends, body from records where lane = ? and number > ? order by number", lane, after
        )
        return [Record(row["number"], row["last"], bool(row["ends"]), row["body"]) for row in rows]

    def recordings(self) -> dict[str, str]:
        """What is known of each recording that is here, by its id."""
        return {row["id"]: row["recorded"] for row in self.read("select id, recorded from runs where recorded != ''")}

    def add_recording(
        self, config: RunConfig, recorded: str, lanes: Sequence[tuple[str, Sequence[Record]]], date: float
    ) -> str:
        """A run that was trained elsewhere, in place of an older recording of it: by lane its outline, and its records
        if they were kept."""
        identity = recorded_id(config.to_json())
        ids = recorded_lane_ids(config)
        with self.write() as db:
            db.execute("delete from runs where id = ?", (identity,))
            for lane, (outline, records) in zip(ids, lanes, strict=True):
                size = len(outline) + sum(len(record.body) for record in records)
                db.execute(
                    "insert into lanes (id, steps, step, complete, used, bytes) values (?, ?, ?, 1, ?, ?) "
                    "on conflict (id) do update set bytes = max(bytes, excluded.bytes)",
                    (lane, config.steps, config.steps, date, size),
                )
                db.execute("insert or replace into outlines (lane, body) values (?, ?)", (lane, outline))
                if records:
                    db.execute("delete from records where lane = ?", (lane,))
                    rows = [(lane, record.number, record.last, record.ends, record.body) for record in records]
                    db.executemany("insert into records (lane, number, last, ends, body) values (?, ?, ?, ?, ?)", rows)
            db.execute(
                "insert into runs (id, kind, config, state, created, updated, used, recorded) "
                "values (?, ?, ?, ?, ?, ?, ?, ?)",
                (identity, config.kind, config.to_json(), FINISHED, date, date, date, recorded),
            )
            db.executemany(
                "insert into run_lanes (run, place, lane) values (?, ?, ?)",
                [(identity, place, lane) for place, lane in enumerate(ids)],
            )
        return identity

    def add_outlines(self, outlines: Mapping[str, str]) -> None:
        """What is kept of lanes beside their records (`outlines.py`), by lane; a lane that is gone has none."""
        with self.write() as db:
            for lane, body in outlines.items():
                before = "coalesce((select length(body) from outlines where lane = lanes.id), 0)"
                grown = f"update lanes set bytes = bytes + ? - {before} where id = ?"
                if db.execute(grown, (len(body), lane)).rowcount:
                    db.execute("insert or replace into outlines (lane, body) values (?, ?)", (lane, body))

    def outlines(self, lanes: Sequence[str]) -> dict[str, str]:
        marks = ", ".join("?" for _ in lanes)
        rows = self.read(f"select lane, body from outlines where lane in ({marks})", *lanes)
        return {row["lane"]: row["body"] for row in rows}

    def trim(self) -> list[str]:
        """Drops the lanes that nobody has used for longest until the rest fits, and the runs they were in; never one
        that is under way, nor a recording. The ids of these runs."""
        with self.write() as db:
            excess = db.execute("select coalesce(sum(bytes), 0) from lanes").fetchone()[0] - self.most_bytes
            if excess <= 0:
                return []
            marks = ", ".join("?" for _ in ACTIVE)
            rows = db.execute(
                "select id, bytes from lanes where not exists (select 1 from run_lanes join runs on runs.id = run "
                f"where lane = lanes.id and (state in ({marks}) or recorded != '')) order by used",
                ACTIVE,
            ).fetchall()
            dropped = []
            for row in rows:
                if excess <= 0:
                    break
                dropped.append(row["id"])
                excess -= row["bytes"]
            found = [db.execute("select run from run_lanes where lane = ?", (lane,)).fetchall() for lane in dropped]
            gone = list(dict.fromkeys(row["run"] for rows in found for row in rows))
            db.executemany("delete from runs where id = ?", [(run,) for run in gone])
            db.executemany("delete from lanes where id = ?", [(lane,) for lane in dropped])
        return gone


@lru_cache(256)
def _config(kind: str, text: str) -> KeptConfig:
    """To check a configuration takes longer than to read it."""
    return KEPT[kind].make(text)


def _move_aside(path: Path) -> str:
    """Renames a store that another version wrote, whose tables this one cannot read; what it did, in words."""
    if not path.exists():
        return ""
    old = sqlite3.connect(path)
    try:
        (form,) = old.execute("pragma user_version").fetchone()
        if form == _FORM or not old.execute("select 1 from sqlite_master limit 1").fetchone():
            return ""
        old.execute("pragma wal_checkpoint(truncate)")
    except sqlite3.OperationalError:  # somebody else writes to it: it is no other version's for that
        raise
    except sqlite3.DatabaseError:
        form = "unknown"
    finally:
        old.close()
    aside = path.with_name(f"{path.stem}-form-{form}-{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}")
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    sentence = f"The runs of another version of RAdam Lab were kept aside, unread, as {aside.name}."
    log.warning(sentence)
    return sentence
