"""Files of own runs for the tests: written line by line, as `watch` and `save_run` write them, with nothing trained."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from radam_core.own import run_file
from radam_core.race.frames import BINS, COUNTED


def lane(label: str = "RAdam", optimizer: str = "RAdam", **settings: Any) -> dict[str, Any]:
    return {"label": label, "optimizer": optimizer, "settings": {"lr": 0.01, **settings}}


def steps(count: int, place: int = 0, **more: float) -> list[str]:
    """A falling loss; r_t is there from step 5 on."""
    return [
        run_file.row(
            t,
            {"loss": 2.0 / t, "grad_norm": 1.0 / t, "lr": 0.01, "rho": float(t), "r": 0.1 if t > 4 else math.nan}
            | more,
            place,
        )
        for t in range(1, count + 1)
    ]


def histogram(t: int, place: int = 0, groups: tuple[str, ...] = ("first", "last"), first: int = 100) -> str:
    counts = np.zeros((len(COUNTED), len(groups), BINS), np.uint32)
    counts[:, :, first : first + 10] = 7
    return run_file.histogram(t, groups, counts, place)


def written(
    path: Path, lines: Iterable[str], lanes: Iterable[dict[str, Any]] = (), kind: str = "watch", ended: str = "closed"
) -> Path:
    """`ended` "": it was killed."""
    text = [run_file.head(kind, list(lanes) or [lane()], 1000, why="by hand"), *lines]
    path.write_text("".join([*text, *([run_file.end(1, ended)] if ended else [])]), encoding="utf-8")
    return path
