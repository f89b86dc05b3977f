"""The disk is full: the server stays up, says so in a sentence, loses nothing that it showed, and recovers with room.

The store is on a disk of its own, of some megabytes in memory, which takes root to mount.
"""

import asyncio
import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.driving.tab import tab
from bench.soak.host import Host, hosted
from bench.soak.ledger import Ledger
from bench.soak.outcome import Amount, Outcome
from bench.soak.server_kills import records
from bench.soak.starters import Starter, new_race
from bench.soak.viewers import watch, watch_to_the_end
from dashboard.asked.config import RaceConfig
from dashboard.navigation import PAGES

DISK_MB, FULL = 12, "full"
LONGEST_S = 600.0


def run(folder: Path, amount: Amount) -> Outcome:  # noqa: ARG001 - a scenario's form
    outcome, ledger = Outcome(), Ledger()
    disk = folder / "disk"
    try:
        with _mounted(disk), hosted(folder, {"RADAM_LAB_RUNS": str(disk), "RADAM_LAB_RECORDINGS": "none"}) as host:
            _fill_and_empty(host, ledger, outcome, disk)
            ledger.judge(outcome, disk)
            outcome.no_errors()
            host.judge(outcome)
    except subprocess.CalledProcessError:
        outcome.left_out = "a small disk can be mounted here by root only"
    return outcome


def _fill_and_empty(host: Host, ledger: Ledger, outcome: Outcome, disk: Path) -> None:
    done, cut, later = (new_race(kind) for kind in ("valley", "numbers", "valley"))
    outcome.require(_trained(host, ledger, outcome, done) == "finished", "nothing could be trained before")
    whole = records(disk, done)
    state, told = asyncio.run(_fill_under(host, ledger, outcome, cut, disk))
    outcome.require(state == "failed" and "cannot be stored" in told, f"a run without room ended as {state}: {told}")
    asyncio.run(_pages_open(host, outcome))
    refused = asyncio.run(Starter(2).start(host, later, outcome))
    outcome.require("cannot be stored" in refused, f"Train without room said {refused or 'nothing'!r}")
    _answers(host, ledger.watch(done), outcome)
    host.kill()
    host.start()
    asyncio.run(_pages_open(host, outcome))
    outcome.require(records(disk, done) == whole, "a finished run is another on a full disk")
    (disk / FULL).unlink()
    state = _trained(host, ledger, outcome, later)
    outcome.require(state == "finished", f"a run with room again ended as {state}")
    state = _trained(host, ledger, outcome, cut)
    outcome.require(state == "finished", f"the run that had no room, started again, ended as {state}")
    outcome.require(records(disk, done) == whole, "a finished run is another after a full disk")
    outcome.figures |= {
        "disk": f"{DISK_MB} MB, filled to the last byte while a race trained, and emptied again",
        "a race that found no room said": told,
        "Train said": refused,
        "killed and started again on the full disk": "answers, and shows what was recorded",
    }


def _trained(host: Host, ledger: Ledger, outcome: Outcome, config: RaceConfig) -> str:
    async def train() -> str:
        told = await Starter(1).start(host, config, outcome)
        if told:
            return told
        run = ledger.watch(config)
        return str((await watch_to_the_end(host, run, ledger, outcome, patience=LONGEST_S)).get("state"))

    return asyncio.run(train())


async def _fill_under(host: Host, ledger: Ledger, outcome: Outcome, config: RaceConfig, disk: Path) -> tuple[str, str]:
    """Starts a race, and takes all room away once it has said something."""
    await Starter(3).start(host, config, outcome)
    run = ledger.watch(config)
    await asyncio.wait_for(watch(host, run, ledger, outcome, leave_after=1), LONGEST_S)
    fill(disk / FULL)
    status = await watch_to_the_end(host, run, ledger, outcome, patience=LONGEST_S)
    return str(status.get("state")), str(status.get("message"))


async def _pages_open(host: Host, outcome: Outcome) -> None:
    for page in PAGES:
        async with tab(host.address) as opened:
            answer = await opened.open(page.name)
            outcome.sent("pages", f"{page.name} showed an error on a full disk" if answer.errors else "")
            if "Open a class" in answer.buttons:
                answer = await opened.press(answer, "Open a class")
                outcome.sent("pages", "opening a class showed an error on a full disk" if answer.errors else "")


def _answers(host: Host, run: str, outcome: Outcome) -> None:
    with urllib.request.urlopen(f"{host.address}/api/runs/{run}", timeout=30) as answer:
        outcome.sent("requests", "" if json.load(answer)["status"]["state"] == "finished" else "another state")


def fill(path: Path) -> None:
    """Takes all the room that there is, to the last byte."""
    size = 1 << 20
    with path.open("ab", buffering=0) as file:
        while size:
            try:
                file.write(b"\0" * size)
            except OSError:
                size //= 2


@contextmanager
def _mounted(folder: Path) -> Iterator[None]:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=False)
