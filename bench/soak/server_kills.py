"""The server killed three times with races under way: it comes back with all that anybody was shown, and goes on.

A run that was finished before is the same, byte for byte; one that was cut off says so, and Train finishes it.
"""

import asyncio
import json
import random
import sqlite3
import time
from pathlib import Path

from bench.soak.host import Host, hosted
from bench.soak.ledger import Ledger
from bench.soak.outcome import Amount, Delays, Outcome
from bench.soak.starters import Starter, new_race
from bench.soak.viewers import BrokenOffError, watch, watch_to_the_end
from dashboard.asked.config import RaceConfig
from dashboard.runs.identity import lane_ids, run_id
from dashboard.runs.states import ACTIVE

KILLS, RACERS, VIEWERS_EACH = 3, 4, 5
ALIVE_S, LONGEST_S = (1.0, 5.0), 600.0


def run(folder: Path, amount: Amount) -> Outcome:
    outcome, ledger, kills = Outcome(), Ledger(), amount.count(KILLS)
    down = Delays()
    with hosted(folder, {"RADAM_LAB_RECORDINGS": "none"}) as host:
        done = new_race("valley")
        asyncio.run(_finish(host, ledger, outcome, [done]))
        whole = records(host.runs, done)
        races = [new_race("numbers" if number % 2 else "valley") for number in range(RACERS)]
        for config in races:
            ledger.watch(config)
        for _ in range(kills):
            asyncio.run(_cut_off(host, ledger, outcome, races))
            down.add(_restarted(host))
            _judge_states(host, outcome, races)
            outcome.require(records(host.runs, done) == whole, "a finished run is another after a kill")
            outcome.require(ledger.lost(host.runs) == 0, "a kill lost records that viewers were shown")
        asyncio.run(_finish(host, ledger, outcome, races))
        outcome.figures |= {"servers killed": str(kills), "until it answered again": down.told()}
        ledger.judge(outcome, host.runs)
        outcome.no_errors()
        host.judge(outcome)
    return outcome


def _restarted(host: Host) -> float:
    begun = time.monotonic()
    host.start()
    return time.monotonic() - begun


async def _cut_off(host: Host, ledger: Ledger, outcome: Outcome, races: list[RaceConfig]) -> None:
    """Starts them all, lets them train for a moment with viewers, and kills the server."""
    for number, config in enumerate(races):
        await Starter(number).start(host, config, outcome)
    streams = [
        asyncio.create_task(watch(host, run_id(config), ledger, Outcome()))
        for config in races
        for _ in range(VIEWERS_EACH)
    ]
    before, waited = ledger.events, 0.0
    while ledger.events == before and waited < LONGEST_S:
        await asyncio.sleep(0.1)
        waited += 0.1
    await asyncio.sleep(random.uniform(*ALIVE_S))
    await asyncio.to_thread(host.kill)
    for found in await asyncio.gather(*streams, return_exceptions=True):
        outcome.require(
            isinstance(found, BrokenOffError | tuple), f"a stream ended with {found!r} as the server was killed"
        )


def _judge_states(host: Host, outcome: Outcome, races: list[RaceConfig]) -> None:
    """What was under way is cut off, or was taken up again; it has not failed."""
    with sqlite3.connect(f"file:{host.runs / 'runs.sqlite'}?mode=ro", uri=True) as database:
        found = dict(database.execute("select id, state from runs").fetchall())
    database.close()
    states = {found.get(run_id(config), "unknown") for config in races}
    outcome.require(states <= {"cut off", "finished", *ACTIVE}, f"after a kill runs are {sorted(states)}")


async def _finish(host: Host, ledger: Ledger, outcome: Outcome, races: list[RaceConfig]) -> None:
    for number, config in enumerate(races):
        told = await Starter(100 + number).start(host, config, outcome)
        outcome.require(not told, f"Train said: {told}")
    watched = (watch_to_the_end(host, ledger.watch(config), ledger, outcome, patience=LONGEST_S) for config in races)
    for status in await asyncio.gather(*watched):
        state = status.get("state", "never over")
        outcome.sent("runs watched", "" if state == "finished" else state)


def records(runs: Path, config: RaceConfig) -> str:
    database = sqlite3.connect(f"file:{runs / 'runs.sqlite'}?mode=ro", uri=True)
    try:
        rows = [
            database.execute(
                "select number, last, ends, body from records where lane = ? order by 1", (lane,)
            ).fetchall()
            for lane in lane_ids(config)
        ]
        return json.dumps(rows)
    finally:
        database.close()
