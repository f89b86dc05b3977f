"""Who a visitor is: a random name in a cookie, the same in all tabs of a browser and after a reload.

It holds apart what several visitors of one run want, and nothing else: it is no login.
"""

import re
import secrets

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.browser.assets import base_path

COOKIE = "radam-lab-visitor"
YEAR_SECONDS = 365 * 24 * 3600
_KEY = "visitor"
_ID = re.compile(r"[0-9a-f]{32}")


def visitor_id() -> str:
    """Of the visitor whose script this is; where the browser keeps no cookies, of this tab until it is reloaded."""
    return cookie_id() or str(st.session_state.setdefault(_KEY, _new_id()))


def cookie_id() -> str:
    """The same, and empty where the browser keeps no cookies."""
    given = str(st.context.cookies.get(COOKIE))  # not always text: under Streamlit's AppTest it is a mock
    return given if _ID.fullmatch(given) else ""


class NameVisitors:
    """ASGI middleware that gives a browser its cookie with the page, so that the websocket has it from the start."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _ID.fullmatch(HTTPConnection(scope).cookies.get(COOKIE, "")):
            await self.app(scope, receive, send)
            return

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(Headers(scope=scope), message):
                headers = MutableHeaders(scope=message)
                headers.append("Set-Cookie", _cookie(scope))
                # A cache on the way that kept this answer for others would give them all one name.
                headers["Cache-Control"] = "no-cache, private"
            await send(message)

        await self.app(scope, receive, send_with_cookie)


def _is_page(asked: Headers, answer: Message) -> bool:
    """Also when the browser still has the page and only asks whether that is the latest: its cookie may be gone."""
    kind = Headers(raw=answer["headers"]).get("content-type", "")
    return kind.startswith("text/html") or (answer["status"] == 304 and "text/html" in asked.get("accept", ""))


def _cookie(scope: Scope) -> str:
    # Behind a proxy it is the proxy that speaks https.
    proxied = Headers(scope=scope).get("x-forwarded-proto", "")
    secure = "; Secure" if "https" in (scope["scheme"], proxied) else ""
    path = base_path() or "/"
    return f"{COOKIE}={_new_id()}; Max-Age={YEAR_SECONDS}; Path={path}; HttpOnly; SameSite=Lax{secure}"


def _new_id() -> str:
    return secrets.token_hex(16)
