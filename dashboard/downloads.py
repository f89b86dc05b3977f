"""A run's records as tables for other programs: a row for each recorded step and lane."""

import io
from collections.abc import Iterable

import numpy as np
import pandas as pd

from dashboard.config import RaceConfig
from radam_core.frames import Frame, decode_frame
from radam_core.methods import BRANCHES

_COLUMNS = ("loss", "grad_norm", "update_rms", "relative_update", "lr", "rho", "r", "multiplier")


def records(config: RaceConfig, bodies: Iterable[str]) -> pd.DataFrame:
    """Every recorded step of every lane, with the held-out metrics at the steps that have them."""
    lanes = config.entry().lanes
    frames = [decode_frame(body, lanes) for body in bodies]
    tables = [_table(frame, [lane.label for lane in lanes]) for frame in frames if len(frame.steps)]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["step", "lane", *_COLUMNS])


def _table(frame: Frame, labels: list[str]) -> pd.DataFrame:
    count = len(frame.steps)
    columns = {"step": np.repeat(frame.steps, len(labels)), "lane": np.tile(np.array(labels, dtype=object), count)}
    columns |= {name: getattr(frame, name).reshape(-1) for name in _COLUMNS}
    columns["branch"] = np.array(BRANCHES, dtype=object)[frame.branch.reshape(-1)]
    table = pd.DataFrame(columns)
    for step, metrics in frame.metrics.items():
        for name, values in metrics.items():
            table.loc[table["step"] == step, name] = values
    return table


def as_csv(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False).encode()


def as_parquet(table: pd.DataFrame) -> bytes:
    file = io.BytesIO()
    table.to_parquet(file, index=False)
    return file.getvalue()
