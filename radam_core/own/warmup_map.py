"""`sweep_model`: does this model need warmup, and how long? Measured, on a grid of learning rates and warmup lengths.

    found = sweep_model(make_model, loss, loader, lrs=(1e-3, 3e-3, 1e-2), warmups=(0, 50, 200), steps=300, seeds=3)
    print(found.words)      # what it says, in sentences with their numbers
    print(found)            # the map: final losses, by rate and length
    found.rows()            # a plain row a cell, for any table or figure

Each cell is a lane of `race_model` with a linear warmup; RAdam without one stands beside them. *Learns*, and *the
shortest warmup that works*, are those of `radam_core.evidence`, as in the dashboard's sweeps.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from radam_core.evidence import learns, shortest_warmup
from radam_core.own.batches import Batches
from radam_core.own.map_packs import AT_ONCE, LRS, RADAM, WARMUPS, Grid, Place, refuse, train
from radam_core.own.recording import OwnRecording
from radam_core.own.refusals import Model
from radam_core.own.warmup_words import map_words
from radam_core.own.ways import Loss
from radam_core.torch_methods import LANE_METHODS


@dataclass(frozen=True)
class Cell:
    """One lane: a rate with a warmup of so many steps, or RAdam (None)."""

    lr: float
    warmup_steps: int | None
    seed: int
    first_loss: float
    final_loss: float  # nan if it was lost
    lost_at: int | None
    learns: bool


@dataclass(frozen=True)
class WarmupMap:
    cells: tuple[Cell, ...]
    steps: int
    method: str
    beta2: float
    baseline: float | None
    why: str  # which way the lanes were run
    seconds: float
    recordings: tuple[OwnRecording, ...]

    @property
    def label(self) -> str:
        return LANE_METHODS[self.method].label

    @property
    def lrs(self) -> list[float]:
        return sorted({cell.lr for cell in self.cells})

    @property
    def warmups(self) -> list[int]:
        return sorted({cell.warmup_steps for cell in self.cells if cell.warmup_steps is not None})

    def at(self, lr: float, warmup_steps: int | None) -> list[Cell]:
        """By seed."""
        return [cell for cell in self.cells if (cell.lr, cell.warmup_steps) == (lr, warmup_steps)]

    def final_loss(self, lr: float, warmup_steps: int | None) -> float:
        """The mean over the seeds; one that was lost counts with its first loss."""
        found = [
            cell.first_loss if math.isnan(cell.final_loss) else cell.final_loss for cell in self.at(lr, warmup_steps)
        ]
        return float(np.mean(found)) if found else math.nan

    def shortest_warmup(self, lr: float) -> float | None:
        """The smallest length from which on two thirds of the seeds learn; None if none does."""
        learned: dict[float, list[bool]] = {
            length: [cell.learns for cell in self.at(lr, length)] for length in self.warmups
        }
        return shortest_warmup(learned, self.steps)

    def rows(self) -> list[dict[str, Any]]:
        """With the keys of the dashboard's table of a sweep's cells."""
        return [
            {
                "method": "radam" if cell.warmup_steps is None else self.method,
                "label": RADAM if cell.warmup_steps is None else self.label,
                "lr": cell.lr,
                "warmup_steps": cell.warmup_steps,
                "seed": cell.seed,
                "final_loss": None if math.isnan(cell.final_loss) else cell.final_loss,
                "status": "finished" if cell.lost_at is None else f"diverged at step {cell.lost_at}",
                "learns": cell.learns,
            }
            for cell in self.cells
        ]

    def table(self) -> tuple[list[str], list[list[float | None]]]:
        """The map itself: its head, and a line a rate with the final losses, the shortest warmup last."""
        lengths = [*self.warmups, *([None] if self.at(self.lrs[0], None) else [])]
        head = ["lr", *(RADAM if length is None else f"warmup {length}" for length in lengths), "shortest"]
        return head, [
            [lr, *(self.final_loss(lr, length) for length in lengths), self.shortest_warmup(lr)] for lr in self.lrs
        ]

    @property
    def words(self) -> str:
        """The answer in sentences, each with its numbers."""
        return map_words(self)

    def __str__(self) -> str:
        head, lines = self.table()
        width = max(map(len, head)) + 2
        text = [[f"{value:.4g}" if value is not None else "none" for value in line] for line in lines]
        return "\n".join("".join(f"{one:>{width}}" for one in line) for line in (head, *text))


def sweep_model(
    model: Model,
    loss: Loss,
    batches: Batches,
    *,
    steps: int,
    lrs: Sequence[float] = LRS,
    warmups: Sequence[int] = WARMUPS,
    seeds: int = 1,
    method: str = "adam",
    settings: Mapping[str, Any] | None = None,
    baseline: float | None = None,
    radam: bool = True,
    at_once: int = AT_ONCE,
    way: str | None = None,
) -> WarmupMap:
    """Trains every cell. `settings` go to every lane (betas, weight_decay, clip, ...); `baseline` is the loss of a
    model that ignores its input, where it is known: without it a run has learned when it halved its first loss. Seeds
    other than the first need a factory for `model`. `at_once` lanes share a step, and memory."""
    grid = Grid(steps, tuple(lrs), tuple(warmups), seeds, method, dict(settings or {}), radam, at_once)
    refuse(grid, model, batches)
    trained = {number: train(grid, number, model, loss, batches, way) for number in range(len(grid.packs))}
    return gathered(grid, trained, baseline)


def gathered(grid: Grid, trained: Mapping[int, OwnRecording], baseline: float | None) -> WarmupMap:
    """The map of these packs, by their numbers; all of them, unless somebody stopped it."""
    cells = [
        _cell(place, grid.packs[number].seed, found, k, baseline)
        for number, found in sorted(trained.items())
        for k, place in enumerate(grid.packs[number].places)
    ]
    recordings = tuple(found for _, found in sorted(trained.items()))
    seconds = sum(one.seconds for one in recordings)
    return WarmupMap(
        tuple(cells), grid.steps, grid.method, grid.beta2, baseline, recordings[0].why, seconds, recordings
    )


def _cell(place: Place, seed: int, found: OwnRecording, k: int, baseline: float | None) -> Cell:
    first, final = float(found.column("loss")[0, k]), float(found.final_losses[k])
    learned = learns(final, first if baseline is None else baseline)
    return Cell(*place, seed, first, final, found.diverged_at[k], learned)
