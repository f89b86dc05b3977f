"""Tells the browser with the page what it will need: plotly.js, the largest script, and the modules of its charts.

They come while Streamlit starts. To run plotly.js early, too, was tried with a script element in the page: Streamlit
then waits for it, and all is seen later.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.browser.assets import imported_by, plotly_url, script_url

LIVE = ("race", "norms")  # pages whose charts live.js draws


class Preload:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_links(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                MutableHeaders(scope=message).append("Link", _links(scope["path"]))
            await send(message)

        await self.app(scope, receive, send_with_links)


def _links(path: str) -> str:
    script = "live.js" if path.rstrip("/").split("/")[-1] in LIVE else "chart.js"
    modules = dict.fromkeys((*imported_by("address.js"), *imported_by(script)))
    links = [f"<{script_url(name)}>; rel=modulepreload" for name in modules]
    return ", ".join([f"<{plotly_url()}>; rel=preload; as=script", *links])


def _is_page(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type", "").startswith("text/html")
