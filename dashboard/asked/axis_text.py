"""An axis of a sweep as people write it: `0.001, 0.003, 0.01`, or a log range, `0.001 to 0.02 in 8`."""

import math
import re

import numpy as np

from radam_core.schedules import DECAYS

_RANGE = re.compile(r"(\S+)\s*(?:to|\.\.)\s*(\S+)\s+in\s+([0-9]{1,3})", re.IGNORECASE)
DIGITS = 3  # of a value in a range: rates that people would choose, 0.00215 and not 0.0021544


def axis_values(name: str, text: str) -> tuple[float | int | str, ...]:
    """`ValueError` names the axis and what cannot be read."""
    spoken = text.strip()
    found = _RANGE.fullmatch(spoken)
    if found:
        return _range(name, _number(name, found[1]), _number(name, found[2]), int(found[3]))
    parts = [part for part in re.split(r"[,;\s]+", spoken) if part]
    if name == "decay" and all(part in DECAYS for part in parts):
        return tuple(parts)
    if name == "decay":
        wrong = next(part for part in parts if part not in DECAYS)
        raise ValueError(f"decay must be one of {', '.join(DECAYS)}, got {wrong[:40]!r}")
    return tuple(_number(name, part) for part in parts)


def axis_text(values: tuple[object, ...]) -> str:
    return ", ".join(str(_whole(value)) if isinstance(value, float) else str(value) for value in values)


def _range(name: str, first: float, last: float, count: int) -> tuple[float | int | str, ...]:
    if not 0 < first < last < math.inf:
        raise ValueError(f"{name} must rise from above 0 in a range, got {first:g} to {last:g}: write 0 into a list")
    if count < 2:
        raise ValueError(f"{name} must have at least 2 values in a range, got {count}")
    values = [_whole(float(f"{value:.{DIGITS}g}")) for value in np.geomspace(first, last, count)]
    return tuple(dict.fromkeys(values))


def _number(name: str, text: str) -> float | int:
    try:
        return _whole(float(text))
    except ValueError:
        raise ValueError(
            f"{name} must be numbers, such as 0.001, 0.003, 0.01 or 0.001 to 0.02 in 8, got {text[:40]!r}"
        ) from None


def _whole(value: float) -> float | int:
    return int(value) if value.is_integer() and abs(value) < 1e9 else value
