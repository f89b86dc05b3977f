"""Where runs are kept: one SQLite file, so that a refresh, a second visitor or a hard kill loses nothing recorded.

A run's id is a hash of its canonical configuration and of the code that computes it, so that the same question is
answered once. The version of that code is a hash over its source files and its packages, not a constant that
somebody has to remember to raise: an id promises the same frames, and a stale promise would go unnoticed.

A run's frames are always a beginning of the one sequence that its configuration decides. A race that runs again after
a killed worker, or is started again, gives the same frames under the same numbers, and what is there already is kept.
"""

import hashlib
import os
import platform
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dashboard.config import RaceConfig

QUEUED, RUNNING, PAUSED = "queued", "running", "paused"
FINISHED, STOPPED, FAILED, CUT_OFF = "finished", "stopped", "failed", "cut off"
ACTIVE = (QUEUED, RUNNING, PAUSED)
OVER = (FINISHED, STOPPED, FAILED, CUT_OFF)
MOST_BYTES, MOST_SPEEDS = 1 << 30, 1000
CUT_OFF_MESSAGE = "The server stopped while this was running. What was recorded is here; Train runs it again."

_SCHEMA = """
create table if not exists runs (
    id text primary key, config text not null, task text not null, lanes integer not null, steps integer not null,
    state text not null, message text not null default '', step integer not null default 0,
    created real not null, updated real not null, used real not null, bytes integer not null default 0);
create table if not exists frames (
    run text not null references runs (id) on delete cascade, number integer not null, last integer not null,
    body text not null, samples text, primary key (run, number));
create table if not exists speeds (
    task text not null, settings text not null, lanes integer not null, batch_size integer not null,
    device text not null, seconds_per_step real not null, measured real not null,
    primary key (task, settings, lanes, batch_size, device));
create index if not exists runs_by_use on runs (used);
"""


@cache
def code_version() -> str:
    """A hash over everything that decides a frame's numbers: the sources, and what they compute and read with."""
    root = Path(__file__).resolve().parent.parent
    packages = [f"{name} {version(name)}" for name in ("torch", "numpy", "scikit-learn", "num2words")]
    digest = hashlib.sha256("\n".join([platform.python_version(), *packages]).encode())
    for path in sorted(path for room in ("radam_core", "demo_models") for path in (root / room).glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def run_id(config: RaceConfig) -> str:
    return hashlib.sha256(f"{code_version()}\n{config.to_json()}".encode()).hexdigest()[:20]


def default_folder() -> Path:
    return Path(os.environ.get("RADAM_LAB_RUNS") or "runs")


@dataclass(frozen=True)
class Run:
    """What is known of a run without its frames."""

    id: str
    config: RaceConfig
    state: str
    message: str
    step: int  # the last one recorded
    created: float  # seconds since 1970, as are the next two
    updated: float
    used: float

    @property
    def over(self) -> bool:
        return self.state in OVER


@dataclass(frozen=True)
class StoredFrame:
    """A frame as `radam_core.frames.encode_frame` wrote it, and the samples that came with it as JSON."""

    number: int
    last: int
    body: str
    samples: str | None = None


@dataclass(frozen=True)
class Speed:
    """How long a step of all lanes together took in an undisturbed worker."""

    settings: str
    lanes: int
    batch_size: int
    seconds_per_step: float


class Store:
    """Safe to use from any thread. One connection under one lock: every call is a few short statements."""

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        folder = default_folder() if folder is None else folder
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.most_bytes = folder / "runs.sqlite", most_bytes
        self._lock = threading.Lock()
        self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=10)
        self._db.row_factory = sqlite3.Row
        # NORMAL in WAL mode keeps all that was committed when the process is killed; only a power cut may lose the end.
        for pragma in ("journal_mode = wal", "synchronous = normal", "foreign_keys = on"):
            self._db.execute(f"pragma {pragma}")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("begin immediate")
            try:
                yield self._db
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")

    def _read(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

    def recover(self) -> int:
        """Marks what a server that is gone left unfinished; how many runs that were."""
        with self._write() as db:
            return db.execute(
                "update runs set state = ?, message = ?, updated = ? where state in (?, ?, ?)",
                (CUT_OFF, CUT_OFF_MESSAGE, time.time(), *ACTIVE),
            ).rowcount

    def add(self, config: RaceConfig) -> tuple[Run, bool]:
        """The configuration's run, and whether it has to be computed: not if it is under way or finished."""
        identity, now = run_id(config), time.time()
        with self._write() as db:
            found = db.execute("select state from runs where id = ?", (identity,)).fetchone()
            needed = found is None or found["state"] not in (*ACTIVE, FINISHED)
            if needed:
                text = config.to_json()
                db.execute(
                    "insert into runs (id, config, task, lanes, steps, state, created, updated, used, bytes) "
                    "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update "
                    "set state = excluded.state, message = '', updated = excluded.updated, used = excluded.used",
                    (identity, text, config.task, len(config.lanes), config.steps, QUEUED, now, now, now, len(text)),
                )
            else:
                db.execute("update runs set used = ? where id = ?", (now, identity))
        run = self.run(identity)
        assert run is not None
        return run, needed

    def run(self, identity: str) -> Run | None:
        return next(iter(_runs(self._read("select * from runs where id = ?", identity))), None)

    def recent(self, count: int = 20) -> list[Run]:
        """The runs used last, the latest first."""
        return _runs(self._read("select * from runs order by used desc limit ?", count))

    def touch(self, identity: str) -> None:
        """Somebody looks at it: it is not the first to go."""
        with self._write() as db:
            db.execute("update runs set used = ? where id = ?", (time.time(), identity))

    def set_state(self, identity: str, state: str, message: str = "") -> None:
        with self._write() as db:
            db.execute(
                "update runs set state = ?, message = ?, updated = ? where id = ?",
                (state, message, time.time(), identity),
            )

    def add_frames(self, identity: str, frames: Iterable[StoredFrame]) -> list[StoredFrame]:
        """Keeps frames, and gives back those that were new."""
        added = []
        with self._write() as db:
            for frame in frames:
                inserted = db.execute(
                    "insert or ignore into frames (run, number, last, body, samples) values (?, ?, ?, ?, ?)",
                    (identity, frame.number, frame.last, frame.body, frame.samples),
                ).rowcount
                if inserted:
                    added.append(frame)
            if added:
                size = sum(len(frame.body) + len(frame.samples or "") for frame in added)
                db.execute(
                    "update runs set bytes = bytes + ?, step = max(step, ?), updated = ? where id = ?",
                    (size, max(frame.last for frame in added), time.time(), identity),
                )
        return added

    def frames(self, identity: str, after: int = -1) -> list[StoredFrame]:
        rows = self._read(
            "select number, last, body, samples from frames where run = ? and number > ? order by number",
            identity,
            after,
        )
        return [StoredFrame(**dict(row)) for row in rows]

    def trim(self) -> list[str]:
        """Drops the runs that nobody has used for longest until the rest fits; never one that is under way."""
        gone: list[str] = []
        with self._write() as db:
            excess = db.execute("select coalesce(sum(bytes), 0) from runs").fetchone()[0] - self.most_bytes
            marks = ", ".join("?" for _ in ACTIVE)
            rows = db.execute(
                f"select id, bytes from runs where state not in ({marks}) order by used", ACTIVE
            ).fetchall()
            for row in rows:
                if excess <= 0:
                    break
                db.execute("delete from runs where id = ?", (row["id"],))
                gone.append(row["id"])
                excess -= row["bytes"]
        return gone

    def add_speed(self, config: RaceConfig, seconds_per_step: float) -> None:
        key = (config.task, settings_key(config), len(config.lanes), config.batch_size, config.device)
        with self._write() as db:
            db.execute(
                "insert or replace into speeds values (?, ?, ?, ?, ?, ?, ?)", (*key, seconds_per_step, time.time())
            )
            db.execute(
                "delete from speeds where rowid not in (select rowid from speeds order by measured desc limit ?)",
                (MOST_SPEEDS,),
            )

    def speeds(self, task: str, device: str) -> list[Speed]:
        """Those measured on the task, the latest first."""
        rows = self._read(
            "select settings, lanes, batch_size, seconds_per_step from speeds where task = ? and device = ? "
            "order by measured desc limit 100",
            task,
            device,
        )
        return [Speed(**dict(row)) for row in rows]


def settings_key(config: RaceConfig) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(config.settings.items()))


def _runs(rows: Iterable[sqlite3.Row]) -> list[Run]:
    """Those whose configuration this version understands; another version's stay until they are trimmed."""
    names = ("id", "state", "message", "step", "created", "updated", "used")
    found = []
    for row in rows:
        with suppress(ValueError):
            found.append(Run(config=RaceConfig.make(row["config"]), **{name: row[name] for name in names}))
    return found
