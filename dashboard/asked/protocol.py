"""The races on `numbers` that the lab's claims rest on: their protocol, chosen before any of them was run, and kept.

Why these settings:
- beta2 0.99: r_t is at 0.9 by step 277 and at 1 by the end, so that RAdam is tried at the same rate as the others. At
  0.999 it needs 2,737 steps for that ("the horizon trap"), which the race `horizon` shows by itself.
- 1,000 steps and a linear decay to 0, as in the paper's translation runs; a lane-step takes some 20 ms.
- Warmups of 50 steps and of 200 = 2/(1 - beta2), the untuned length of Ma & Yarats. The paper's 4,000 of 70,000 steps
  would be 57 of 1,000.
- Adam-2k is frozen for 2/(1 - beta2) steps, as the paper's 2,000 are at 0.999, and has 800 updates left.
- GI-Adam has small early steps with a v as poor as Adam's, strict Adam-2k has full steps with a well-filled v: together
  they tell size from variance.
- Adam-eps at the paper's 1e-4 and at 1e-2.
- One learning rate for all: 6e-3, the rate that this lab had before, at which Adam without warmup was known to fail at
  beta2 0.999. It is a rate at which something happens, and nobody's best.
- Best against best: each lane at its own best of five rates, a factor of 2 apart, by the mean final loss over two
  seeds that no table shows. SGD's rates are ten times Adam's.
- Five seeds. The final loss is the mean over the last 20 steps.
"""

from typing import Any

from radam_core.torch_methods import LANE_METHODS

BETA2, STEPS, WARMUP, UNTUNED = 0.99, 1000, 50, 200
LR = 6e-3
GRID = (1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2)
SGD_TIMES = 10  # SGD's rates over Adam's
SEEDS, TUNING_SEEDS = range(5), (100, 101)


def lane(method: str, lr: float, label: str = "", **settings: Any) -> dict[str, Any]:
    return {"label": label or LANE_METHODS[method].label, "method": method, "lr": lr, **settings}


def contenders(lr: float) -> list[dict[str, Any]]:
    """All at one learning rate."""
    shared: dict[str, Any] = {"beta2": BETA2, "decay": "linear"}
    return [
        lane("adam", lr, **shared),
        lane("adam-linear", lr, f"Adam + warmup {WARMUP}", warmup_steps=WARMUP, **shared),
        lane("adam-linear", lr, f"Adam + warmup {UNTUNED}", warmup_steps=UNTUNED, **shared),
        lane("radam", lr, **shared),
        lane("gi-adam", lr, **shared),
        lane("adam-2k", lr, frozen_steps=UNTUNED, **shared),
        lane("adam-eps", lr, "Adam-eps 1e-4", eps=1e-4, **shared),
        lane("adam-eps", lr, "Adam-eps 1e-2", eps=1e-2, **shared),
    ]


def contenders_and_sgd(lr: float) -> list[dict[str, Any]]:
    return [*contenders(lr), lane("sgd", SGD_TIMES * lr, decay="linear")]


# What the grid found (docs/RESULTS.md; `python -m bench.reproduce grid`): each contender's best learning rate.
BEST = {
    "Adam": 2e-3,
    "Adam + warmup 50": 4e-3,
    "Adam + warmup 200": 8e-3,
    "RAdam": 4e-3,
    "GI-Adam": 4e-3,
    "Adam-2k": 2e-3,
    "Adam-eps 1e-4": 2e-3,
    "Adam-eps 1e-2": 4e-3,
    "SGD": 4e-2,
}


def best() -> list[dict[str, Any]]:
    """Each contender at its own best rate."""
    return [{**row, "lr": BEST[row["label"]]} for row in contenders_and_sgd(LR)]


def collapse() -> list[dict[str, Any]]:
    """The contenders of the paper's Figures 1 to 3, at its beta2 of 0.999. SGD's learning rate is its own."""
    return [
        lane("adam", LR),
        lane("adam-linear", LR, "Adam + warmup", warmup_steps=200),
        lane("radam", LR),
        lane("adam-eps", LR),
        lane("adam-2k", LR, frozen_steps=50),
        lane("adam-2k-authors", LR, frozen_steps=50),
        lane("sgd", 1e-2),
    ]


def horizon() -> list[dict[str, Any]]:
    """At beta2 0.999 and a constant rate, long enough that r_t gets to 0.83."""
    return [
        lane("adam", LR),
        lane("adam-linear", LR, "Adam + warmup 200", warmup_steps=200),
        lane("adam-untuned-linear", LR, "Untuned linear (2,000)"),
        lane("radam", LR),
        lane("gi-adam", LR),
        lane("adam", 2e-3, "Adam, lr 2e-3"),
    ]
