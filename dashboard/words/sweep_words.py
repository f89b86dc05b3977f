"""What a sweep says in sentences, each from its own numbers, and what its words mean."""

from typing import Any

from dashboard.asked.grid import Grid, GridContender
from dashboard.asked.sweep_config import WARMUP
from dashboard.evidence.findings import Findings, Needed
from dashboard.evidence.signs import GRADIENTS, SIZE, VARIANCE
from radam_core.evidence import LEARNED, MOST_SEEDS, WITHIN
from radam_core.torch_methods import LANE_METHODS

ENOUGH_TO_TELL = 5  # cells that failed, and as many that did not: an AUC over fewer is an anecdote


def glossary(config: Grid) -> str:
    baseline = config.baseline(0)
    reference = (
        f"the task's baseline of {baseline:.2f}, what it costs to ignore the input"
        if baseline
        else "its own first loss"
    )
    return "\n".join(
        (
            "- **Cell**: one lane, a whole training run at one choice of all settings and one seed. A map shows the mean over "
            "the seeds, or every seed.",
            f"- **Learns**: the final loss (the mean of the last 20 steps) is below {LEARNED:.0%} of {reference}. A run that "
            "diverged does not learn.",
            f"- **Shortest warmup that works**: the smallest length from which on at least {_two_thirds()} of the seeds "
            "learn, the orange line in a map. Lengths beyond the run's own steps never reach the full rate, and are not counted.",
            f"- **Robust share**: the part of the learning rates, in log lr, whose mean metric on held-out data is within "
            f"{WITHIN:.0%} of the method's best.",
            "- **LR sensitivity** (Wortsman et al. 2023): the mean over the rates of the final loss, at most the first loss, "
            "less the smallest of them. 0: every rate ends as well as the best one.",
            "- **AUC**: the chance that a lane which does not learn had a higher score than one that does; 0.5 is a coin, "
            "and below it the measure warns on the other side.",
        )
    )


def _two_thirds() -> str:
    return "two thirds" if abs(MOST_SEEDS - 2 / 3) < 1e-9 else f"{MOST_SEEDS:.0%}"


def warmup_sentences(found: Findings) -> list[str]:
    """By learning rate: the shortest warmup that works for those that have one, and who learns without."""
    config = found.config
    needed = {number: found.needed(number) for number in range(len(config.contenders))}
    needed = {number: rows for number, rows in needed.items() if rows}
    if not needed:
        return []
    rates = sorted({row.lr for rows in needed.values() for row in rows})
    longest = max((length for length in config.axes[WARMUP] if length <= config.steps), default=None)
    told = []
    for lr in rates:
        parts = [
            _needed_words(config.contenders[number].label, row, min(config.axes[WARMUP]), longest)
            for number, rows in needed.items()
            for row in rows
            if row.lr == lr
        ]
        parts += [
            _without_words(config.contenders[number], found.learned_without(number, lr))
            for number in range(len(config.contenders))
            if number not in needed
        ]
        told.append(f"At lr {lr:g}: {'; '.join(part for part in parts if part)}.")
    return told


def _needed_words(label: str, row: Needed, shortest: float, longest: float | None) -> str:
    at = "".join(f", {name} {value}" for name, value in row.at.items())
    if row.tried < row.of:
        return f"{label}{at}: {row.tried} of {row.of} lengths are known"
    if longest is None:
        return f"{label}{at} was tried with lengths beyond the run only"
    if row.length is None:
        return f"{label}{at} learns with none of the lengths up to {longest:g}, the longest that come to the full rate"
    if row.length == 0:
        return f"{label}{at} learns without any"
    if row.length == shortest:
        return f"{label}{at} learns from {row.length:g} steps on, the shortest that was tried"
    return f"{label}{at} needs {row.length:g} steps"


def _without_words(contender: GridContender, share: float | None) -> str:
    if share is None:
        return ""
    label = contender.label
    warms = contender.lane.get("warmup", _own_warmup(contender.method)) != "none"  # a fixed one, or one of its own
    if share >= MOST_SEEDS - 1e-9:
        return (
            f"{label} learns" + ("" if warms else " without") + ("" if share == 1 else f" at {share:.0%} of the seeds")
        )
    return f"{label} does not learn" if share == 0 else f"{label} learns at {share:.0%} of the seeds"


def _own_warmup(method: str) -> str:
    return LANE_METHODS[method].warmup if method in LANE_METHODS else "none"


READINGS = {
    GRADIENTS: "the gradients themselves, which both readings want to explain",
    SIZE: "size (Ma & Yarats 2021): early updates are too large",
    VARIANCE: "variance (the paper): early adaptive rates are too uncertain",
}


def sign_sentences(found: Findings) -> list[str]:
    over = [one for one in found.found if one.outcome.over]
    failed = sum(not one.learns for one in over)
    if not failed or failed == len(over):
        every = "every one learned" if not failed else "none learned"
        return [
            f"Of {len(over)} lanes that are over, {every}: there is nothing to foretell."
            if over
            else "No lane is over yet."
        ]
    told = [f"{failed} of {len(over)} lanes did not learn."]
    if min(failed, len(over) - failed) < ENOUGH_TO_TELL:
        told.append("That is too few of one kind to read the table as more than an anecdote.")
    best = {reading: _best(found.signs, reading) for reading in READINGS}
    parts = [
        f"{reading}: {row['label']} at step {row['at_step']} ({auc_words(row['auc'])})"
        for reading, row in best.items()
        if row
    ]
    if parts:
        told.append(f"The measure that told most, of each reading: {'; '.join(parts)}.")
    told.append(
        "To tell is not to cause: lanes of one grid differ in their rates, and whatever follows from the rate tells as well as it does."
    )
    return told


def auc_words(value: float) -> str:
    """As sentences and tables say it: rounded once."""
    return f"{value:.2f}"


def _best(rows: list[dict[str, Any]], reading: str) -> dict[str, Any] | None:
    known = [row for row in rows if row["reading"] == reading and row["auc"] is not None]
    return max(known, key=lambda row: float(row["auc"]), default=None)
