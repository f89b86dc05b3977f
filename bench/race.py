"""The stacked race against the same lanes as plain `torch.optim` loops, and what measuring costs it.

Plain loops are what anyone would write: the plain module, its own optimizer, zero_grad, backward, step, one lane after
the other, at torch's default threads. A contender's time is that of one step of all lanes.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import psutil
import torch

from bench.interleaved import Result, medians, slowdown, speedup
from demo_models import TASKS
from radam_core import METHODS
from radam_core.race.frames import BIN_OF_ONE
from radam_core.race.lane_layers import LaneConv2d
from radam_core.race.lanes import Lanes
from radam_core.race.plan import Lane, RacePlan, histogram_steps
from radam_core.race.probes import Probes, histogram
from radam_core.race.race import Race
from radam_core.race.spread import spread_across

_NEVER = 10**6
Optimizer = Callable[[Any], torch.optim.Optimizer]

# Six lanes of one torch optimizer each, as methods and as torch has them.
PEERS: dict[str, tuple[Lane, Optimizer]] = {
    "Adam": (Lane(label="Adam", method=METHODS["adam"], lr=1e-3), lambda p: torch.optim.Adam(p, 1e-3)),
    "AdamW": (
        Lane(label="AdamW", method=METHODS["adam"], lr=1e-3, weight_decay=0.01),
        lambda p: torch.optim.AdamW(p, 1e-3, weight_decay=0.01),
    ),
    "RAdam": (Lane(label="RAdam", method=METHODS["radam"], lr=1e-3), lambda p: torch.optim.RAdam(p, 1e-3)),
    "SGD": (Lane(label="SGD", method=METHODS["sgd"], lr=1e-2), lambda p: torch.optim.SGD(p, 1e-2, momentum=0.9)),
    "Adam, eps": (
        Lane(label="Adam, eps", method=replace(METHODS["adam"], eps=1e-4), lr=1e-3),
        lambda p: torch.optim.Adam(p, 1e-3, eps=1e-4),
    ),
    "Adam, slow": (Lane(label="Adam, slow", method=METHODS["adam"], lr=1e-4), lambda p: torch.optim.Adam(p, 1e-4)),
}


def run() -> Iterator[Result]:
    yield from _stacked("numbers", lanes=6, bar=2.5, repeats=9, probes=True)
    yield from _stacked("digits", lanes=16, bar=1.8, repeats=9)
    yield _slices()
    yield _histograms()
    yield _memory()


def _stacked(name: str, lanes: int, bar: float, repeats: int, probes: bool = False) -> Iterator[Result]:
    task = TASKS[name]
    problem = task.open()
    peers = [list(PEERS.values())[k % len(PEERS)] for k in range(lanes)]
    plan = RacePlan(lanes=tuple(lane for lane, _ in peers), steps=_NEVER, batch_size=task.batch_size, device="cpu")
    race = Race(problem, replace(plan, evaluate_every=_NEVER, measure=False))
    measured = Race(problem, replace(plan, evaluate_every=_NEVER))
    halved = Race(problem, replace(plan, evaluate_every=_NEVER, half_batch_steps=2 * _NEVER))
    models = [problem.make_model(0) for _ in peers]
    optimizers = [make(model.parameters()) for (_, make), model in zip(peers, models, strict=True)]
    steps = {"stacked": 0, "measured": 0, "halved": 0, "plain": 0}

    def stacked() -> None:
        steps["stacked"] += 1
        race.step(steps["stacked"])
        race.begin_frame(1)

    def with_sizes() -> None:
        steps["measured"] += 1
        measured.step(1000 + steps["measured"])  # beyond the early histograms: those are timed by themselves
        measured.begin_frame(1)

    def with_halves() -> None:
        steps["halved"] += 1
        halved.step(1000 + steps["halved"])
        halved.begin_frame(1)

    def plain() -> None:
        steps["plain"] += 1
        for model, optimizer in zip(models, optimizers, strict=True):
            loss = problem.loss(model, problem.batch(0, steps["plain"], task.batch_size))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    contenders: dict[str, Callable[[], object]] = {"stacked": stacked, "plain loops": plain}
    if probes:
        contenders |= {
            "measured": with_sizes,
            "with halves": with_halves,
            "histogram step": _probe(measured),
            "sgemm": _sgemm(),
        }
    times = medians(contenders, repeats)
    yield speedup(f"{lanes}-lane step of {name}: over plain torch.optim loops", "stacked", "plain loops", bar, times)
    if probes:
        # A 500-step race, the preset's: every step's sizes, and the histogram steps' share of them.
        share = len(list(histogram_steps(500))) / 500
        times["with probes"] = max(times["measured"], times["stacked"]) + share * times["histogram step"]
        yield slowdown(
            f"{lanes}-lane step of {name}: with its probes, of without", "with probes", "stacked", 1.15, times
        )
        yield slowdown(
            f"{lanes}-lane step of {name}: with its half batches, of without", "with halves", "stacked", 2.6, times
        )
        yield _share_of_sgemm(name, race, lanes, times)


def _slices() -> Result:
    """Sixteen lanes of `digits`, its first convolution cut into pairs of lanes, against one with sixteen groups."""
    task = TASKS["digits"]
    problem = task.open()
    lanes = tuple(list(PEERS.values())[k % len(PEERS)][0] for k in range(16))
    plan = RacePlan(lanes=lanes, steps=_NEVER, batch_size=task.batch_size, evaluate_every=_NEVER, device="cpu")
    races = {name: Race(problem, replace(plan, measure=False)) for name in ("in pairs", "whole")}
    for layer in races["whole"].model.modules():
        if isinstance(layer, LaneConv2d):
            layer.in_pairs = False
    steps = dict.fromkeys(races, 0)

    def step(name: str) -> None:
        steps[name] += 1
        races[name].step(steps[name])
        races[name].begin_frame(1)

    times = medians({name: partial(step, name) for name in races}, repeats=25)
    return slowdown("16-lane step of digits: its slices of two lanes, of none", "in pairs", "whole", 1.1, times)


def _probe(race: Race) -> Callable[[], object]:
    """What a histogram step takes on top of another: counts, norms by group, and psi across the parameters."""
    probes, nothing = Probes(race.lanes, race.optimizer), torch.zeros_like(race.lanes.buffer, dtype=torch.bool)
    return lambda: (probes.after(probes.before()[0]), spread_across(race.optimizer, nothing))


def _sgemm() -> Callable[[], object]:
    a = torch.randn(_SQUARE, _SQUARE)
    return lambda: a @ a


_SQUARE = 1024


def _share_of_sgemm(name: str, race: Race, lanes: int, times: dict[str, float]) -> Result:
    """The floating-point work of a step's matrix products per second, as a share of a large square product's.

    No bar was set for it, so that it is reported with a bar of 0: it says how far the limit is.
    """
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        race.step(_NEVER - 1)
    work = counter.get_total_flops()
    limit = 2 * _SQUARE**3 / times["sgemm"]
    times["at the sgemm rate"] = work / limit
    return Result(
        f"{lanes}-lane step of {name}: share of this machine's sgemm rate",
        times["at the sgemm rate"] / times["stacked"],
        0,
        True,
        {"stacked": times["stacked"], "at the sgemm rate": times["at the sgemm rate"]},
    )


def _histograms() -> Result:
    """The gradient of six lanes of `numbers`, binned by powers of two off the bits, and by log2 and histc."""
    problem = TASKS["numbers"].open()
    lanes = Lanes([problem.make_model(0)], 6, problem.group)
    x = torch.randn(lanes.buffer.shape, generator=torch.Generator().manual_seed(0))
    scratch = torch.empty_like(x)  # as the race has it

    def log_and_histc() -> None:
        logs = x.abs().log2()
        for row in logs:
            for span in lanes.groups.values():
                torch.histc(row[span], bins=256, min=-BIN_OF_ONE, max=256 - BIN_OF_ONE)

    times = medians({"bits": lambda: histogram(x, lanes.groups, scratch), "log + histc": log_and_histc}, repeats=30)
    return speedup("histogram of 6 lanes by group: over log + histc", "bits", "log + histc", 5, times)


def _memory() -> Result:
    """This process's memory when a race of 20,000 steps ends, against at its step 2,000."""
    lanes = tuple(lane for lane, _ in PEERS.values())
    plan = RacePlan(lanes=lanes, steps=20_000, batch_size=1, steps_per_frame=100, record_every=20, device="cpu")
    resident = {
        frame.last: psutil.Process().memory_info().rss / 1e6
        for frame in Race(TASKS["surfaces"].open(), plan).frames()
        if frame.last in (2_000, 20_000)
    }
    name = f"20,000-step race: its {resident[20_000]:.1f} MB at the end, of those at step 2,000"
    return Result(name, resident[20_000] / resident[2_000], 1.02, False, {})
