"""The oracle of every task: each lane of a race against a plain PyTorch loop with the optimizer from `torch.optim`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from radam_core.methods import METHODS, PROFILES
from radam_core.race.plan import Lane, RacePlan
from radam_core.race.race import Race
from radam_core.race.threads import one_thread

Parameters = Any
Pairs = Mapping[str, tuple[Lane, Callable[[Parameters, float], Any]]]
PAIRS: Pairs = {
    "Adam": (
        Lane(label="Adam", method=METHODS["adam"], lr=1.0),
        lambda parameters, lr: torch.optim.Adam(parameters, lr),
    ),
    "AdamW": (
        Lane(label="AdamW", method=METHODS["adam"], lr=1.0, weight_decay=0.1),
        lambda parameters, lr: torch.optim.AdamW(parameters, lr, weight_decay=0.1),
    ),
    "SGD": (
        Lane(label="SGD", method=METHODS["sgd"], lr=10.0, weight_decay=1e-4),
        lambda parameters, lr: torch.optim.SGD(parameters, lr, momentum=0.9, weight_decay=1e-4),
    ),
    "RAdam": (
        Lane(label="RAdam", method=replace(METHODS["radam"], **PROFILES["torch"]), lr=1.0),
        lambda parameters, lr: torch.optim.RAdam(parameters, lr),
    ),
    "Adam, replicate": (
        Lane(label="Adam, replicate", method=METHODS["adam"], lr=1.0, seed=3),
        lambda parameters, lr: torch.optim.Adam(parameters, lr),
    ),
}


class Switched:
    """Optimizers of `torch.optim` that take turns, each until its last step. Whoever goes on takes over the averages
    and the count of steps as they are."""

    def __init__(self, turns: Sequence[tuple[int, Callable[[], torch.optim.Optimizer]]]) -> None:
        self.turns, self.t = list(turns), 0
        self.optimizer = self.turns[0][1]()

    def zero_grad(self) -> None:
        self.optimizer.zero_grad()

    def step(self) -> None:
        self.t += 1
        if self.t > self.turns[0][0]:
            self.turns.pop(0)
            follower = self.turns[0][1]()
            for parameter, state in self.optimizer.state.items():
                follower.state[parameter] = {name: state[name].clone() for name in ("step", "exp_avg", "exp_avg_sq")}
            self.optimizer = follower
        self.optimizer.step()


@one_thread()
def largest_difference(
    problem: Any, lr: float, batch_size: int, steps: int = 20, seed: int = 1, pairs: Pairs = PAIRS
) -> float:
    """Over all lanes, parameters and metrics after that many steps in float64; relative to values above one.

    The slowest of the tests, and what all others lean on: each task's stacked training, whole, is that of PyTorch.
    Twenty steps are well past RAdam's fifth, after which it adapts, and a step that went wrong never comes back.
    """
    lanes = tuple(replace(lane, lr=lane.lr * lr) for lane, _ in pairs.values())
    never = steps + 1  # evaluated below, once
    plan = RacePlan(lanes=lanes, steps=never, batch_size=batch_size, seed=seed, double=True, device="cpu")
    race = Race(problem, plan)
    for t in range(1, steps + 1):
        race.step(t)
    race.model.eval()
    with torch.no_grad():
        stacked = problem.evaluate(race.model)
    largest = 0.0
    for number, (lane, make_optimizer) in enumerate(zip(lanes, (make for _, make in pairs.values()), strict=True)):
        model = problem.make_model(seed + lane.seed).double()
        optimizer = make_optimizer(model.parameters(), lane.lr)
        for t in range(1, steps + 1):
            batch = tuple(
                x.double() if x.is_floating_point() else x for x in problem.batch(seed + lane.seed, t, batch_size)
            )
            loss = problem.loss(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            plain = problem.evaluate(model)
        beside = [(race.lanes.parameters[name][number].detach(), p.detach()) for name, p in model.named_parameters()]
        beside += [(stacked[name][number], value) for name, value in plain.items()]
        assert all(torch.isfinite(b).all() for _, b in beside)
        largest = max(largest, *(float(((a - b).abs() / b.abs().clamp(min=1.0)).max()) for a, b in beside))
    return largest
