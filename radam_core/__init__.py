"""radam_core: the theory of RAdam, learning-rate schedules, and one `Method` behind every optimizer.

Importing the package, or its theory, schedules and methods, does not import torch; asking for an optimizer does.
"""

from typing import TYPE_CHECKING, Any

from radam_core.methods import METHODS, PROFILES, Coefficients, Method

if TYPE_CHECKING:
    from radam_core.optimizers import SGDM, Adam, Adam2k, AdamEps, GIAdam, MethodOptimizer, RAdam, make_optimizer

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
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from radam_core import optimizers

        return getattr(optimizers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
