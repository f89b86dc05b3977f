"""What the last soak did and found, as docs/RELIABILITY.md: written by the run, and by nobody else."""

import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from bench.driving.watching import ROOT
from bench.soak.outcome import Outcome
from bench.soak.scenarios import SCENARIOS

PATH = ROOT / "docs" / "RELIABILITY.md"
_RULES = """Set before the run, and any one of them missed fails it (exit code 1): no answer of 500 or more, no page
that shows an error, no traceback in the server's log, no limit of the hosted copy passed, no record lost that a viewer
was shown, and each scenario's own bars. Everything is on loopback, with the load on the same machine as the server and
its workers, and with the settings that are shipped (`deploy/hosted.yaml`)."""


@dataclass(frozen=True)
class Done:
    outcome: Outcome
    seconds: float


def report(done: Mapping[str, Done], command: str, scale: float, left: int = 0) -> str:
    """`scale` is the share of the full soak's durations and counts that was done; `left` scenarios were not."""
    passed = sum(one.outcome.passed and not one.outcome.left_out for one in done.values())
    length = sum(one.seconds for one in done.values()) / 60
    share = (
        "the full durations and counts" if scale >= 1 else f"shortened: {scale:.0%} of the full durations and counts"
    )
    lines = [
        "# How it holds up",
        "",
        f"Written by `{command}`, {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, {length:.1f} minutes, {share}. "
        f"On {machine()}. {passed} of {len(done)} scenarios passed{f', {left} were not run' if left else ''}.",
        "",
        _RULES,
        "",
        "| scenario | | requests | errors | seconds |",
        "|---|---|---|---|---|",
    ]
    for name, one in done.items():
        lines.append(
            f"| {SCENARIOS[name].title} | {_verdict(one.outcome)} | {one.outcome.requests.total():,} | "
            f"{one.outcome.errors.total():,} | {one.seconds:.0f} |"
        )
    for name, one in done.items():
        lines += ["", *_section(name, one.outcome)]
    return "\n".join(lines) + "\n"


def _verdict(outcome: Outcome) -> str:
    return "left out" if outcome.left_out else "passed" if outcome.passed else "**missed**"


def _section(name: str, outcome: Outcome) -> list[str]:
    scenario = SCENARIOS[name]
    lines = [f"## {scenario.title}", "", f"Bars: {scenario.bars}. Alone: `python -m bench soak --only {name}`.", ""]
    if outcome.left_out:
        return [*lines, f"Left out: {outcome.left_out}."]
    sent = ", ".join(f"{count:,} {kind}" for kind, count in outcome.requests.items())
    rows = {"sent": sent, **outcome.figures}
    lines += ["| | |", "|---|---|", *(f"| {_cell(name)} | {_cell(told)} |" for name, told in rows.items())]
    return [*lines, *(["", "Missed:", ""] if outcome.misses else []), *(f"- {_cell(told)}" for told in outcome.misses)]


def _cell(text: str) -> str:
    return " ".join(text.replace(str(ROOT), ".").replace("|", "\\|").split())[:1500]


def machine() -> str:
    memory = psutil.virtual_memory().total / (1 << 30)
    load = psutil.getloadavg()[0]
    return (
        f"{psutil.cpu_count()} virtual cores ({platform.machine()}), {memory:.0f} GB, Python "
        f"{platform.python_version()}, {platform.system()}; load {load:.1f} at the end"
    )
