"""A frame as the browser reads it (`live_history.js`): JSON, by lane first, because a chart draws by lane.

    {"number": 3, "first": 10, "last": 12,      the frame's number, counted from 0, and the steps it covers
     "steps": [10, 11, 12],                     the recorded ones; the columns below have a value for each
     "loss": "...",                             packed [lane][i], as are grad_norm, update_rms and relative_update
     "positions": "...",                        packed [lane][i][x, y], only for a model of two parameters
     "diverged_at": {"1": 11},                  lane -> step
     "metrics": {"12": {"distance": [by lane]}},
     "histograms": [{                           only at histogram steps
         "t": 10, "groups": ["encoder", ...],
         "counts": "...",                       packed [quantity][lane][group], see `pack_counts`
         "group_norms": [lane][group], "psi_relative_variance": [lane]}],
     "samples": [lane] = [[source, said, expected], ...]}   only where the task has some to show

Packed numbers are float32, little-endian, in base64: exact, in fewer letters than five decimal digits take. Plain ones
have five digits, and null for what is not finite. What the configuration decides, such as a step's learning rate, is
not sent: the page has it (`figures/race.py`, `lane_phases.py`). So `figure-1` stays well below 8 KB a second.
"""

import base64
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radam_core.frames import Frame, Histograms

COLUMNS = ("loss", "grad_norm", "update_rms", "relative_update")
Samples = Sequence[Sequence[Sequence[str]]]  # [lane][sentence] = (source, said, expected)


def wire_bytes(frame: Frame, samples: Samples | None = None) -> bytes:
    """The JSON of a frame: made once, and sent as it is to everyone who watches. It holds no line break."""
    return json.dumps(wire(frame, samples), separators=(",", ":"), allow_nan=False).encode()


def wire(frame: Frame, samples: Samples | None = None) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "number": frame.number,
        "first": frame.first,
        "last": frame.last,
        "steps": frame.steps.tolist(),
        **{name: pack(getattr(frame, name).T) for name in COLUMNS},
        "diverged_at": {str(lane): at for lane, at in enumerate(frame.diverged_at) if at is not None},
        "metrics": {
            str(t): {name: plain_numbers(by_lane) for name, by_lane in values.items()}
            for t, values in frame.metrics.items()
        },
    }
    if frame.positions is not None:
        plain["positions"] = pack(frame.positions.swapaxes(0, 1))
    if frame.histograms:
        plain["histograms"] = [_wire_histograms(histograms) for histograms in frame.histograms]
    if samples is not None:
        plain["samples"] = [[list(row) for row in rows] for rows in samples]
    return plain


def _wire_histograms(histograms: Histograms) -> dict[str, Any]:
    return {
        "t": histograms.t,
        "groups": list(histograms.groups),
        "counts": pack_counts(histograms.counts),
        "group_norms": plain_numbers(histograms.group_norms),
        "psi_relative_variance": plain_numbers(histograms.psi_relative_variance),
    }


def pack(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode()


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


def plain_numbers(array: NDArray[Any]) -> Any:
    """Nested lists of an array: whole numbers as they are, the others to five digits, None for what is not finite."""
    values = array.tolist()
    return values if np.issubdtype(array.dtype, np.integer) else _rounded(values)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.5g}") if math.isfinite(value) else None
