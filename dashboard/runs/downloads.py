"""A run's records as tables for other programs: a row for each lane at each step that was recorded or measured."""

import io
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from dashboard.asked.config import RaceConfig
from dashboard.runs.records import LaneSteps, decode
from radam_core.methods import BRANCHES
from radam_core.race.frames import SHARPNESS, schedule_columns
from radam_core.race.plan import Lane
from radam_core.race.quantities import QUANTITIES

_SCHEDULE = ("lr", "rho", "r", "multiplier")


def records(config: RaceConfig, bodies: Sequence[Iterable[str]]) -> pd.DataFrame:
    """What there is of every lane (`bodies` by lane), step by step; empty where a step was not measured: on held-out
    data, or for the spread of psi."""
    tables = [_table(lane, found) for lane, found in zip(config.plan().lanes, bodies, strict=True)]
    columns = ["step", "lane", *QUANTITIES, *_SCHEDULE, "branch"]
    whole = pd.concat([pd.DataFrame(columns=columns), *[table for table in tables if len(table)]], ignore_index=True)
    places = {lane.label: place for place, lane in enumerate(config.lanes)}
    order = np.lexsort((whole["lane"].map(places).to_numpy(float), whole["step"].to_numpy(float)))
    return whole.iloc[order].reset_index(drop=True).infer_objects()


def _table(lane: Lane, bodies: Iterable[str]) -> pd.DataFrame:
    parts = [decode(body) for body in bodies]
    if not parts:
        return pd.DataFrame()
    steps = np.concatenate([part.steps for part in parts])
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in QUANTITIES}
    planned = schedule_columns([lane], steps)
    columns |= {name: planned[name][:, 0] for name in _SCHEDULE}
    columns["branch"] = np.array(BRANCHES, dtype=object)[planned["branch"][:, 0]]
    table = pd.DataFrame(columns, index=steps)
    for measured in (_metrics, _spread, _sharpness):
        found = {t: values for part in parts for t, values in measured(part).items()}
        if found:
            table = table.join(pd.DataFrame.from_dict(found, orient="index").astype(np.float32), how="outer")
    table.insert(0, "step", table.index.to_numpy(np.int64))
    table.insert(1, "lane", lane.label)
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
