"""Tables for reading and for downloading, each made once for all visitors who have set the same.

They are Arrow's, in which form they go to the browser: pandas' would be turned into it again for each visitor.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import numpy as np
import pandas as pd
import pyarrow as pa

from dashboard.figures.methods import WARMUP_CURVES
from dashboard.remembered import shared
from radam_core.comparison import effective_warmups, linear_of_equal_cost
from radam_core.methods import BRANCHES, PROFILES, Method
from radam_core.theory import rho

P = ParamSpec("P")
MOST_TABLES = 64  # of each kind: the largest, of 1000 steps, has 40 kB


def _made_once(build: Callable[P, pd.DataFrame]) -> Callable[P, pa.Table]:
    @shared(MOST_TABLES)
    @wraps(build)
    def table(*settings: P.args, **named: P.kwargs) -> pa.Table:
        return pa.Table.from_pandas(build(*settings, **named))

    return table


@_made_once
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


@shared(MOST_TABLES)
def step_csv(method: Method, steps: int) -> str:
    return str(step_table(method, steps).to_pandas().to_csv(index=False))


@_made_once
def effective_warmup_table(beta2: float, warmup_steps: float, tau: float, threshold: float) -> pd.DataFrame:
    """T(w) of every warmup, beside the length it was given or has by itself, and the linear warmup that costs as much."""
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
            "warmup": [WARMUP_CURVES[name].name.replace("<sub>t</sub>", "ₜ") for name in effective],
            "its length": [lengths[name] for name in effective],
            "T(w), its cost": [f"{cost:,.1f}" if cost < np.inf else "it never ends" for cost in effective.values()],
            "as linear over": [
                f"{linear_of_equal_cost(cost):,.0f}" if cost < np.inf else "no length" for cost in effective.values()
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


@_made_once
def implementation_table(profiles: tuple[str, ...]) -> pd.DataFrame:
    """Where the published implementations differ, in words."""
    rows = []
    for name in profiles:
        knobs = PROFILES[name]
        rows.append(
            {
                "implementation": PROFILE_NAMES[name],
                "rectifies when": f"ρₜ {'≥' if knobs['at_threshold'] else '>'} {knobs['threshold']:g}",
                "below that": _BELOW[knobs["below"]],
                "epsilon": f"{_EPSILONS.get(name, '')}{knobs['eps']:g}, {knobs['eps_placement']} bias correction",
                "weight decay": _DECAYS.get(name, "decoupled" if knobs["decoupled_weight_decay"] else "L2"),
            }
        )
    return pd.DataFrame(rows)


_BELOW = {"momentum": "momentum step", "skip": "no step at all"}
_EPSILONS = {"paper": "none in Algorithm 2; here "}
_DECAYS = {"paper": "decoupled (Section 5)", "torch": "L2, decoupled as an option", "optax": "none of its own"}
