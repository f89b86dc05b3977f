"""Slow clients and such as vanish: sockets that read nothing, half a request, a body that never comes, a hard close.

They are held open all at once while good visitors open pages; then they vanish, and the server holds nothing of them.
"""

import asyncio
import secrets
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

from bench.driving.tab import tab
from bench.soak.host import Host, hosted
from bench.soak.ledger import Ledger
from bench.soak.outcome import Amount, Delays, Outcome
from bench.soak.starters import Starter, new_race
from bench.soak.viewers import watch_to_the_end
from dashboard.asked.config import RaceConfig
from dashboard.navigation import PAGES

EACH, HOLD_SECONDS = 40, 10.0
LONGEST_S, LEFT_BEHIND = 3.0, 10  # seconds until a page is whole meanwhile, and sockets that may be left
_RESET = struct.pack("ii", 1, 0)  # closing sends a reset, and nothing that is still to be sent
_UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"


def _websocket(_: str) -> bytes:
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: streamlit\r\n"
    return f"GET /_stcore/stream HTTP/1.1\r\nHost: a\r\n{_UPGRADE}{key}\r\n".encode()


# What each of them sends, given a run; none of them ever reads.
KINDS: dict[str, Callable[[str], bytes]] = {
    "says nothing": lambda run: b"",
    "half a request line": lambda run: b"GET /ra",
    "half of the headers": lambda run: b"GET / HTTP/1.1\r\nHost: a\r\nCoo",
    "reads no stream": lambda run: f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: a\r\n\r\n".encode(),
    "reads no script": lambda run: b"GET /static/index.html HTTP/1.1\r\nHost: a\r\n\r\n" * 20,
    "half a figure": lambda run: b"POST /api/figures/pdf HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n<svg",
    "half an upload": lambda run: b"PUT /_stcore/upload_file/a/b HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nx",
    "half a handshake": lambda run: _websocket(run)[:-10],
    "websocket that reads nothing": _websocket,
    "websocket with half a frame": lambda run: _websocket(run) + b"\x82\xfe\x10",
}


def run(folder: Path, amount: Amount) -> Outcome:
    outcome, ledger, each = Outcome(), Ledger(), amount.count(EACH, 5)
    with hosted(folder, {"RADAM_LAB_RECORDINGS": "none"}) as host:
        config = new_race("valley")
        asyncio.run(_finished(host, ledger, outcome, config))
        before = host.sockets()
        calm = asyncio.run(_good_visitors(host, outcome, amount))
        held = [_bad(host, kind, ledger.watch(config)) for kind in KINDS for _ in range(each)]
        meanwhile = asyncio.run(_good_visitors(host, outcome, amount))
        figure = _figure(host)
        most = host.sockets()
        for one in held:
            one.close()
        left = _sockets_after(host, before)
        outcome.figures |= {
            "held open at once": f"{len(held)}: {each} of each of {len(KINDS)} kinds",
            "until a page was whole, before": calm.told(),
            "and meanwhile": meanwhile.told(),
            "a good visitor's figure meanwhile": f"answered {figure}",
            "connections it held before, meanwhile and after": f"{before}, {most}, {left}",
        }
        late = meanwhile.quantile(0.95)
        outcome.require(late <= LONGEST_S, f"p95 until a page was whole is {late:.1f} s, allowed {LONGEST_S:g} s")
        outcome.require(figure == 200, f"a good visitor's figure was answered with {figure}")
        outcome.require(left <= before + LEFT_BEHIND, f"{left - before} sockets were left behind")
        outcome.no_errors()
        host.judge(outcome)
    return outcome


def _bad(host: Host, kind: str, run: str) -> socket.socket:
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    one.settimeout(30)
    one.connect(("127.0.0.1", host.port))
    one.sendall(KINDS[kind](run))
    return one


async def _good_visitors(host: Host, outcome: Outcome, amount: Amount) -> Delays:
    delays, end = Delays(), time.monotonic() + amount.seconds(HOLD_SECONDS, 3)
    while time.monotonic() < end:
        async with tab(host.address, secrets.token_hex(16), "10.4.0.1") as opened:
            for page in PAGES:
                begun = time.monotonic()
                answer = await opened.open(page.name)
                delays.add(time.monotonic() - begun)
                outcome.sent("pages", f"{page.name} showed an error" if answer.errors else "")
    return delays


_SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="960pt" height="540pt" viewBox="0 0 960 540"/>'


def _figure(host: Host) -> int:
    """How the server answers somebody else's figure, from another address."""
    with socket.create_connection(("127.0.0.1", host.port), 30) as one:
        head = "POST /api/figures/pdf HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Forwarded-For: 10.4.0.2\r\n"
        one.sendall(f"{head}Content-Length: {len(_SVG)}\r\n\r\n{_SVG}".encode())
        return int(one.recv(100).split(b" ")[1])


def _sockets_after(host: Host, before: int, seconds: float = 20.0) -> int:
    end = time.monotonic() + seconds
    while host.sockets() > before + LEFT_BEHIND and time.monotonic() < end:
        time.sleep(0.2)
    return host.sockets()


async def _finished(host: Host, ledger: Ledger, outcome: Outcome, config: RaceConfig) -> None:
    await Starter(0).start(host, config, outcome)
    status = await watch_to_the_end(host, ledger.watch(config), ledger, outcome)
    outcome.require(status.get("state") == "finished", f"the race to be watched ended as {status}")
