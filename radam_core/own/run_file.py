"""A run of an own model as a file: JSON lines that are readable after a kill, and data only, whoever wrote them.

The first line is the head; every other line says one thing of one lane (0 where it is left out), in any order of lanes:

    {"radam_lab": "run", "form": 1, "kind": "watch", "parameters": 4096, "way": "", "why": "",
     "lanes": [{"label": "RAdam", "optimizer": "RAdam", "settings": {"lr": 0.001, "weight_decay": 0}}]}
    {"t": 12, "loss": 0.5, "grad_norm": 1.25, "lr": 0.001, "rho": 11.9, "r": 0.06}   what is known of a step, by `NAMES`
    {"lane": 3, "t": 10, "histogram": {"groups": ["encoder"], "counts": [[[7, 100, [3, 0, 5]]]]}}
    {"lane": 3, "t": 100, "metrics": {"accuracy": 0.9}}
    {"lane": 3, "t": 211, "lost": true}
    {"end": 300, "why": "closed"}

`kind` is "race", "sweep" or "watch"; a sweep may have a "baseline", the loss of a model that ignores its input. Steps
rise in each lane. A number that is not finite is null. A histogram has the three of `COUNTED`, each with a list a
group: the count of bin 0, the first other bin in use, and the counts from there. So a lane of a file is a `Frame`,
which the dashboard's records (`encode`) take as they take a race's.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from radam_core.own.recording import OwnRecording
from radam_core.own.settings_told import Told
from radam_core.race.quantities import QUANTITIES

FORM, KINDS = 1, ("race", "sweep", "watch")
NAMES = (*QUANTITIES, *Told._fields)


def head(
    kind: str,
    lanes: Iterable[Mapping[str, Any]],
    parameters: int,
    way: str = "",
    why: str = "",
    baseline: float | None = None,
) -> str:
    plain = {"radam_lab": "run", "form": FORM, "kind": kind, "parameters": parameters, "way": way, "why": why}
    known = {} if baseline is None else {"baseline": baseline}
    return _line({**plain, **known, "lanes": list(lanes)})


def row(t: int, values: Mapping[str, float], lane: int = 0) -> str:
    """A step; what was not measured (nan) is left out, but for a loss, whose nan is news."""
    known = [
        f',"{name}":{value:.7g}' if math.isfinite(value) else f',"{name}":null'
        for name, value in values.items()
        if name == "loss" or not math.isnan(value)
    ]
    start = f'"lane":{lane},' if lane else ""
    return f'{{{start}"t":{t}{"".join(known)}}}\n'


def histogram(t: int, groups: Iterable[str], counts: NDArray[Any], lane: int = 0) -> str:
    """`counts` [of `COUNTED`, group, bin]"""
    packed = [[_packed(group) for group in one] for one in counts]
    return _line({**_of(lane), "t": t, "histogram": {"groups": list(groups), "counts": packed}})


def end(t: int, why: str) -> str:
    return _line({"end": t, "why": why})


def number(value: float) -> float | None:
    """To the seven digits of a float32."""
    return float(f"{value:.7g}") if math.isfinite(value) else None


def _packed(counts: NDArray[Any]) -> list[Any]:
    used = np.flatnonzero(counts[1:]) + 1
    first, last = (int(used[0]), int(used[-1]) + 1) if len(used) else (1, 1)
    return [int(counts[0]), first, counts[first:last].tolist()]


def _of(lane: int) -> dict[str, int]:
    return {"lane": lane} if lane else {}


def _line(plain: Mapping[str, Any]) -> str:
    return json.dumps(plain, separators=(",", ":"), allow_nan=False, ensure_ascii=False) + "\n"


class RunWriter:
    """Appends lines, each of which is whole for whoever reads after a kill. A tail may be written again."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("xb", buffering=0)
        self._end, self._tail = 0, False

    def write(self, lines: str) -> None:
        """For good, in place of the tail."""
        self._end += self.tail(lines)
        self._tail = False

    def tail(self, lines: str) -> int:
        """Until more is written: so the file says what is pending, and does not grow by it."""
        data = lines.encode()
        if self._tail:  # cut off first: a kill in between leaves less, never a broken line
            self._file.seek(self._end)
            self._file.truncate()
        self._file.write(data)
        self._tail = True
        return len(data)

    def close(self) -> None:
        self._file.close()


class Swept(Protocol):
    """A sweep's result, such as `WarmupMap`."""

    @property
    def recordings(self) -> Sequence[OwnRecording]: ...
    @property
    def baseline(self) -> float | None: ...


def save(found: OwnRecording | Swept | Sequence[OwnRecording], path: str | Path, kind: str = "race") -> None:
    """A whole race, or a sweep: `save(sweep_model(...), path)`; the file must be a new one."""
    check_new(Path(path))
    baseline = None
    if isinstance(found, OwnRecording):
        several = [found]
    elif isinstance(found, Sequence):
        several = list(found)
    else:
        several, kind, baseline = list(found.recordings), "sweep", found.baseline
    writer = RunWriter(Path(path))
    try:
        writer.write(_head_of(several, kind, baseline))
        first = 0
        for recording in several:
            for lane in range(len(recording.labels)):
                writer.write("".join(_lane_lines(recording, lane, first + lane)))
            first += len(recording.labels)
        writer.write(end(several[-1].frames[-1].last, "finished"))
    finally:
        writer.close()


def _head_of(recordings: Sequence[OwnRecording], kind: str, baseline: float | None) -> str:
    lanes = [
        {"label": label, "optimizer": optimizer, "settings": {**settings, "seed": one.seed}}
        for one in recordings
        for label, optimizer, settings in zip(one.labels, one.optimizers, one.settings, strict=True)
    ]
    first = recordings[0]
    return head(kind, lanes, first.parameters, first.way, first.why, baseline)


def _lane_lines(recording: OwnRecording, k: int, lane: int) -> Iterator[str]:
    """Of a recording's lane k, which is another one in the file."""
    columns, lost = {name: recording.column(name)[:, k].tolist() for name in NAMES}, recording.diverged_at[k]
    for i, t in enumerate(recording.steps.tolist()):
        if lost is None or t <= lost:
            yield row(t, {name: column[i] for name, column in columns.items()}, lane)
    for found in recording.histograms:
        if lost is None or found.t < lost:
            yield histogram(found.t, found.groups, found.counts[:, k], lane)
    for t, metrics in recording.metrics.items():
        if lost is None or t < lost:
            plain = {name: number(float(values[k])) for name, values in metrics.items()}
            yield _line({**_of(lane), "t": t, "metrics": plain})
    if lost is not None:
        yield _line({**_of(lane), "t": lost, "lost": True})


def check_new(path: Path) -> None:
    if path.exists():
        raise ValueError(f"file must be a new one, but {path.name} is there already: take another name, or remove it")
    if not path.parent.is_dir():
        raise ValueError(f"file must be in a folder that is there, but {path.parent} is not")
