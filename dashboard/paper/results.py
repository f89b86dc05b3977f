"""The rows with what came out: from the recordings, or from the formulas, judged by the one rule."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dashboard.asked.sweep_config import SweepConfig
from dashboard.evidence.findings import Findings
from dashboard.evidence.outcomes import number
from dashboard.paper.claims import NOT_HERE, NOT_RECORDED, Held, Judged, alike, below, row_verdict
from dashboard.paper.measures import by_seed, spoken
from dashboard.paper.rows import ALIKE, LEARNS, ROWS, Claim, Row
from dashboard.paper.theory import THEORY
from dashboard.recorded.form import FOLDER, Made
from dashboard.recorded.loading import is_older, recording
from dashboard.remembered import shared
from dashboard.runs.outlines import from_json
from radam_core.evidence import LEARNED


@dataclass(frozen=True)
class Result:
    row: Row
    verdict: str
    judged: tuple[Judged, ...]
    seeds: int  # 0 for what is not trained
    made: Made | None = None

    @property
    def ours(self) -> str:
        if self.verdict == NOT_RECORDED:
            return "there is no recording of it here that this version can read"
        return "; ".join(one.text for one in self.judged) or "nothing to compare"

    @property
    def by_older_code(self) -> bool:
        return self.made is not None and is_older(self.made)

    @property
    def command(self) -> str:
        """That makes it again."""
        return f"python -m dashboard record sweep-{self.row.sweep}" if self.row.sweep else "python -m dashboard paper"

    def plain(self) -> dict[str, Any]:
        row = self.row
        made = {} if self.made is None else {**asdict(self.made), "older_code": self.by_older_code}
        return {
            "row": row.name,
            "title": row.title,
            "claim": row.claim,
            "paper": row.paper,
            "ours": self.ours,
            "claims": [_plain(one) for one in self.judged],
            "seeds": self.seeds,
            "verdict": self.verdict,
            "scale": row.scale,
            "command": self.command,
            **made,
        }


def _plain(judged: Judged) -> dict[str, Any]:
    """With the two numbers of every seed, in the order in which the text names them; what is not finite is null."""
    seeds = {str(seed): [number(side) for side in sides] for seed, sides in judged.by_seed.items()}
    return {"ours": judged.text, "verdict": judged.verdict, **({"by_seed": seeds} if seeds else {})}


@cache
def recorded_findings(sweep: str, folder: Path = FOLDER) -> tuple[Findings, Made] | None:
    """What was recorded of a sweep, if it was: of its configuration, whatever code made it."""
    found = recording(f"sweep-{sweep}", folder)
    if found is None or not isinstance(found.config, SweepConfig):
        return None
    outcomes = [from_json(lane.outline) for lane in found.lanes]
    return None if None in outcomes else (Findings.of(found.config, outcomes), found.made)


@dataclass(frozen=True)
class Compared:
    """The two sides of a claim, by seed, and where it holds."""

    one: Mapping[object, float]
    other: Mapping[object, float]
    held: Held


def compare(found: Findings, claim: Claim) -> Compared:
    one = by_seed(found, claim.one, claim.measure, claim.one_at)
    if claim.kind == LEARNS:
        costs = found.config.baseline(0)
        assert costs is not None
        half = dict.fromkeys(one, LEARNED * costs)
        return Compared(one, half, below(one, half))
    other = by_seed(found, claim.other, claim.measure, claim.other_at)
    return Compared(one, other, alike(one, other, claim.tolerance) if claim.kind == ALIKE else below(one, other))


def judge(found: Findings, claim: Claim) -> Judged:
    seen = compare(found, claim)
    text = (
        f"{claim.measure.name}: {claim.one_name}: {spoken(seen.one, claim.measure)}, claimed {claim.claimed} "
        f"{claim.other_name}: {_told(seen.other, claim)}: so in {seen.held.count} seeds"
    )
    return Judged(
        text, seen.held.verdict, seen.held.count, {seed: (seen.one[seed], seen.other[seed]) for seed in seen.one}
    )


def _told(other: Mapping[object, float], claim: Claim) -> str:
    return spoken(other, claim.measure) if claim.other else claim.measure.text(next(iter(other.values())))


def result(row: Row, folder: Path = FOLDER) -> Result:
    if row.theory:
        judged = tuple(THEORY[row.theory]())
        return Result(row, row_verdict(judged), judged, 0)
    if not row.sweep:
        return Result(row, NOT_HERE, (), 0)
    recorded = recorded_findings(row.sweep, folder)
    if recorded is None:
        return Result(row, NOT_RECORDED, (), 0)
    found, made = recorded
    judged = tuple(judge(found, claim) for claim in row.claims)
    return Result(row, row_verdict(judged), judged, len(found.config.seeds), made)


@shared(1)
def shared_results() -> tuple[Result, ...]:
    """Of the recordings in the repository: once for all visitors."""
    return tuple(results())


def results(folder: Path = FOLDER) -> list[Result]:
    return [result(row, folder) for row in ROWS]
