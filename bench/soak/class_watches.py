"""200 viewers of live runs and 20 who start them, for five minutes: everybody sees everything, no limit is passed.

Some starters press Train as often as they are let, some viewers leave in the middle and come back.
"""

import asyncio
import random
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.soak.host import Host, hosted
from bench.soak.ledger import LOOK_SECONDS, Follower, Ledger
from bench.soak.limits_kept import judge_runs, judge_starts
from bench.soak.outcome import Amount, Delays, Outcome
from bench.soak.starters import RACES, Starter, new_race, seconds_to_wait
from bench.soak.viewers import warm, watch_to_the_end

STARTERS, VIEWERS, SECONDS = 20, 200, 300.0
GREEDY_EVERY, LEAVING_EVERY = 5, 10
LONGEST_DELAY_S, LONGEST_RUN_S = 2.0, 600.0


@dataclass
class Class:
    host: Host
    ledger: Ledger
    follower: Follower
    outcome: Outcome
    end: float
    pages: Delays
    starters: int
    viewers: int
    shows: dict[int, str] = field(default_factory=dict)  # by starter: the run that they show
    refused: int = 0
    finished: int = 0

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.end


def run(folder: Path, amount: Amount) -> Outcome:
    outcome, ledger, seconds = Outcome(), Ledger(), amount.seconds(SECONDS, 10)
    with hosted(folder) as host, Follower(host.runs) as follower:
        asyncio.run(warm(host))
        before = host.memory_mb()
        end, size = time.monotonic() + seconds, (amount.count(STARTERS, 5), amount.count(VIEWERS, 50))
        group = Class(host, ledger, follower, outcome, end, Delays(), *size)
        starters = asyncio.run(_all(group))
        outcome.figures |= {
            "for": f"{seconds:.0f} s, {group.viewers} viewers and {group.starters} starters",
            "runs watched to their end": f"{group.finished:,}",
            "starts refused with a sentence": f"{group.refused:,}",
            f"a record stored until a viewer has it (to within {LOOK_SECONDS * 1e3:.0f} ms)": follower.delays.told(),
            "a race page opened meanwhile": group.pages.told(),
            "server's memory before and after": f"{before:.0f} MB, {host.memory_mb():.0f} MB",
        }
        late = follower.delays.quantile(0.95)
        outcome.require(late <= LONGEST_DELAY_S, f"p95 of viewers' delays is {late:.1f} s, allowed {LONGEST_DELAY_S} s")
        outcome.require(group.finished > 0, "no run came to its end")
        judge_starts(outcome, starters, follower)
        ledger.judge(outcome, host.runs)
        judge_runs(outcome, host.runs)
        outcome.no_errors()
        host.judge(outcome)
    return outcome


async def _all(group: Class) -> list[Starter]:
    starters = [Starter(number) for number in range(group.starters)]
    await asyncio.gather(
        *(_starts(group, one) for one in starters), *(_watches(group, number) for number in range(group.viewers))
    )
    return starters


async def _starts(group: Class, starter: Starter) -> None:
    await asyncio.sleep(random.uniform(0, 2))
    greedy, kinds = starter.number % GREEDY_EVERY == 0, list(RACES)
    while group.goes_on:
        config = new_race(kinds[starter.number % len(kinds)])
        told = await starter.start(group.host, config, group.outcome, group.pages)
        if told:
            group.refused += 1
            await asyncio.sleep(min(seconds_to_wait(told), max(0.1, group.end - time.monotonic())))
            continue
        group.shows[starter.number] = group.ledger.watch(config)
        if not greedy:
            await _watched(group, group.shows[starter.number], 0)
        await asyncio.sleep(random.uniform(0, 1))


async def _watches(group: Class, number: int) -> None:
    seen = ""
    while group.goes_on:
        run = group.shows.get(number % group.starters, "")
        if run in ("", seen):
            await asyncio.sleep(0.2)
            continue
        await _watched(group, run, 3 if number % LEAVING_EVERY == 0 else 0)
        seen = run


async def _watched(group: Class, run: str, leave_after: int) -> None:
    """To its end, which may come after the class has."""
    patience = LONGEST_RUN_S
    status = await watch_to_the_end(
        group.host, run, group.ledger, group.outcome, group.follower, leave_after, patience=patience
    )
    state = status.get("state", f"not over after {patience:g} s")
    group.finished += state == "finished"
    group.outcome.sent("runs watched", "" if state == "finished" else f"{state}: {status.get('message', '')}")
