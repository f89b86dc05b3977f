"""An SVG from a browser is a stranger's input: what `checked` lets through is drawn lines and letters, nothing else.

Everything is named that may be in it; the rest is refused, if it is an element, or left out, if it is an attribute.
"""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from dashboard.export.forms import SIZES

MOST_BYTES = 3_000_000
MOST_ELEMENTS = 60_000
MOST_DEPTH = 60
_SVG = "{http://www.w3.org/2000/svg}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"

_ELEMENTS = frozenset(
    re.findall(
        r"\w+",
        "svg g defs clipPath linearGradient stop path rect circle ellipse line polyline polygon text tspan title desc",
    )
)
_LEFT_OUT = frozenset(["style"])  # the browser's fonts: ours are put in their place
_ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        "id d x y x1 y1 x2 y2 cx cy r rx ry dx dy width height points transform viewBox preserveAspectRatio offset "
        "rotate clip-path clip-rule fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray "
        "stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit opacity color font-family font-size "
        "font-style font-weight text-anchor dominant-baseline letter-spacing stop-color stop-opacity gradientUnits "
        "gradientTransform clipPathUnits visibility display",
    )
)
_URL = re.compile(r"url\s*\(", re.IGNORECASE)
_OWN_URL = re.compile(r"url\(\s*['\"]?#[\w.:-]+['\"]?\s*\)")
_STYLE = re.compile(r"\s*([a-z-]+)\s*:\s*([^;]*)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True)
class Checked:
    """`width` and `height` are points."""

    text: str
    width: float
    height: float


def checked(given: bytes) -> Checked:
    """`ValueError` says what must not be in it."""
    if len(given) > MOST_BYTES:
        raise ValueError(f"the SVG may have at most {MOST_BYTES:,} bytes, got {len(given):,}")
    if b"<!" in given.replace(b"<!--", b"") or b"<?" in given.lstrip()[5:]:
        raise ValueError("the SVG must not declare entities, types or instructions")
    try:
        root = ElementTree.fromstring(given.decode("utf-8"))
    except (UnicodeDecodeError, ElementTree.ParseError) as error:
        raise ValueError(f"the SVG cannot be read: {error}") from None
    if root.tag != f"{_SVG}svg":
        raise ValueError("the SVG must begin with an svg element")
    count = sum(1 for _ in root.iter())
    if count > MOST_ELEMENTS:
        raise ValueError(f"the SVG may have at most {MOST_ELEMENTS:,} elements, got {count:,}")
    width, height = _size(root)
    _clean(root, MOST_DEPTH)
    ElementTree.register_namespace("", _SVG[1:-1])
    return Checked(ElementTree.tostring(root, encoding="unicode"), width, height)


def _size(root: ElementTree.Element) -> tuple[float, float]:
    """One of those that a figure can have."""
    found = re.fullmatch(r"0 0 ([\d.]{1,8}) ([\d.]{1,8})", root.get("viewBox", ""))
    sizes = [(size.width, size.height) for size in SIZES.values()]
    if found is None or (float(found[1]), float(found[2])) not in sizes:
        told = ", ".join(f"{width:g} x {height:g}" for width, height in sizes)
        raise ValueError(f"the SVG's viewBox must be one of {told} points, got {root.get('viewBox', '')[:60]!r}")
    return float(found[1]), float(found[2])


def _clean(element: ElementTree.Element, deeper: int) -> None:
    if deeper == 0:
        raise ValueError(f"the SVG's elements may lie at most {MOST_DEPTH} deep")
    for child in list(element):
        name = str(child.tag).removeprefix(_SVG)
        if name in _LEFT_OUT:
            element.remove(child)
        elif name not in _ELEMENTS:
            raise ValueError(f"the SVG must not hold {name[:40]!r}: lines, shapes and text are all that a figure needs")
        else:
            _clean(child, deeper - 1)
    for name, value in list(element.attrib.items()):
        if name == "style":
            element.set(name, _clean_style(value))
        elif name != _SPACE and (name not in _ATTRIBUTES or _leads_out(value)):
            del element.attrib[name]


def _clean_style(style: str) -> str:
    parts = [found.groups() for part in style.split(";") if (found := _STYLE.fullmatch(part))]
    return ";".join(f"{name}:{value}" for name, value in parts if name in _ATTRIBUTES and not _leads_out(value))


def _leads_out(value: str) -> bool:
    """Whether it names something outside of the SVG."""
    return bool(_URL.search(_OWN_URL.sub("", value)) or _CONTROL.search(value) or "\\" in value)
