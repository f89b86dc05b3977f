"""The lanes of Appendix C against plain loops that switch between optimizers of `torch.optim`, state and all.

torch's RAdam rectifies above 5, so lanes that it is compared with do, too. Until then its steps are those of the
method `momentum`: bias-corrected, while v goes on gathering.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from dashboard.asked.config import LaneConfig
from demo_models import TASKS
from radam_core.race.plan import Lane
from tests.demo_models.plain_loops import Switched, largest_difference

STEPS = 12
ADAM, RADAM = torch.optim.Adam, torch.optim.RAdam
ADAMW = partial(torch.optim.AdamW, weight_decay=0.1)
RADAMW = partial(torch.optim.RAdam, weight_decay=0.1, decoupled_weight_decay=True)


def lane(method: str, threshold: float | None = 5.0, **settings: Any) -> Lane:
    return LaneConfig(label="x", method=method, lr=1.0, threshold=threshold, **settings).as_lane(STEPS)


def turns(*pairs: tuple[int, Callable[..., torch.optim.Optimizer]]) -> Callable[[Any, float], Switched]:
    """Each optimizer until its last step; parameters come as a generator, and all of them need the same ones."""

    def start(parameters: Any, lr: float) -> Switched:
        own = list(parameters)
        return Switched([(last, partial(make, own, lr)) for last, make in pairs])

    return start


# Between them: each way to give a phase, each direction of a switch, and decay, which is decoupled here.
SWITCHED = {
    "Adam, then RAdam": (lane("radam", steps_1_4="adam"), turns((4, ADAM), (STEPS, RADAM))),
    "the paper's second row": (lane("adam-4-radam"), turns((4, ADAM), (STEPS, RADAM))),
    "momentum, Adam, RAdam": (
        lane("radam", steps_1_4="momentum", steps_5_8="adam"),
        turns((4, RADAM), (8, ADAM), (STEPS, RADAM)),
    ),
    # As the paper has it: at step 9, where RAdam comes in, rho is above both thresholds.
    "the paper's third row": (lane("sgd-4-adam-8-radam", None), turns((4, RADAM), (8, ADAM), (STEPS, RADAM))),
    "RAdam, but Adam for 5-8": (lane("radam", None, steps_5_8="adam"), turns((4, RADAM), (8, ADAM), (STEPS, RADAM))),
    "RAdam, then Adam": (lane("adam", steps_1_4="radam", steps_5_8="radam"), turns((8, RADAM), (STEPS, ADAM))),
    "with weight decay": (
        lane("radam", steps_1_4="adam", weight_decay=0.1),
        turns((4, ADAMW), (STEPS, RADAMW)),
    ),
    "at another beta2": (
        lane("radam", steps_1_4="adam", beta2=0.99),
        turns((4, partial(ADAM, betas=(0.9, 0.99))), (STEPS, partial(RADAM, betas=(0.9, 0.99)))),
    ),
}


def test_phased_lanes_are_optimizers_that_hand_over_their_state():
    problem = TASKS["digits"].open({"width": 2})
    assert largest_difference(problem, lr=0.1, batch_size=4, steps=STEPS, pairs=SWITCHED) < 1e-9


def test_the_loops_would_notice_a_state_that_is_not_carried_over():
    """A phase that begins anew differs from its first step on, by far more than rounding."""

    class Forgetful(Switched):
        def step(self) -> None:
            if self.t == 4:
                self.optimizer.state.clear()
                self.turns = self.turns[1:]
                self.optimizer = self.turns[0][1]()
            super().step()

    problem = TASKS["digits"].open({"width": 2})
    ours, _ = SWITCHED["Adam, then RAdam"]

    def forgetful(parameters: Any, lr: float) -> Forgetful:
        own = list(parameters)
        return Forgetful([(4, partial(ADAM, own, lr)), (STEPS, partial(RADAM, own, lr))])

    assert largest_difference(problem, lr=0.1, batch_size=4, steps=5, pairs={"x": (ours, forgetful)}) > 1e-3
