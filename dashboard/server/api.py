"""The two routes that a browser watches a run by: its status and configuration, and its lanes' records as they come.

`GET {base}/api/runs/{id}` answers with JSON. `GET {base}/api/runs/{id}/events` is a stream of server-sent events:
`records` (by the lane's place, `dashboard/runs/records.py`), `status` whenever that changes and every ten seconds, and
`end` when the run is over. The id of a `records` event is the number of the next record of each lane, such as 12.12.11:
a stream starts from `Last-Event-ID`, which a browser sends by itself when it reconnects, or from `?after=12.12.11`.

A sweep's stream has `cells` in place of records (`dashboard/runs/sweep_feed.py`), and `findings` whenever what follows
from them is new (`dashboard/browser/sweep_findings.py`).
"""

import asyncio
import json
import re
import signal
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from dashboard.browser.assets import base_path
from dashboard.engine.engine import Engine, running_engine
from dashboard.runs.feed import Feed, Places, event
from dashboard.runs.sweep_feed import SweepFeed
from dashboard.server.findings_told import SWEEP, VIEWS, findings_event

HEARTBEAT_SECONDS = 10.0
_ID = re.compile(r"[0-9a-f]{20}")
# A proxy that collects an answer before it passes it on would hold the records back.
_STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def routes() -> list[Route]:
    base = f"{base_path()}/api/runs/{{run}}"
    return [Route(base, _status, methods=["GET"]), Route(f"{base}/events", _events, methods=["GET"])]


async def _status(request: Request) -> Response:
    engine, feed = await _feed(request)
    if engine is None or feed is None:
        return _not_found()
    run = await asyncio.to_thread(engine.store.run, request.path_params["run"])
    if run is None:
        return _not_found()
    body = {
        "id": run.id,
        "status": asdict(feed.status),
        "created": run.created,
        "updated": run.updated,
        "lanes": list(run.lanes),
        "config": json.loads(run.config.to_json()),
    }
    if not isinstance(feed, SweepFeed):
        body["records"] = [len(lane.records) for lane in feed.lanes]
    return JSONResponse(body, headers={"Cache-Control": "no-cache"})


async def _events(request: Request) -> Response:
    engine, feed = await _feed(request)
    if engine is None or feed is None:
        return _not_found()
    with suppress(sqlite3.Error):  # a full disk: it can be watched all the same
        await asyncio.to_thread(engine.store.touch, request.path_params["run"])
    start = feed.places(request.headers.get("last-event-id") or request.query_params.get("after"))
    asked = request.query_params.get("view", SWEEP)
    view = asked if asked in VIEWS else SWEEP
    return StreamingResponse(stream(feed, start, view), media_type="text/event-stream", headers=_STREAM_HEADERS)


async def stream(feed: Feed, after: Places | None = None, view: str = SWEEP) -> AsyncIterator[bytes]:
    """What is new of the lanes from a number on, in its order, and the status between, until the run is over."""
    told, found, after = b"", b"", after or feed.places(None)
    while True:
        changed = feed.changed()
        if feed.closed:
            return
        over, status = feed.status.over, feed.status_event  # before the records: after the last of them it is over
        if over and isinstance(feed, SweepFeed):
            await asyncio.to_thread(feed.look)
        news, after = feed.news(after)
        if news:
            yield news
            continue
        if isinstance(feed, SweepFeed):
            findings = await findings_event(feed, over, view)
            if findings != found:
                found = findings
                yield findings
        if over:
            yield status + event("end", feed.status.as_json().encode())
            return
        if status != told:
            told = status
            yield status
        done, _ = await asyncio.wait({changed}, timeout=HEARTBEAT_SECONDS)
        if not done:
            told = b""


@contextmanager
def streams_end_with_the_server(engine: Engine) -> Iterator[None]:
    """On Ctrl-C or SIGTERM the server waits for open answers before it ends, and a stream has no end of its own.

    So the signal ends the streams before the server's own handler gets it. Enter it on the server's event loop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals: whoever runs the server in another one ends it in another way
        return
    loop = asyncio.get_running_loop()
    before: dict[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def leave(number: int, frame: Any) -> None:
        loop.call_soon_threadsafe(engine.feeds.close)
        before[number](number, frame)

    before = {number: handler for number, handler in before.items() if callable(handler)}
    for number in before:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def _feed(request: Request) -> tuple[Engine | None, Feed | None]:
    engine, run = running_engine(), request.path_params["run"]
    if engine is None or not _ID.fullmatch(run):
        return engine, None
    return engine, engine.feeds.cached(run) or await asyncio.to_thread(engine.feeds.open, run)


def _not_found() -> Response:
    return JSONResponse({"error": "there is no such run"}, status_code=404)
