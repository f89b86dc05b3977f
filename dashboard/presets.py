"""Races worth running, by name. Each is a whole configuration: the same name gives the same run everywhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.config import RaceConfig
from demo_models import TASKS
from demo_models.descriptions import PAPER_RUNS
from demo_models.task import Value
from radam_core.methods import METHODS


@dataclass(frozen=True)
class Preset:
    story: str
    config: RaceConfig


def lane(method: str, lr: float, label: str = "", **settings: Any) -> dict[str, Any]:
    return {"label": label or METHODS[method].label, "method": method, "lr": lr, **settings}


def task_race(task: str) -> RaceConfig:
    """A task at its own defaults, with Adam, Adam + warmup and RAdam."""
    lr = TASKS[task].lr
    lanes = [lane("adam", lr), lane("adam-linear", lr, "Adam + warmup", warmup_steps=200), lane("radam", lr)]
    return RaceConfig.make({"task": task, "lanes": lanes})


def _preset(
    story: str, task: str, lanes: list[dict[str, Any]], settings: Mapping[str, Value] | None = None, **race: Any
) -> Preset:
    return Preset(story, RaceConfig.make({"task": task, "lanes": lanes, "settings": settings or {}, **race}))


def _figure_1(lr: float, sgd_lr: float) -> list[dict[str, Any]]:
    """The contenders of the paper's Figures 1 to 3. SGD's learning rate is its own: at Adam's it would hardly move."""
    return [
        lane("adam", lr),
        lane("adam-linear", lr, "Adam + warmup", warmup_steps=200),
        lane("radam", lr),
        lane("adam-eps", lr),
        lane("adam-2k", lr, frozen_steps=200),
        lane("adam-2k-authors", lr, frozen_steps=200),
        lane("sgd", sgd_lr),
    ]


def _warmups(lr: float) -> list[dict[str, Any]]:
    return [
        lane("adam", lr),
        lane("adam-linear", lr, "Linear, 200 steps", warmup_steps=200),
        lane("adam-exponential", lr, "Exponential, 100 steps", warmup_steps=100),
        lane("adam-untuned-linear", lr, "Untuned linear"),
        lane("adam-untuned-exponential", lr, "Untuned exponential"),
        lane("radam", lr),
    ]


def _paper_run(name: str) -> Preset:
    run = PAPER_RUNS[name]
    shared: dict[str, Any] = {"decay": run.decay, "weight_decay": run.weight_decay}
    return _preset(
        f"{run.label}: lr {run.lr:g}, {run.epochs} epochs, a tenth of lr after 81 and 122. Hours without a GPU.",
        "images",
        [
            lane("sgd", run.lr, **shared),
            lane("adam", run.lr, **shared),
            lane("adam-linear", run.lr, "Adam + warmup", warmup_steps=100, **shared),
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
        "The paper's Figure 1 in miniature: a Post-LN Transformer at a learning rate where vanilla Adam gets stuck.",
        "numbers",
        _figure_1(6e-3, sgd_lr=1e-2),
    ),
    "figure-1-quick": _preset(
        "The same at 4+4 layers and lr 8e-3, in half the time.",
        "numbers",
        _figure_1(8e-3, sgd_lr=1e-2),
        {"depth": 4},
        steps=400,
    ),
    "pre-ln": _preset(
        "The same contenders with layer norm before each layer, which hardly needs warmup (Xiong et al. 2020).",
        "numbers",
        _figure_1(6e-3, sgd_lr=1e-2),
        {"norm": "pre"},
    ),
    "warmups": _preset(
        "Which warmup? Tuned and untuned ones beside RAdam (Ma & Yarats 2021).", "numbers", _warmups(6e-3)
    ),
    "digits": _preset(
        "A ResNet with batch norm: every method trains, an honest counterexample.",
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
