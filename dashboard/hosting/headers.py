"""What browsers are told to refuse, with every answer: scripts and connections of others, guessed types, frames.

Streamlit runs a component's script from a blob and has one inline script in its page, which is allowed by its hash.
Its numbers of 64 bits are multiplied in WebAssembly, which is allowed, while text is never run as a script. Styles are
inline throughout. Nothing comes from another host.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A speaker's own slides, on the machine that runs the app.
OWN_MACHINE = ("http://localhost:*", "http://127.0.0.1:*")
_HOST = re.compile(r"[A-Za-z0-9.\-]+(:[0-9]+)?|\[[0-9A-Fa-f:.]+\](:[0-9]+)?")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)

OTHERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # a page's address holds a visitor's whole configuration
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class SecurityHeaders:
    def __init__(self, app: ASGIApp, embedders: tuple[str, ...] = OWN_MACHINE) -> None:
        self.app, self.embedders = app, embedders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = policy(Headers(scope=scope).get("host", ""), self.embedders)
                for name, value in OTHERS.items():
                    headers[name] = value
            await send(message)

        await self.app(scope, receive, send_with_headers)


@cache
def _inline_scripts() -> tuple[str, ...]:
    """The hashes of the scripts that stand in Streamlit's own page."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    hashes = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(page))
    return tuple(f"'sha256-{base64.b64encode(one).decode()}'" for one in hashes)


def policy(host: str, embedders: tuple[str, ...]) -> str:
    """`host` is the visitor's name for this server: not every browser takes 'self' for its websockets, too."""
    sockets = (f"ws://{host}", f"wss://{host}") if _HOST.fullmatch(host) else ()
    sources = {
        "default-src": ("'self'",),
        "script-src": ("'self'", "blob:", "'wasm-unsafe-eval'", *_inline_scripts()),
        "style-src": ("'self'", "'unsafe-inline'"),
        "img-src": ("'self'", "data:", "blob:"),
        "font-src": ("'self'", "data:"),
        "media-src": ("'self'", "data:", "blob:"),
        "connect-src": ("'self'", *sockets),
        "worker-src": ("'self'", "blob:"),
        "frame-src": ("'self'",),
        "frame-ancestors": ("'self'", *embedders),
        "object-src": ("'none'",),
        "base-uri": ("'self'",),
        "form-action": ("'self'",),
    }
    return "; ".join(f"{name} {' '.join(given)}" for name, given in sources.items())
