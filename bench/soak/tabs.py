"""500 tabs opened and closed: the server's memory is flat.

The rule, set before any run: Streamlit keeps up to 128 closed sessions for two minutes, so the memory is taken after
the first 150 tabs; after 500 more it may be a tenth larger.
"""

import asyncio
import random
from pathlib import Path

from bench.driving.tab import tab
from bench.soak.host import Host, hosted
from bench.soak.outcome import Amount, Outcome
from dashboard.navigation import PAGES

TABS, BEFORE, AT_ONCE = 500, 150, 10
ALLOWED = 1.10
NAMES = [page.name for page in PAGES]


def run(folder: Path, amount: Amount) -> Outcome:
    outcome, count = Outcome(), amount.count(TABS, 50)
    with hosted(folder) as host:
        asyncio.run(_open(host, outcome, BEFORE))
        before, files = host.memory_mb(), host.files()
        asyncio.run(_open(host, outcome, count))
        after = host.memory_mb()
        outcome.figures |= {
            "tabs opened and closed": f"{count:,} after the first {BEFORE}",
            "server's memory before and after": f"{before:.0f} MB, {after:.0f} MB",
            "files it holds open before and after": f"{files}, {host.files()}",
        }
        outcome.require(
            after <= ALLOWED * before, f"the memory grew from {before:.0f} to {after:.0f} MB, a tenth is allowed"
        )
        outcome.require(host.files() <= files + AT_ONCE, f"{host.files() - files} files more are open than before")
        outcome.no_errors()
        host.judge(outcome)
    return outcome


async def _open(host: Host, outcome: Outcome, count: int) -> None:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with turns, tab(host.address, client=f"10.3.{number // 250}.{1 + number % 250}") as opened:
            answer = await opened.open(NAMES[number % len(NAMES)])
            outcome.sent("pages", "showed an error" if answer.errors else "")
            if random.random() < 0.3:  # without a word
                opened.socket.transport.abort()

    await asyncio.gather(*(one(number) for number in range(count)))
