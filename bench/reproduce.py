"""`python -m bench.reproduce [SEED ...]`: the `figure-1` race at several seeds, its table written into docs/RESULTS.md.

Ends with an error if what the paper's Figure 1 shows is not there: vanilla Adam stuck above 2.0, RAdam below 0.5.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from dashboard.headless import run

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "RESULTS.md"
START, END = "<!-- figure-1: python -m bench.reproduce writes from here -->\n", "<!-- to here -->"
STUCK, TRAINED = 2.0, 0.5


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.reproduce", description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int, default=[0, 1, 2], metavar="SEED")
    seeds = parser.parse_args().seeds
    summaries = []
    for seed in seeds:
        summaries.append(run("figure-1", seed=seed).summary())
        ends = ", ".join(f"{lane['label']} {_cell(lane)}" for lane in summaries[-1]["lanes"])
        print(f"seed {seed}: {ends}; {summaries[-1]['lane_steps_per_second']:g} lane-steps a second", flush=True)
    text = RESULTS.read_text(encoding="utf-8")
    before, rest = text.split(START)
    _, after = rest.split(END)
    RESULTS.write_text(f"{before}{START}{_table(seeds, summaries)}{END}{after}", encoding="utf-8")
    return 0 if all(map(_as_in_the_paper, summaries)) else 1


def _table(seeds: list[int], summaries: list[dict[str, Any]]) -> str:
    head = [["lane", *(f"seed {seed}" for seed in seeds)], ["---"] * (1 + len(seeds))]
    by_lane = zip(*(summary["lanes"] for summary in summaries), strict=True)
    rows = [*head, *([lanes[0]["label"], *map(_cell, lanes)] for lanes in by_lane)]
    return "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows) + "\n"


def _cell(lane: dict[str, Any]) -> str:
    if lane["final_loss"] is None:
        return f"diverged at step {lane['diverged_at']}"
    return f"{lane['final_loss']:.3f} ({lane['metric']['exact match']:.0%})"


def _as_in_the_paper(summary: dict[str, Any]) -> bool:
    final = {lane["label"]: lane["final_loss"] for lane in summary["lanes"]}
    return final["Adam"] > STUCK and final["RAdam"] < TRAINED


if __name__ == "__main__":
    sys.exit(main())
