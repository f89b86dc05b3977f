"""A run's records as tables for other programs: a row for each lane at each step that was recorded or measured."""

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.config import RaceConfig
from radam_core.frames import Frame, decode_frame
from radam_core.methods import BRANCHES

_COLUMNS = ("loss", "grad_norm", "update_rms", "relative_update", "lr", "rho", "r", "multiplier")


def records(config: RaceConfig, bodies: Iterable[str]) -> pd.DataFrame:
    """What there is of every lane, step by step; empty where a step was only measured on held-out data, or not."""
    lanes = config.entry().lanes
    frames = [decode_frame(body, lanes) for body in bodies]
    tables = [_table(frame, [lane.label for lane in lanes]) for frame in frames if len(frame.steps) or frame.metrics]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["step", "lane", *_COLUMNS])


def _table(frame: Frame, labels: list[str]) -> pd.DataFrame:
    steps = np.union1d(frame.steps, list(frame.metrics)).astype(np.int64)

    def column(values: NDArray[Any], at: NDArray[np.int64], empty: Any = np.nan) -> NDArray[Any]:
        whole = np.full((len(steps), len(labels)), empty, dtype=values.dtype)
        whole[np.isin(steps, at)] = values
        return whole.reshape(-1)

    columns = {"step": np.repeat(steps, len(labels)), "lane": np.tile(np.array(labels, dtype=object), len(steps))}
    columns |= {name: column(getattr(frame, name), frame.steps) for name in _COLUMNS}
    columns["branch"] = column(np.array(BRANCHES, dtype=object)[frame.branch], frame.steps, empty=None)
    for name in dict.fromkeys(name for values in frame.metrics.values() for name in values):
        at = [step for step, values in frame.metrics.items() if name in values]
        columns[name] = column(np.array([frame.metrics[step][name] for step in at]), np.array(at))
    return pd.DataFrame(columns)


def as_csv(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False).encode()


def as_parquet(table: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    table.to_parquet(file, index=False)
    return file.getvalue()
