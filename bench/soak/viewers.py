"""Visitors of a live run: real event streams, which break off and go on where they were."""

import asyncio
import json
import time
from typing import Any

from bench.soak.host import Host
from bench.soak.ledger import Follower, Ledger
from bench.soak.outcome import Outcome
from bench.soak.starters import Starter, new_race

LARGEST_LINE = 1 << 26
AGAIN_SECONDS = 0.5
WARM = 2000  # the number of a starter whom no scenario has


class BrokenOffError(Exception):
    """The stream ended before the run did."""


async def watch(
    host: Host,
    run: str,
    ledger: Ledger,
    outcome: Outcome,
    follower: Follower | None = None,
    leave_after: int = 0,
    last: str = "",
) -> tuple[dict[str, Any], str]:
    """Until the run is over, or so many events were seen: the last status, and the id to go on from."""
    reader, writer = await asyncio.open_connection("127.0.0.1", host.port, limit=LARGEST_LINE)
    status: dict[str, Any] = {}
    joined, seen = time.monotonic(), 0
    try:
        again = f"Last-Event-ID: {last}\r\n" if last else ""
        writer.write(f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n{again}\r\n".encode())
        code = int((await reader.readline()).split(b" ")[1] or 0)
        outcome.sent("streams", "" if code == 200 else f"answered {code}")
        if code != 200:
            raise BrokenOffError
        identity, name = "", ""
        async for line in reader:
            if line.startswith(b"id: "):
                identity = line[4:-1].decode()
            elif line.startswith(b"event: "):
                name = line[7:-1].decode()
            elif line.startswith(b"data: "):
                if name == "records":
                    shown = ledger.saw(run, identity, line[6:-1])
                    last, seen = identity, seen + 1
                    if follower:
                        follower.arrived(shown, joined)
                    if leave_after and seen >= leave_after:
                        return status, last
                else:
                    status = json.loads(line[6:])
                    if name == "end":
                        return status, last
        raise BrokenOffError
    except (OSError, IndexError, ValueError):
        raise BrokenOffError from None
    finally:
        writer.transport.abort()  # as a browser that is closed: without a word


async def warm(host: Host) -> None:
    """A first race of a moment, so that the workers are there when the scenario begins."""
    config, ledger, outcome = new_race("valley").changed(steps=50), Ledger(), Outcome()
    await Starter(WARM).start(host, config, outcome)
    status = await watch_to_the_end(host, ledger.watch(config), ledger, outcome)
    assert status.get("state") == "finished", f"the first race ended as {status}"


async def watch_to_the_end(
    host: Host,
    run: str,
    ledger: Ledger,
    outcome: Outcome,
    follower: Follower | None = None,
    leave_after: int = 0,
    patience: float = 600.0,
) -> dict[str, Any]:
    """Comes back where it was, as a browser does, however often the stream breaks off; {} if it never ends."""
    end, last = time.monotonic() + patience, ""
    while (left := end - time.monotonic()) > 0:
        try:
            seeing = watch(host, run, ledger, outcome, follower, leave_after, last)
            status, last = await asyncio.wait_for(seeing, left)
            if status.get("state") in ("finished", "stopped", "failed", "cut off"):
                return status
        except BrokenOffError:
            await asyncio.sleep(AGAIN_SECONDS)
        except (TimeoutError, OSError):
            await asyncio.sleep(AGAIN_SECONDS)
    return {}
