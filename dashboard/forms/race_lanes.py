"""A race's lanes as a table to edit: what all lanes share stands above it, and a cell says where a lane differs."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.asked.config import LaneConfig, RaceConfig
from dashboard.asked.option_text import options_of, options_text
from dashboard.asked.sweep_config import AXES
from dashboard.remembered import shared
from radam_core.methods import METHODS, Method
from radam_core.torch_methods import LANE_METHODS

AS_THE_METHOD = "as the method"
OPTIONS = "options"  # of an optimizer of torch, as NAME=VALUE, ...
COLUMNS = ("label", "method", "lr", "beta2", "warmup", "warmup_steps", "eps", "weight_decay", OPTIONS)
_OTHERS = "others"  # what a lane sets beyond these, as JSON: carried along in a hidden column
_LENGTH = 200.0


@dataclass(frozen=True)
class Shared:
    """What holds for every lane that does not say otherwise. The warmup is for methods with a length to tune."""

    lr: float
    beta2: float
    warmup: str = AS_THE_METHOD
    warmup_steps: float = _LENGTH


def shared_settings(config: RaceConfig) -> Shared:
    """The values that most lanes have."""
    lanes = config.lanes
    lengths = [
        lane.warmup_steps for lane in lanes if lane.warmup_steps is not None and _tuned(LANE_METHODS[lane.method])
    ]
    return Shared(
        lr=_most_common(lane.lr for lane in lanes),
        beta2=_most_common(
            [beta2 for lane in lanes if (beta2 := _beta2(lane)) is not None] or [METHODS["adam"].betas[1]]
        ),
        warmup_steps=_most_common(lengths) if lengths else _LENGTH,
    )


@shared(64)
def lane_table(config: RaceConfig) -> pd.DataFrame:
    """A row a lane; what it shares with the others is left empty."""
    shared = shared_settings(config)
    rows = []
    for lane in config.lanes:
        given = lane.model_dump(exclude_none=True)
        row = {name: given.pop(name, None) for name in COLUMNS}
        row["lr"] = None if lane.lr == shared.lr else lane.lr
        row["beta2"] = None if _beta2(lane) == shared.beta2 else _beta2(lane)
        if _tuned(LANE_METHODS[lane.method]) and lane.warmup is None and lane.warmup_steps == shared.warmup_steps:
            row["warmup_steps"] = None
        row["weight_decay"] = lane.weight_decay or None
        row[OPTIONS] = options_text(lane.options or {}) or None
        rows.append({**row, _OTHERS: json.dumps(given)})
    kinds = dict.fromkeys(("lr", "beta2", "warmup_steps", "eps", "weight_decay"), "float64")
    return pd.DataFrame(rows, columns=[*COLUMNS, _OTHERS]).astype(kinds)


def lanes_of(table: pd.DataFrame, shared: Shared) -> list[dict[str, Any]]:
    """The lanes that a table and the shared settings describe, for `RaceConfig.make` to check."""
    columns = [table[name].tolist() for name in table]  # pandas' own way to rows takes more than twice as long
    rows = (_given(dict(zip(table, cells, strict=True))) for cells in zip(*columns, strict=True))
    return [_lane(row, shared) for row in rows if row]


def _lane(row: Mapping[str, Any], shared: Shared) -> dict[str, Any]:
    lane: dict[str, Any] = {**json.loads(row.get(_OTHERS, "{}"))}
    lane |= {name: value for name, value in row.items() if name in COLUMNS}
    lane.setdefault("lr", shared.lr)
    method = LANE_METHODS.get(str(lane.get("method")))
    if method is None:
        return lane
    lane.setdefault("label", method.label)
    if OPTIONS in lane:
        lane[OPTIONS] = options_of(str(lane[OPTIONS]))
    beta2 = lane.pop("beta2", shared.beta2 if AXES["beta2"](method) or not method.by_torch else method.betas[1])
    if beta2 != method.betas[1]:
        lane["beta2"] = beta2
    if _tuned(method) and "warmup" not in lane:
        lane.setdefault("warmup_steps", shared.warmup_steps)
        if shared.warmup not in (AS_THE_METHOD, method.warmup):
            lane["warmup"] = shared.warmup
    return lane


def _given(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The cells that hold something."""
    filled = {name: value for name, value in row.items() if value is not None and value != ""}
    return {str(k): v for k, v in filled.items() if not (isinstance(v, float) and math.isnan(v))}


def _tuned(method: Method) -> bool:
    return method.warmup in ("linear", "exponential")


def _beta2(lane: LaneConfig) -> float | None:
    """None of an optimizer of torch that has none."""
    method = LANE_METHODS[lane.method]
    if method.by_torch and not AXES["beta2"](method):
        return None
    return method.betas[1] if lane.beta2 is None else lane.beta2


def _most_common(values: Iterable[float]) -> float:
    return Counter(values).most_common(1)[0][0]
