"""Files that the browser asks our own server for: our scripts, fonts for figures, and plotly.js.

That one is out of the installed package, not from a CDN, and cut to what is drawn.

A script that Streamlit is given as text travels with every chart that is shown. So that text only imports a module,
which a browser fetches once: the hash of all scripts is in its address, which is another one after any change.
"""

import gzip
import hashlib
import json
import re
from functools import cache
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from dashboard.browser.plotly_cut import HOW_IT_IS_CUT, PLOTLY_VERSION, plotly_js

SCRIPTS = Path(__file__).with_name("scripts")
FONTS = Path(__file__).with_name("fonts")  # of exported figures: cuts of Source Sans under a name of their own
_TYPES = {".js": "text/javascript", ".json": "application/json", ".woff2": "font/woff2"}
_SCRIPTS = {
    path.name: path.read_bytes() for path in sorted([*SCRIPTS.iterdir(), *FONTS.iterdir()]) if path.suffix in _TYPES
}
_SCRIPTS_HASH = hashlib.sha256(repr(_SCRIPTS).encode()).hexdigest()[:16]
_PLOTLY_NAME = f"plotly-{PLOTLY_VERSION}-{HOW_IT_IS_CUT}.js"

# Streamlit runs it from a blob, to which no path is relative. One promise for all calls: two imports of a module may be
# told in either order, and the call of an older rerun would then come last.
_IMPORT = """let script
export default (component) => (script ??= import(new URL(%s, location.origin).href)).then(
  ({ default: render }) => render(component),
  ({ message }) => {
    script = undefined
    const box = component.parentElement.querySelector(%s)
    box.textContent = `This part of the page could not be loaded: ${message}. Reload the page to try again.`
  },
)"""


def base_path() -> str:
    """What `server.baseUrlPath` puts before every path; custom routes have to add it themselves."""
    configured = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{configured}" if configured else ""


def importing(script: str, box: str) -> str:
    """The text of a component that `script` draws; if that does not load, what `box` selects in its html says so."""
    return _IMPORT % (json.dumps(script_url(script)), json.dumps(box))


def script_url(name: str) -> str:
    if name not in _SCRIPTS:
        known = ", ".join(known for known in _SCRIPTS if known.endswith(".js"))
        raise ValueError(f"script must be one of {known}, got {name!r}")
    return f"{base_path()}/assets/{_SCRIPTS_HASH}/{name}"


@cache
def imported_by(name: str) -> tuple[str, ...]:
    """A script and all that it imports when it is loaded, each once."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            waiting += re.findall(r'^import .*?from "\./([^"]+)"', _SCRIPTS[one].decode(), re.MULTILINE)
    return tuple(found)


def plotly_url() -> str:
    return f"{base_path()}/assets/{_PLOTLY_NAME}"


def prepare() -> None:
    """The one file that takes a moment, before the first visitor asks for it."""
    _content(_PLOTLY_NAME, True)


def routes() -> list[Route]:
    return [Route(f"{base_path()}/assets/{{path:path}}", _asset)]


async def _asset(request: Request) -> Response:
    path = request.path_params["path"]
    if path != _PLOTLY_NAME and path not in (f"{_SCRIPTS_HASH}/{name}" for name in _SCRIPTS):
        return PlainTextResponse("there is no such file", status_code=404)
    zipped = "gzip" in request.headers.get("accept-encoding", "")
    # A version or a hash is in the address, so a browser needs the file once.
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if zipped:
        headers["Content-Encoding"] = "gzip"
    name = path.split("/")[-1]
    return Response(_content(name, zipped), media_type=_TYPES[Path(name).suffix], headers=headers)


@cache
def _content(name: str, zipped: bool) -> bytes:
    raw = _SCRIPTS[name] if name in _SCRIPTS else plotly_js().encode()
    return gzip.compress(raw, 6) if zipped else raw
