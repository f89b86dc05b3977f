"""A recording as a file: a run trained once, kept in the repository, and shown where nothing was trained yet.

One line of JSON each, zipped: first its configuration, then every lane with its outline, and of a race with its
records, as the store has them. When, where and by which code it was made stands in a small file beside it: so one that
is made again with the same outcome is the same file. A recording outlives the code that made it: it is found by its
configuration, and says its version.
"""

import gzip
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from dashboard.asked.kinds import KINDS, RunConfig
from dashboard.runs.records import Record

FOLDER = Path(__file__).with_name("files")
FORM, ENDING, MADE_ENDING = 2, ".jsonl.gz", ".made.json"


@dataclass(frozen=True)
class Made:
    """When, where and by what."""

    code: str  # `code_version`
    packages: str
    machine: str
    date: str
    seconds: float  # of training, as far as it was done then


@dataclass(frozen=True)
class RecordedLane:
    outline: str  # as `outlines.to_json` has it
    records: tuple[Record, ...] = ()


@dataclass(frozen=True)
class Recording:
    config: RunConfig
    made: Made
    lanes: tuple[RecordedLane, ...]


def path_of(name: str, folder: Path = FOLDER) -> Path:
    return folder / f"{name}{ENDING}"


def made_path(path: Path) -> Path:
    """Beside a recording: when, where and by what it was made."""
    return path.with_name(path.name.removesuffix(ENDING) + MADE_ENDING)


def write(path: Path, recording: Recording) -> None:
    head = {"form": FORM, "kind": recording.config.kind, "config": recording.config.to_json()}
    lanes = (
        {"outline": lane.outline, "records": [[record.last, record.body] for record in lane.records]}
        for lane in recording.lanes
    )
    lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in (head, *lanes)]
    path.parent.mkdir(parents=True, exist_ok=True)
    made_path(path).unlink(missing_ok=True)  # cut off here it is no recording, and not one of other code
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
    made_path(path).write_text(json.dumps(asdict(recording.made), indent=2) + "\n", encoding="utf-8")


def read(path: Path) -> Recording:
    """`ValueError` for a file of another form, or whose configuration this version does not understand."""
    head, *lanes = map(json.loads, gzip.decompress(path.read_bytes()).decode().splitlines())
    if head["form"] != FORM:
        raise ValueError(f"{path.name} must be a recording of form {FORM}")
    config = KINDS[head["kind"]].make(head["config"])
    made = Made(**json.loads(made_path(path).read_text(encoding="utf-8")))
    return Recording(config, made, tuple(_lane(lane["outline"], lane["records"]) for lane in lanes))


def _lane(outline: str, records: Iterable[tuple[int, str]]) -> RecordedLane:
    pairs = list(records)
    ends = len(pairs) - 1
    made = (Record(number, last, number == ends, body) for number, (last, body) in enumerate(pairs))
    return RecordedLane(outline, tuple(made))
