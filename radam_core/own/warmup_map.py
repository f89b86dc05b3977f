"""`sweep_model`: does this model need warmup, and how long? Measured, on a grid of learning rates and warmup lengths.

    found = sweep_model(make_model, loss, loader, lrs=(1e-3, 3e-3, 1e-2), warmups=(0, 50, 200), steps=300, seeds=3)
    print(found.words)      # what it says, in sentences with their numbers
    print(found)            # the map: final losses, by rate and length
    found.rows()            # a plain row a cell, for any table or figure

Each cell is a lane of `race_model` with a linear warmup; RAdam without one stands beside them. *Learns*, and *the
shortest warmup that works*, are those of `radam_core.evidence`, as in the dashboard's sweeps.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import nn

from radam_core.domains import check_count
from radam_core.evidence import learns, shortest_warmup
from radam_core.methods import METHODS
from radam_core.own.batches import Batches, BatchSource
from radam_core.own.racing import race_model
from radam_core.own.recording import OwnRecording
from radam_core.own.refusals import Model, all_at_once
from radam_core.own.warmup_words import map_words
from radam_core.own.ways import Loss
from radam_core.race.plan import FINAL_STEPS

LRS, WARMUPS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2), (0, 25, 100, 300)
RADAM = "RAdam"


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
        return METHODS[self.method].label

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
    at_once: int = 12,
    way: str | None = None,
) -> WarmupMap:
    """Trains every cell. `settings` go to every lane (betas, weight_decay, clip, ...); `baseline` is the loss of a
    model that ignores its input, where it is known: without it a run has learned when it halved its first loss. Seeds
    other than the first need a factory for `model`. `at_once` lanes share a step, and memory."""
    lengths, own = sorted(set(warmups)), dict(settings or {})
    refused = [*_refusals(model, batches, lrs, lengths, seeds, steps, method)]
    if refused:
        raise ValueError(all_at_once(refused))
    everything: dict[tuple[float, int | None], dict[str, Any]] = {
        (lr, length): {"method": method, "lr": lr, **own, **(_warmup(length))}
        for lr in sorted(set(lrs))
        for length in lengths
    }
    kept = {name: value for name, value in own.items() if name in ("betas", "eps", "weight_decay", "clip")}
    everything |= {(lr, None): {"method": "radam", "lr": lr, **kept} for lr in sorted(set(lrs)) if radam}
    cells: list[Cell] = []
    recordings: list[OwnRecording] = []
    for seed in range(seeds):
        for pack in _packs(list(everything), at_once):
            named = {_label(*place): everything[place] for place in pack}
            found = race_model(model, loss, batches, named, steps=steps, measure=False, seed=seed, way=way)
            recordings.append(found)
            cells += [_cell(place, seed, found, k, baseline) for k, place in enumerate(pack)]
    seconds = sum(one.seconds for one in recordings)
    beta2 = own.get("betas", METHODS[method].betas)[1]
    return WarmupMap(tuple(cells), steps, method, beta2, baseline, recordings[0].why, seconds, tuple(recordings))


def _cell(place: tuple[float, int | None], seed: int, found: OwnRecording, k: int, baseline: float | None) -> Cell:
    first, final = float(found.column("loss")[0, k]), float(found.final_losses[k])
    learned = learns(final, first if baseline is None else baseline)
    return Cell(*place, seed, first, final, found.diverged_at[k], learned)


def _warmup(length: int) -> dict[str, Any]:
    return {"warmup": "linear", "warmup_steps": length} if length else {"warmup": "none", "warmup_steps": None}


def _label(lr: float, length: int | None) -> str:
    return f"{RADAM}, lr {lr:g}" if length is None else f"lr {lr:g}, warmup {length}"


def _packs(places: list[tuple[float, int | None]], at_once: int) -> list[list[tuple[float, int | None]]]:
    """As even as can be: a pack of one lane would be as slow as a loop."""
    count = math.ceil(len(places) / at_once)
    return [places[k::count] for k in range(count)]


def _refusals(
    model: object,
    batches: Batches,
    lrs: Sequence[float],
    warmups: Sequence[int],
    seeds: int,
    steps: int,
    method: str,
) -> Iterable[str]:
    if not lrs or not all(0 < lr < math.inf for lr in lrs):
        yield f"lrs must be learning rates above 0, got {list(lrs)}"
    if not warmups or not all(length >= 0 and length == int(length) for length in warmups):
        yield f"warmups must be whole numbers of steps, 0 for none, got {list(warmups)}"
    if METHODS.get(method) is None or METHODS[method].warmup != "none" or METHODS[method].rectify is not None:
        plain = [name for name, one in METHODS.items() if one.warmup == "none" and one.rectify is None]
        yield f"method must be one of {', '.join(plain)}, which have no warmup of their own, got {method!r}"
    for name, count, least in (("seeds", seeds, 1), ("steps", steps, FINAL_STEPS)):
        try:
            check_count(name, count, least)
        except (TypeError, ValueError) as error:
            yield str(error)
    if seeds != 1 and isinstance(model, nn.Module):
        yield "model must be a function that makes it where seeds are several: each begins with weights of its own"
    if not BatchSource(batches, 1).replays:
        yield "batches must be a DataLoader, a list or a function of the step: a sweep goes through them several times"
