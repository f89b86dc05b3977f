"""What came out, by step of the tour: read from the recordings, or computed from the formulas."""

import json
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dashboard.asked.config import RaceConfig
from dashboard.asked.protocol import BETA2
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.tour import MODEL_RECORDINGS, TourStep
from dashboard.evidence.findings import Findings, Line
from dashboard.evidence.steps import grid_steps
from dashboard.paper.results import recorded_findings
from dashboard.recorded.form import Recording
from dashboard.recorded.loading import recording
from dashboard.runs.outlines import from_json
from demo_models import TASKS
from radam_core.comparison import momentum_multiplier
from radam_core.domains import FloatArray
from radam_core.evidence import learns
from radam_core.methods import METHODS
from radam_core.schedules import linear_warmup
from radam_core.simulation import Averages, sample_averages
from radam_core.theory import rectification

FAN_BETA2, FAN_WEIGHTS, FAN_STEPS, FAN_AT = 0.999, 20, 1000, 5
LONG_BETA2, SHORT_BETA2, NEARLY = 0.999, 0.99, 0.9
GRADIENT_STEP = 10


@dataclass(frozen=True)
class Learned:
    """At so many of its seeds a lane learns."""

    label: str
    count: int
    seeds: int


def missing(step: TourStep) -> list[str]:
    """The recordings that a step needs and that are not here, or are of another race."""
    return [name for name in step.recordings if not _is_here(name)]


@cache
def _is_here(name: str) -> bool:
    return recording(name) is not None


@cache
def _race(name: str) -> tuple[RaceConfig, Recording]:
    found = recording(f"race-{name}")
    assert found is not None
    assert isinstance(found.config, RaceConfig)
    return found.config, found


@cache
def findings(sweep: str) -> Findings:
    found = recorded_findings(sweep)
    assert found is not None
    return found[0]


def code_of(name: str) -> str:
    """Which code made a recording."""
    found = recording(name)
    return found.made.code if found else ""


def line_of(sweep: str, label: str, **at: float) -> Line:
    return next(line for line in findings(sweep).lines if line.label == label and dict(line.at) == at)


def learned(sweep: str, label: str) -> Learned:
    (rate,) = line_of(sweep, label).rates
    return Learned(label, sum(rate.learned), len(rate.learned))


def ends(sweep: str, label: str) -> list[float]:
    """The final loss at each seed."""
    return line_of(sweep, label).rates[0].ends


@cache
def losses(race: str) -> tuple[list[int], dict[str, list[float]]]:
    """Of a recorded race, at its one seed: the steps, and by lane the loss at them."""
    config, found = _race(race)
    outcomes = [from_json(lane.outline) for lane in found.lanes]
    kept = {
        lane.label: [np.nan if value is None else value for value in outcome.losses] if outcome else []
        for lane, outcome in zip(config.lanes, outcomes, strict=True)
    }
    return grid_steps(config.steps), kept


def over_seeds(sweep: str, label: str) -> FloatArray:
    """The losses of a contender, [seed, step]."""
    (rate,) = line_of(sweep, label).rates
    return np.array([[np.nan if v is None else v for v in cell.outcome.losses] for cell in rate.over])


@cache
def samples(race: str, label: str) -> tuple[tuple[str, str, str], ...]:
    """What a recorded lane says at its end: source, said and expected."""
    config, found = _race(race)
    place = [lane.label for lane in config.lanes].index(label)
    told = [json.loads(record.body).get("samples") for record in found.lanes[place].records]
    return tuple((str(a), str(b), str(c)) for a, b, c in next(filter(None, reversed(told)), []))


def gradients(label: str) -> tuple[FloatArray, FloatArray]:
    """The median log10|g| of a lane in the collapse: steps, and [seed, step]."""
    cells = [cell.outcome.gradients for cell in line_of("collapse", label).rates[0].over]
    steps = sorted(set.intersection(*map(set, cells)))
    return np.array(steps, dtype=float), np.array([[own[step] for step in steps] for own in cells])


def gradient_fall(label: str) -> float:
    """In powers of ten from step 1 to step 10, the mean over the seeds."""
    steps, values = gradients(label)
    return float((values[:, steps == 1] - values[:, steps == GRADIENT_STEP]).mean())


@cache
def fan() -> Averages:
    """Twenty weights whose gradients are independent draws of one normal distribution; always the same ones."""
    return sample_averages(FAN_BETA2, FAN_STEPS, FAN_WEIGHTS, first=1)


def fan_ratio(at: int = FAN_AT) -> float:
    """The largest of the twenty rates over the smallest, at a drawn step."""
    rates = fan().adaptive_rate(0.0)[fan().t == at]
    return float(rates.max() / rates.min())


def reaches(beta2: float, share: float = NEARLY) -> int:
    """The first step at which r_t is at this share."""
    return 1 + int(np.argmax(np.asarray(rectification(np.arange(1, 40_000), beta2)) >= share))


@cache
def models() -> tuple[Learned, ...]:
    """Adam without warmup on three models."""
    found = []
    for name in MODEL_RECORDINGS:
        kind, _, own = name.partition("-")
        found.append(learned(own, "Adam") if kind == "sweep" else _learned_in_race(own, "Adam"))
    return tuple(found)


def _learned_in_race(race: str, label: str) -> Learned:
    config, found = _race(race)
    place = [lane.label for lane in config.lanes].index(label)
    outcome, baseline = from_json(found.lanes[place].outline), TASKS[config.task].baseline_at(config.settings)
    assert outcome is not None
    return Learned(label, int(learns(outcome.final_loss, baseline or outcome.first_loss)), 1)


def mean_multiplier(warmup_steps: float | None, steps: int) -> float:
    """The mean over a run of a linear warmup's factor; without a length of r_t, its momentum steps counted as 0."""
    t = np.arange(1, steps + 1)
    if warmup_steps is None:
        return float(np.mean(np.nan_to_num(np.asarray(rectification(t, LONG_BETA2)))))
    return float(np.mean(linear_warmup(warmup_steps)(t))) if warmup_steps else 1.0


@dataclass(frozen=True)
class InForce:
    """A line of the map, over the mean rate that was in force."""

    label: str
    method: str
    multiplier: float
    rates: FloatArray  # set
    ends: list[list[float]]
    learned: list[int]


LONGER_WARMUP = 500


@cache
def in_force() -> tuple[InForce, ...]:
    """Adam, a warmup longer than the run, and RAdam at the eight rates of the map."""
    config = findings("map").config
    assert isinstance(config, SweepConfig)
    lines = (
        ("Adam", "adam", 0, line_of("map", "Adam + warmup", warmup_steps=0)),
        (
            f"Adam + warmup {LONGER_WARMUP}",
            "adam-linear",
            LONGER_WARMUP,
            line_of("map", "Adam + warmup", warmup_steps=LONGER_WARMUP),
        ),
        ("RAdam", "radam", None, line_of("map", "RAdam")),
    )
    return tuple(
        InForce(
            label,
            method,
            mean_multiplier(length, config.steps),
            np.array([rate.lr for rate in line.rates]),
            [rate.ends for rate in line.rates],
            [sum(rate.learned) for rate in line.rates],
        )
        for label, method, length, line in lines
    )


def step_left_by_eps(eps: float, gradient: float) -> float:
    """What an epsilon before bias correction leaves of Adam's first step, for gradients of this size."""
    method = replace(METHODS["adam-eps"], eps=eps, betas=(0.9, BETA2))
    return float(gradient * np.asarray(momentum_multiplier(method, 1, gradient)))
