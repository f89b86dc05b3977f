"""A run's records as tables for other programs: a row for each lane at each step that was recorded or measured."""

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.asked.config import RaceConfig
from dashboard.asked.own_config import TOLD, OwnConfig
from dashboard.runs.records import LaneSteps, decode, unpack
from radam_core.methods import BRANCHES
from radam_core.race.frames import SHARPNESS, schedule_columns
from radam_core.race.plan import Lane
from radam_core.race.quantities import QUANTITIES

L = TypeVar("L")
_SCHEDULE = ("lr", "rho", "r", "multiplier")


def records(config: RaceConfig, bodies: Sequence[Iterable[str]]) -> pd.DataFrame:
    """What there is of every lane (`bodies` by lane), step by step; empty where a step was not measured: on held-out
    data, or for the spread of psi."""
    tables = [_table(lane.label, found, _planned(lane)) for lane, found in _by_lane(config.plan().lanes, bodies)]
    return _together(tables, [lane.label for lane in config.lanes], ["step", "lane", *QUANTITIES, *_SCHEDULE, "branch"])


def own_records(config: OwnConfig, bodies: Sequence[Iterable[str]]) -> pd.DataFrame:
    """The same of an own model's run; what its settings decided is as its file told it."""
    tables = [_table(lane.label, found, _told) for lane, found in _by_lane(config.lanes, bodies)]
    return _together(tables, [lane.label for lane in config.lanes], ["step", "lane", *QUANTITIES, *TOLD])


def _by_lane(lanes: Sequence[L], bodies: Sequence[Iterable[str]]) -> list[tuple[L, list[str]]]:
    return [(lane, list(found)) for lane, found in zip(lanes, bodies, strict=True)]


def _together(tables: Sequence[pd.DataFrame], labels: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    whole = pd.concat([pd.DataFrame(columns=columns), *[table for table in tables if len(table)]], ignore_index=True)
    places = {label: place for place, label in enumerate(labels)}
    order = np.lexsort((whole["lane"].map(places).to_numpy(float), whole["step"].to_numpy(float)))
    return whole.iloc[order].reset_index(drop=True).infer_objects()


Decided = Callable[[Sequence[str], NDArray[np.int64]], dict[str, NDArray[Any]]]


def _planned(lane: Lane) -> Decided:
    """What the lane's settings decide of steps."""

    def decided(_: Sequence[str], steps: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        planned = schedule_columns([lane], steps)
        columns: dict[str, NDArray[Any]] = {name: planned[name][:, 0] for name in _SCHEDULE}
        return columns | {"branch": np.array(BRANCHES, dtype=object)[planned["branch"][:, 0]]}

    return decided


def _told(bodies: Sequence[str], _: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    parts = [json.loads(body)["told"] for body in bodies]
    return {name: np.concatenate([unpack(part[name]) for part in parts]) for name in TOLD if name in parts[0]}


def _table(label: str, bodies: Sequence[str], decided: Decided) -> pd.DataFrame:
    parts = [decode(body) for body in bodies]
    if not parts:
        return pd.DataFrame()
    steps = np.concatenate([part.steps for part in parts])
    columns: dict[str, NDArray[Any]] = {
        name: np.concatenate([part.columns[name] for part in parts]) for name in QUANTITIES
    }
    table = pd.DataFrame(columns | decided(bodies, steps), index=steps)
    for measured in (_metrics, _spread, _sharpness):
        found = {t: values for part in parts for t, values in measured(part).items()}
        if found:
            table = table.join(pd.DataFrame.from_dict(found, orient="index").astype(np.float32), how="outer")
    table.insert(0, "step", table.index.to_numpy(np.int64))
    table.insert(1, "lane", label)
    return table


def _metrics(part: LaneSteps) -> Mapping[int, Mapping[str, float]]:
    return part.metrics


def _spread(part: LaneSteps) -> Mapping[int, Mapping[str, float]]:
    return part.spread


def _sharpness(part: LaneSteps) -> Mapping[int, Mapping[str, float]]:
    return {t: dict(zip(SHARPNESS, values, strict=True)) for t, values in part.sharpness.items()}


def as_csv(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False).encode()


def as_parquet(table: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    table.to_parquet(file, index=False)
    return file.getvalue()
