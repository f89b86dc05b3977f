"""A checked SVG as PDF, by typst: true vectors and the font embedded, without a browser."""

from functools import cache
from pathlib import Path

import typst

from dashboard.export.svg import Checked

FONTS = Path(__file__).parents[1] / "browser" / "fonts"
_PAGE = """#set page(width: {width}pt, height: {height}pt, margin: 0pt, fill: none)
#set document(title: "RAdam Lab", date: none)
#image(bytes(sys.inputs.svg), format: "svg", width: {width}pt, height: {height}pt)"""


def pdf(svg: Checked) -> bytes:
    """`ValueError` if typst cannot draw it."""
    page = _PAGE.format(width=svg.width, height=svg.height).encode()
    try:
        made = typst.compile(page, font_paths=_fonts(), sys_inputs={"svg": svg.text}, timestamp=0)
    except typst.TypstError as error:
        raise ValueError(f"the SVG cannot be drawn as PDF: {str(error)[:200]}") from None
    return bytes(made)


@cache
def _fonts() -> typst.Fonts:
    """Ours alone: a figure looks the same whatever fonts a machine has."""
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(FONTS)])
