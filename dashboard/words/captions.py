"""What an exported figure says of its settings: in its caption, and in the name of its file."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dashboard.asked.config import RaceConfig
from dashboard.asked.own_config import OwnConfig
from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from demo_models import TASKS

# The settings of the theory's drawings by the names of their arguments.
SYMBOLS = {
    "beta1": "β₁",
    "beta2": "β₂",
    "warmup_steps": "warmup",
    "tau": "τ",
    "mu": "μ",
    "lr": "lr",
    "threshold": "threshold",
    "decay": "decay",
    "trajectories": "trajectories",
    "gradient_size": "|g|",
    "step": "step",
}


def of_settings(settings: Mapping[str, Any]) -> tuple[str, str]:
    """A drawing's settings in words and for a file's name: those that are plain, or the run that it shows."""
    for name, value in settings.items():
        if name == "sweep" and value in SWEEPS:
            return of_sweep(SWEEPS[value].config)
        if name == "race" and value in PRESETS:
            return of_race(PRESETS[value].config)
        if isinstance(value, SweepConfig):
            return of_sweep(value)
    plain = {
        name: value for name, value in settings.items() if name in SYMBOLS and isinstance(value, int | float | str)
    }
    words = ", ".join(f"{SYMBOLS[name]} {_short(value)}" for name, value in plain.items())
    return words, slug(*(f"{name}-{_short(value)}" for name, value in plain.items()))


@lru_cache(256)
def of_race(config: RaceConfig) -> tuple[str, str]:
    name = next((name for name, one in PRESETS.items() if one.config == config.changed(seed=one.config.seed)), "")
    known = {setting.name: setting.default for setting in TASKS[config.task].settings}
    own = [] if name else [f"{key} {value}" for key, value in config.settings.items() if value != known.get(key)]
    words = [name or TASKS[config.task].name, *own, f"{config.steps:,} steps", f"batches of {config.batch_size}"]
    return ", ".join([*words, f"seed {config.seed}"]), slug(name or config.task, *own, f"seed-{config.seed}")


def of_run(config: RaceConfig | OwnConfig) -> tuple[str, str]:
    """Of a run on the race page."""
    return of_own(config) if isinstance(config, OwnConfig) else of_race(config)


def of_own(config: OwnConfig) -> tuple[str, str]:
    """A file's name may be anybody's: it stays a short one."""
    return f"own model, {config.title[:80]}, {config.steps:,} steps", slug("own", config.title[:40])


@lru_cache(256)
def of_sweep(config: SweepConfig) -> tuple[str, str]:
    name = next((name for name, one in SWEEPS.items() if one.config == config.changed(seeds=one.config.seeds)), "")
    seeds = f"seeds {', '.join(map(str, config.seeds))}" if len(config.seeds) > 1 else f"seed {config.seeds[0]}"
    words = [name or TASKS[config.task].name, f"{config.steps:,} steps", f"batches of {config.batch_size}", seeds]
    return ", ".join(words), slug("sweep", name or config.task, f"{len(config.seeds)}-seeds")


def slug(*parts: str) -> str:
    return re.sub(r"[^\w.+-]+", "-", "-".join(part for part in parts if part)).strip("-")


def _short(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
