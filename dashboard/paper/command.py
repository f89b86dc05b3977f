"""`python -m dashboard paper`: the rows, judged; with `--into docs/RESULTS.md` written where that document has them."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from dashboard.paper.claims import CAUTION, RULE
from dashboard.paper.results import Result, results

BEGIN, END = "<!-- rows: python -m dashboard paper --into docs/RESULTS.md writes from here -->", "<!-- to here -->"


def add_parser(commands: Any) -> None:
    paper = commands.add_parser("paper", help="what holds up of the paper, figure by figure, from the recordings")
    how = paper.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON list instead of the table")
    how.add_argument(
        "--into", type=Path, metavar="FILE", help="write them where FILE, such as docs/RESULTS.md, has them"
    )
    paper.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = results()
    if options.json:
        print(json.dumps([one.plain() for one in found], ensure_ascii=False))
    elif options.into:
        try:
            _write(found, options.into)
        except (OSError, ValueError) as error:
            print(f"python -m dashboard paper: {error}", file=sys.stderr)
            return 2
    else:
        for one in found:
            print(f"{one.row.name:24} {one.verdict:18} {one.row.title}")
            for judged in one.judged:
                print(f"{'':24} {judged.verdict:18} {judged.text}")
    return 0


def _write(found: list[Result], path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(f"{END}\n")
    if not (begin and end):
        raise ValueError(f"--into must name a document that has the lines {BEGIN!r} and {END!r}, got {path}")
    path.write_text(before + markdown(found) + after, encoding="utf-8")


def markdown(found: list[Result]) -> str:
    """A section a row."""
    parts = [BEGIN, "", f"{RULE} {CAUTION}", "", "| row | verdict | seeds |", "| --- | --- | --- |"]
    parts += [f"| {one.row.title} | {one.verdict} | {one.seeds or 'none needed'} |" for one in found]
    for one in found:
        parts += ["", f"### {one.row.title}: {one.verdict}", "", one.row.claim, "", f"- The paper: {one.row.paper}"]
        parts += [f"- Here ({judged.verdict}): {judged.text}." for judged in one.judged]
        parts += [f"- At our scale: {one.row.scale}"]
        parts += [f"- {one.row.reading}"] if one.row.reading else []
        if one.made:
            seeds = f"{one.seeds} seeds, recorded {one.made.date} by code {one.made.code} on {one.made.machine}"
            parts += [f"- {seeds}: `{one.command}`"]
    return "\n".join([*parts, "", END, ""])
