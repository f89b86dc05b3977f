"""What might foretell a failure: measures of a lane's first steps, each with the reading that names it and the side on
which it warns. Both were written down before any sweep was scored: an AUC below one half warns on the other side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.evidence.outcomes import CellOutcome
from radam_core.evidence import auc

AT_STEPS = (10, 25, 50)
VARIANCE, SIZE, GRADIENTS = "variance", "size", "gradients"


@dataclass(frozen=True)
class Sign:
    name: str
    label: str
    reading: str  # whose: the paper says variance, Ma and Yarats say size; the gradients are what both want to explain
    warns: int  # +1 if large values warn, -1 if small ones do


SIGNS: tuple[Sign, ...] = (
    Sign("gradient", "median log₁₀|g|", GRADIENTS, -1),
    Sign("gradient_fall", "its fall since step 1", GRADIENTS, 1),
    Sign("layers", "gradient norm, first layers over last", GRADIENTS, -1),
    Sign("update_rms", "update, root mean square", SIZE, 1),
    Sign("relative_update", "‖update‖ / ‖θ‖", SIZE, 1),
    Sign("multiplier", "what is left of the rate, wₜ rₜ", SIZE, 1),
    Sign("critical", "part of the critical step that was taken", SIZE, 1),
    Sign("psi_across", "spread of ψ, Var[ln ψ] across parameters", VARIANCE, 1),
    Sign("psi_theory", "spread of ψ in theory, Var[ln ψ] times (wₜ rₜ)²", VARIANCE, 1),
)


def early_signs(found: Sequence[CellOutcome]) -> list[dict[str, Any]]:
    """Each measure's AUC for "does not learn" over the cells that are over; None if none of them failed, or all."""
    over = [one for one in found if one.outcome.over]
    failed = [not one.learns for one in over]
    rows = []
    for sign in SIGNS:
        for step in AT_STEPS:
            scores = [measured(one, sign.name, step) for one in over]
            rows.append(
                {
                    "measure": sign.name,
                    "label": sign.label,
                    "reading": sign.reading,
                    "at_step": step,
                    "auc": auc(sign.warns * np.array(scores, dtype=float), failed) if over else None,
                    "cells": int(np.isfinite(np.array(scores, dtype=float)).sum()),
                }
            )
    return rows


def measured(found: CellOutcome, name: str, step: int) -> float:
    signs: Mapping[int, float] = found.outcome.signs.get(name, {})
    return signs.get(step, float("nan"))
