"""How much may be sent to a hosted copy: bodies of requests, messages on websockets, figures to be made a minute."""

import asyncio
import re

from google.protobuf.message import DecodeError
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from dashboard.hosting.settings import Hosting
from dashboard.hosting.starts import Starts

UPLOADS, FIGURES = "/_stcore/upload_file", "/api/figures/"
TOO_LARGE = 1009  # the websocket's word for it
NOT_BINARY, NO_MESSAGE = 1003, 1002
_NO_BODY = ("GET", "HEAD", "OPTIONS")
_LENGTH = re.compile("[0-9]{1,18}")


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
        if not _LENGTH.fullmatch(length) or int(length) > most:
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
            problem = _problem(message, most) if message["type"] == "websocket.receive" else 0
            if not problem:
                return message
            await send({"type": "websocket.close", "code": problem})
            return {"type": "websocket.disconnect", "code": problem}

        return bounded


def _problem(message: Message, most: int) -> int:
    """Why a websocket's message is refused, in the websocket's word for it. Streamlit would close it, too, but only
    after an error that fills the log."""
    data, text = message.get("bytes"), message.get("text")
    if len(data or b"") + len(text or "") > most:
        return TOO_LARGE
    if data is None:
        return NOT_BINARY
    try:
        BackMsg().ParseFromString(data)
    except DecodeError:
        return NO_MESSAGE
    return 0
