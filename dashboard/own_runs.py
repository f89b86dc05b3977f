"""Files of own models' runs into the store: one run with the lanes of all of them, as records like any other's.

A file is anybody's (`radam_core/own/run_file.py` has its form): it is read as data, checked and bounded there, and what
it becomes is bounded here. A record has one part more than a race's, which computes it: `told`, by the names of `TOLD`
what the settings decided at each of its steps, packed.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dashboard.asked.config import MOST_RECORDED
from dashboard.asked.own_config import MOST_OWN_LANES, TOLD, OwnConfig
from dashboard.asked.own_map import MOST_MAP_LANES, OwnMapConfig
from dashboard.runs.records import Record, encode, pack
from dashboard.runs.states import CUT_OFF, FINISHED
from dashboard.runs.store import Store
from radam_core.own.run_reading import LaneRun, read
from radam_core.own.run_reading import Run as FileRun
from radam_core.race import frames
from radam_core.race.quantities import QUANTITIES

ROWS_PER_RECORD = 2000  # a browser takes in a record at once
LONGEST_LABEL, MOST_METRICS, LONGEST_NAME = 60, 8, 80
_AS_EXPECTED = ("closed", "finished", None)


@dataclass(frozen=True)
class OpenedFile:
    name: str
    digest: str
    run: FileRun


def open_file(path: Path) -> OpenedFile:
    """`ValueError` or `OSError` in a sentence for what is no run of ours."""
    if path.is_dir():
        raise ValueError(f"{path.name} must be a file, and is a folder")
    run = read(path)
    if not any(lane.steps for lane in run.lanes):
        raise ValueError(f"{path.name} has no step in it: nothing can be shown")
    opened = OpenedFile(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), run)
    (own_map if run.kind == "sweep" else own_config)(
        [opened]
    )  # so that what is wrong with it is said of it, and not of all that are opened beside it
    return opened


def put(store: Store, files: Sequence[OpenedFile]) -> str:
    """All files as one run, so that they lie over each other; its id. `ValueError` if they are too much for a page."""
    return _put(store, files, own_config(files))


def _put(store: Store, files: Sequence[OpenedFile], config: OwnConfig) -> str:
    lanes = [(lane, one.run.ended is not None) for one in files for lane in one.run.lanes]
    cut = [note for one in files if one.run.ended is None for note in one.run.notes]
    run = store.add(config, CUT_OFF if cut else FINISHED, " ".join(cut))
    known = {name for name in config.columns if name in TOLD}
    for identity, (lane, ended) in zip(run.lanes, lanes, strict=True):
        store.add_records((identity, record) for record in lane_records(lane, ended, known))
    return run.id


def put_maps(store: Store, files: Sequence[OpenedFile]) -> list[str]:
    """Sweeps as maps, their ids: those of one grid lie over each other, and every other grid is one of its own."""
    grids: dict[Any, list[OpenedFile]] = {}
    for one in files:
        grids.setdefault(own_map([one]).grid, []).append(one)
    return [_put(store, alike, own_map(alike)) for alike in grids.values()]


def own_map(files: Sequence[OpenedFile]) -> OwnMapConfig:
    plain = _plain_config(files, MOST_MAP_LANES)
    stems = [Path(one.name).stem[:20] for one in files]
    own = [f"{stem} #{k + 1}" if stems.count(stem) > 1 else stem for k, stem in enumerate(stems)]
    found = OwnMapConfig.make(
        {
            **plain,
            "files": own,
            "file_of": [k for k, one in enumerate(files) for _ in one.run.lanes],
            "baselines": [one.run.baseline for one in files],
        }
    )
    try:
        assert found.cells
    except ValueError as error:
        raise ValueError(f"{plain['title']}: {error}") from None
    return found


def own_config(files: Sequence[OpenedFile]) -> OwnConfig:
    return OwnConfig.make(_plain_config(files, MOST_OWN_LANES))


def _plain_config(files: Sequence[OpenedFile], most: int) -> dict[str, Any]:
    lanes, title = [lane for one in files for lane in one.run.lanes], ", ".join(one.name for one in files)[:500]
    if len(lanes) > most:
        raise ValueError(f"{title} must have at most {most} lanes in all, got {len(lanes)}")
    rows = sum(len(lane.steps) for lane in lanes)
    if rows > MOST_RECORDED:
        raise ValueError(f"{title} must have at most {MOST_RECORDED:,} recorded steps in all, got {rows:,}")
    metrics = list(dict.fromkeys(name for lane in lanes for found in lane.metrics.values() for name in found))
    lasts = [
        max(*lane.steps, *(one.t for one in lane.histograms), *lane.metrics, lane.lost_at or 0, 0) for lane in lanes
    ]
    told = [
        {
            "label": label,
            "optimizer": lane.optimizer[:LONGEST_NAME],
            "settings": {name: _plain(value) for name, value in lane.settings.items()},
            "last": last,
        }
        for label, lane, last in zip(labels(files), lanes, lasts, strict=True)
    ]
    return {
        "title": title,
        "source": hashlib.sha256(" ".join(one.digest for one in files).encode()).hexdigest()[:16],
        "lanes": told,
        "steps": max(1, *lasts),
        "columns": [name for name in (*QUANTITIES, *TOLD) if any(_known(lane, name) for lane in lanes)],
        "metrics": [name for name in metrics if 0 < len(name) <= LONGEST_NAME][:MOST_METRICS],
        "histograms": any(lane.histograms for lane in lanes),
        "notes": [note[:500] for one in files for note in _notes(one)],
    }


def labels(files: Sequence[OpenedFile]) -> list[str]:
    """Each of its own: with its seed where a sweep has several, its file's name where there are several, a number."""
    found: list[str] = []
    for one in files:
        seeds = {lane.settings.get("seed") for lane in one.run.lanes} if one.run.kind == "sweep" else set()
        ending = f" ({Path(one.name).stem[:20]})" if len(files) > 1 else ""
        for lane in one.run.lanes:
            seed = f", seed {str(lane.settings.get('seed')).removesuffix('.0')[:12]}" if len(seeds) > 1 else ""
            label = own = _shortened(lane.label or lane.optimizer or "lane", f"{seed}{ending}")
            number = 1
            while own in found:
                number += 1
                own = _shortened(label, f" #{number}")
            found.append(own)
    return found


def _shortened(label: str, ending: str) -> str:
    room = LONGEST_LABEL - len(ending)
    return f"{label if len(label) <= room else f'{label[: room - 1]}…'}{ending}"


def lane_records(lane: LaneRun, ended: bool, told: set[str]) -> Iterator[Record]:
    """In parts that a browser can take in; only the last one ends the lane, or says that it was lost."""
    parts, last = max(1, -(-len(lane.steps) // ROWS_PER_RECORD)), -1.0
    for number in range(parts):
        final = number == parts - 1
        rows = slice(number * ROWS_PER_RECORD, None if final else (number + 1) * ROWS_PER_RECORD)
        until = np.inf if final else lane.steps[rows.stop - 1]
        part = LaneRun(
            lane.label,
            lane.optimizer,
            lane.settings,
            lane.steps[rows],
            lane.rows[rows],
            [one for one in lane.histograms if last < one.t <= until],
            {t: found for t, found in sorted(lane.metrics.items()) if last < t <= until},
            lane.lost_at if final else None,
        )
        yield _record(part, number, _status(lane, ended, final), told)
        last = until


def _status(lane: LaneRun, ended: bool, final: bool) -> str:
    if not final:
        return frames.RUNNING
    return frames.DIVERGED if lane.lost_at is not None else frames.FINISHED if ended else frames.STOPPED


def _record(part: LaneRun, number: int, status: str, told: set[str]) -> Record:
    with np.errstate(over="ignore"):  # what no float32 can hold is as good as infinite
        record = encode(replace(part.frame(), number=number, status=(status,)), 0)
        kept = [t <= record.last for t in part.steps]  # as a record is: until it was lost
        columns = {name: pack(part.column(name)[kept]) for name in TOLD if name in told}
    return replace(record, body=json.dumps({**json.loads(record.body), "told": columns}, separators=(",", ":")))


def _known(lane: LaneRun, name: str) -> bool:
    return bool(np.isfinite(lane.column(name)).any())


def _notes(file: OpenedFile) -> list[str]:
    run = file.run
    cut = [] if run.ended is None else run.notes  # of a run without an end its state says it
    told = [*cut, *([f"{file.name}: {run.why.rstrip('.')}."] if run.why else [])]
    return told if run.ended in _AS_EXPECTED else [*told, f"{file.name} ended: {run.ended}."]


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) or np.isfinite(value) else None
