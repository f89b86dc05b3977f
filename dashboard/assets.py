"""Files that the browser asks our own server for: plotly.js out of the installed package, never from a CDN."""

import gzip
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_PLOTLY_JS = Path(str(files("plotly"))) / "package_data" / "plotly.min.js"


def base_path() -> str:
    """What `server.baseUrlPath` puts before every path; custom routes have to add it themselves."""
    configured = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{configured}" if configured else ""


def script(*names: str) -> str:
    """Our own scripts, one after another as one module: an inline component cannot import."""
    return "\n".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names)


def plotly_url() -> str:
    return f"{base_path()}/assets/plotly-{version('plotly')}.js"


async def _plotly_js(request: Request) -> Response:
    zipped = "gzip" in request.headers.get("accept-encoding", "")
    # The version is in the name, so a browser needs the file once.
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if zipped:
        headers["Content-Encoding"] = "gzip"
    return Response(_content(zipped), media_type="text/javascript", headers=headers)


@cache
def _content(zipped: bool) -> bytes:
    raw = _PLOTLY_JS.read_bytes()
    return gzip.compress(raw, 6) if zipped else raw


def routes() -> list[Route]:
    return [Route(plotly_url(), _plotly_js)]
