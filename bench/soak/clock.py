"""The clock jumps a day forwards, and two back, under a running server: races, limits and pages go on as they were.

The server gets a `sitecustomize` that shifts its wall clock at a signal, in its own process alone.
"""

import asyncio
import signal
import time
from pathlib import Path

from bench.driving.tab import tab
from bench.soak.host import Host, hosted
from bench.soak.ledger import Ledger
from bench.soak.limits_kept import shipped
from bench.soak.outcome import Amount, Outcome
from bench.soak.starters import Starter, new_race, seconds_to_wait
from bench.soak.viewers import warm, watch, watch_to_the_end
from dashboard.navigation import PAGES

JUMPS = {"a day forwards": [signal.SIGUSR1], "two days back": [signal.SIGUSR2, signal.SIGUSR2]}
LONGEST_S = 600.0
SHIFTED = '''"""Shifts the wall clock by a day at a signal."""
import signal
import time

_time, _time_ns, _shift = time.time, time.time_ns, [0]
time.time = lambda: _time() + _shift[0]
time.time_ns = lambda: _time_ns() + _shift[0] * 10**9


def _by(seconds):
    def jump(*_):
        _shift[0] += seconds

    return jump


signal.signal(signal.SIGUSR1, _by(86_400))
signal.signal(signal.SIGUSR2, _by(-86_400))
'''


def run(folder: Path, amount: Amount) -> Outcome:  # noqa: ARG001 - a scenario's form
    outcome, ledger, own = Outcome(), Ledger(), folder / "shifted"
    own.mkdir()
    (own / "sitecustomize.py").write_text(SHIFTED, encoding="utf-8")
    with hosted(folder, {"PYTHONPATH": str(own), "RADAM_LAB_RECORDINGS": "none"}) as host:
        asyncio.run(warm(host))
        for number, (told, signals) in enumerate(JUMPS.items()):
            asyncio.run(_jump(host, ledger, outcome, told, signals, 10 * number))
        outcome.figures["the wall clock jumped"] = " and ".join(JUMPS)
        ledger.judge(outcome, host.runs)
        outcome.no_errors()
        host.judge(outcome)
    return outcome


async def _jump(
    host: Host, ledger: Ledger, outcome: Outcome, told: str, signals: list[signal.Signals], number: int
) -> None:
    """A race under way, and a visitor who has used all their starts: neither is moved by the clock."""
    greedy, other = Starter(number), Starter(number + 1)
    config = new_race("numbers")
    await other.start(host, config, outcome)
    run = ledger.watch(config)
    await asyncio.wait_for(watch(host, run, ledger, outcome, leave_after=1), LONGEST_S)
    refused, begun, limits = "", time.monotonic(), shipped()
    for _ in range(limits.starts_per_visitor):
        while "under way" in (refused := await greedy.start(host, new_race("valley"), outcome)):
            await asyncio.sleep(0.5)
    outcome.require(not refused, f"before the jump Train said: {refused}")
    for one in signals:
        host.server.send_signal(one)
        await asyncio.sleep(0.2)
    refused = await greedy.start(host, new_race("valley"), outcome)
    while "under way" in refused:
        await asyncio.sleep(0.5)
        refused = await greedy.start(host, new_race("valley"), outcome)
    if time.monotonic() - begun < 55:  # afterwards a start may be free again by any clock
        outcome.require("can start" in refused, f"{told} a visitor got more starts than a minute has")
        outcome.require(seconds_to_wait(refused) <= 60, f"{told} a visitor has to wait: {refused}")
    fresh = await Starter(number + 2).start(host, new_race("valley"), outcome)
    outcome.require(not fresh, f"{told} a new visitor's Train said: {fresh}")
    status = await watch_to_the_end(host, run, ledger, outcome, patience=LONGEST_S)
    outcome.require(status.get("state") == "finished", f"{told} a race under way ended as {status}")
    for page in PAGES:
        async with tab(host.address) as opened:
            answer = await opened.open(page.name)
            outcome.sent("pages", f"{page.name} showed an error" if answer.errors else "")
