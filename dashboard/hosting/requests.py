"""How much may be sent to a hosted copy: bodies of requests, messages on websockets, figures to be made a minute."""

import asyncio

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.hosting.settings import Hosting
from dashboard.hosting.starts import Starts

UPLOADS, FIGURES = "/_stcore/upload_file", "/api/figures/"
TOO_LARGE = 1009  # the websocket's word for it
_NO_BODY = ("GET", "HEAD", "OPTIONS")


class _TooMuchError(Exception):
    pass


class BoundedRequests:
    def __init__(self, app: ASGIApp, limits: Hosting, starts: Starts) -> None:
        self.app, self.limits, self.starts = app, limits, starts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self.app(scope, self._bounded_messages(receive, send), send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = HTTPConnection(scope)
        path, makes_figure = scope["path"], FIGURES in scope["path"] and scope["method"] == "POST"
        if UPLOADS in path and scope["method"] not in _NO_BODY:
            await PlainTextResponse("files cannot be sent to a hosted copy", 403)(scope, receive, send)
            return
        address = asked.client.host if asked.client else ""
        wait = await asyncio.to_thread(self.starts.figure, address) if makes_figure else 0
        if wait:
            told = f"at most {self.limits.figures_per_address} figures a minute are made here: try again in {wait} s"
            await PlainTextResponse(told, 429, headers={"Retry-After": str(wait)})(scope, receive, send)
            return
        most = self.limits.figure_megabytes * 1_000_000 if makes_figure else self.limits.request_kilobytes * 1000
        await self._within(most, scope, receive, send)

    async def _within(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        """A body is refused by what it says of its length, or else as soon as more has come."""
        too_much = PlainTextResponse(f"a request here may have at most {most:,} bytes", 413)
        length = HTTPConnection(scope).headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            await too_much(scope, receive, send)
            return
        size, started = 0, False

        async def bounded() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise _TooMuchError
            return message

        async def told(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, bounded, told)
        except _TooMuchError:
            if not started:
                await too_much(scope, receive, send)

    def _bounded_messages(self, receive: Receive, send: Send) -> Receive:
        most = self.limits.message_kilobytes * 1000

        async def bounded() -> Message:
            message = await receive()
            size = len(message.get("bytes") or b"") + len(message.get("text") or "")
            if message["type"] != "websocket.receive" or size <= most:
                return message
            await send({"type": "websocket.close", "code": TOO_LARGE})
            return {"type": "websocket.disconnect", "code": TOO_LARGE}

        return bounded
