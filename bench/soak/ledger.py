"""What viewers were shown of runs, which the store must hold for ever after: the same records under the same numbers.

Most viewers get the same bytes, so that an event is taken apart once, however many saw it.
"""

import hashlib
import json
import sqlite3
import threading
import time
from collections import defaultdict
from pathlib import Path

from bench.soak.outcome import Delays, Outcome
from dashboard.asked.config import RaceConfig
from dashboard.runs.identity import lane_ids, run_id
from dashboard.runs.states import ACTIVE

LOOK_SECONDS = 0.03  # the delays are known to within this


class Ledger:
    """One for all viewers of a scenario, on one event loop."""

    def __init__(self) -> None:
        self.configs: dict[str, RaceConfig] = {}
        self.shown: dict[str, dict[int, str]] = defaultdict(dict)  # by lane and number: a record's hash
        self.events = 0
        self.problems: list[str] = []
        self._known: dict[tuple[str, str, bytes], tuple[tuple[str, int], ...]] = {}

    def watch(self, config: RaceConfig) -> str:
        run = run_id(config)
        self.configs[run] = config
        return run

    def saw(self, run: str, identity: str, data: bytes) -> tuple[tuple[str, int], ...]:
        """The last record of each lane that the event has news of, as (lane, number)."""
        self.events += 1
        key = (run, identity, hashlib.blake2b(data, digest_size=16).digest())
        if key not in self._known:
            self._known[key] = self._apart(run, identity, data)
        return self._known[key]

    def _apart(self, run: str, identity: str, data: bytes) -> tuple[tuple[str, int], ...]:
        lanes, ends = lane_ids(self.configs[run]), list(map(int, identity.split(".")))
        last = []
        for place, records in json.loads(data).items():
            lane, end = lanes[int(place)], ends[int(place)]
            for number, record in enumerate(records, end - len(records)):
                found = _hash(record)
                if self.shown[lane].setdefault(number, found) != found:
                    self.problems.append(f"record {number} of lane {lane} was shown in two forms")
            last.append((lane, end - 1))
        return tuple(last)

    @property
    def records(self) -> int:
        return sum(map(len, self.shown.values()))

    def lost(self, runs: Path) -> int:
        """How many records were shown to somebody and are not in the store, or are others there."""
        database = sqlite3.connect(f"file:{runs / 'runs.sqlite'}?mode=ro", uri=True, timeout=30)
        try:
            count = 0
            for lane, shown in self.shown.items():
                rows = database.execute("select number, body from records where lane = ?", (lane,)).fetchall()
                stored = dict(rows)
                count += sum(
                    number not in stored or _hash(json.loads(stored[number])) != record
                    for number, record in shown.items()
                )
            return count
        finally:
            database.close()

    def judge(self, outcome: Outcome, runs: Path) -> None:
        lost = self.lost(runs)
        outcome.figures["records that viewers were shown"] = f"{self.records:,} in {self.events:,} events"
        outcome.figures["of these lost"] = f"{lost:,}"
        outcome.require(lost == 0, f"{lost} records that viewers were shown are not in the store")
        outcome.require(not self.problems, f"{len(self.problems)} problems, the first: {self.problems[:1]}")
        outcome.require(self.records > 0, "no viewer was shown anything")


def _hash(record: object) -> str:
    return hashlib.blake2b(json.dumps(record, sort_keys=True).encode(), digest_size=12).hexdigest()


class Follower:
    """Looks into the store from outside: when each record was there, and how many runs are under way at a time."""

    def __init__(self, runs: Path) -> None:
        self.path, self.most_active = runs / "runs.sqlite", 0
        self.delays = Delays()  # from a record's being stored to a viewer's having it
        self._at: dict[tuple[str, int], float] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> "Follower":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(30)

    def arrived(self, last: tuple[tuple[str, int], ...], joined: float) -> None:
        """A viewer has these records, who watches since `joined`: what is older was not waited for."""
        now = time.monotonic()
        stored = max((self._at.get(record, now) for record in last), default=now)
        if stored > joined:
            self.delays.add(now - stored)

    def _follow(self) -> None:
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=30)
        (last,) = database.execute("select coalesce(max(rowid), 0) from records").fetchone()
        marks = ", ".join("?" for _ in ACTIVE)
        while not self._end.wait(LOOK_SECONDS):
            now = time.monotonic()
            new = database.execute("select rowid, lane, number from records where rowid > ?", (last,)).fetchall()
            for row, lane, number in new:
                last = max(last, row)
                self._at[lane, number] = now
            (active,) = database.execute(f"select count(*) from runs where state in ({marks})", ACTIVE).fetchone()
            self.most_active = max(self.most_active, active)
        database.close()
