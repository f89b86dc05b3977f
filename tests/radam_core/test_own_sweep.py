"""The map of learning rates and warmups of an own model: its cells are lanes, and its words say what they hold."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from bench.own_models import OWN_MODELS
from radam_core import race_model, sweep_model
from radam_core.own.warmup_map import Cell, WarmupMap

TIED = OWN_MODELS["tied MLP"]


def test_cells_are_lanes_however_they_are_packed():
    torch.set_default_dtype(torch.float64)
    try:
        asked = {"steps": 25, "lrs": (1e-3, 1e-2), "warmups": (10, 0), "seeds": 2}
        found = sweep_model(TIED.make, TIED.loss, TIED.batch, **asked, settings={"weight_decay": 0.1})
        narrow = sweep_model(TIED.make, TIED.loss, TIED.batch, **asked, settings={"weight_decay": 0.1}, at_once=2)
        lanes = {
            "none": lambda p: torch.optim.AdamW(p, 1e-2, weight_decay=0.1),
            "warm": {"method": "adam-linear", "warmup_steps": 10, "lr": 1e-2, "weight_decay": 0.1},
            "radam": {"method": "radam", "lr": 1e-2, "weight_decay": 0.1},
        }
        alone = race_model(TIED.make, TIED.loss, TIED.batch, lanes, steps=25, seed=1)
    finally:
        torch.set_default_dtype(torch.float32)
    assert len(found.recordings) == 2
    assert len(narrow.recordings) == 6
    for cell in found.cells:
        (other,) = [one for one in narrow.at(cell.lr, cell.warmup_steps) if one.seed == cell.seed]
        assert cell.final_loss == pytest.approx(other.final_loss, rel=1e-6)
    for place, length in enumerate((0, 10, None)):
        assert found.at(1e-2, length)[1].final_loss == pytest.approx(alone.final_losses[place], rel=1e-6)
    head, lines = found.table()
    assert head == ["lr", "warmup 0", "warmup 10", "RAdam", "shortest"]
    assert lines[1][1] == pytest.approx(np.mean([cell.final_loss for cell in found.at(1e-2, 0)]))
    assert len(str(found).splitlines()) == 3


def made(losses, steps=300, **rest):
    """A map by hand: {(lr, warmup): final losses by seed}, all of which began at 4."""
    cells = [
        Cell(lr, length, seed, 4.0, loss, 7 if math.isnan(loss) else None, loss < 2)
        for (lr, length), by_seed in losses.items()
        for seed, loss in enumerate(by_seed)
    ]
    return WarmupMap(tuple(cells), steps, "adam", 0.999, None, "", 0.0, (), **rest)


def test_its_words_say_the_shortest_warmup_that_works():
    lost = math.nan
    found = made(
        {
            (1e-3, 0): (1.0, 1.0, 1.2), (1e-3, 50): (1.1, 1.1, 1.1), (1e-3, 500): (1.0, 1.0, 1.0),
            (1e-2, 0): (lost, 3.9, 3.8), (1e-2, 50): (0.1, 0.2, 0.3), (1e-2, 500): (1.0, 1.0, 1.0),
            (1e-1, 0): (3.9, 3.9, 3.9), (1e-1, 50): (3.9, 3.9, 1.0), (1e-1, 500): (1.0, 1.0, 1.0),
            (1e-3, None): (1.5, 1.5, 1.5), (1e-2, None): (0.3, 0.3, 0.3), (1e-1, None): (3.0, 3.0, 1.0),
        }
    )  # fmt: skip
    assert [found.shortest_warmup(lr) for lr in found.lrs] == [0, 50, None]
    assert found.words.splitlines() == [
        "Warmup helps: the best is lr 0.01 with a warmup of 50 steps (final loss 0.2), against lr 0.001 without any "
        "(final loss 1.067).",
        "At lr 0.001: Adam learns without warmup (final loss 1.067); RAdam learns (1.5).",
        # The one that was lost counts with its first loss: (4 + 3.9 + 3.8) / 3.
        "At lr 0.01: Adam needs a warmup of 50 steps (final loss 0.2, 3.9 without); RAdam learns (0.3).",
        "At lr 0.1: Adam learns with none of the warmups up to 50 steps (final loss 2.933); "
        "RAdam does not learn (2.333).",
        "Learns: the mean loss of the last 20 of 300 steps is below 50% of its first loss, at two thirds of 3 seeds.",
        "Warmups beyond the run (500) never come to their rate, and do not count.",
        "RAdam's r_t is 0.37 at step 300 (beta2 0.999): this run tests it at a fraction of its rate.",
    ]
    assert found.rows()[6]["status"] == "finished"
    assert [row["status"] for row in found.rows() if row["final_loss"] is None] == ["diverged at step 7"]


ANSWERS = {
    "Warmup is not needed for the best result: lr 0.1 with no warmup (final loss 0.5).": (0.5, 0.6),
    "Warmup is not needed: lr 0.1 without any (final loss 0.51) is within 5% of the best, lr 0.1 with a warmup of 50": (
        0.51,
        0.5,
    ),
    "Warmup is needed: no rate learned without it, and the best is lr 0.1 with a warmup of 50 steps (final": (
        3.0,
        0.5,
    ),
    "No rate learned with any of the warmups": (3.0, 3.0),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_answer_comes_first(answer):
    without, warmed = ANSWERS[answer]
    words = made({(0.1, 0): (without,), (0.1, 50): (warmed,)}).words
    assert words.startswith(answer)
    assert "One seed is an anecdote" in words


def test_refusals_come_all_at_once():
    with pytest.raises(ValueError, match="6 things to change:") as caught:
        sweep_model(
            nn.Linear(1, 1), None, iter([1]), steps=5, lrs=(0,), warmups=(-1,), seeds=2, method="radam"
        )  # fmt: skip
    for told in (
        "lrs must be learning rates above 0, got [0]",
        "warmups must be whole numbers of steps, 0 for none, got [-1]",
        "method must be one of adam, adam-2k",
        "steps must be a whole number, at least 20, got 5",
        "model must be a function that makes it where seeds are several",
        "a sweep goes through them several times",
    ):
        assert told in str(caught.value)
