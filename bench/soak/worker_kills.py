"""20 workers killed at random while races train and are watched: every race comes to its end, and no record is lost.

Dask gives a pack up after its fourth worker has died under it; then the race says so, and Train goes on with it.
"""

import asyncio
import random
import time
from pathlib import Path

import psutil

from bench.soak.host import Host, hosted
from bench.soak.ledger import Ledger
from bench.soak.outcome import Amount, Outcome
from bench.soak.starters import RACES, Starter, new_race
from bench.soak.viewers import warm, watch_to_the_end
from dashboard.asked.config import RaceConfig

KILLS, RACERS, VIEWERS_EACH = 20, 6, 5
PAUSE_S, LONGEST_S, MOST_STARTS = (1.0, 4.0), 600.0, 8


def run(folder: Path, amount: Amount) -> Outcome:
    outcome, ledger, kills = Outcome(), Ledger(), amount.count(KILLS)
    with hosted(folder, {"RADAM_LAB_RECORDINGS": "none"}) as host:
        asyncio.run(warm(host))
        starts = asyncio.run(_all(host, ledger, outcome, kills))
        outcome.figures |= {
            "workers killed": str(kills),
            "races": f"{RACERS}, started {starts} times in all until each was finished",
        }
        ledger.judge(outcome, host.runs)
        outcome.no_errors()
        host.judge(outcome)
    return outcome


async def _all(host: Host, ledger: Ledger, outcome: Outcome, kills: int) -> int:
    over = asyncio.Event()
    killer = asyncio.create_task(_kill(host, outcome, kills, over))
    kinds = list(RACES)
    racers = [
        _race(host, ledger, outcome, number, new_race(kinds[number % len(kinds)]), over) for number in range(RACERS)
    ]
    starts = sum(await asyncio.gather(*racers))
    await killer
    return starts


async def _kill(host: Host, outcome: Outcome, kills: int, over: asyncio.Event) -> None:
    killed, end = 0, time.monotonic() + LONGEST_S
    while killed < kills and time.monotonic() < end:
        await asyncio.sleep(random.uniform(*PAUSE_S))
        workers = host.workers()
        if workers:
            try:
                random.choice(workers).kill()
                killed += 1
            except psutil.NoSuchProcess:
                continue
    over.set()
    outcome.require(killed == kills, f"only {killed} of {kills} workers were there to be killed")


async def _race(
    host: Host, ledger: Ledger, outcome: Outcome, number: int, config: RaceConfig, over: asyncio.Event
) -> int:
    """Starts it, and others while workers are killed; presses Train again where one was given up. How many starts."""
    starter, starts = Starter(number), 0
    while True:
        ledger.watch(config)
        state = ""
        for _ in range(MOST_STARTS):
            while told := await starter.start(host, config, outcome):
                outcome.require("can start" in told or "under way" in told, f"Train said: {told}")
                await asyncio.sleep(2)
            starts += 1
            viewers = (
                watch_to_the_end(host, ledger.watch(config), ledger, outcome, patience=LONGEST_S)
                for _ in range(VIEWERS_EACH)
            )
            state = (await asyncio.gather(*viewers))[0].get("state", "")
            if state == "finished":
                break
        outcome.sent("races", "" if state == "finished" else f"ended as {state or 'nothing'}")
        if over.is_set() or state != "finished":
            return starts
        config = new_race(config_kind(config))


def config_kind(config: RaceConfig) -> str:
    return next(kind for kind, known in RACES.items() if known.task == config.task)
