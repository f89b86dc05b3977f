"""The two routes that turn what a browser has drawn into a file: an SVG into a PDF, and pictures into a moving one.

`POST {base}/api/figures/pdf` takes an SVG. `POST {base}/api/figures/moving?format=gif&seconds=6` takes PNGs, each after
its length in four bytes. Both are bounded, checked, and done in a thread, a few at a time: whoever exports, pages of
others go on.
"""

import asyncio
import math
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from dashboard.browser.assets import base_path
from dashboard.export import moving as moving_figures
from dashboard.export import svg as svgs
from dashboard.export.forms import media_type
from dashboard.export.pdf import pdf

AT_ONCE = 2
MOST_WAITING = 40
MOST_HELD_BYTES = 400_000_000  # of bodies, of all who send one or wait for their turn
WAIT_SECONDS = 60.0

_turns = asyncio.Semaphore(AT_ONCE)
_waiting = _held = 0
_BUSY = "too many figures are being made: try again in a moment"


def routes() -> list[Route]:
    base = f"{base_path()}/api/figures"
    return [Route(f"{base}/pdf", _pdf, methods=["POST"]), Route(f"{base}/moving", _moving, methods=["POST"])]


async def _pdf(request: Request) -> Response:
    return await _made(request, svgs.MOST_BYTES, "pdf", lambda body: pdf(svgs.checked(body)))


async def _moving(request: Request) -> Response:
    form = request.query_params.get("format", "gif")
    try:
        seconds = float(request.query_params.get("seconds", "6"))
    except ValueError:
        seconds = math.nan

    def make(body: bytes) -> bytes:
        return moving_figures.moving(moving_figures.pictures(body), form, seconds)

    return await _made(request, moving_figures.MOST_BYTES, form, make)


async def _made(request: Request, most: int, form: str, make: Callable[[bytes], bytes]) -> Response:
    """The file, or a sentence."""
    global _held
    parts: list[bytes] = []
    try:
        await asyncio.wait_for(_take(request, most, parts), WAIT_SECONDS)
        made = await _in_turn(make, b"".join(parts))
    except _BusyError:
        return PlainTextResponse(_BUSY, status_code=503)
    except ValueError as error:
        return PlainTextResponse(str(error), status_code=422)
    except (ClientDisconnect, TimeoutError):
        return PlainTextResponse("the figure did not arrive in time", status_code=408)
    finally:
        _held -= sum(map(len, parts))
    return Response(made, media_type=media_type(form), headers={"X-Content-Type-Options": "nosniff"})


class _BusyError(Exception):
    pass


async def _take(request: Request, most: int, parts: list[bytes]) -> None:
    """No more of a body is read than is allowed. Whoever sends half of one takes no place of those who sent theirs."""
    global _held
    size = 0
    async for part in request.stream():
        parts.append(part)
        size, _held = size + len(part), _held + len(part)
        if size > most:
            raise ValueError(f"a figure may be sent with at most {most:,} bytes")
        if _held > MOST_HELD_BYTES:
            raise _BusyError


async def _in_turn(make: Callable[[bytes], bytes], body: bytes) -> bytes:
    global _waiting
    if _waiting >= MOST_WAITING:
        raise _BusyError
    _waiting += 1
    try:
        async with _turns:
            return await run_in_threadpool(make, body)
    finally:
        _waiting -= 1
