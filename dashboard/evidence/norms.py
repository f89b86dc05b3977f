"""Post-LN beside Pre-LN over rates and seeds: whose lines they are, and the largest rate that each of them bears."""

from dashboard.asked.norms import NORMS
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.evidence.findings import Findings, Line, Rate

SWEEP = "norms"
DEPTH = SWEEPS[SWEEP].config.settings["depth"]


def lines_of_norm(found: Findings, norm: str) -> dict[str, Line]:
    """Of that sweep, whose contenders are called "RAdam, Pre-LN": by the method."""
    end = f", {NORMS[norm]}"
    return {one.label.removesuffix(end): one for one in found.lines if one.label.endswith(end)}


def largest_rate(line: Line) -> Rate | None:
    """Up to which, from the smallest on, every seed learns. None where one fails at the smallest, or is not over."""
    found = None
    for rate in line.rates:
        if len(rate.over) < len(rate.cells) or not all(rate.learned):
            break
        found = rate
    return found
