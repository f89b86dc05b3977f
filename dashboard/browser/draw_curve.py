"""A curve that a visitor draws on a chart, by pointer or by keyboard: see scripts/draw_curve.js."""

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.browser.assets import importing
from dashboard.browser.chart import Drawing, for_charts
from dashboard.figures.look import PURPLE

_CSS = """
.lab-draw { position: relative; width: 100%; }
.lab-draw-sheet { position: absolute; cursor: crosshair; touch-action: none; }
.lab-draw-sheet svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
.lab-draw-sheet svg { pointer-events: none; }
.lab-draw-sheet polyline { fill: none; stroke: var(--lab-drawn); stroke-width: 3; stroke-dasharray: 8 5; }
.lab-draw-point {
  position: absolute; width: 22px; height: 22px; margin: -11px 0 0 -11px; border-radius: 50%; cursor: ns-resize;
  background: radial-gradient(circle, var(--lab-drawn) 6px, transparent 7px);
}
.lab-draw-point:focus-visible { outline: 3px solid var(--st-text-color, currentColor); outline-offset: -2px; }
"""

_component = st.components.v2.component(
    "radam_lab_draw_curve",
    html='<div class="lab-draw"><div class="lab-chart" role="figure"></div><div class="lab-draw-sheet"></div></div>',
    css=_CSS,
    js=importing("draw_curve.js", ".lab-chart"),
    isolate_styles=False,
)


def draw_curve(
    drawing: Drawing,
    key: str,
    alt: str,
    steps: Sequence[int],
    axis: tuple[float, float],
    start: str,
    on_drawn: Callable[[], None],
    height: int = 420,
) -> None:
    """Shows `drawing`, whose y axis is logarithmic over the powers `axis` of ten, and on it a curve with a point at
    each step, one letter of its code for each: at `start` until it is drawn. Then `on_drawn` is called, and the code
    is `st.session_state[key]["drawn"]`."""
    about = {
        "alt": alt,
        "height": height,
        "steps": list(steps),
        "axis": list(axis),
        "start": start,
        "color": PURPLE,
    }
    _component(key=key, data=for_charts(about, figure=drawing), on_drawn_change=on_drawn)
