"""Every chart of every page in every form, as the page's own scripts draw it: opened, and looked at by numbers."""

import csv
import gzip
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pypdf
import pytest
from PIL import Image

from dashboard.export.forms import SIZES
from dashboard.export.pdf import pdf
from dashboard.export.svg import checked
from dashboard.figure_command import FIGURES, TALK, figure_options
from dashboard.figure_studio import Query, Studio
from dashboard.paper.rows import ROWS
from tests.dashboard.test_export import embedded

PAGES: dict[str, tuple[str, Query]] = {
    "home": ("home", {}),
    "race": ("race", {"preset": "figure-1"}),
    "valley": ("race", {"preset": "valley"}),
    "sweep": ("sweep", {"preset": "map"}),
    "paper": ("paper", {"row": [row.name for row in ROWS]}),
    "four-steps": ("four-steps", {}),
    "norms": ("norms", {}),
    "rectification": ("rectification", {}),
    "variance": ("variance", {}),
    "size": ("size", {}),
    "implementations": ("implementations", {}),
}
GOLDEN = Path(__file__).with_name("golden")
MOST_BYTES = 300_000

# Where each text of a figure lies, in points, with what it says. Drawn as the browser that opens the file would.
_TEXTS = """async ({ svg }) => {
  const box = document.createElement("div")
  box.style.cssText = "position:absolute;left:0;top:0"
  box.innerHTML = svg
  document.body.append(box)
  const root = box.firstElementChild
  const frame = root.getBoundingClientRect()
  const found = [...root.querySelectorAll("text")].filter((text) => text.textContent.trim()).map((text) => {
    const { left, top, right, bottom } = text.getBoundingClientRect()
    const place = [left - frame.left, top - frame.top, right - frame.left, bottom - frame.top].map((v) => v * 0.75)
    const { a, b } = text.getScreenCTM()
    return [text.textContent, ...place, Math.abs(a * b) > 1e-6]
  })
  box.remove()
  return found
}"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with Studio(tmp_path_factory.mktemp("runs")) as opened:
        yield opened


def made(studio: Studio, place: str, name: str, form: str, **options: Any) -> bytes:
    page, query = PAGES[place]
    return studio.figure(page, query, (name,), figure_options(form, **{"link": f"lab/{page}", **options}))[1]


class Text(NamedTuple):
    """What is written where, in points."""

    words: str
    left: float
    top: float
    right: float
    bottom: float
    slanted: bool


def texts(studio: Studio, svg: bytes) -> list[Text]:
    return [Text(*one) for one in studio._run(_TEXTS, svg=svg.decode())]


LOOKS = {"16:9": (1.5, tuple(PAGES)), "4:3": (1.0, ("sweep", "norms")), "column": (1.0, ("size", "variance"))}


@pytest.mark.parametrize("place", PAGES)
def test_every_chart_of_a_page(studio, place):
    """In every form, as the golden one byte for byte, and with large letters: nothing is cut, no label lies on another.
    `python -m tests.golden` draws the golden ones anew: look at what has changed."""
    page, query = PAGES[place]
    names = studio.charts(page, query)
    assert names
    if place not in ("race", "valley", "paper"):  # whose charts depend on what is shown
        on_the_command_line = {figure.chart for figure in FIGURES.values() if figure.page == page}
        assert on_the_command_line - {"paper-simulation"} <= set(names)
    for name in names if place != "valley" else ("surface",):  # its others are the race's
        svg = made(studio, place, name, "svg")
        is_a_vector_figure(svg, name)
        assert_nothing_cut(texts(studio, svg), "16:9", name)
        known = gzip.decompress((GOLDEN / f"{place}-{name}.svg.gz").read_bytes())
        assert golden(svg) == known, f"{name} has changed"
        rows = list(csv.DictReader(io.StringIO(made(studio, place, name, "csv").decode())))
        assert any(row["y"] for row in rows), name
        for size, (scale, places) in LOOKS.items():
            if place in places:
                found = texts(studio, made(studio, place, name, "svg", size=size, scale=scale))
                assert_nothing_cut(found, size, name)
                assert_apart([text for text in found if not text.slanted], SIZES[size].letters * scale, name)


def is_a_vector_figure(svg: bytes, name: str) -> None:
    assert len(svg) < MOST_BYTES, name
    assert not re.search(rb"<image|<script|href=", svg)
    assert svg.count(b"@font-face") in (1, 2)
    assert b'width="960pt" height="540pt"' in svg
    document = pdf(checked(svg))
    assert len(document) < MOST_BYTES, name
    (sheet,) = pypdf.PdfReader(io.BytesIO(document)).pages
    assert [float(side) for side in sheet.mediabox] == [0, 0, 960, 540]
    assert all("/FontFile2" in font for font in embedded(sheet))
    assert not list(sheet.images)


def golden(svg: bytes) -> bytes:
    """Without the font's bytes, and without the code's version, which is another after every change of the core."""
    return re.sub(rb"code [0-9a-f]{12}", b"code", re.sub(rb"<style>.*?</style>", b"", svg, flags=re.DOTALL))


def assert_nothing_cut(found: list[Text], size: str, name: str) -> None:
    width, height = SIZES[size].width, SIZES[size].height
    for text in found:
        assert min(text.left, text.top, width - text.right, height - text.bottom) > -1, f"{name}: {text.words!r} is cut"


def assert_apart(found: list[Text], letters: float, name: str) -> None:
    for i, one in enumerate(found):
        for other in found[i + 1 :]:
            assert not overlap(one, other, letters), f"{name}: {one.words!r} lies on {other.words!r}"


def overlap(one: Text, other: Text, letters: float) -> bool:
    """By more than the air around letters: a box is as high as the highest letter of its font."""
    across = min(one.right, other.right) - max(one.left, other.left)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    return across > 0.3 * letters and down > 0.45 * letters


@pytest.mark.parametrize(("place", "name"), [("sweep", "maps"), ("race", "ridges")])
def test_a_picture_has_its_pixels_and_the_theme_its_paper(studio, place, name):
    for theme, paper in (("light", (255, 255, 255)), ("dark", (0x11, 0x16, 0x1C))):
        with Image.open(io.BytesIO(made(studio, place, name, "png", pixels=1, theme=theme))) as picture:
            assert picture.size == (1280, 720)
            assert picture.convert("RGB").getpixel((1, 1)) == paper
    with Image.open(io.BytesIO(made(studio, place, name, "png", pixels=2, transparent=True))) as picture:
        assert picture.size == (2560, 1440)
        assert picture.convert("RGBA").getpixel((1, 1))[3] == 0
    document = made(studio, place, name, "pdf", theme="dark")  # by the server, as a visitor gets it
    assert document == pdf(checked(made(studio, place, name, "svg", theme="dark")))


def test_the_numbers_of_a_csv_are_the_figures(studio):
    rows = list(csv.DictReader(io.StringIO(made(studio, "race", "loss", "csv").decode())))
    radam = [row for row in rows if row["curve"] == "RAdam"]
    drawn = studio._run(
        """async ({ scripts }) => {
          const { shownCharts, sourceOf } = await import(scripts + "figure_source.js")
          const box = shownCharts().find((one) => sourceOf(one).name === "loss")
          return box.data.filter(({ name, meta }) => name === "RAdam" && !meta.again).map(({ x, y }) => [x, y])
        }"""
    )
    assert [float(row["x"]) for row in radam] == [x for xs, _ in drawn for x in xs]
    assert [float(row["y"]) for row in radam] == pytest.approx([y for _, ys in drawn for y in ys], rel=0, abs=0)


def test_a_race_frozen_at_a_step_has_nothing_after_it(studio):
    rows = list(csv.DictReader(io.StringIO(made(studio, "race", "loss", "csv", step=200).decode())))
    assert max(float(row["x"]) for row in rows) == 200
    name, _ = studio.figure("race", {"preset": "figure-1"}, ("loss",), figure_options("svg", step=200))
    assert name == "radam-lab-loss-figure-1-seed-0-step-200-16x9-light.svg"
    assert b"at step 200" in made(studio, "race", "loss", "svg", step=200)


def test_one_legend_entry_a_lane(studio):
    svg = made(studio, "race", "schedule", "svg").decode()
    for lane in ("Adam + warmup 50", "RAdam", "GI-Adam", "Adam-2k"):
        assert svg.count(f">{lane}</tspan>") == 1


def test_title_legend_caption_and_background_can_be_left_out(studio):
    whole = made(studio, "race", "loss", "svg").decode()
    assert "Training loss" in whole
    assert "seed 0" in whole
    assert ">RAdam</tspan>" in whole
    assert 'fill="#ffffff"/>' in whole
    bare = made(studio, "race", "loss", "svg", titled=False, legend=False, caption=False, transparent=True).decode()
    assert ">Training loss</tspan>" not in bare
    assert "seed 0" not in bare
    assert "RAdam" not in bare
    assert 'fill="#ffffff"/>' not in bare


def test_four_charts_side_by_side_have_letters_and_one_legend(studio):
    names = ("loss", "schedule", "metric", "norms")
    _, svg = studio.figure("race", {"preset": "figure-1"}, names, figure_options("svg"))
    found = texts(studio, svg)
    assert_nothing_cut(found, "16:9", "board")
    said = [text.words for text in found]
    assert [words[0] for words in said if re.match(r"[abcd]  ", words)] == ["a", "b", "c", "d"]
    assert said.count("RAdam") == 1
    assert b'id="p3-' in svg


def test_a_moving_race_grows_and_is_small_enough_for_a_slide(studio):
    film = made(studio, "race", "loss", "gif", frames=12, seconds=2, caption=False)
    assert len(film) < 5_000_000
    with Image.open(io.BytesIO(film)) as file:
        assert (file.n_frames, file.size) == (12, (1280, 720))
        ink = []
        for k in range(file.n_frames):
            file.seek(k)
            grey = file.convert("L").crop((100, 150, 630, 600))
            ink.append(sum(count for level, count in enumerate(grey.histogram()) if level < 200))
    assert ink[0] < ink[5] < ink[-1]


@pytest.mark.parametrize(("size", "own"), SIZES.items())
def test_every_size_is_exact(studio, size, own):
    studio.charts(*PAGES["rectification"])
    (sheet,) = pypdf.PdfReader(io.BytesIO(made(studio, "rectification", "rho", "pdf", size=size))).pages
    assert [float(side) for side in sheet.mediabox[2:]] == pytest.approx([own.width, own.height], abs=0.01)
    with Image.open(io.BytesIO(made(studio, "rectification", "rho", "png", size=size, pixels=3))) as picture:
        assert picture.size == (round(own.width * 4), round(own.height * 4))


def test_a_page_of_its_own_needs_no_network(studio):
    page = made(studio, "rectification", "rho", "html").decode()
    assert "Plotly.newPlot" in page
    assert len(page) > 4_000_000
    assert not re.search(r"<script[^>]+src=|<link[^>]+href=", page)


def test_a_chart_that_plays_moves_and_others_say_why_not(studio):
    with Image.open(io.BytesIO(made(studio, "home", "home", "gif", frames=10, seconds=2))) as file:
        assert 5 < file.n_frames <= 10
    with pytest.raises(ValueError, match="nothing that moves"):
        made(studio, "rectification", "rho", "gif")


def test_a_size_or_scale_that_is_none_gets_a_sentence(studio):
    with pytest.raises(ValueError, match="size must be one of 16:9"):
        made(studio, "rectification", "rho", "svg", size="<b>")
    with pytest.raises(ValueError, match="letters are too large"):
        made(studio, "rectification", "rho", "svg", scale=40)
    with pytest.raises(ValueError, match="shows rectification"):
        made(studio, "rectification", "loss", "svg")


def test_a_talks_figures_are_named():
    assert {name for name, _ in TALK} <= set(FIGURES)
