"""The guided tour: its eight steps, what a visitor predicts in each, and how a prediction is written in an address.

A prediction's code is a few letters, so that a link stays short, and comes from anybody: `decode` says in a
`ValueError` what it may be.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from dashboard.asked import protocol

SKIPPED = "-"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEVELS = "0123456789" + _LETTERS
NONE_OF_THEM = "0"


@dataclass(frozen=True)
class Picks:
    """Any of the options, or with `one` exactly one of them: a letter for each, "0" for none."""

    options: tuple[str, ...]
    one: bool = False

    def decode(self, code: str) -> tuple[int, ...]:
        letters = _LETTERS[: len(self.options)]
        most = 1 if self.one else len(letters)
        if code == NONE_OF_THEM and not self.one:
            return ()
        if not re.fullmatch(rf"[{letters}]{{1,{most}}}", code) or list(code) != sorted(set(code)):
            amount = "one letter" if self.one else "rising letters"
            raise ValueError(f"{amount} from {letters[0]} to {letters[-1]}{'' if self.one else ', or 0'}")
        return tuple(letters.index(letter) for letter in code)

    def encode(self, chosen: tuple[int, ...]) -> str:
        return "".join(_LETTERS[place] for place in sorted(chosen)) or NONE_OF_THEM


@dataclass(frozen=True)
class Number:
    """One of these values."""

    values: tuple[float, ...]

    def decode(self, code: str) -> float:
        known = {self.encode(value): value for value in self.values}
        if code not in known:
            raise ValueError(f"one of {', '.join(known)}")
        return known[code]

    def encode(self, value: float) -> str:
        return f"{value:g}"


@dataclass(frozen=True)
class Range:
    """Two of these values, the lower one first, with a line between them."""

    values: tuple[float, ...]

    def decode(self, code: str) -> tuple[float, float]:
        known = {f"{value:g}": value for value in self.values}
        low, _, high = code.partition("_")
        if low not in known or high not in known or known[low] > known[high]:
            raise ValueError(f"two of {', '.join(known)}, the lower one first, as {min(known)}_{max(known)}")
        return known[low], known[high]

    def encode(self, ends: tuple[float, float]) -> str:
        return "_".join(f"{end:g}" for end in ends)


@dataclass(frozen=True)
class Curve:
    """A loss at each of these steps, drawn by hand: to the nearest of 36 levels between the powers `low` and `high` of
    ten, a letter for each."""

    steps: tuple[int, ...]
    low: float
    high: float

    def decode(self, code: str) -> tuple[float, ...]:
        if not re.fullmatch(f"[0-9a-z]{{{len(self.steps)}}}", code):
            raise ValueError(f"{len(self.steps)} digits or small letters")
        height = (self.high - self.low) / (len(_LEVELS) - 1)
        return tuple(10 ** (self.low + _LEVELS.index(letter) * height) for letter in code)

    def level(self, log10_loss: float) -> str:
        share = (log10_loss - self.low) / (self.high - self.low)
        return _LEVELS[round(min(max(share, 0.0), 1.0) * (len(_LEVELS) - 1))]


Form: TypeAlias = Picks | Number | Range | Curve


@dataclass(frozen=True)
class TourStep:
    """What is predicted, how long it takes in a lesson, which recordings answer it, and where it runs live."""

    name: str
    minutes: int
    form: Form
    recordings: tuple[str, ...] = ()
    page: str = "race"
    query: Mapping[str, str] = field(default_factory=dict)


# The four lanes of the first step, and the controls of the last, by their labels in the race figure-1.
LANES = ("Adam", f"Adam + warmup {protocol.UNTUNED}", "RAdam", "Adam-2k")
SHORT = f"Adam + warmup {protocol.WARMUP}"
CONTROLS = ("Adam-2k", "GI-Adam", "Adam-eps 1e-4", "Adam-eps 1e-2")
MODELS = ("Post-LN Transformer", "Pre-LN Transformer", "ResNet")
READINGS = ("the variance of the rate", "the size of the steps", "these runs cannot tell")
# Whether a control learns, by each reading. None where it says nothing: GI-Adam's small steps also shrink the rate's
# variance, and an epsilon of 1e-4 makes steps only a little smaller.
FORETOLD: Mapping[str, tuple[bool | None, ...]] = {
    READINGS[0]: (True, None, True, True),
    READINGS[1]: (False, True, None, True),
    READINGS[2]: (None, None, None, None),
}
# Of the three models with their recordings: the lane without a warmup is the first of each.
MODEL_RECORDINGS = ("sweep-figure-1", "race-pre-ln", "sweep-digits")

STEPS: tuple[TourStep, ...] = (
    TourStep("lanes", 5, Picks(LANES), ("sweep-figure-1", "race-figure-1"), "race", {"preset": "figure-1"}),
    TourStep(
        "curve",
        6,
        Curve((1, *range(100, protocol.STEPS + 1, 100)), -3.5, 0.75),
        ("race-figure-1", "sweep-figure-1"),
        "race",
        {"preset": "figure-1"},
    ),
    TourStep(
        "gradients",
        5,
        Number((0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
        ("sweep-collapse", "race-figure-1"),
        "race",
        {"preset": "collapse"},
    ),
    TourStep("fan", 7, Number((1.1, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)), (), "variance", {}),
    TourStep("length", 5, Number((30.0, 100.0, 300.0, 1000.0, 3000.0)), (), "rectification", {"beta2": "0.99"}),
    TourStep(
        "seeds",
        4,
        Range((0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)),
        ("sweep-figure-1",),
        "sweep",
        {"preset": "figure-1"},
    ),
    TourStep("models", 5, Picks(MODELS), MODEL_RECORDINGS, "norms", {}),
    TourStep("cause", 8, Picks(READINGS, one=True), ("sweep-figure-1", "sweep-map"), "size", {}),
)
LONGEST_CODE = 20


def checked(step: TourStep, code: str) -> str:
    """The code of a prediction, or of none; `ValueError` names what it may be."""
    if code != SKIPPED:
        step.form.decode(code[: LONGEST_CODE + 1])
    return code
