"""What an optimizer's settings say of a step: the rate in force, rho_t, r_t; for any optimizer of torch and for ours.

An optimizer that is one of our methods tells all of it. Of others the groups tell lr, and betas where there are such:
`KNOWN` says which classes of torch are a `Method`, so that r_t comes from the one formula.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from torch import optim

from radam_core.methods import ADAPTIVE, METHODS, PROFILES, Method
from radam_core.optimizers import MethodOptimizer
from radam_core.theory import rho


class Told(NamedTuple):
    """Of one step; nan where the optimizer has none of it. The names are those of `schedule_columns`."""

    lr: float  # in force, warmup and schedulers in it
    rho: float
    r: float
    multiplier: float  # what the optimizer's own warmup and r_t leave of the group's lr
    branch: int


Group = dict[str, Any]


def _own(group: Group) -> Method:
    return Method.from_settings(group)


def _adam(group: Group) -> Method:
    return _with_betas("adam", float(group["betas"][0]), float(group["betas"][1]))


def _radam(group: Group) -> Method:
    return _with_betas("radam", float(group["betas"][0]), float(group["betas"][1]))


@lru_cache(64)
def _with_betas(name: str, beta1: float, beta2: float) -> Method:
    own = PROFILES["torch"] if name == "radam" else {}
    return replace(METHODS[name], **{**own, "betas": (beta1, beta2)})


KNOWN: dict[type[optim.Optimizer], Callable[[Group], Method]] = {
    MethodOptimizer: _own,
    optim.RAdam: _radam,
    optim.Adam: _adam,
    optim.AdamW: _adam,
    optim.NAdam: _adam,
}


def method_of(optimizer: optim.Optimizer) -> Method | None:
    """The method that an optimizer's first group is; None where it is none of ours. beta2 = 0 has no rho_t."""
    kind = next((known for known in KNOWN if isinstance(optimizer, known)), None)
    group = optimizer.param_groups[0]
    if kind is None or not float(group["betas"][1]) > 0:
        return None
    return KNOWN[kind](group)


def told(optimizer: optim.Optimizer, t: int) -> Told:
    """Of step t of the first group."""
    lr, method = float(optimizer.param_groups[0]["lr"]), method_of(optimizer)
    if method is None:
        return Told(lr, math.nan, math.nan, 1.0, ADAPTIVE)
    lr_factor, rho_t, r, multiplier, branch = _planned(method, (t - 1) // _BLOCK)[(t - 1) % _BLOCK]
    return Told(lr * lr_factor, rho_t, r, multiplier, int(branch))


_BLOCK = 128  # steps that cost little more than one: a watched loop asks at each of its first ones


@lru_cache(64)
def _planned(method: Method, number: int) -> list[tuple[float, ...]]:
    """Of a block of steps: what is left of lr by the method's schedule, rho_t, r_t, both factors, and the branch."""
    t = np.arange(number * _BLOCK + 1, (number + 1) * _BLOCK + 1)
    c = method.coefficients(t)
    both = c.lr_factor * np.where(np.isnan(c.rectification), 1.0, c.rectification)
    columns = (c.lr_factor, rho(t, method.betas[1]), c.rectification, both, c.branch)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def decoupled_decay(optimizer: optim.Optimizer, t: int) -> float:
    """The part of theta that step t takes off by decoupled decay, where the optimizer is known to do so."""
    group = optimizer.param_groups[0]
    decay = float(group.get("weight_decay", 0.0))
    if (
        not decay
        or len(optimizer.param_groups) > 1
        or not group.get("decoupled_weight_decay", isinstance(optimizer, optim.AdamW))
    ):
        return 0.0
    return told(optimizer, t).lr * decay


def optimizer_name(optimizer: optim.Optimizer) -> str:
    """Its class, or which of our methods it runs."""
    return (
        str(optimizer.param_groups[0]["label"]) if isinstance(optimizer, MethodOptimizer) else type(optimizer).__name__
    )


def plain_settings(optimizer: optim.Optimizer) -> dict[str, float | str]:
    """The first group's numbers and names, for people and files."""
    group = dict(optimizer.param_groups[0])
    found: dict[str, float | str] = {"lr": float(group.pop("lr"))}
    found["lr"] = float(group.pop("initial_lr", found["lr"]))  # before its scheduler
    if "betas" in group:
        found |= {f"beta{i}": float(beta) for i, beta in enumerate(group.pop("betas"), 1)}
    plain = {name: value for name, value in group.items() if isinstance(value, int | float | str)}
    return found | {name: value if isinstance(value, str) else float(value) for name, value in plain.items()}
