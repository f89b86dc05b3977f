"""Finds the recordings, and puts them into the store when the server starts: those that are new or have changed since.

`RADAM_LAB_RECORDINGS` names another folder for the store, or with "none" says that it shall have none. What the tour
and the paper's rows rest on are always the repository's own.
"""

import hashlib
import json
import logging
import os
import sqlite3
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from dashboard.recorded.catalogue import catalogue
from dashboard.recorded.form import ENDING, FOLDER, Made, Recording, made_path, path_of, read
from dashboard.runs.identity import code_version
from dashboard.runs.store import Store

NONE = "none"
UNREADABLE = (ValueError, KeyError, TypeError, EOFError, OSError)
log = logging.getLogger(__name__)


def folder() -> Path | None:
    given = os.environ.get("RADAM_LAB_RECORDINGS", "")
    return None if given == NONE else Path(given) if given else FOLDER


def recording(name: str, where: Path = FOLDER) -> Recording | None:
    """One of the catalogue, if it is there, can be read, and is of the configuration that has this name."""
    path = path_of(name, where)
    if not path.exists():
        return None
    try:
        found = read(path)
    except UNREADABLE as error:
        log.warning("The recording %s cannot be used: %s", path.name, error)
        return None
    return found if found.config == catalogue()[name] else None


def load(store: Store, where: Path | None = None) -> int:
    """How many were taken in. A file that cannot be read is passed over, and said."""
    where = where or folder()
    known = {json.loads(text)["file"] for text in store.recordings().values()}
    taken = 0
    for path in sorted(where.glob(f"*{ENDING}")) if where else ():
        beside = made_path(path)
        both = path.read_bytes() + (beside.read_bytes() if beside.exists() else b"")
        digest = hashlib.sha256(both).hexdigest()[:16]
        if digest in known:
            continue
        try:
            found = read(path)
        except UNREADABLE as error:
            log.warning("The recording %s cannot be used: %s", path.name, error)
            continue
        lanes = [(lane.outline, lane.records) for lane in found.lanes]
        date = datetime.fromisoformat(found.made.date).replace(tzinfo=UTC).timestamp()
        try:
            store.add_recording(found.config, json.dumps({"file": digest, **asdict(found.made)}), lanes, date)
        except sqlite3.Error as error:  # a full disk: the others will not fit in either
            log.warning("The recordings cannot be stored: %s", error)
            return taken
        taken += 1
    return taken


def made(recorded: str) -> Made:
    """What a run's `recorded` says."""
    plain = json.loads(recorded)
    return Made(**{name: plain[name] for name in Made.__dataclass_fields__})


def made_by(recorded: str) -> str:
    """The code that made a recording; "" of a run that is none."""
    return made(recorded).code if recorded else ""


def is_older(found: Made) -> bool:
    return found.code != code_version()


def told(recorded: str, button: str) -> str:
    """What a page says above a recording; without a button where nothing can be trained."""
    found = made(recorded)
    code = f"by code {found.code}" + (", which is older than this one" if is_older(found) else "")
    return f"**Recorded** on {found.date} {code}" + (f": press *{button}* to run it here." if button else ".")
