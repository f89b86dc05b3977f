"""Sweeps worth running, by name. The same name gives the same cells everywhere."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.asked import protocol
from dashboard.asked.config import TaskConfig
from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_config import SweepConfig
from demo_models.task import Value
from radam_core.torch_methods import LANE_METHODS


@dataclass(frozen=True)
class SweepPreset:
    story: str
    config: SweepConfig


def contender(
    method: str,
    label: str = "",
    lr_times: float = 1.0,
    settings: Mapping[str, Value] | None = None,
    **lane: Any,
) -> dict[str, Any]:
    label = label or LANE_METHODS[method].label
    return {"label": label, "method": method, "lr_times": lr_times, "settings": dict(settings or {}), "lane": lane}


def _sweep(story: str, task: str, contenders: list[dict[str, Any]], axes: dict[str, Any], **others: Any) -> SweepPreset:
    return SweepPreset(story, SweepConfig.make({"task": task, "contenders": contenders, "axes": axes, **others}))


PAPER_RATES = (0.003, 0.01, 0.03, 0.1)
PAPER_WARMUPS = (100, 200, 500, 1000)
FIVE = (0, 1, 2, 3, 4)
MAP_RATES = (0.001, 0.002, 0.003, 0.0045, 0.006, 0.008, 0.012, 0.02)
MAP_WARMUPS = (0, 25, 50, 100, 200, 500, 1000, 2000)
_MAP = [contender("adam-linear", "Adam + warmup"), contender("radam")]
_AT_099: dict[str, Any] = {"beta2": protocol.BETA2, "decay": "linear"}


def _as_contenders(lanes: Iterable[Mapping[str, Any]], lr: float) -> list[dict[str, Any]]:
    """The lanes of a race, whose rates are these times `lr`."""
    names = ("label", "method", "lr")
    return [
        contender(
            lane["method"],
            lane["label"],
            float(f"{lane['lr'] / lr:.12g}"),
            **{name: value for name, value in lane.items() if name not in names},
        )
        for lane in lanes
    ]


def _over_seeds(race: str, story: str, **changes: Any) -> SweepPreset:
    """The lanes of a race over five seeds: the same lanes as the race has at its own."""
    config = PRESETS[race].config.changed(**changes)
    lr = config.lanes[0].lr
    lanes = [lane.model_dump(exclude_none=True, exclude_defaults=True) for lane in config.lanes]
    shared = {name: getattr(config, name) for name in TaskConfig.model_fields if name != "task"}
    return _sweep(story, config.task, _as_contenders(lanes, lr), {"lr": (lr,)}, seeds=FIVE, **shared)


SWEEPS: dict[str, SweepPreset] = {
    "rates": _sweep(
        "The paper's robustness to the learning rate: its four rates, with Adam, SGD and RAdam, on digits.",
        "digits",
        [contender("adam"), contender("sgd"), contender("radam")],
        {"lr": PAPER_RATES},
        seeds=FIVE,
    ),
    "warmup-lengths": _sweep(
        "The paper's comparison with tuned warmups: 100, 200, 500 and 1,000 steps against RAdam at its four rates, on "
        "digits.",
        "digits",
        [contender("adam-linear", "Adam + warmup"), contender("radam")],
        {"lr": PAPER_RATES, "warmup_steps": PAPER_WARMUPS},
        steps=1500,
        seeds=FIVE,
    ),
    "map": _sweep(
        "Which warmup does each rate need? Adam with eight warmup lengths beside RAdam on numbers, in 300 steps. In so "
        "short a run RAdam's $r_t$ stays below 0.38: it is itself a warmup that is not over when the run is.",
        "numbers",
        _MAP,
        {"lr": MAP_RATES, "warmup_steps": MAP_WARMUPS},
        steps=300,
    ),
    "map-long": _sweep(
        "The same map over 2,000 steps, in which $r_t$ gets to 0.83 and the longest warmup comes to its end.",
        "numbers",
        _MAP,
        {"lr": MAP_RATES, "warmup_steps": MAP_WARMUPS},
        steps=2000,
        record_every=2,
    ),
    "best-against-best": _sweep(
        "Every method over a grid of rates, at β₂ 0.99 with a linear decay: as the race best-against-best chose them.",
        "numbers",
        _as_contenders(protocol.contenders_and_sgd(protocol.LR), protocol.LR),
        {"lr": protocol.GRID},
        steps=protocol.STEPS,
    ),
    "beta2": _sweep(
        "RAdam over β₂ and the learning rate: β₂ sets the length of its warmup, and how long $v$ remembers.",
        "numbers",
        [contender("radam")],
        {"lr": (0.001, 0.002, 0.004, 0.008, 0.016, 0.032), "beta2": (0.9, 0.95, 0.98, 0.99, 0.995, 0.999)},
        steps=500,
    ),
    "norms": _sweep(
        "Who needs warmup? Post-LN against Pre-LN over learning rates: Adam, Adam with 200 steps of warmup, and RAdam.",
        "numbers",
        [
            contender(method, f"{label}, {norm.capitalize()}-LN", settings={"norm": norm}, **{**_AT_099, **own})
            for norm in ("post", "pre")
            for method, label, own in (
                ("adam", "Adam", {}),
                ("adam-linear", "Adam + warmup 200", {"warmup_steps": protocol.UNTUNED}),
                ("radam", "RAdam", {}),
            )
        ],
        {"lr": (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)},
        steps=500,
    ),
    "valley-rates": _sweep(
        "A sweep of a few seconds, to try the page: two parameters in Rosenbrock's valley, seven rates, five seeds.",
        "surfaces",
        [
            contender("adam"),
            contender("adam-linear", "Adam + warmup 200", warmup_steps=200),
            contender("radam", "RAdam (authors)", profile="authors"),
            contender("sgd", lr_times=0.01),
        ],
        {"lr": (0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)},
        seeds=FIVE,
    ),
    "figure-1": _over_seeds("figure-1", "The race figure-1 over five seeds: the paper's Figure 1 and its NMT table."),
    "collapse": _over_seeds("collapse", "The race collapse over five seeds: the paper's Figures 2 and 3."),
    "language-model": _over_seeds("language-model", "The race language-model over five seeds: the paper's Figure 4."),
    "digits": _over_seeds("digits", "The race digits over five seeds: the paper's Figure 5 and its table."),
    "appendix-c": _over_seeds("appendix-c", "The race appendix-c over five seeds: the paper's table of four steps."),
    "appendix-c-numbers": _over_seeds(
        "appendix-c-numbers",
        "The same four steps where a slow start matters: on numbers at lr 6e-3 and β₂ 0.99 with a linear decay.",
    ),
}
