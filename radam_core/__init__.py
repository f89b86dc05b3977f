"""radam_core: the theory of RAdam, learning-rate schedules, and one `Method` behind every optimizer.

Importing the package, or its theory, schedules and methods, does not import torch; asking for an optimizer does, and
so does asking for what runs your own model: `race_model`, `sweep_model` and `watch`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from radam_core.methods import METHODS, PROFILES, Coefficients, Method

if TYPE_CHECKING:
    from radam_core.optimizers import SGDM, Adam, Adam2k, AdamEps, GIAdam, MethodOptimizer, RAdam, make_optimizer
    from radam_core.own.racing import race_model
    from radam_core.own.run_file import save as save_run
    from radam_core.own.run_reading import read as read_run
    from radam_core.own.warmup_map import sweep_model
    from radam_core.own.watching import watch

__all__ = [
    "METHODS",
    "PROFILES",
    "SGDM",
    "Adam",
    "Adam2k",
    "AdamEps",
    "Coefficients",
    "GIAdam",
    "Method",
    "MethodOptimizer",
    "RAdam",
    "make_optimizer",
    "race_model",
    "read_run",
    "save_run",
    "sweep_model",
    "watch",
]
# What is not an optimizer, by its room and its name there.
_OWN = {
    "race_model": ("racing", "race_model"),
    "read_run": ("run_reading", "read"),
    "save_run": ("run_file", "save"),
    "sweep_model": ("warmup_map", "sweep_model"),
    "watch": ("watching", "watch"),
}


def __getattr__(name: str) -> Any:
    if name in _OWN:
        module, own = _OWN[name]
        return getattr(import_module(f"radam_core.own.{module}"), own)
    if name in __all__:
        from radam_core import optimizers

        return getattr(optimizers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
