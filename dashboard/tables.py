"""Tables for reading and for downloading."""

import numpy as np
import pandas as pd

from dashboard.figures.rectification import FACTOR_NAMES
from radam_core.comparison import effective_warmups
from radam_core.methods import BRANCHES, PROFILES, Method
from radam_core.theory import rho


def step_table(method: Method, steps: int) -> pd.DataFrame:
    """t, rho_t, r_t and the branch taken, a row a step."""
    t = np.arange(1, steps + 1)
    c = method.coefficients(t)
    return pd.DataFrame(
        {
            "t": t,
            "rho_t": rho(t, method.betas[1]),
            "r_t": c.rectification,
            "branch": [BRANCHES[int(branch)] for branch in c.branch],
        }
    )


def effective_warmup_table(beta2: float, warmup_steps: float, tau: float, threshold: float) -> pd.DataFrame:
    """T(w) of every warmup, beside the length it was given or has by itself."""
    lengths = {
        "adam-linear": f"{warmup_steps:,.0f}",
        "adam-untuned-linear": f"{2 / (1 - beta2):,.0f} = 2/(1 − β₂)",
        "adam-exponential": f"{tau:,.0f}",
        "adam-untuned-exponential": f"{1 / (1 - beta2):,.0f} = 1/(1 − β₂)",
        "radam": "none to set",
        "gi-adam": "none to set",
    }
    effective = effective_warmups(beta2, warmup_steps, tau, threshold)
    return pd.DataFrame(
        {
            "warmup": [FACTOR_NAMES[name].replace("<sub>t</sub>", "ₜ") for name in effective],
            "its length (steps)": [lengths[name] for name in effective],
            "T(w), steps it is worth": [
                f"{value:,.1f}" if value < np.inf else "it never ends" for value in effective.values()
            ],
        }
    )


PROFILE_NAMES = {
    "paper": "The paper",
    "authors": "The authors' code",
    "torch": "torch.optim.RAdam",
    "optax": "optax.radam",
    "keras": "Keras add-on",
}


def implementation_table(profiles: list[str]) -> pd.DataFrame:
    """Where the published implementations differ, in words."""
    rows = []
    for name in profiles:
        knobs = PROFILES[name]
        rows.append(
            {
                "implementation": PROFILE_NAMES[name],
                "rectifies when": f"ρₜ {'≥' if knobs['at_threshold'] else '>'} {knobs['threshold']:g}",
                "below that": _BELOW[knobs["below"]],
                "epsilon": f"{knobs['eps']:g}, {knobs['eps_placement']} bias correction",
                "weight decay": _DECAYS.get(name, "decoupled" if knobs["decoupled_weight_decay"] else "L2"),
            }
        )
    return pd.DataFrame(rows)


_BELOW = {"momentum": "momentum step", "skip": "no step at all"}
_DECAYS = {"torch": "L2, decoupled as an option", "optax": "none of its own"}
