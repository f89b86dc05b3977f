"""Code to take along: the chosen RAdam with `radam_core` and, where it can be had, with `torch.optim`."""

from radam_core.methods import PROFILES


def radam_core_snippet(profile: str, lr: float, betas: tuple[float, float], weight_decay: float) -> str:
    return "\n".join(
        [
            "from radam_core import RAdam",
            "",
            f'optimizer = RAdam(model.parameters(), profile="{profile}", {_common(lr, betas, weight_decay)})',
        ]
    )


def torch_snippet(profile: str, lr: float, betas: tuple[float, float], weight_decay: float) -> str | None:
    """The same with torch.optim.RAdam, or None when torch has no setting for it.

    torch rectifies above 5 and has epsilon before bias correction; only the decay can be chosen. The test rho_t >= 5
    instead of > 5 makes no difference at any step, because rho_t is never exactly 5 there.
    """
    knobs = PROFILES[profile]
    if (knobs["threshold"], knobs["below"], knobs["eps_placement"]) != (5.0, "momentum", "before"):
        return None
    decoupled = ", decoupled_weight_decay=True" if knobs["decoupled_weight_decay"] and weight_decay else ""
    return "\n".join(
        [
            "import torch",
            "",
            f"optimizer = torch.optim.RAdam(model.parameters(), {_common(lr, betas, weight_decay)}{decoupled})",
        ]
    )


def why_not_torch(profile: str) -> str:
    """What torch.optim.RAdam cannot be told of this implementation."""
    knobs = PROFILES[profile]
    reasons = []
    if knobs["threshold"] != 5.0:
        reasons.append(f"rectify above {knobs['threshold']:g}")
    if knobs["below"] == "skip":
        reasons.append("take no step below the threshold")
    if knobs["eps_placement"] == "after":
        reasons.append("add epsilon after bias correction")
    return f"`torch.optim.RAdam` cannot be told to {' or to '.join(reasons)}."


def _common(lr: float, betas: tuple[float, float], weight_decay: float) -> str:
    decay = f", weight_decay={weight_decay:g}" if weight_decay else ""
    return f"lr={lr:g}, betas=({betas[0]:g}, {betas[1]:g}){decay}"
