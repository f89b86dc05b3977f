"""Shows a figure: `chart` draws it once in the browser and updates it in place, so that a slider moves curves.

`st.plotly_chart` mounts a new chart on every change of data, and its toolbar saves one format only.

To build a figure takes some 20 ms, and a class that opens a page in the same second would pay for it one after the
other. So `chart` takes finished drawings only, and `drawn_once` makes them: once for all visitors with the same
settings. What is left for each of them is to send the bytes.
"""

import inspect
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, NewType, ParamSpec

import plotly.graph_objects as go

from dashboard.browser import embed
from dashboard.browser.assets import importing, plotly_url
from dashboard.browser.shown import Shown
from dashboard.browser.told import told
from dashboard.figures.look import TEMPLATES
from dashboard.remembered import shared
from dashboard.words.captions import of_settings
from dashboard.words.titles import TITLES

MOST_DRAWINGS = 64  # of each kind: 8 to 60 kB apiece, so some 30 MB if every setting of every chart was asked for

# The toolbar stands in the gap above the chart, where it covers no legend.
_CSS = """
.lab-chart { width: 100%; }
.lab-chart .modebar-btn svg { height: 18px; width: 18px; }
.lab-chart:not(.lab-plot) .modebar-container { top: -19px !important; }
.lab-frames:not([hidden]) { display: flex; align-items: center; gap: 0.75rem; font-size: 0.9rem; padding: 2px 4px 4px; }
.lab-frames input { flex: 1; min-width: 0; accent-color: var(--st-primary-color); }
.lab-frame-label { min-width: 8rem; font-variant-numeric: tabular-nums; }
.lab-frames button { font: inherit; color: inherit; background: var(--st-background-color); cursor: pointer;
  border: 1px solid #808890; border-radius: 0.35rem; padding: 0.1rem 0.6rem; min-width: 4.2rem; }
"""

_component = Shown(
    "radam_lab_chart",
    html='<div class="lab-chart" role="figure"></div><div class="lab-frames" hidden></div>',
    css=_CSS,
    js=importing("chart.js", ".lab-chart"),
)

_LOOKS = json.dumps(TEMPLATES).encode()
P = ParamSpec("P")
Drawing = NewType("Drawing", bytes)  # a figure's JSON, as the browser gets it


def drawn_once(build: Callable[P, go.Figure]) -> Callable[P, Drawing]:
    """Turns a function from settings to a figure into one that draws it once for all visitors."""

    signature = inspect.signature(build)

    @shared(MOST_DRAWINGS)
    @wraps(build)
    def drawing(*settings: P.args, **named: P.kwargs) -> Drawing:
        figure = json.loads(build(*settings, **named).to_json())
        words, slug = of_settings(signature.bind(*settings, **named).arguments)
        code = (figure["layout"].get("meta") or {}).get("code", "")  # of what was recorded by another
        return Drawing(json.dumps({**figure, "told": told(words, slug, code)}).encode())

    return drawing


def chart(
    drawing: Drawing,
    key: str,
    alt: str,
    height: int = 420,
    play: bool = False,
    title: str = "",
    partial: bool = False,
) -> None:
    """Show `drawing`; `key` names the chart on its page and in files of it, `title` stands above an exported figure. A
    `partial` one lacks something that is not trained yet."""
    embed.shows(key)
    _component.show(f"chart-{key}", message(drawing, key, alt, height, play, title, partial))


def message(
    drawing: Drawing,
    key: str,
    alt: str,
    height: int = 420,
    play: bool = False,
    title: str = "",
    partial: bool = False,
) -> bytes:
    """What the browser is sent."""
    about = {
        "name": key,
        "title": title or TITLES.get(key, ""),
        "alt": alt,
        "height": height,
        "play": play,
        "partial": partial,
        "fill": embed.alone() == key,
    }
    return for_charts(about, figure=drawing)


def for_charts(small: dict[str, Any], **ready: bytes) -> bytes:
    """`joined`, with what every chart needs: where plotly.js is, and how figures look in either theme."""
    return joined({"plotlyUrl": plotly_url(), **small}, templates=_LOOKS, **ready)


def joined(small: dict[str, Any], **ready: bytes) -> bytes:
    """JSON of an object with small parts, and with large ones that are JSON already.

    Streamlit passes bytes on as they are; a dict it would turn into JSON twice for each visitor.
    """
    parts = [json.dumps(small).encode()[:-1], *(b'"%s":%s' % (name.encode(), part) for name, part in ready.items())]
    return b",".join(parts) + b"}"
