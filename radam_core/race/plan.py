"""What a race is asked to do, as plain frozen values: its lanes, its length, and when it measures. No torch."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from radam_core.domains import check_count
from radam_core.methods import Method

EARLY_STEPS = (1, 5, 10, 25, 50, 75, 100, 150, 200)  # the early steps are the point (the paper's Figures 2 and 3)
FINAL_STEPS = 20
LEAST_STACKED = 2  # lanes: kernels round otherwise for one, so that a lane that races alone has a twin beside it
HALVED = 2.3  # times as long takes a step that runs the halves of its batch, too (2.2 to 2.6: bench race)
SHARP = 6  # steps that a measurement of the sharpness takes: three gradients, of float64 (5.2 to 9.3: bench sharpness)
SHARP_START = 30  # ... and the search at the start: seventeen
LATER_HISTOGRAMS = 8  # evenly over what remains of a run


@dataclass(frozen=True, kw_only=True)
class Lane:
    """One competitor: a method with its learning rate, weight decay and gradient clipping."""

    label: str
    method: Method
    lr: float
    weight_decay: float = 0.0
    clip: float | None = None  # the largest gradient norm, as in torch.nn.utils.clip_grad_norm_
    seed: int = 0  # added to the race's: 0 shares its initial weights and batches, another makes a replicate

    def __post_init__(self) -> None:
        for name in ("lr", "weight_decay"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be finite and at least 0, got {getattr(self, name)!r}")
        if self.clip is not None and not 0 < self.clip < math.inf:
            raise ValueError(f"clip must be finite and above 0, or None, got {self.clip!r}")
        check_count("seed", self.seed, least=0)


@dataclass(frozen=True, kw_only=True)
class RacePlan:
    """A whole race. Frames follow step numbers, never the clock, so that the same plan gives the same frames."""

    lanes: tuple[Lane, ...]
    steps: int
    batch_size: int = 32
    seed: int = 0
    evaluate_every: int = 100  # and at the last step
    steps_per_frame: int = 5
    record_every: int = 1  # every how many steps the per-step numbers are kept
    measure: bool = True  # histograms, psi, and the sizes of updates; the losses are always there
    half_batch_steps: int = 0  # the first so many steps run both halves of their batch, too: psi's spread within
    dense_steps: int = 0  # every one of the first so many steps has a histogram, with gradients by layer
    sharpness_every: int = 0  # every how many steps the curvature is measured, and at the first; 0: never
    device: str = "auto"
    double: bool = False  # float64

    def __post_init__(self) -> None:
        if not self.lanes:
            raise ValueError("lanes must hold at least one lane")
        for name in ("steps", "batch_size", "evaluate_every", "steps_per_frame", "record_every"):
            check_count(name, getattr(self, name))
        for name in ("seed", "dense_steps", "sharpness_every"):
            check_count(name, getattr(self, name), least=0)
        check_halves(self.half_batch_steps, self.batch_size)

    def records(self, t: int) -> bool:
        """Also the early steps that have a histogram, and the last ones, whose mean is a lane's final loss."""
        return t in EARLY_STEPS or t <= self.dense_steps or t % self.record_every == 0 or t > self.steps - FINAL_STEPS

    def evaluates(self, t: int) -> bool:
        return t % self.evaluate_every == 0 or t == self.steps

    def measures_sharpness(self, t: int) -> bool:
        return self.measure and self.sharpness_every > 0 and (t == 1 or t % self.sharpness_every == 0)

    @property
    def histogram_steps(self) -> frozenset[int]:
        return frozenset((*histogram_steps(self.steps), *range(1, self.dense_steps + 1)))


def plain_steps(steps: int, half_batch_steps: int, sharpness_every: int = 0) -> float:
    """How many steps that measure neither half batches nor sharpness take as long."""
    sharp = SHARP_START + SHARP * (steps // sharpness_every) if sharpness_every else 0
    return steps + (HALVED - 1) * min(steps, half_batch_steps) + sharp


def check_halves(half_batch_steps: int, batch_size: int) -> None:
    check_count("half_batch_steps", half_batch_steps, least=0)
    if half_batch_steps and batch_size < 2:
        raise ValueError(
            f"half_batch_steps must be 0 where batch_size is {batch_size}: there is nothing to halve, "
            f"got {half_batch_steps}"
        )


def histogram_steps(steps: int) -> Iterator[int]:
    """1, 5, 10, 25, 50, 75, 100, 150, 200, then evenly to the end."""
    yield from (t for t in EARLY_STEPS if t <= steps)
    rest = steps - EARLY_STEPS[-1]
    if rest > 0:
        later = min(LATER_HISTOGRAMS, math.ceil(rest / 50))
        yield from (EARLY_STEPS[-1] + round(rest * i / later) for i in range(1, later + 1))
