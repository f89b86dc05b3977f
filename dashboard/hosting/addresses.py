"""Where a visitor's connection comes from: the address that is counted, for requests and for websockets.

`X-Forwarded-For` is believed from the proxies that are named as trusted, one by one from the server outwards, and from
nobody else. Uvicorn, by its own default, has believed it of this machine already, and forgotten who asked: where the
address that it gives us stands in the header, we begin again at this machine.
"""

from ipaddress import ip_address, ip_network

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

THIS_MACHINE = "127.0.0.1"


class KnownAddresses:
    """ASGI middleware: what comes after it, Streamlit's `st.context.ip_address` among it, has the address here."""

    def __init__(self, app: ASGIApp, trusted: tuple[str, ...] = ()) -> None:
        self.app, self.trusted = app, tuple(ip_network(text) for text in trusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            scope["client"] = (self.address(scope), 0)
        await self.app(scope, receive, send)

    def address(self, scope: Scope) -> str:
        given = ",".join(Headers(scope=scope).getlist("x-forwarded-for"))
        forwarded = [_host(text) for text in given.split(",") if text.strip()]
        peer = str((scope.get("client") or (THIS_MACHINE, 0))[0])
        if peer in forwarded:
            peer = THIS_MACHINE
        while forwarded and self._trusts(peer):
            peer = forwarded.pop()
        return peer

    def _trusts(self, peer: str) -> bool:
        try:
            known = ip_address(peer)
        except ValueError:
            return False
        return any(known in network for network in self.trusted)


def _host(text: str) -> str:
    """Without its port: 192.0.2.1:50000, [2001:db8::1]:50000."""
    text = text.strip()[:100]
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
