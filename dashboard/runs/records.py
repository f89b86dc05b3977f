"""What a lane records, as text: made once, where it trains, and from then on stored, sent and read as it is.

A record is a lane's part of a frame (`Record` in `browser/scripts/types.d.ts`), one line of JSON:

    {"number": 3, "last": 12,                counted from 0, and the last step it covers
     "rows": "...",                          packed: the recorded steps, then each of `QUANTITIES`, by step
     "positions": "...",                     packed [i][x, y], only for a model of two parameters
     "diverged_at": 11,                      only where the lane was lost: nothing follows
     "metrics": {"12": {"distance": 0.5}},   only at the steps at which it is evaluated
     "histograms": [{                        only at histogram steps
         "t": 10, "groups": ["encoder", ...],
         "counts": "...",                    packed [which of `COUNTED`][group], see `pack_counts`
         "by_group": {"grad_norm": "..."},   packed, by group; each of `BY_GROUP`
         "layers": ["encoder 1", ...],       only where there are more of them than groups
         "by_layer": "...",                  packed: the gradient's norm in each; only beside "layers"
         "spread": {"psi_across": 4.9}}],    by the names of `SPREAD`; only what was measured
     "sharpness": {"10": [35, 1200]},        only at the steps at which it is measured; the two of `SHARPNESS`
     "samples": [[source, said, expected], ...]}   only where the task has some to show

Packed numbers are float32, little-endian, in base64. Plain ones are the shortest text of a float32, null for what is
not finite. What the settings decide, such as a step's learning rate, is not in it: whoever wants it has them.
"""

import base64
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radam_core.race.control import Control
from radam_core.race.frames import BINS, COUNTED, DIVERGED, FINISHED, RUNNING, STOPPED, Frame, Histograms
from radam_core.race.quantities import QUANTITIES

Samples = Sequence[Sequence[str]]  # of one lane: (source, said, expected) for each sentence


@dataclass(frozen=True)
class Record:
    number: int
    last: int
    ends: bool  # the lane's last one: it came to the race's end, or was lost
    body: str


def lane_records(
    race: Any, control: Control | None = None, wanted: Callable[[], Collection[int]] | None = None
) -> Iterator[dict[int, Record]]:
    """A `Race` as records by the lanes' places in it, frame by frame.

    A lane that is over, or that is not `wanted` any more, leaves the race, which then takes less time.
    """
    places = list(range(race.shown))
    for frame in race.frames(control):
        if STOPPED in frame.status:
            return  # what a stop cuts short would be a record that the whole race never has
        said = _samples(race) if frame.metrics else None
        yield {place: encode(frame, k, said[k] if said else None) for k, place in enumerate(places)}
        still = wanted() if wanted else places
        kept = [k for k, place in enumerate(places) if frame.status[k] == RUNNING and place in still]
        if not kept:
            return
        if len(kept) < len(places):
            race.keep(kept)
            places = [places[k] for k in kept]


def _samples(race: Any) -> Sequence[Samples] | None:
    """A few answers of every lane in words, if the task has such."""
    if not hasattr(race.problem, "samples"):
        return None
    race.model.eval()
    rows: Sequence[Samples] = race.problem.samples(race.model)
    race.model.train()
    return rows


def encode(frame: Frame, lane: int, samples: Samples | None = None) -> Record:
    """The lane's part of the frame, until it was lost: what others did after that step must not show."""
    lost = frame.diverged_at[lane]
    end = frame.last if lost is None else lost
    kept = frame.steps <= end
    columns = [frame.columns[name][kept, lane] for name in QUANTITIES]
    plain: dict[str, Any] = {
        "number": frame.number,
        "last": end,
        "rows": pack(np.stack([frame.steps[kept], *columns])),
    }
    if frame.positions is not None and kept.any():
        plain["positions"] = pack(frame.positions[kept, lane])
    if lost is not None:
        plain["diverged_at"] = lost
    metrics = {
        str(t): {name: plain_number(values[lane]) for name, values in found.items()}
        for t, found in frame.metrics.items()
        if lost is None or t < lost
    }
    if metrics:
        plain["metrics"] = metrics
    histograms = [_histogram(found, lane) for found in frame.histograms if lost is None or found.t < lost]
    if histograms:
        plain["histograms"] = histograms
    sharpness = {
        str(t): [plain_number(value) for value in values[:, lane]]
        for t, values in frame.sharpness.items()
        if lost is None or t < lost
    }
    if sharpness:
        plain["sharpness"] = sharpness
    if samples is not None and lost is None:
        plain["samples"] = [list(row) for row in samples]
    body = json.dumps(plain, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return Record(frame.number, end, frame.status[lane] in (FINISHED, DIVERGED), body)


def _histogram(histograms: Histograms, lane: int) -> dict[str, Any]:
    return {
        "t": histograms.t,
        "groups": list(histograms.groups),
        "counts": pack_counts(histograms.counts[:, lane]),
        "by_group": {name: pack(values[lane]) for name, values in histograms.by_group.items()},
        **_by_layer(histograms, lane),
        "spread": {
            name: plain_number(values[lane]) for name, values in histograms.spread.items() if np.isfinite(values[lane])
        },
    }


def _by_layer(histograms: Histograms, lane: int) -> dict[str, Any]:
    if len(histograms.layers) == len(histograms.groups):
        return {}
    return {"layers": list(histograms.layers), "by_layer": pack(histograms.by_layer[lane])}


def plain_number(value: np.float32) -> float | None:
    """The shortest number that is this float32 and no other: 576, not 576.0."""
    if not np.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e7 else float(str(np.float32(value)))


def pack(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode()


def unpack(text: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


def pack_counts(counts: NDArray[np.uint32]) -> str:
    """Each histogram as whole numbers: its bin 0, the first other bin in use, how many follow to the last, and those.

    A number is written by sevens of bits, the lowest first, and a byte above 127 says that more follow (LEB128):
    most counts are small. Bin 0, which counts zeros, stands apart, or a single one would stretch the rest.
    """
    numbers: list[int] = []
    for row in counts.reshape(-1, counts.shape[-1]):
        used = np.flatnonzero(row[1:]) + 1
        first, end = (int(used[0]), int(used[-1]) + 1) if len(used) else (1, 1)
        numbers += [int(row[0]), first, end - first, *row[first:end].tolist()]
    packed = bytearray()
    for number in numbers:
        while number > 127:
            packed.append(number & 127 | 128)
            number >>= 7
        packed.append(number)
    return base64.b64encode(packed).decode()


def unpack_counts(text: str) -> NDArray[np.int64]:
    """The histograms that `pack_counts` packed, [histogram, bin]."""
    numbers, number, shift = [], 0, 0
    for byte in base64.b64decode(text):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number, shift = 0, 0
    rows, at = [], 0
    while at < len(numbers):
        zeros, first, size = numbers[at : at + 3]
        row = np.zeros(BINS, np.int64)
        row[0] = zeros
        row[first : first + size] = numbers[at + 3 : at + 3 + size]
        rows.append(row)
        at += 3 + size
    return np.array(rows)


@dataclass(frozen=True)
class PackedHistogram:
    """What a record says of a histogram step: its counts are numbers again only for those who ask."""

    t: int
    counts_text: str
    groups: tuple[str, ...]
    by_group_text: Mapping[str, str]
    spread: Mapping[str, float]
    layers: tuple[str, ...] = ()  # none where they are the groups
    by_layer_text: str = ""

    def counts(self) -> NDArray[np.int64]:
        """[which of `COUNTED`, group, bin]"""
        return unpack_counts(self.counts_text).reshape(len(COUNTED), len(self.groups), BINS)

    def by_group(self, name: str) -> NDArray[np.float32]:
        return unpack(self.by_group_text[name])

    def by_layer(self) -> dict[str, float]:
        """The gradient's norm in each layer, or in each group where a task knows no finer layers."""
        names, text = (
            (self.layers, self.by_layer_text) if self.layers else (self.groups, self.by_group_text["grad_norm"])
        )
        return dict(zip(names, unpack(text).tolist(), strict=True))


@dataclass(frozen=True)
class LaneSteps:
    """What a record says of its steps, as numbers again."""

    last: int
    steps: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.float32]]  # by the names of `QUANTITIES`
    metrics: Mapping[int, Mapping[str, float]]  # by step; nan for what is not finite
    spread: Mapping[int, Mapping[str, float]]  # by histogram step and the names of `SPREAD`; only what was measured
    diverged_at: int | None
    histograms: tuple[PackedHistogram, ...] = ()
    sharpness: Mapping[int, tuple[float, ...]] = field(default_factory=dict)  # by step, in the order of `SHARPNESS`


def decode(body: str | bytes) -> LaneSteps:
    plain = json.loads(body)
    rows = unpack(plain["rows"]).reshape(1 + len(QUANTITIES), -1)
    metrics = {
        int(t): {name: np.nan if value is None else value for name, value in found.items()}
        for t, found in plain.get("metrics", {}).items()
    }
    columns = dict(zip(QUANTITIES, rows[1:], strict=True))
    histograms = tuple(
        PackedHistogram(
            found["t"],
            found["counts"],
            tuple(found["groups"]),
            found["by_group"],
            found["spread"],
            tuple(found.get("layers", ())),
            found.get("by_layer", ""),
        )
        for found in plain.get("histograms", ())
    )
    return LaneSteps(
        plain["last"],
        rows[0].astype(np.int64),
        columns,
        metrics,
        {found.t: found.spread for found in histograms},
        plain.get("diverged_at"),
        histograms,
        {
            int(t): tuple(np.nan if value is None else value for value in found)
            for t, found in plain.get("sharpness", {}).items()
        },
    )
