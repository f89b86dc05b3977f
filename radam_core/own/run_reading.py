"""Reading a run's file, which anybody may have written: bounded, checked line by line, and never more than data.

A file that was cut off is read as far as it goes, with a note; one that is not ours is refused with a sentence.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radam_core.own.run_file import FORM, KINDS, NAMES
from radam_core.race.frames import BINS, COUNTED, DIVERGED, FINISHED, SPREAD, STOPPED, Frame, Histograms
from radam_core.race.quantities import BY_GROUP, QUANTITIES

# A file is small, and so must be what it becomes: a short line may ask for much.
MOST_BYTES, MOST_LINES, MOST_BINS = 64 << 20, 500_000, 1 << 25
MOST_LANES, MOST_GROUPS, LONGEST_TEXT, LAST_STEP = 1000, 64, 2000, 10**12


@dataclass
class LaneRun:
    """A lane of a file."""

    label: str
    optimizer: str
    settings: Mapping[str, float | str]
    steps: list[int] = field(default_factory=list)
    rows: list[dict[str, float]] = field(default_factory=list)  # by `NAMES`, what is known of each step
    histograms: list[Histograms] = field(default_factory=list)
    metrics: dict[int, dict[str, float]] = field(default_factory=dict)
    lost_at: int | None = None

    def column(self, name: str) -> NDArray[np.float64]:
        """By step, nan where nothing is known."""
        return np.array([one.get(name, np.nan) for one in self.rows], dtype=float)

    def frame(self, ended: bool = True) -> Frame:
        """The whole lane as one frame of a race with one lane: what records are made of."""
        steps = np.array(self.steps, dtype=np.int64)
        status = DIVERGED if self.lost_at is not None else FINISHED if ended else STOPPED
        known = [*self.steps, *(one.t for one in self.histograms), *self.metrics, self.lost_at or 0]
        return Frame(
            number=0,
            first=min(self.steps, default=1),
            last=max(known),
            steps=steps,
            columns={name: self.column(name).astype(np.float32)[:, None] for name in QUANTITIES},
            status=(status,),
            diverged_at=(self.lost_at,),
            histograms=tuple(self.histograms),
            metrics={
                t: {name: np.array([value], np.float32) for name, value in found.items()}
                for t, found in self.metrics.items()
            },
        )


@dataclass
class Run:
    kind: str
    parameters: int
    way: str
    why: str
    lanes: list[LaneRun]
    ended: str | None = None  # how, in the writer's words; None: it was cut off, or is still being written
    notes: list[str] = field(default_factory=list)
    baseline: float | None = None  # of a sweep, where it is known


def read(path: str | Path) -> Run:
    """`ValueError` in a sentence for what is no run of ours."""
    path = Path(path)
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{path.name} must have at most {MOST_BYTES >> 20} MB, got {size / 2**20:.0f}")
    *whole, rest = path.read_bytes().split(b"\n")
    if not whole:
        cut = "is cut off within its first line" if rest else "is empty"
        raise ValueError(f"{path.name} {cut}: nothing of the run is in it")
    if len(whole) > MOST_LINES:
        raise ValueError(f"{path.name} must have at most {MOST_LINES:,} lines, got {len(whole):,}")
    run = _head(_parsed(whole[0], f"line 1 of {path.name}"), path.name)
    bins = 0
    for place, text in enumerate(whole[1:], 2):
        where = f"line {place} of {path.name}"
        plain = _parsed(text, where)
        _take(run, plain, where)
        bins += _bins_in(plain)
        if bins > MOST_BINS:
            raise ValueError(
                f"{path.name} must have at most {MOST_BINS:,} bins in its histograms, and {where} has more"
            )
    if rest:
        run.notes.append(f"{path.name} is cut off within line {len(whole) + 1}: what stands before it was read")
    elif run.ended is None:
        run.notes.append(f"{path.name} has no end: the run was cut off, or is still going on")
    return run


def _parsed(text: bytes, where: str) -> dict[str, Any]:
    try:
        plain = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where} must be a JSON object, got {_short(text)} ({type(error).__name__})") from None
    if not isinstance(plain, dict):
        raise ValueError(f"{where} must be a JSON object, got {_short(text)}")
    return plain


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _head(plain: Mapping[str, Any], name: str) -> Run:
    if plain.get("radam_lab") != "run":
        raise ValueError(f'{name} is no run of RAdam Lab: its first line must have "radam_lab": "run"')
    if plain.get("form") != FORM:
        raise ValueError(f"{name} must be of form {FORM}, got {_short(plain.get('form'))}: another version wrote it")
    where = f"line 1 of {name}"
    if plain.get("kind") not in KINDS:
        raise ValueError(f"kind in {where} must be one of {', '.join(KINDS)}, got {_short(plain.get('kind'))}")
    lanes = plain.get("lanes")
    if not isinstance(lanes, list) or not 0 < len(lanes) <= MOST_LANES:
        raise ValueError(f"lanes in {where} must be a list of 1 to {MOST_LANES} lanes, got {_short(lanes)}")
    parameters = _whole(plain.get("parameters"), "parameters", where)
    way, why = (_text(plain.get(key, ""), key, where) for key in ("way", "why"))
    baseline = _number(plain.get("baseline"), "baseline", where)
    run = Run(plain["kind"], parameters, way, why, [_lane(lane, where) for lane in lanes])
    run.baseline = baseline if baseline > 0 else None
    return run


def _lane(plain: Any, where: str) -> LaneRun:
    if not isinstance(plain, dict) or not isinstance(plain.get("settings", {}), dict):
        raise ValueError(f"a lane in {where} must be an object with label, optimizer and settings, got {_short(plain)}")
    settings: dict[str, float | str] = {
        _text(name, "a setting's name", where): value if isinstance(value, str) else _number(value, name, where)
        for name, value in list(plain.get("settings", {}).items())[:MOST_GROUPS]
    }
    for name, value in settings.items():
        _text(value, name, where) if isinstance(value, str) else None
    return LaneRun(
        _text(plain.get("label"), "label", where), _text(plain.get("optimizer"), "optimizer", where), settings
    )


def _take(run: Run, plain: Mapping[str, Any], where: str) -> None:
    if "end" in plain:
        run.ended = _text(plain.get("why", ""), "why", where)
        return
    lane = _whole(plain.get("lane", 0), "lane", where)
    if lane >= len(run.lanes):
        raise ValueError(f"lane in {where} must be below {len(run.lanes)}, got {lane}")
    t, told = _whole(plain.get("t"), "t", where), run.lanes[lane]
    if "histogram" in plain:
        told.histograms.append(_histogram(t, plain["histogram"], where))
    elif "metrics" in plain:
        metrics = plain["metrics"]
        if not isinstance(metrics, dict) or len(metrics) > MOST_GROUPS:
            raise ValueError(f"metrics in {where} must be at most {MOST_GROUPS} numbers by name, got {_short(metrics)}")
        told.metrics[t] = {
            _text(name, "a metric's name", where): _number(value, name, where) for name, value in metrics.items()
        }
    elif "lost" in plain:
        told.lost_at = t
    else:
        if told.steps and t <= told.steps[-1]:
            raise ValueError(f"t in {where} must be above {told.steps[-1]}, the step before it in its lane, got {t}")
        told.steps.append(t)
        told.rows.append({name: _number(plain[name], name, where) for name in NAMES if name in plain})


def _histogram(t: int, plain: Any, where: str) -> Histograms:
    groups = plain.get("groups") if isinstance(plain, dict) else None
    if not isinstance(groups, list) or not 0 < len(groups) <= MOST_GROUPS:
        raise ValueError(f"groups in {where} must be 1 to {MOST_GROUPS} names, got {_short(groups)}")
    names = tuple(_text(name, "a group's name", where) for name in groups)
    counts, packed = np.zeros((len(COUNTED), 1, len(names), BINS), np.uint32), plain.get("counts")
    if (
        not isinstance(packed, list)
        or [len(one) if isinstance(one, list) else -1 for one in packed] != [len(names)] * 3
    ):
        raise ValueError(f"counts in {where} must be {len(COUNTED)} lists of {len(names)} groups, got {_short(packed)}")
    for kind, of_groups in enumerate(packed):
        for group, own in enumerate(of_groups):
            counts[kind, 0, group] = _bins(own, where)
    unknown = np.full((1, len(names)), np.nan, np.float32)
    spread = {name: np.full(1, np.nan, np.float32) for name in SPREAD}
    return Histograms(t, names, counts, dict.fromkeys(BY_GROUP, unknown), names, unknown, spread)


def _bins_in(plain: Mapping[str, Any]) -> int:
    return len(COUNTED) * BINS * len(plain["histogram"]["groups"]) if "histogram" in plain else 0


def _bins(packed: Any, where: str) -> NDArray[np.uint32]:
    fits = isinstance(packed, list) and len(packed) == 3 and isinstance(packed[2], list)
    values = [packed[0], packed[1], *packed[2]] if fits else []
    if not fits or not all(type(value) is int and 0 <= value < 2**32 for value in values) or packed[1] < 1:
        raise ValueError(f"a group's counts in {where} must be [zeros, first bin, [counts]], got {_short(packed)}")
    if packed[1] + len(packed[2]) > BINS:
        raise ValueError(f"a group's counts in {where} must end by bin {BINS}, got {packed[1] + len(packed[2])}")
    found = np.zeros(BINS, np.uint32)
    found[0] = packed[0]
    found[packed[1] : packed[1] + len(packed[2])] = packed[2]
    return found


def _whole(value: Any, name: str, where: str) -> int:
    if type(value) is not int or not 0 <= value <= LAST_STEP:
        raise ValueError(f"{name} in {where} must be a whole number from 0 to {LAST_STEP:g}, got {_short(value)}")
    return int(value)


def _number(value: Any, name: str, where: str) -> float:
    if value is None:
        return math.nan
    if type(value) not in (int, float) or not abs(value) < 1e300:
        raise ValueError(f"{str(name)[:40]} in {where} must be a number or null, got {_short(value)}")
    return float(value)


def _text(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError(f"{name} in {where} must be text of at most {LONGEST_TEXT} characters, got {_short(value)}")
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."
