"""10,000 requests that were made to break it, property-based: every route, parameter, websocket message and upload.

No answer is a 5xx, no page shows an error, no traceback is logged, no limit is passed, and the server is as well after
them as it was before.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import websockets
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from bench.driving.tab import Answer, tab
from bench.soak.host import Host, hosted
from bench.soak.limits_kept import judge_runs
from bench.soak.outcome import Amount, Delays, Outcome
from bench.soak.strategies import back_messages, queries, requests, uploads, widget_messages
from dashboard.navigation import PAGES

# How many of each of the 10,000, and how many of them are sent at a time.
COUNTS = {"requests": 5000, "uploads": 1500, "messages": 1500, "pages": 1000, "controls": 1000}
AT_A_TIME, IN_A_TAB, PATIENCE, MEMORY_ALLOWED = 20, 5, 60.0, 1.5
LINKS = {
    "race": ("preset", "task", "config", "run", "compare", "hide"),
    "sweep": ("preset", "config", "run"),
    "tour": ("class", "view", "step", *(f"p{place}" for place in range(9))),
    "paper": ("row",),
}
EVERYWHERE = ("embed", "chart", "embed_options")
# What our own components tell the server.
STATES = ("action", "hidden", "open", "left", "drawn", "value", "selection")
Sends = Callable[[Host, Any, Outcome], Awaitable[None]]


def run(folder: Path, amount: Amount) -> Outcome:
    outcome, delays, first = Outcome(), Delays(), int(time.time())
    with hosted(folder, {"RADAM_LAB_RECORDINGS": "none"}) as host:
        pages = asyncio.run(_known(host))
        before = host.memory_mb()
        for number, (kind, full) in enumerate(COUNTS.items()):
            count = amount.count(full, AT_A_TIME)
            _attack(host, kind, count, first + number, pages, outcome)
        for page in PAGES:
            begun = time.monotonic()
            answer = asyncio.run(_opened(host, page.name))
            delays.add(time.monotonic() - begun)
            outcome.sent("pages afterwards", f"{page.name} showed an error" if answer.errors else "")
        after = host.memory_mb()
        outcome.figures |= {
            "sent": ", ".join(f"{count:,} {kind}" for kind, count in outcome.requests.items()),
            "seed": str(first),
            "until a page was whole afterwards": delays.told(),
            "server's memory before and after": f"{before:.0f} MB, {after:.0f} MB",
        }
        outcome.require(after <= MEMORY_ALLOWED * before, f"the memory grew from {before:.0f} to {after:.0f} MB")
        judge_runs(outcome, host.runs)
        outcome.no_errors()
        host.judge(outcome)
    return outcome


async def _opened(host: Host, page: str) -> Answer:
    async with tab(host.address) as opened:
        return await opened.open(page)


async def _known(host: Host) -> dict[str, Answer]:
    """Every page with its controls."""
    return {page.name: await _opened(host, page.name) for page in PAGES}


def _attack(host: Host, kind: str, count: int, first: int, pages: dict[str, Answer], outcome: Outcome) -> None:
    """So many of a kind, in handfuls of examples that hypothesis thinks up."""
    each, send = _KINDS[kind]
    size = AT_A_TIME // IN_A_TAB if kind == "controls" else AT_A_TIME
    handful = st.lists(each(pages), min_size=size, max_size=size)
    sent = 0

    @seed(first)
    @settings(
        max_examples=max(1, count // AT_A_TIME),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(handful)
    def attack(examples: list[Any]) -> None:
        nonlocal sent
        sent += AT_A_TIME
        asyncio.run(_together(host, send, examples, outcome))

    attack()
    while sent < count:  # it may find that it has thought of everything
        first += 1
        seed(first)(attack)()


async def _together(host: Host, send: Sends, examples: list[Any], outcome: Outcome) -> None:
    await asyncio.gather(*(_guarded(host, send, example, outcome) for example in examples))


async def _guarded(host: Host, send: Sends, example: Any, outcome: Outcome) -> None:
    try:
        await asyncio.wait_for(send(host, example, outcome), PATIENCE)
    except TimeoutError:
        outcome.sent("unanswered", f"no answer within {PATIENCE:g} s to {str(example)[:300]}")


async def _request(host: Host, wire: bytes, outcome: Outcome, kind: str = "requests") -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", host.port)
    try:
        writer.write(wire)
        line = await reader.readline()
        code = int(line.split(b" ")[1]) if line.startswith(b"HTTP/") else 0
        if code != 101:
            while await reader.read(1 << 16):
                pass
        outcome.sent(kind, f"{code} for {wire[:300]!r}" if code >= 500 else "")
    except (ConnectionError, IndexError):  # hung up on: that bounds it, too
        outcome.sent(kind)
    finally:
        writer.transport.abort()


async def _upload(host: Host, wire: bytes, outcome: Outcome) -> None:
    await _request(host, wire, outcome, "uploads")


async def _page(host: Host, example: tuple[str, str], outcome: Outcome) -> None:
    page, query = example
    async with tab(host.address) as opened:
        answer = await opened.open(page, query)
    outcome.sent("pages", f"{page}?{query[:300]} showed an error" if answer.errors else "")


async def _message(host: Host, data: bytes | str, outcome: Outcome) -> None:
    """The server may close the connection, and no more."""
    try:
        async with tab(host.address) as opened:
            await opened.socket.send(data)
            await asyncio.wait_for(opened.socket.recv(), 1)
    except (TimeoutError, websockets.ConnectionClosed):
        pass
    outcome.sent("messages")


async def _control(host: Host, example: tuple[str, list[Any]], outcome: Outcome) -> None:
    """Some after the other in one tab, in which the earlier ones leave what they set."""
    page, messages = example
    async with tab(host.address) as opened:
        await opened.open(page)
        for message in messages:
            try:
                answer = await opened.run(message)
            except websockets.ConnectionClosed:
                return
            told = " ".join(str(message).split())[:600]
            outcome.sent("controls", f"{page} showed an error: {told}" if answer.errors else "")


def _names(page: str, answer: Answer) -> list[str]:
    """The parameters of a page: those of its links, and its controls' own."""
    own = [identity.partition(f"-{page}-")[2] for identity in answer.controls]
    return [*LINKS.get(page, ()), *EVERYWHERE, *(name for name in own if name)]


def _pages(pages: dict[str, Answer]) -> st.SearchStrategy[tuple[str, str]]:
    return st.sampled_from(sorted(pages)).flatmap(
        lambda page: st.tuples(st.just(page), queries(_names(page, pages[page])))
    )


def _controls(pages: dict[str, Answer]) -> st.SearchStrategy[tuple[str, list[Any]]]:
    def of(page: str) -> st.SearchStrategy[tuple[str, list[Any]]]:
        message = widget_messages(pages[page].controls, pages[page].page, STATES)
        return st.tuples(st.just(page), st.lists(message, min_size=IN_A_TAB, max_size=IN_A_TAB))

    return st.sampled_from(sorted(pages)).flatmap(of)


_KINDS: dict[str, tuple[Callable[[dict[str, Answer]], st.SearchStrategy[Any]], Sends]] = {
    "requests": (lambda pages: requests(), _request),
    "uploads": (lambda pages: uploads(), _upload),
    "messages": (lambda pages: back_messages() | st.text(max_size=50), _message),
    "pages": (_pages, _page),
    "controls": (_controls, _control),
}
