"""A frame as the browser reads it: compact JSON with plain numbers, by lane first, because a chart draws by lane.

    {"number": 3, "first": 10, "last": 12,      the frame's number, counted from 0, and the steps it covers
     "steps": [10, 11, 12],                     the recorded ones; the columns below have a value for each
     "loss": [[lane 0's ...], [lane 1's ...]],  likewise grad_norm, update_rms, relative_update,
                                                lr, rho, r, multiplier and branch
     "status": ["running", "diverged"],         by lane
     "diverged_at": [null, 11],
     "metrics": {"12": {"distance": [by lane]}},
     "positions": [lane][i] = [x, y],           only for a model of two parameters
     "histograms": [{                           only at histogram steps
         "t": 10, "groups": ["encoder", ...], "quantities": ["gradient", "first moment", "second moment"],
         "first_bin": 90,                       bin e counts 2^(e - 127) <= |x| < 2^(e - 126)
         "counts": [quantity][lane][group][bin - first_bin],
         "zeros": [quantity][lane][group],      bin 0: zero, or below 2^-126
         "group_norms": [lane][group], "psi_quantiles": [lane][5], "psi_relative_variance": [lane]}],
     "samples": [lane] = [[source, said, expected], ...]}   only where the task has some to show

What is not finite is null. Numbers keep five significant digits: more than a screen shows, and half the bytes.
`counts` begin and end with a bin that somebody has; bin 0 stands apart, or a single zero would stretch them all.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from radam_core.frames import QUANTITIES, Frame, Histograms

COLUMNS = ("loss", "grad_norm", "update_rms", "relative_update", "lr", "rho", "r", "multiplier", "branch")
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
        **{name: plain_numbers(getattr(frame, name).T) for name in COLUMNS},
        "status": list(frame.status),
        "diverged_at": list(frame.diverged_at),
        "metrics": {
            str(t): {name: plain_numbers(by_lane) for name, by_lane in values.items()}
            for t, values in frame.metrics.items()
        },
    }
    if frame.positions is not None:
        plain["positions"] = plain_numbers(frame.positions.swapaxes(0, 1))
    if frame.histograms:
        plain["histograms"] = [_wire_histograms(histograms) for histograms in frame.histograms]
    if samples is not None:
        plain["samples"] = [[list(row) for row in rows] for rows in samples]
    return plain


def _wire_histograms(histograms: Histograms) -> dict[str, Any]:
    counts = histograms.counts
    filled = np.flatnonzero(counts[..., 1:].any(axis=(0, 1, 2))) + 1
    first, last = (int(filled[0]), int(filled[-1])) if len(filled) else (1, 0)
    return {
        "t": histograms.t,
        "groups": list(histograms.groups),
        "quantities": list(QUANTITIES),
        "first_bin": first,
        "counts": counts[..., first : last + 1].tolist(),
        "zeros": counts[..., 0].tolist(),
        "group_norms": plain_numbers(histograms.group_norms),
        "psi_quantiles": plain_numbers(histograms.psi_quantiles),
        "psi_relative_variance": plain_numbers(histograms.psi_relative_variance),
    }


def plain_numbers(array: NDArray[Any]) -> Any:
    """Nested lists of an array: whole numbers as they are, the others to five digits, None for what is not finite."""
    values = array.tolist()
    return values if np.issubdtype(array.dtype, np.integer) else _rounded(values)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.5g}") if math.isfinite(value) else None
