"""What a map of learning rates and warmup lengths says, in sentences: each with the numbers that it rests on."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from radam_core.evidence import LEARNED, MOST_SEEDS
from radam_core.race.plan import FINAL_STEPS
from radam_core.theory import rectification

if TYPE_CHECKING:
    from radam_core.own.warmup_map import WarmupMap

CLOSE = 1.05  # times the best loss: as good


def map_words(found: "WarmupMap") -> str:
    return "\n".join([_answer(found), *(_rate(found, lr) for lr in found.lrs), *_limits(found)])


def _answer(found: "WarmupMap") -> str:
    lengths = [length for length in found.warmups if length <= found.steps]
    places = [(found.final_loss(lr, length), lr, length) for lr in found.lrs for length in lengths]
    works = [place for place in places if _most([cell.learns for cell in found.at(*place[1:])])]
    if not works:
        return "No rate learned with any of the warmups: try lower rates, more steps, or look at the loss."
    loss, lr, length = min(works)
    without = min((place for place in works if place[2] == 0), default=None)
    best = f"lr {lr:g} with {f'a warmup of {length} steps' if length else 'no warmup'} (final loss {loss:.4g})"
    if length == 0:
        return f"Warmup is not needed for the best result: {best}."
    if without is None:
        return f"Warmup is needed: no rate learned without it, and the best is {best}."
    alone = f"lr {without[1]:g} without any (final loss {without[0]:.4g})"
    if without[0] <= CLOSE * loss:
        return f"Warmup is not needed: {alone} is within 5% of the best, {best}."
    return f"Warmup helps: the best is {best}, against {alone}."


def _rate(found: "WarmupMap", lr: float) -> str:
    shortest = found.shortest_warmup(lr)
    longest = max((length for length in found.warmups if length <= found.steps), default=0)
    if shortest is None:
        told = f"learns with none of the warmups up to {longest} steps (final loss {found.final_loss(lr, longest):.4g})"
    elif shortest == 0:
        told = f"learns without warmup (final loss {found.final_loss(lr, 0):.4g})"
    else:
        told = f"needs a warmup of {shortest:g} steps (final loss {found.final_loss(lr, int(shortest)):.4g}"
        told += f", {found.final_loss(lr, 0):.4g} without)" if 0 in found.warmups else ")"
    radam = found.at(lr, None)
    if radam:
        verb = "learns" if _most([cell.learns for cell in radam]) else "does not learn"
        told += f"; RAdam {verb} ({found.final_loss(lr, None):.4g})"
    return f"At lr {lr:g}: {found.label} {told}."


def _most(learned: Sequence[bool]) -> bool:
    return sum(learned) >= MOST_SEEDS * len(learned) - 1e-9


def _limits(found: "WarmupMap") -> list[str]:
    """What a reader should know before believing it."""
    seeds = len({cell.seed for cell in found.cells})
    against = "its first loss" if found.baseline is None else f"the baseline of {found.baseline:.4g}"
    over = f", at two thirds of {seeds} seeds." if seeds > 1 else ". One seed is an anecdote: seeds=3 tells more."
    told = [
        f"Learns: the mean loss of the last {FINAL_STEPS} of {found.steps} steps is below {LEARNED:.0%} of "
        f"{against}{over}"
    ]
    too_long = [length for length in found.warmups if length > found.steps]
    if too_long:
        told.append(
            f"Warmups beyond the run ({', '.join(map(str, too_long))}) never come to their rate, and do not count."
        )
    if any(cell.warmup_steps is None for cell in found.cells):
        r = float(rectification(found.steps, found.beta2))
        if math.isnan(r) or r < 0.9:
            told.append(
                f"RAdam's r_t is {0 if math.isnan(r) else r:.2f} at step {found.steps} (beta2 {found.beta2:g}): this "
                "run tests it at a fraction of its rate."
            )
    return told
