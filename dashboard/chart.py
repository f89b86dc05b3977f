"""Shows a figure: `chart` draws it once in the browser and updates it in place, so that a slider moves curves.

`st.plotly_chart` mounts a new chart on every change of data, and its toolbar saves one format only.
"""

import json

import plotly.graph_objects as go
import streamlit as st

from dashboard.assets import plotly_url, script
from dashboard.look import TEMPLATES

# The toolbar stands in the gap above the chart, where it covers no legend.
_CSS = """
.lab-chart { width: 100%; }
.lab-chart .modebar-btn svg { height: 18px; width: 18px; }
.lab-chart:not(.lab-plot) .modebar-container { top: -19px !important; }
"""

_component = st.components.v2.component(
    "radam_lab_chart",
    html='<div class="lab-chart" role="img"></div>',
    css=_CSS,
    js=script("plot_parts.js", "chart.js"),
    isolate_styles=False,
)


def chart(figure: go.Figure, key: str, alt: str, height: int = 420, play: bool = False) -> None:
    """Draw `figure`; `key` names the chart on its page and, as radam-lab-KEY, the files that its buttons save."""
    _component(
        key=f"chart-{key}",
        data={
            "figure": json.loads(figure.to_json()),
            "templates": TEMPLATES,
            "plotlyUrl": plotly_url(),
            "filename": f"radam-lab-{key}",
            "alt": alt,
            "height": height,
            "play": play,
        },
    )
