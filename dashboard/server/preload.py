"""Tells the browser with the page that it will need plotly.js, the largest script: it comes while Streamlit starts.

To run it early, too, was tried with a script element in the page: Streamlit then waits for it, and all is seen later.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.browser.assets import plotly_url


class PreloadPlotly:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_link(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                MutableHeaders(scope=message).append("Link", f"<{plotly_url()}>; rel=preload; as=script")
            await send(message)

        await self.app(scope, receive, send_with_link)


def _is_page(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")
