"""Every chart of every page in every form, as the page's own scripts draw it: opened, and looked at by numbers."""

import base64
import csv
import gzip
import html
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pypdf
import pytest
from PIL import Image

from dashboard.browser.assets import plotly_url
from dashboard.browser.plotly_cut import plotly_js
from dashboard.export import moving
from dashboard.export.forms import SIZES
from dashboard.export.pdf import FONTS, pdf
from dashboard.export.svg import checked
from dashboard.figure_names import FIGURES
from dashboard.figure_studio import Studio
from dashboard.paper.rows import ROWS
from tests.dashboard.places import PLACES
from tests.dashboard.sheets import LARGE, Sheet, Text, charts, opened, sheet, texts
from tests.dashboard.test_export import embedded

GOLDEN = Path(__file__).with_name("golden")
MOST_BYTES, MOST_MOVING = 300_000, 5_000_000
DARK_PAPER = (0x11, 0x16, 0x1C)
NAMED = {figure.chart.format(row=row.name) for figure in FIGURES.values() for row in ROWS}
FACES = [
    f'@font-face{{font-family:"Lab Sans";font-weight:{weight};src:url(data:font/woff2;base64,'
    f"{base64.b64encode((FONTS / file).read_bytes()).decode()})}}"
    for weight, file in (("normal", "LabSans-Regular.woff2"), ("bold", "LabSans-Bold.woff2"))
]


@pytest.mark.parametrize("place", PLACES)
def test_every_chart_of_a_place(studio, place):
    """In every form, as the golden one byte for byte, and with large letters: nothing is cut, no label lies on another.
    `python -m tests.golden` draws the golden ones anew: look at what has changed."""
    names = charts(studio, place)
    assert names
    assert set(names) <= NAMED, "each can be named on the command line"
    if place in {figure.page for figure in FIGURES.values()} - {"race", "paper"}:  # which show what a run has
        wanted = {figure.chart for figure in FIGURES.values() if figure.page == place and not figure.missing}
        assert wanted <= set(names)
    sheets = [sheet(studio, place, name) for name in names]
    for one in sheets:
        is_a_vector_figure(one)
        assert golden(one.svg) == gzip.decompress(golden_file(place, one.name).read_bytes()), f"{one.name} has changed"
        is_a_picture(one)
    films = {one.name: moving.pictures(one.film) for one in sheets if one.film is not None}
    for name, (first, *_, last) in films.items():
        assert (np.asarray(first) != np.asarray(last)).any(), f"{name} stands still"
    for name, frames in [*films.items()][:1]:  # what a form makes of pictures does not depend on the chart
        moves(name, frames)
    nothing_cut_nothing_on_another(studio, sheets)
    stand_alone(studio, sheets)


def is_a_vector_figure(one: Sheet) -> None:
    svg = one.svg
    assert len(svg) < MOST_BYTES, one.name
    assert not re.search(rb"<image|<script|href=", svg)
    (style,) = re.findall(rb"<style>(.*?)</style>", svg, re.DOTALL)
    assert style.decode() == "".join(FACES[: 2 if b"font-weight" in svg.replace(style, b"") else 1]), one.name
    assert b'width="960pt" height="540pt"' in svg
    document = pdf(checked(svg))
    assert len(document) < MOST_BYTES, one.name
    (page,) = pypdf.PdfReader(io.BytesIO(document)).pages
    assert [float(side) for side in page.mediabox] == [0, 0, 960, 540]
    assert all("/FontFile2" in font for font in embedded(page))
    assert not list(bitmaps(page)), one.name


def bitmaps(part: Any) -> Iterator[object]:
    """Pictures in a page of a PDF, in what it draws, and in the midst of its commands."""
    content = part.get_contents() if isinstance(part, pypdf.PageObject) else part
    yield from re.findall(rb"(?:^|\s)BI\s[^()]{0,200}?\sID\s", content.get_data())
    for found in (one.get_object() for one in part.get("/Resources", {}).get("/XObject", {}).values()):
        if found["/Subtype"] == "/Image":
            yield found
        else:
            yield from bitmaps(found)


def golden(svg: bytes) -> bytes:
    """Without the font's bytes, and without the code's version, which is another after every change of the core."""
    return re.sub(rb"code [0-9a-f]{12}", b"code", re.sub(rb"<style>.*?</style>", b"", svg, flags=re.DOTALL))


def golden_file(place: str, name: str) -> Path:
    return GOLDEN / f"{place}-{name}.svg.gz"


def is_a_picture(one: Sheet) -> None:
    with Image.open(io.BytesIO(one.png)) as picture:
        assert picture.size == (1280, 720)
        drawn = np.asarray(picture.convert("RGB"))
    assert tuple(drawn[1, 1]) == DARK_PAPER
    assert (drawn[::4, ::4] != DARK_PAPER).any(2).mean() > 0.01, f"{one.name} is empty"


def moves(name: str, frames: list[Image.Image]) -> None:
    """In each of the three forms, all pictures are there, and they differ."""
    for form in ("gif", "apng"):
        made = moving.moving(frames, form, 1)
        assert len(made) < MOST_MOVING
        with Image.open(io.BytesIO(made)) as file:
            assert (file.n_frames, file.size) == (len(frames), (1280, 720)), name
            first = np.asarray(file.convert("RGB"))
            file.seek(len(frames) - 1)
            assert (first != np.asarray(file.convert("RGB"))).any(), f"{name} stands still"
    made = moving.moving(frames, "mp4", 1)
    assert len(made) < MOST_MOVING
    with av.open(io.BytesIO(made)) as file:
        assert (file.streams.video[0].width, file.streams.video[0].height) == (1280, 720)
        assert sum(1 for _ in file.decode(video=0)) >= len(frames)


def nothing_cut_nothing_on_another(studio: Studio, sheets: list[Sheet]) -> None:
    looks = [(one.name, "16:9", 1.0, one.svg) for one in sheets]
    looks += [(one.name, "16:9", float(LARGE["scale"]), one.back) for one in sheets]
    looks += [(one.name, size, 1.0, svg) for one in sheets for size, svg in one.sized.items()]
    for (name, size, scale, _), found in zip(looks, texts(studio, *(look[3] for look in looks)), strict=True):
        for text in found:
            assert text.edge > -0.2 * SIZES[size].letters * scale, f"{name} at {size}, {scale}: {text.words!r} is cut"
        level = [text for text in found if not text.slanted]
        for i, text in enumerate(level):
            for other in level[i + 1 :]:
                lies = overlap(text, other, SIZES[size].letters * scale)
                assert not lies, f"{name} at {size}, {scale}: {text.words!r} lies on {other.words!r}"


def overlap(one: Text, other: Text, letters: float) -> bool:
    """By more than the air around letters: a box is as high as the highest letter of its font."""
    across = min(one.right, other.right) - max(one.left, other.left)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    return across > 0.3 * letters and down > 0.45 * letters


_PAGE = re.compile(r"</script>\n<script>(const charts = (.*?); const told = .*?)</script></html>", re.DOTALL)


def stand_alone(studio: Studio, sheets: list[Sheet]) -> None:
    """Each page of its own draws its traces and asks nobody for anything; the numbers of the table are its."""
    pages, charted = [], []
    for one in sheets:
        found = _PAGE.fullmatch(one.after)
        assert found, f"{one.name} has plotly.js and a script, and nothing else"
        assert one.before.endswith("<script>")
        assert not re.search(r"src=|href=|url\(|@import|<meta http", one.before + found[1].replace(found[2], ""))
        charted.append(json.loads(found[2]))
        pages.append((one.before.removesuffix("<script>"), found[1]))
        equal_numbers(one.name, one.csv, charted[-1])
    seen = opened(studio, plotly_url(), pages)
    assert seen["refused"] == []
    assert [url.rpartition("/")[2] for url in seen["asked"]] == [plotly_url().rpartition("/")[2]]  # by the test
    for one, wanted, (drawn,) in zip(sheets, charted, seen["seen"], strict=True):
        (chart,) = wanted
        traces = [(trace.get("name") or "", trace.get("type", "scatter")) for trace in chart["data"]]
        seen_traces = [(name, kind) for name, kind, *_ in drawn["traces"]]
        assert [(name and there, kind) for (there, kind), (name, _) in zip(seen_traces, traces, strict=True)] == traces
        visible = [points for _, _, shown, points in drawn["traces"] if shown is True]
        assert sum(visible) > 0, one.name
        assert drawn["marks"] > 0, f"{one.name} is empty"
        assert drawn["title"], one.name


def equal_numbers(name: str, table: str, charted: list[dict[str, Any]]) -> None:
    """A row a point of every curve that is shown, to the last digit."""
    head, *rows = csv.reader(io.StringIO(table))
    assert head == ["chart", "panel", "curve", "kind", "x", "y", "z"]
    wanted = [row for chart in charted for trace in chart["data"] for row in points(trace, chart["layout"])]
    assert len(rows) == len(wanted), name
    for (_, _, curve, _, *numbers), point in zip(rows, wanted, strict=True):
        assert all(map(same, (curve, *numbers), point)), f"{name}: {curve} {numbers} should be {point}"
    assert any(row[5] for row in rows), name


def points(trace: dict[str, Any], layout: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    meta = trace.get("meta") or {}
    if trace.get("visible") in (False, "legendonly") or meta.get("again"):
        return
    x, y = (plain(trace.get(part)) or said(layout, trace, part) for part in "xy")
    z = plain(meta.get("values") or trace.get("z"))
    label = trace.get("name", "")
    if not z:
        yield from ((label, x[i] if i < len(x) else i, value, None) for i, value in enumerate(y))
    for r, row in enumerate(z):
        yield from ((label, x[c] if x else c, y[r] if y else r, value) for c, value in enumerate(row))


def said(layout: dict[str, Any], trace: dict[str, Any], letter: str) -> list[str]:
    """What an axis says at the places of a trace that has no values of its own."""
    axis = layout.get(trace.get(f"{letter}axis", letter).replace(letter, f"{letter}axis"), {})
    assert plain(axis.get("tickvals")) == list(range(len(axis.get("ticktext", ()))))
    return list(axis.get("ticktext", ()))


def plain(given: Any) -> list[Any]:
    """Plotly's arrays of bytes as lists."""
    if not isinstance(given, dict):
        return given or []
    flat = np.frombuffer(base64.b64decode(given["bdata"]), np.dtype(given["dtype"]))
    shape = [int(side) for side in str(given.get("shape", len(flat))).split(",")]
    return list(flat.reshape(shape).tolist())


def same(cell: str, value: Any) -> bool:
    if isinstance(value, str):
        told = re.sub("<su([bp])>(.*?)</su[bp]>", lambda found: "_^"[found[1] == "p"] + found[2], value)
        told = html.unescape(re.sub("<[^>]*>", "", told.replace("<br>", ", ")))
        return cell.removeprefix("'") == told.removeprefix("'")
    if value is None or not np.isfinite(value):
        return cell == ""
    return float(cell) == value


def test_plotly_js_in_a_page_of_its_own_is_the_one_that_the_pages_draw_with(studio):
    """Unchanged, but for what would end the script: the charts' pages above were cut at it."""
    charts(studio, "rectification")
    one = studio._run(
        """async ({ scripts }) => {
          const { figureFile } = await import(scripts + "figure_files.js")
          const { shownCharts } = await import(scripts + "figure_source.js")
          const look = { size: "16:9", theme: "light", legend: true }
          const options = { ...look, format: "html", step: null, title: "", link: "" }
          return (await figureFile(shownCharts().slice(0, 1), options)).text()
        }"""
    )
    library = plotly_js()
    assert library.replace("</script", "<\\/script") in one
    assert not re.search(r"<script[^>]+src=|<link[^>]+href=", one.replace(library, ""))
