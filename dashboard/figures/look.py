"""How everything looks: one colour and dash per method, one Plotly template for light and one for dark."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Style:
    """A line's colour, from a set that stays apart for colour-blind readers (Okabe & Ito), and its dash."""

    color: str
    dash: str = "solid"
    width: float = 2.5

    def line(self) -> dict[str, Any]:
        return {"color": self.color, "dash": self.dash, "width": self.width, "simplify": False}


BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GREY, OCHRE = "#E69F00", "#56B4E9", "#808890", "#9C7A00"

# Published implementations, on the page that compares them. The paper's is RAdam's own colour.
PROFILE_STYLES: dict[str, Style] = {
    "paper": Style(BLUE, width=4),
    "authors": Style(ORANGE),
    "torch": Style(VERMILION, "dash"),
    "optax": Style(GREEN, "dot"),
    "keras": Style(PURPLE, "dashdot"),
}

# Routes to the variance.
VARIANCE_STYLES: dict[str, Style] = {
    "exact": Style(BLUE, width=4),
    "analytic": Style(GREEN, "dash"),
    "first-order": Style(VERMILION, "dot"),
    "simulated": Style(GREY),
}

# Several beta2 at once: an ordered scale that darkens evenly and prints in grey.
BETA2_SCALE = ("#E8C547", "#B5A642", "#6FA287", "#3D8FA5", "#2F6FB0", "#4B3F91")

# The same words as .streamlit/config.toml, because Plotly draws its own background into saved images.
_BACKGROUND = {"light": "#ffffff", "dark": "#11161c"}
_TEXT = {"light": "#1b2430", "dark": "#e6ebf0"}
_GRID = {"light": "#e3e7eb", "dark": "#2a333d"}


def template(theme: str) -> dict[str, Any]:
    """A Plotly template: large enough for the back row, with grid lines that stay behind the data."""
    axis = {
        "gridcolor": _GRID[theme],
        "linecolor": _TEXT[theme],
        "zerolinecolor": _GRID[theme],
        "showline": True,
        "ticks": "outside",
        "automargin": True,
        "exponentformat": "power",
        "title": {"standoff": 8},
    }
    return {
        "layout": {
            "paper_bgcolor": _BACKGROUND[theme],
            "plot_bgcolor": _BACKGROUND[theme],
            "font": {"color": _TEXT[theme], "size": 15, "family": "Source Sans, Source Sans Pro, sans-serif"},
            "colorway": [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, OCHRE, GREY],
            "xaxis": axis,
            "yaxis": axis,
            "hovermode": "x unified",
            "hoverlabel": {"bgcolor": _BACKGROUND[theme], "font": {"size": 13}},
            "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 13}},
            "margin": {"l": 10, "r": 16, "t": 10, "b": 10},
        }
    }


TEMPLATES = {theme: template(theme) for theme in ("light", "dark")}
