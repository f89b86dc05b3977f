"""How everything looks: one colour and dash per method, one Plotly template for light and one for dark.

A line's colour has a contrast of 3 or more to both backgrounds, and colour alone tells no two lines apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Style:
    """A line's colour, from a set that stays apart for colour-blind readers (after Okabe & Ito), and its dash."""

    color: str
    dash: str = "solid"
    width: float = 2.5

    def line(self) -> dict[str, Any]:
        return {"color": self.color, "dash": self.dash, "width": self.width, "simplify": False}


BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
# Okabe & Ito's orange and sky blue are too pale for a white page: here they are darker.
ORANGE, SKY, GREY, OCHRE = "#C58400", "#3A9BD9", "#808890", "#7A6C00"

# Four more than Plotly has names for, in pixels: long with a short gap, long with a wide one (a legend's sample shows
# only one of Plotly's own long dashes), dash and two dots, short dashes.
LONG, WIDE, TWO_DOTS, SHORT = "18px,4px", "14px,8px", "12px,4px,2px,4px,2px,4px", "5px,3px"
DASHES = ("solid", "dash", "dot", "dashdot", WIDE, "longdashdot", LONG, TWO_DOTS, SHORT)
SPARE = ("#8A5BC4", "#A05A2C", "#5C7F3A")  # for more lines of one method than there are dashes; no method's own


def apart(wished: Sequence[Style], beside: Sequence[Style] = ()) -> list[Style]:
    """Styles for the lines of a chart, each as near to its wish as it can be: as far as there are enough, no two are
    alike, and no two have the same dash. `beside`: of the run they are compared with, which has the solid ones."""
    free = [dash for dash in DASHES if not (beside and dash == "solid")]
    styles: list[Style] = []
    for place, wish in enumerate(wished):
        others = (*beside, *styles)
        taken, pairs = [other.dash for other in others], [(other.color, other.dash) for other in others]
        to_come = [other.dash for other in wished[place + 1 :]]
        looks = [(color, dash) for color in (wish.color, *SPARE) for dash in free]
        unused = [look for look in looks if look not in pairs] or looks  # of more lines than looks, some are alike
        own = [look for look in unused if look[0] == wish.color] or unused
        color, dash = wish.color, wish.dash
        if (color, dash) not in own or dash in taken:  # the one of the least use, and of those one nobody else wishes
            color, dash = min(own, key=lambda look: (taken.count(look[1]), to_come.count(look[1])))
        styles.append(Style(color, dash, 1.8 if beside else min(wish.width, 3.0)))
    return styles


# Published implementations, on the page that compares them. The paper's is RAdam's own colour.
PROFILE_STYLES: dict[str, Style] = {
    "paper": Style(BLUE, width=4),
    "authors": Style(ORANGE, LONG),
    "torch": Style(VERMILION, "dash"),
    "optax": Style(GREEN, "dot"),
    "keras": Style(PURPLE, "dashdot"),
}

# Routes to the variance.
VARIANCE_STYLES: dict[str, Style] = {
    "exact": Style(BLUE, width=4),
    "analytic": Style(GREEN, "dash"),
    "first-order": Style(VERMILION, "dot"),
    "simulated": Style(GREY, LONG),
}

# Several beta2 at once: from yellow to violet, each with a dash of its own. From pale to dark, which prints in grey, is
# not to be had: what is pale cannot be read on white, nor what is dark on black.
BETA2_STYLES: tuple[Style, ...] = tuple(
    Style(color, dash, 3)
    for color, dash in zip(
        ("#A98600", "#7F8F1F", "#2E9A80", "#2288B0", "#5570C8", "#8A5BC4"),
        ("dot", "dashdot", "dash", WIDE, LONG, "solid"),
        strict=True,
    )
)

# The same words as .streamlit/config.toml, because Plotly draws its own background into saved images.
_BACKGROUND = {"light": "#ffffff", "dark": "#11161c"}
_TEXT = {"light": "#1b2430", "dark": "#e6ebf0"}
_GRID = {"light": "#e3e7eb", "dark": "#2a333d"}


def luminance(color: str) -> float:
    """Of #rrggbb, as WCAG 2 defines it: 0 is black and 1 is white."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """From 1 to 21, by WCAG 2."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


# Between these a line can be seen on either background: its contrast is 3 or more.
_DARKEST, _PALEST = 3 * (luminance(_BACKGROUND["dark"]) + 0.05) - 0.05, 1.05 / 3 - 0.05


def shade(color: str, share: float) -> str:
    """From the colour itself (0) as far as a line may go (1): to the palest that a white page bears, or, of a colour
    that is pale already, to the darkest that a dark one bears."""
    own = luminance(color)
    end, goal = ("#ffffff", _PALEST) if _PALEST - own > own - _DARKEST else ("#000000", _DARKEST)
    wanted = own + share * (0.98 * goal + 0.02 * own - own)
    low, high = 0.0, 1.0
    for _ in range(20):  # how much of white, or of black: its luminance rises, or falls, all the way
        middle = (low + high) / 2
        reached = abs(luminance(_mixed(color, end, middle)) - own) < abs(wanted - own)
        low, high = (middle, high) if reached else (low, middle)
    return _mixed(color, end, low)


def _mixed(one: str, other: str, share: float) -> str:
    pairs = [(int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


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
            "margin": {"l": 10, "r": 24, "t": 10, "b": 10},  # right: half of "10,000" at an axis's end
        }
    }


TEMPLATES = {theme: template(theme) for theme in ("light", "dark")}
