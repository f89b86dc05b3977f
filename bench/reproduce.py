"""`python -m bench.reproduce [SECTION ...]`: the races that the lab's claims rest on, over their seeds.

What each lane came to is kept in docs/evidence.jsonl, and the tables in docs/RESULTS.md are made of it. Without a
section all are trained: 30 and 78 minutes on two cores, the two times it was timed, with other
programs beside it. `--tables` trains nothing and makes the tables again.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.evidence import Outcome, Work, outcomes, read, train, write
from dashboard.asked import protocol
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS
from demo_models import TASKS

DOCS = Path(__file__).resolve().parent.parent / "docs"
RESULTS, EVIDENCE = DOCS / "RESULTS.md", DOCS / "evidence.jsonl"
COLLAPSE_STEPS, HORIZON_STEPS = 100, 2000


def _race(lanes: list[dict[str, Any]], steps: int) -> RaceConfig:
    return RaceConfig.make(
        {"task": "numbers", "lanes": lanes, "steps": steps, "evaluate_every": steps, "steps_per_frame": 20}
    )


def _grid() -> RaceConfig:
    """Every contender at every rate of the grid, named apart by it."""
    rows = [lane for lr in protocol.GRID for lane in protocol.contenders_and_sgd(lr)]
    return _race([{**row, "label": f"{row['label']} @ {row['lr']:g}"} for row in rows], protocol.STEPS)


def best_rates(found: Sequence[Outcome]) -> dict[str, float]:
    """Each contender's rate of the lowest mean final loss over the tuning seeds; one that diverged is out."""
    means: dict[tuple[str, float], list[float]] = {}
    for one in found:
        if one.section == "grid":
            means.setdefault((one.lane.split(" @ ")[0], one.lr), []).append(one.final_loss)
    best: dict[str, float] = {}
    for (lane, lr), losses in sorted(means.items(), key=lambda row: np.nan_to_num(np.mean(row[1]), nan=np.inf)):
        if np.isfinite(losses).all():
            best.setdefault(lane, lr)
    return best


def _best(found: Sequence[Outcome]) -> RaceConfig:
    best = best_rates(found)
    rows = protocol.contenders_and_sgd(protocol.LR)
    return _race([{**row, "lr": best[row["label"]]} for row in rows], protocol.STEPS)


@dataclass(frozen=True)
class Section:
    race: Callable[[Sequence[Outcome]], RaceConfig]  # from what was found before it
    table: Callable[[Sequence[Outcome]], str]
    seeds: Sequence[int] = protocol.SEEDS
    measure: bool = False


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n" + "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows)) + "\n"


def _by_lane(found: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    lanes: dict[str, list[Outcome]] = {}
    for one in found:
        lanes.setdefault(one.lane, []).append(one)
    return lanes


def _shown(loss: float) -> str:
    return f"{loss:.3f}" if np.isfinite(loss) else "diverged"


def learned(losses: Sequence[float]) -> int:
    """How many final losses are below half of the baseline that the task names."""
    baseline = TASKS["numbers"].baseline
    assert baseline is not None
    return sum(loss < baseline / 2 for loss in losses)


def losses(section: str, lane: str, step: int | None = None) -> list[float]:
    """What is recorded of a lane's loss at each seed: the final one, or the one at a step."""
    own = [one for one in of_section(section, read(EVIDENCE)) if one.lane == lane]
    return [one.losses.get(str(step or one.steps), np.nan) for one in own]


def metrics(section: str, lane: str) -> list[float]:
    """What the task's first metric was at the end, at each seed."""
    own = [one for one in of_section(section, read(EVIDENCE)) if one.lane == lane]
    return [np.nan if one.metric is None else one.metric for one in own]


def gradients(lane: str, step: int) -> float:
    """The median log10|g| of a lane in the collapse, its mean over the seeds."""
    own = [one for one in of_section("collapse", read(EVIDENCE)) if one.lane == lane]
    return float(np.mean([one.gradient[str(step)] for one in own]))


def _final_table(found: Sequence[Outcome]) -> str:
    rows = []
    for lane, own in _by_lane(found).items():
        final = [one.final_loss for one in own]
        exact = [one.metric or 0.0 for one in own]
        mean = f"{np.mean(final):.3f} ({np.median(final):.3f})" if np.isfinite(final).all() else "-"
        count = f"{learned(final)} of {len(own)}"
        rows.append([lane, f"{own[0].lr:g}", *map(_shown, final), mean, count, f"{np.mean(exact):.0%}"])
    seeds = [f"seed {one.seed}" for one in next(iter(_by_lane(found).values()))]
    return _table(["lane", "lr", *seeds, "mean (median)", "learned", "exact match"], rows)


def _metric_table(found: Sequence[Outcome]) -> str:
    """The task's first metric at the end, as a percentage."""
    rows = []
    for lane, own in _by_lane(found).items():
        reached = [np.nan if one.metric is None else one.metric for one in own]
        cells = [f"{value:.1%}" if np.isfinite(value) else "diverged" for value in reached]
        rows.append([lane, f"{own[0].lr:g}", *cells, f"{np.mean(reached):.1%}"])
    seeds = [f"seed {one.seed}" for one in next(iter(_by_lane(found).values()))]
    return _table(["lane", "lr", *seeds, "mean"], rows)


def _way_table(found: Sequence[Outcome]) -> str:
    """At 500, 1,000 and 2,000 steps, seed by seed."""
    rows = [
        [lane, *(" / ".join(_shown(one.losses.get(str(t), np.nan)) for one in own) for t in (500, 1000, 2000))]
        for lane, own in _by_lane(found).items()
    ]
    return _table(["lane", *(f"step {t:,}, seeds 0 to 4" for t in (500, 1000, 2000))], rows)


def _collapse_table(found: Sequence[Outcome]) -> str:
    rows = []
    for lane, own in _by_lane(found).items():
        medians = [[one.gradient[str(t)] for one in own if str(t) in one.gradient] for t in (1, 10, 50, 100)]
        final = [one.final_loss for one in own]
        cells = [f"{np.mean(m):.1f} ({min(m):.1f} to {max(m):.1f})" if m else "-" for m in medians]
        rows.append([lane, *cells, f"{np.mean(final):.2f} ({min(final):.2f} to {max(final):.2f})"])
    return _table(["lane", "step 1", "10", "50", "100", "loss, steps 81 to 100"], rows)


def _grid_table(found: Sequence[Outcome]) -> str:
    rates = sorted({one.lr for one in found if not one.lane.startswith("SGD")})
    lanes: dict[str, dict[float, list[float]]] = {}
    for one in found:
        name = one.lane.split(" @ ")[0]
        lr = one.lr / protocol.SGD_TIMES if name == "SGD" else one.lr
        lanes.setdefault(name, {}).setdefault(round(lr, 9), []).append(one.final_loss)
    best = best_rates(found)
    rows = []
    for name in dict.fromkeys(row["label"] for row in protocol.contenders_and_sgd(protocol.LR)):
        chosen = best.get(name, 0.0) / (protocol.SGD_TIMES if name == "SGD" else 1)
        cells = []
        for lr in rates:
            cell = " / ".join(map(_shown, lanes[name][round(lr, 9)]))
            cells.append(f"**{cell}**" if np.isclose(lr, chosen) else cell)
        rows.append([name, *cells])
    return _table(["lane", *(f"{lr:g}" for lr in rates)], rows)


SECTIONS = {
    "collapse": Section(lambda _: _race(protocol.collapse(), COLLAPSE_STEPS), _collapse_table, measure=True),
    "figure-1": Section(lambda _: _race(protocol.contenders(protocol.LR), protocol.STEPS), _final_table),
    "horizon": Section(lambda _: _race(protocol.horizon(), HORIZON_STEPS), _way_table),
    "grid": Section(lambda _: _grid(), _grid_table, seeds=protocol.TUNING_SEEDS),
    "best": Section(_best, _final_table),
    "digits": Section(lambda _: PRESETS["digits"].config, _metric_table),
}


def of_section(name: str, found: Sequence[Outcome]) -> list[Outcome]:
    """What was found in it, lanes in the order of its race, each by its seeds."""
    own = [one for one in found if one.section == name]
    order = {lane.label: i for i, lane in enumerate(SECTIONS[name].race(found).lanes)} if own else {}
    return sorted(own, key=lambda one: (order[one.lane], one.seed))


def _train(name: str, found: list[Outcome]) -> list[Outcome]:
    section = SECTIONS[name]
    work: list[Work] = train(name, section.race(found), section.seeds, section.measure)
    kept = [one for one in found if one.section != name]
    start = time.perf_counter()
    for i, part in enumerate(outcomes(work), 1):
        kept += part
        ends = ", ".join(f"{one.lane} {_shown(one.final_loss)}" for one in part)
        print(
            f"{name}, seed {part[0].seed} ({i} of {len(work)}, {time.perf_counter() - start:.0f} s): {ends}", flush=True
        )
    write(EVIDENCE, kept)
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.reproduce", description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--tables", action="store_true", help="train nothing")
    asked = parser.parse_args()
    for unknown in set(asked.sections) - set(SECTIONS):
        parser.error(f"SECTION must be one of {', '.join(SECTIONS)}, got {unknown!r}")
    found = read(EVIDENCE) if EVIDENCE.exists() else []
    for name in () if asked.tables else asked.sections or SECTIONS:
        found = _train(name, found)
    text = RESULTS.read_text(encoding="utf-8")
    for name, section in SECTIONS.items():
        own = of_section(name, found)
        start, end = f"<!-- {name}: python -m bench.reproduce {name} writes from here -->\n", "<!-- to here -->"
        if own and start in text:
            before, rest = text.split(start)
            text = f"{before}{start}{section.table(own)}{end}{rest.split(end, 1)[1]}"
    RESULTS.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
