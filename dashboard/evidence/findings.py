"""What a sweep found: each contender over the learning rates, the shortest warmup that works, and the early signs.

A *line* is a contender at one choice of all other axes, such as one warmup length: over the rates it is a curve.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from dashboard.asked.grid import Grid
from dashboard.asked.sweep_config import LR, WARMUP
from dashboard.evidence.outcomes import CellOutcome, cell_outcomes, cell_row, end, metric, number
from dashboard.evidence.signs import early_signs
from radam_core.evidence import lr_sensitivity, robust_share, shortest_warmup


@dataclass(frozen=True)
class Rate:
    """One learning rate of a line, over its seeds; only those that are over count."""

    lr: float
    cells: tuple[CellOutcome, ...]
    metric: str | None

    @property
    def over(self) -> list[CellOutcome]:
        return [one for one in self.cells if one.outcome.over]

    @property
    def learned(self) -> list[bool]:
        return [bool(one.learns) for one in self.over]

    @property
    def ends(self) -> list[float]:
        return [end(one) for one in self.over]

    @property
    def mean_metric(self) -> float:
        """nan if nothing is known, and of a rate at which a lane diverged."""
        lost = any(one.outcome.diverged_at is not None for one in self.over)
        return float(np.mean([metric(one, self.metric) for one in self.over])) if self.over and not lost else np.nan


@dataclass(frozen=True)
class Line:
    contender: int
    label: str
    at: Mapping[str, Any]  # the other axes' values
    rates: tuple[Rate, ...]  # rising
    metric: str | None
    better: str

    @property
    def known(self) -> list[Rate]:
        return [rate for rate in self.rates if rate.over]

    @property
    def over(self) -> bool:
        return all(len(rate.over) == len(rate.cells) for rate in self.rates)

    @property
    def name(self) -> str:
        own = [f"warmup {value:g}" if name == WARMUP else f"{name} {value}" for name, value in self.at.items()]
        return ", ".join([self.label, *own])

    @property
    def best(self) -> Rate | None:
        """The rate with the lowest mean end."""
        return min(self.known, key=lambda rate: np.mean(rate.ends), default=None)

    @property
    def has_rates(self) -> bool:
        """Of one rate there is nothing to say of how much the rate matters."""
        return len(self.rates) > 1

    def robust_share(self) -> float | None:
        """By the task's metric. None while a cell is open, for a single rate, or where the task has none."""
        if self.metric is None or not self.over or not self.has_rates:
            return None
        return robust_share([rate.lr for rate in self.rates], [rate.mean_metric for rate in self.rates], self.better)

    def lr_sensitivity(self) -> float | None:
        """None while a cell is open, and for a single rate."""
        if not self.over or not self.has_rates:
            return None
        ends = [float(np.mean(rate.ends)) for rate in self.rates]
        return lr_sensitivity(ends, ends)


@dataclass(frozen=True)
class Needed:
    """The shortest warmup that works at a learning rate: `length` None if none of those that were tried does, and
    `tried` how many of the lengths are known at all seeds."""

    lr: float
    at: Mapping[str, Any]  # axes beside the rate and the length
    length: float | None
    tried: int
    of: int


class Findings:
    """Of a sweep's cells, as far as they are over."""

    def __init__(self, config: Grid, found: Sequence[CellOutcome]) -> None:
        self.config, self.found = config, found
        metrics = config.judged_by
        self.metric = next(iter(metrics), None)
        self.better = metrics[self.metric] if self.metric else "lower"

    @classmethod
    def of(cls, config: Grid, outcomes: Any) -> "Findings":
        return cls(config, cell_outcomes(config, outcomes))

    @cached_property
    def lines(self) -> list[Line]:
        return [line for number in range(len(self.config.contenders)) for line in self._lines_of(number)]

    def lines_of(self, contender: int) -> list[Line]:
        return [line for line in self.lines if line.contender == contender]

    def _lines_of(self, number: int) -> Iterable[Line]:
        contender = self.config.contenders[number]
        others = {name: values for name, values in self.config.axes.items() if name != LR and contender.has(name)}
        own = [one for one in self.found if one.cell.contender == number]
        for chosen in product(*others.values()):
            at = dict(zip(others, chosen, strict=True))
            cells = [one for one in own if all(one.cell.values[name] == value for name, value in at.items())]
            rates = sorted({one.cell.lane.lr for one in cells})
            by_rate = tuple(
                Rate(lr, tuple(one for one in cells if one.cell.lane.lr == lr), self.metric) for lr in rates
            )
            if not by_rate:
                continue  # a grid of somebody's own file may have gaps
            shown = {name: value for name, value in at.items() if len(others[name]) > 1}
            yield Line(number, contender.label, shown, by_rate, self.metric, self.better)

    def needed(self, contender: int) -> list[Needed]:
        """By learning rate; nothing for a contender without warmup lengths to choose from."""
        if not self.config.contenders[contender].has(WARMUP) or len(self.config.axes.get(WARMUP, ())) < 2:
            return []
        groups: dict[tuple[Any, ...], dict[float, dict[float, Rate]]] = {}
        for line in self.lines_of(contender):
            rest = tuple((name, value) for name, value in line.at.items() if name != WARMUP)
            for rate in line.rates:
                groups.setdefault(rest, {}).setdefault(rate.lr, {})[line.at[WARMUP]] = rate
        return [
            self._needed(lr, dict(rest), by_length)
            for rest, by_lr in groups.items()
            for lr, by_length in sorted(by_lr.items())
        ]

    def _needed(self, lr: float, at: dict[str, Any], by_length: dict[float, Rate]) -> Needed:
        known = {length: rate.learned for length, rate in by_length.items() if len(rate.over) == len(rate.cells)}
        length = shortest_warmup(known, self.config.steps) if len(known) == len(by_length) else None
        return Needed(lr, at, length, len(known), len(by_length))

    def learned_without(self, contender: int, lr: float) -> float | None:
        """The share of seeds at which a contender without warmup lengths learns at this rate."""
        rates = [rate for line in self.lines_of(contender) for rate in line.known if rate.lr == lr]
        learned = [one for rate in rates for one in rate.learned]
        return float(np.mean(learned)) if learned else None

    @cached_property
    def signs(self) -> list[dict[str, Any]]:
        return early_signs(self.found)

    def cells(self) -> list[dict[str, Any]]:
        return [cell_row(self.config, one) for one in self.found]

    def table(self) -> pd.DataFrame:
        """The cells for other programs; empty where nothing is known."""
        return pd.DataFrame(self.cells()).convert_dtypes()

    def summary(self) -> list[dict[str, Any]]:
        """A row a contender; its best line stands for it, and `lines` has all of them."""
        rows = []
        for place, contender in enumerate(self.config.contenders):
            lines = self.lines_of(place)
            told = [_told(line) for line in lines]
            ended = [row for row in told if row["best_loss"] is not None]
            best: dict[str, Any] = min(ended, key=lambda row: row["best_loss"], default={})
            rows.append(
                {
                    "method": contender.method,
                    "label": contender.label,
                    "robust_share": best.get("robust_share"),
                    "lr_sensitivity": best.get("lr_sensitivity"),
                    "shortest_warmup": [
                        {"lr": one.lr, **one.at, "warmup_steps": one.length, "known": one.tried == one.of}
                        for one in self.needed(place)
                    ],
                    "lines": told,
                }
            )
        return rows


def _told(line: Line) -> dict[str, Any]:
    best = line.best
    over = [one for rate in line.rates for one in rate.over]
    return {
        "line": line.name,
        **line.at,
        "robust_share": number(line.robust_share()),
        "lr_sensitivity": number(line.lr_sensitivity()),
        "best_lr": best.lr if best else None,
        "best_loss": number(float(np.mean(best.ends))) if best else None,
        "learned": sum(bool(one.learns) for one in over),
        "over": len(over),
        "cells": sum(len(rate.cells) for rate in line.rates),
    }
