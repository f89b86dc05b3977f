"""The switches of torch.optim's own optimizers: code that comes from there may leave them where they are."""

from collections.abc import Mapping
from typing import Any

# Taken, and without effect: a step here takes the fastest kernel that fits, fused ones among them, by itself.
TAKEN = ("foreach", "fused")
# Refused when they are on, with what to do instead: to pass over them would be another training.
REFUSED = {
    "maximize": "minimise the negative of what should grow",
    "capturable": "steps are counted in Python, and a CUDA graph would not count",
    "differentiable": "a step leaves no graph to differentiate",
    "amsgrad": "no method here keeps the largest v; torch.optim.Adam does",
    "nesterov": "no method here looks ahead; torch.optim.SGD and NAdam do",
    "dampening": "the momentum here is undamped; torch.optim.SGD has it",
}


def without_switches(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is left of an optimizer's settings; `ValueError` for a switch that is on and cannot be."""
    for name, why in REFUSED.items():
        if given.get(name):
            raise ValueError(f"{name} must be off, got {given[name]!r}: {why}")
    return {name: value for name, value in given.items() if name not in (*TAKEN, *REFUSED)}
