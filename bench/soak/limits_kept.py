"""Whether what a hosted copy says that it allows was ever passed: asked of its store, from outside."""

from collections.abc import Iterable
from pathlib import Path

from bench.soak.host import SETTINGS
from bench.soak.ledger import Follower
from bench.soak.outcome import Outcome
from bench.soak.starters import Starter
from dashboard.asked.own_config import OwnConfig
from dashboard.hosting.bounds import refusal
from dashboard.hosting.settings import Hosting, read
from dashboard.runs.store import Store

MOST_RUNS = 1_000_000  # all of them


def shipped() -> Hosting:
    """What the settings that are shipped allow."""
    return Hosting.make(read(SETTINGS))


def judge_runs(outcome: Outcome, runs: Path) -> None:
    """No run that was started here is larger than any may be."""
    limits, store = shipped(), Store(runs)
    try:
        started = [*store.recent(MOST_RUNS, "race"), *store.recent(MOST_RUNS, "sweep")]
        large = [
            told for run in started if not isinstance(run.config, OwnConfig) and (told := refusal(limits, run.config))
        ]
    finally:
        store.close()
    outcome.figures["runs in the store"] = f"{len(started):,}"
    outcome.require(not large, f"{len(large)} runs are larger than is allowed, the first: {large[:1]}")


def judge_starts(outcome: Outcome, starters: Iterable[Starter], follower: Follower) -> None:
    limits = shipped()
    most = max((one.most_in_a_minute() for one in starters), default=0)
    outcome.figures["most starts of one visitor in a minute"] = f"{most} of {limits.starts_per_visitor}"
    outcome.figures["most runs under way at a time"] = f"{follower.most_active} of {limits.runs}"
    outcome.require(most <= limits.starts_per_visitor, f"a visitor started {most} runs in a minute")
    outcome.require(follower.most_active <= limits.runs, f"{follower.most_active} runs were under way at a time")
