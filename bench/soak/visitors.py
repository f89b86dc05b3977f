"""200 visitors who open pages in the same minute, and go on to another, while a race trains."""

import asyncio
import random
import time
from pathlib import Path

from bench.driving.tab import tab
from bench.soak.host import Host, hosted
from bench.soak.outcome import Amount, Delays, Outcome
from bench.soak.starters import Starter, new_race
from bench.soak.viewers import warm
from dashboard.navigation import PAGES

VISITORS, SECONDS, LONGEST_S = 200, 60.0, 3.0
NAMES = [page.name for page in PAGES]


def run(folder: Path, amount: Amount) -> Outcome:
    outcome, delays = Outcome(), Delays()
    seconds, visitors = amount.seconds(SECONDS, 5), amount.count(VISITORS, 20)
    with hosted(folder) as host:
        asyncio.run(warm(host))
        asyncio.run(_all(host, outcome, delays, visitors, seconds))
        outcome.figures |= {
            "for": f"{visitors} visitors in {seconds:.0f} s, two pages each",
            "until a page was whole": delays.told(),
            "server's memory after it": f"{host.memory_mb():.0f} MB",
        }
        late = delays.quantile(0.95)
        outcome.require(late <= LONGEST_S, f"p95 until a page was whole is {late:.1f} s, allowed {LONGEST_S:g} s")
        outcome.no_errors()
        host.judge(outcome)
    return outcome


async def _all(host: Host, outcome: Outcome, delays: Delays, visitors: int, seconds: float) -> None:
    await _visit(host, outcome, Delays(), 0.0, 0)
    await Starter(0).start(host, new_race("numbers"), outcome)
    await asyncio.gather(
        *(_visit(host, outcome, delays, random.uniform(0, seconds), number) for number in range(visitors))
    )


async def _visit(host: Host, outcome: Outcome, delays: Delays, after: float, number: int) -> None:
    await asyncio.sleep(after)
    async with tab(host.address, client=f"10.2.{number // 250}.{1 + number % 250}") as opened:
        for page in random.sample(NAMES, 2):
            begun = time.monotonic()
            answer = await opened.open(page)
            delays.add(time.monotonic() - begun)
            outcome.sent("pages", f"{page} showed an error" if answer.errors else "")
