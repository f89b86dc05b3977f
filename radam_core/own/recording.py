"""What a race of an own model has said: the same columns, histograms and metrics as any race's, and how it was run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from radam_core.methods import ADAPTIVE, Method
from radam_core.race.frames import DIVERGED, Frame, Histograms, schedule_columns
from radam_core.race.plan import FINAL_STEPS, Lane
from radam_core.race.quantities import QUANTITIES

# What the settings decide of a step, and what stands there for an optimizer that is no method of ours.
UNKNOWN = {"lr": 1.0, "rho": np.nan, "r": np.nan, "multiplier": 1.0, "branch": float(ADAPTIVE)}


@dataclass
class OwnRecording:
    """`column("loss")` is [step, lane]; so are the other quantities, and lr, rho, r, multiplier and branch."""

    labels: tuple[str, ...]
    optimizers: tuple[str, ...]  # by lane, its class or the name of our method
    settings: tuple[Mapping[str, float | str], ...]  # by lane, as its optimizer began
    methods: tuple[Method | None, ...]  # by lane, where it is one of ours
    parameters: int  # in a lane
    seed: int = 0
    frames: list[Frame] = field(default_factory=list)
    lrs: dict[int, list[float]] = field(default_factory=dict, repr=False)  # step -> by lane, without a method's warmup
    way: str = ""  # "stacked", "vectorised" or "plain"
    why: str = ""  # in words
    notes: list[str] = field(default_factory=list)  # what should be known of this race, in sentences
    seconds: float = 0.0
    models: Mapping[str, nn.Module] = field(default_factory=dict, repr=False)  # as trained, by label

    @property
    def steps(self) -> NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *(frame.steps for frame in self.frames)])

    def column(self, name: str) -> NDArray[Any]:
        """A quantity of the recorded steps, [step, lane], nan where a lane has none."""
        if name in QUANTITIES:
            empty = np.empty((0, len(self.labels)), np.float32)
            return np.concatenate([empty, *(frame.columns[name] for frame in self.frames)])
        if name not in UNKNOWN:
            raise ValueError(f"name must be one of {', '.join((*QUANTITIES, *UNKNOWN))}, got {name!r}")
        steps = self.steps
        lrs = np.array([self.lrs[t] for t in steps.tolist()], dtype=float).reshape(-1, len(self.labels))
        column = np.full(lrs.shape, UNKNOWN[name], dtype=float)
        for k, method in enumerate(self.methods):
            if method is not None:
                rate_of_one = Lane(label="", method=method, lr=1.0)
                column[:, k] = schedule_columns([rate_of_one], steps)[name][:, 0]
        return column * lrs if name == "lr" else column

    @property
    def histograms(self) -> list[Histograms]:
        return [one for frame in self.frames for one in frame.histograms]

    @property
    def metrics(self) -> dict[int, dict[str, NDArray[np.float32]]]:
        """step -> name -> [lane]"""
        return {t: found for frame in self.frames for t, found in frame.metrics.items()}

    @property
    def diverged_at(self) -> tuple[int | None, ...]:
        return self.frames[-1].diverged_at if self.frames else (None,) * len(self.labels)

    @property
    def final_losses(self) -> NDArray[np.float64]:
        """By lane, the mean over the last steps; nan of a lane that was lost."""
        recent = self.column("loss")[self.steps > self.frames[-1].last - FINAL_STEPS].astype(float)
        lost = np.array([at is not None for at in self.diverged_at])
        return np.where(lost, np.nan, recent.mean(0))

    def summary(self) -> list[dict[str, Any]]:
        """A plain row a lane."""
        last = self.metrics[max(self.metrics)] if self.metrics else {}
        return [
            {
                "label": label,
                "optimizer": self.optimizers[k],
                "status": self.frames[-1].status[k] if self.diverged_at[k] is None else DIVERGED,
                "diverged_at": self.diverged_at[k],
                "first_loss": _plain(self.column("loss")[0, k]),
                "final_loss": _plain(self.final_losses[k]),
                "metrics": {name: _plain(values[k]) for name, values in last.items()},
            }
            for k, label in enumerate(self.labels)
        ]

    def __str__(self) -> str:
        return "\n".join([summary_table(self.summary()), self.why, *self.notes])


def summary_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows of `OwnRecording.summary`, for people."""
    width = max(len("lane"), *(len(row["label"]) for row in rows)) + 2
    lines = [f"{'lane':<{width}}{'first loss':>12}{'final loss':>20}"]
    for row in rows:
        end = f"lost at step {row['diverged_at']}" if row["diverged_at"] else _text(row["final_loss"])
        metrics = ", ".join(f"{name} {_text(value)}" for name, value in row["metrics"].items())
        lines.append(f"{row['label']:<{width}}{_text(row['first_loss']):>12}{end:>20}  {metrics}".rstrip())
    return "\n".join(lines)


def _plain(value: Any) -> float | None:
    return float(f"{float(value):.7g}") if np.isfinite(value) else None


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
