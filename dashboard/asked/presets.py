"""Races worth running, by name. Each is a whole configuration: the same name gives the same run everywhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from dashboard.asked import protocol
from dashboard.asked.config import RaceConfig
from dashboard.asked.protocol import lane
from demo_models import TASKS
from demo_models.descriptions import PAPER_RUNS
from demo_models.task import Value


@dataclass(frozen=True)
class Preset:
    story: str
    config: RaceConfig
    may: str = ""  # what a visitor may conclude from it, and what not


def named(config: RaceConfig) -> dict[str, str]:
    """What an address calls a race: by the name of a preset or task, or written out. `ValueError` if it may not be."""
    for name, preset in PRESETS.items():
        if preset.config == config:
            return {"preset": name}
    if task_race(config.task) == config:
        return {"task": config.task}
    return {"config": config.to_link()}


@cache
def task_race(task: str) -> RaceConfig:
    """A task at its own defaults, with Adam, Adam + warmup and RAdam."""
    lr = TASKS[task].lr
    lanes = [lane("adam", lr), lane("adam-linear", lr, "Adam + warmup", warmup_steps=200), lane("radam", lr)]
    return RaceConfig.make({"task": task, "lanes": lanes})


def _preset(
    story: str,
    task: str,
    lanes: list[dict[str, Any]],
    settings: Mapping[str, Value] | None = None,
    may: str = "",
    **race: Any,
) -> Preset:
    return Preset(story, RaceConfig.make({"task": task, "lanes": lanes, "settings": settings or {}, **race}), may)


def _warmups(lr: float) -> list[dict[str, Any]]:
    shared: dict[str, Any] = {"beta2": protocol.BETA2, "decay": "linear"}
    return [
        lane("adam", lr, **shared),
        lane("adam-linear", lr, "Linear, 50 steps", warmup_steps=50, **shared),
        lane("adam-linear", lr, "Linear, 100 steps", warmup_steps=100, **shared),
        lane("adam-untuned-linear", lr, "Untuned linear (200)", **shared),
        lane("adam-exponential", lr, "Exponential, 50 steps", warmup_steps=50, **shared),
        lane("adam-untuned-exponential", lr, "Untuned exponential (100)", **shared),
        lane("radam", lr, **shared),
        lane("gi-adam", lr, **shared),
    ]


def _paper_run(name: str) -> Preset:
    run = PAPER_RUNS[name]
    shared: dict[str, Any] = {"decay": run.decay, "weight_decay": run.weight_decay}
    return _preset(
        f"{run.label}: lr {run.lr:g}, {run.epochs} epochs, a tenth of lr after 81 and 122. At this rate "
        "the paper reports Adam with 100 steps of warmup as failing (ResNet-20), and RAdam not. Hours without a GPU.",
        "images",
        [
            lane("sgd", run.lr, **shared),
            lane("adam", run.lr, **shared),
            lane("adam-linear", run.lr, "Adam + warmup 100", warmup_steps=100, **shared),
            lane("adam-linear", run.lr, "Adam + warmup 1,000", warmup_steps=1000, **shared),
            lane("radam", run.lr, **shared),
        ],
        {**run.settings, "held_out": run.held_out},
        steps=run.steps,
        batch_size=run.batch_size,
        evaluate_every=1955,
        steps_per_frame=20,
        record_every=20,
    )


PRESETS: dict[str, Preset] = {
    "figure-1": _preset(
        "The race at one learning rate: the paper's Figure 1 in miniature, a Post-LN Transformer at lr 6e-3 and "
        "β₂ 0.99, with a linear decay.",
        "numbers",
        protocol.contenders(protocol.LR),
        may="You may conclude: at this rate a slow start decides. Over five seeds a warmup of 200 steps, RAdam and GI-Adam "
        "(small steps, a poor v) learned at 5 of 5, Adam at 0 of 5, and Adam-2k (full steps, a well-filled v) at 1 of 5. "
        "You may not: that RAdam beats a warmup (both end below 0.005), or that Adam needs one at its own best rate; see "
        "best-against-best.",
        steps=protocol.STEPS,
    ),
    "collapse": _preset(
        "The first 100 steps, and what the gradients do in them: the paper's Figures 2 and 3, at its β₂ of 0.999.",
        "numbers",
        protocol.collapse(),
        may="You may conclude: at lr 6e-3 Adam's gradients collapse within ten steps, the median from $10^{-2.5}$ to $10^{-5.8}$ "
        "over five seeds, and those of Adam + warmup and RAdam do not ($10^{-3.1}$ and $10^{-3.2}$). Adam-2k meets the same as "
        "soon as it moves. You may not: who ends best, since 100 steps are no training run, nor that the variance is the "
        "cause, since both slow starts also take smaller steps.",
        steps=100,
        evaluate_every=50,
        half_batch_steps=100,
    ),
    "best-against-best": _preset(
        "Each method at its own best learning rate of five, chosen by two other seeds.",
        "numbers",
        protocol.best(),
        may="You may conclude: at its own best rate Adam without warmup learns, too (2e-3: 0.002 to 0.006 over five seeds). A "
        "slow start buys higher rates: on the grid, at two other seeds, both warmups, RAdam and GI-Adam end below 0.005 at 4e-3, "
        "where Adam ends above 1.3 at both; at 8e-3 the warmup of 200 steps and RAdam still do. You may not: rank lanes that end this "
        "near to 0, or carry the rates to another task.",
        steps=protocol.STEPS,
    ),
    "horizon": _preset(
        "The horizon trap: β₂ 0.999, lr 6e-3 without decay, and 2,000 steps, in which $r_t$ gets to 0.83.",
        "numbers",
        protocol.horizon(),
        may="You may conclude: who is ahead depends on when one looks. RAdam and the untuned warmup have learned at 5 of 5 seeds at "
        "step 1,000 and at 3 of 5 at step 2,000, as their rate goes on rising; Adam without warmup at 2e-3 ends at 0.010 or less at every "
        "seed. You may not: blame the early variance for what is lost after step 1,000, where $v$ holds hundreds of gradients.",
        steps=2000,
    ),
    "figure-1-quick": _preset(
        "The race at one learning rate at 4+4 layers, lr 8e-3 and half the steps, in a third of the time.",
        "numbers",
        protocol.contenders(8e-3),
        {"depth": 4},
        steps=500,
    ),
    "pre-ln": _preset(
        "The contenders of figure-1 with layer norm before each layer, which hardly needs warmup (Xiong et al. 2020).",
        "numbers",
        protocol.contenders(protocol.LR),
        {"norm": "pre"},
        steps=protocol.STEPS,
    ),
    "warmups": _preset(
        "Which warmup? Tuned and untuned ones beside RAdam (Ma & Yarats 2021), at β₂ 0.99 with a linear decay.",
        "numbers",
        _warmups(protocol.LR),
        steps=protocol.STEPS,
    ),
    "digits": _preset(
        "A ResNet with batch norm, a counterexample: at these rates all four methods learn at each of five seeds, with or without "
        "a slow start.",
        "digits",
        [
            lane("adam", 1e-2),
            lane("adam-linear", 1e-2, "Adam + warmup", warmup_steps=100),
            lane("radam", 1e-2),
            lane("sgd", 3e-2),
        ],
    ),
    "appendix-c": _preset(
        "The paper's Appendix C on digits: what the first eight steps do, at lr 0.1.",
        "digits",
        [lane(name, 0.1) for name in ("radam", "adam-4-radam", "sgd-4-adam-8-radam", "adam")],
        dense_steps=8,
    ),
    "appendix-c-numbers": _preset(
        "The same first eight steps where a slow start matters: number words at lr 6e-3 and β₂ 0.99, with a linear decay.",
        "numbers",
        [
            lane(name, protocol.LR, beta2=protocol.BETA2, decay="linear")
            for name in ("radam", "adam-4-radam", "sgd-4-adam-8-radam", "adam")
        ],
        steps=500,
        dense_steps=8,
    ),
    "language-model": _preset(
        "An LSTM with adaptive softmax, gradients clipped at norm 5 as in the paper's language model.",
        "text",
        [
            lane("adam", 1e-2, clip=5.0),
            lane("adam-linear", 1e-2, "Adam + warmup", warmup_steps=100, clip=5.0),
            lane("radam", 1e-2, clip=5.0),
        ],
    ),
    "valley": _preset(
        "Rosenbrock's valley with a noisy gradient: the paper's RAdam leaps off the steep wall in its first momentum "
        "steps, the authors' code takes none.",
        "surfaces",
        [
            lane("adam", 2e-2),
            lane("adam-linear", 2e-2, "Adam + warmup", warmup_steps=200),
            lane("radam", 2e-2, "RAdam (authors)", profile="authors"),
            lane("radam", 2e-2),
            lane("sgd", 1e-4),
        ],
    ),
    "resnet-20": _paper_run("resnet-20"),
    "resnet-18": _paper_run("resnet-18"),
}
