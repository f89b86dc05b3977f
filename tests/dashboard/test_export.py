"""What makes files of figures: a stranger's SVG and pictures are checked, and become what was asked for."""

import asyncio
import io
import struct
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import av
import numpy as np
import pypdf
import pytest
from PIL import Image
from starlette.applications import Starlette

from dashboard.export import moving, pdf, svg
from dashboard.export.forms import FORMATS, SIZES
from dashboard.server import figures

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}pt" height="{1}pt" viewBox="0 0 {0} {1}">'
TEXT = '<text x="20" y="60" style="font-family: Lab Sans; font-size: 20px">ρ<tspan dy="5">t</tspan> Adam − 10</text>'


def drawn(inside: str, size: str = "16:9") -> bytes:
    own = SIZES[size]
    return f"{HEAD.format(f'{own.width:g}', f'{own.height:g}')}{inside}</svg>".encode()


@pytest.mark.parametrize("size", SIZES)
def test_a_pdf_has_the_size_to_a_point_and_its_fonts_in_it_and_no_bitmap(size):
    made = pdf.pdf(svg.checked(drawn(TEXT + '<path d="M0,0L90,90" stroke="#D55E00"/>', size)))
    (page,) = pypdf.PdfReader(io.BytesIO(made)).pages
    assert [float(side) for side in page.mediabox[2:]] == pytest.approx(
        [SIZES[size].width, SIZES[size].height], abs=0.01
    )
    assert "Adam" in page.extract_text()
    assert all("/FontFile2" in font for font in embedded(page))
    assert not list(page.images)


def embedded(page: pypdf.PageObject) -> list[pypdf.generic.DictionaryObject]:
    """What the page's fonts say of themselves."""
    fonts = [font.get_object() for font in page["/Resources"]["/Font"].get_object().values()]
    below = [font["/DescendantFonts"][0].get_object() for font in fonts if "/DescendantFonts" in font]
    assert len(below) == len(fonts) > 0
    return [font["/FontDescriptor"].get_object() for font in below]


def test_the_same_svg_gives_the_same_pdf():
    checked = svg.checked(drawn(TEXT))
    assert pdf.pdf(checked) == pdf.pdf(checked)


@pytest.mark.parametrize(
    ("inside", "told"),
    [
        ("<script>alert(1)</script>", "'script'"),
        ('<image href="http://example.test/x.png"/>', "'image'"),
        ('<a href="http://example.test"><text>x</text></a>', "'a'"),
        ("<foreignObject><p>x</p></foreignObject>", "'foreignObject'"),
        ('<use href="#x"/>', "'use'"),
        ("<animate/>", "'animate'"),
        ("<g>" * 70 + "</g>" * 70, "deep"),
        ("<g/>" * 60_001, "elements"),
        ("<text>", "cannot be read"),
        ("<text>\x00</text>", "cannot be read"),
    ],
)
def test_an_svg_with_anything_but_a_drawing_gets_a_sentence(inside, told):
    with pytest.raises(ValueError, match=told):
        svg.checked(drawn(inside))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (b'<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"/>', "entities"),
        (b'<?xml version="1.0"?><?xml-stylesheet href="http://example.test"?><svg/>', "instructions"),
        (b"<html/>", "begin with an svg"),
        (b"\xff\xfe", "cannot be read"),
        (b"", "cannot be read"),
        (b" " * 3_000_001, "at most"),
        (HEAD.format(1e9, 2).encode() + b"</svg>", "viewBox"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "viewBox"),
    ],
)
def test_a_file_that_is_no_figure_gets_a_sentence(given, told):
    with pytest.raises(ValueError, match=told):
        svg.checked(given)


def test_what_leads_out_of_an_svg_is_left_out():
    inside = (
        '<rect fill="url(http://example.test/x)" onclick="alert(1)" clip-path="url(#own)" width="5"/>'
        '<path style="fill: url(file:///etc/passwd); stroke: #123456; behavior: url(#x)" d="M0,0"/>'
        "<style>@import url(http://example.test)</style>"
    )
    text = svg.checked(drawn(inside)).text
    assert "example" not in text
    assert "passwd" not in text
    assert "onclick" not in text
    assert "style>" not in text
    assert 'clip-path="url(#own)"' in text
    assert "stroke:#123456" in text
    assert "behavior" not in text


def pictures(count: int, size: tuple[int, int] = (1280, 720)) -> list[Image.Image]:
    """A bar that grows."""
    made = []
    for k in range(count):
        pixels = np.full((size[1], size[0], 3), 255, np.uint8)
        pixels[300:400, : (k + 1) * size[0] // count] = (213, 94, 0)
        made.append(Image.fromarray(pixels))
    return made


def sent(frames: list[Image.Image]) -> bytes:
    body = b""
    for frame in frames:
        file = io.BytesIO()
        frame.save(file, "PNG")
        body += struct.pack(">I", len(file.getvalue())) + file.getvalue()
    return body


@pytest.mark.parametrize("form", ["gif", "apng"])
def test_a_moving_picture_has_every_frame_and_the_exact_paper(form):
    made = moving.moving(moving.pictures(sent(pictures(12))), form, 3)
    assert len(made) < 5_000_000
    with Image.open(io.BytesIO(made)) as file:
        assert (file.n_frames, file.size) == (12, (1280, 720))
        filled = []
        for k in range(12):
            file.seek(k)
            frame = np.asarray(file.convert("RGB"))
            assert frame[0, 0].tolist() == [255, 255, 255]
            filled.append(int((frame[350] != 255).any(1).sum()))
    assert filled == sorted(set(filled))


def test_a_film_has_every_frame_and_stands_still_at_its_end():
    made = moving.moving(moving.pictures(sent(pictures(12, (961, 720)))), "mp4", 3)
    with av.open(io.BytesIO(made)) as file:
        frames = list(file.decode(video=0))
    assert (frames[0].width, frames[0].height) == (960, 720)  # its sides are even
    assert len(frames) == 12 + 6


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "2 to"),
        (b"\x00\x00\x00\x05abc", "cut off"),
        (b"\x00\x00\x00\x03abc", "cannot be read"),
        (b"\x00\x00\x00\x00" * 300, "cut off"),
        (sent(pictures(1)), "2 to"),
        (sent([*pictures(1), *pictures(1, (640, 720))]), "one size"),
        (sent(pictures(2, (1280, 400))), "720 pixels high"),
        (sent(pictures(2, (3000, 720))), "1280 wide"),
    ],
)
def test_pictures_that_are_none_get_a_sentence(body, told):
    with pytest.raises(ValueError, match=told):
        moving.pictures(body)


@pytest.mark.parametrize(
    ("form", "seconds", "told"), [("exe", 5, "format must"), ("gif", 1e9, "seconds"), ("gif", 0, "seconds")]
)
def test_a_moving_picture_out_of_bounds_gets_a_sentence(form, seconds, told):
    with pytest.raises(ValueError, match=told):
        moving.moving(pictures(2), form, seconds)


def answered(path: str, body: bytes = b"", method: str = "POST") -> tuple[int, dict[bytes, bytes], bytes]:
    """Status, headers and body of the routes' answer, without a server."""
    path, _, query = f"/api/figures/{path}".partition("?")
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": []}
    parts = [body[k : k + 65536] for k in range(0, len(body), 65536)] or [b""]
    told: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: Any) -> None:
        told.append(message)

    app = Starlette(routes=figures.routes())
    with ThreadPoolExecutor(1) as thread:  # a browser test before this one may have left a loop in our own
        thread.submit(lambda: asyncio.run(app(scope, receive, send))).result()
    return told[0]["status"], dict(told[0]["headers"]), b"".join(message.get("body", b"") for message in told[1:])


def test_the_routes_make_files_and_say_what_is_wrong():
    status, headers, made = answered("pdf", drawn(TEXT))
    assert (status, headers[b"content-type"], headers[b"x-content-type-options"]) == (
        200,
        b"application/pdf",
        b"nosniff",
    )
    assert made.startswith(b"%PDF")
    assert answered("moving?format=gif&seconds=2", sent(pictures(3)))[2].startswith(b"GIF89a")
    for path, body, words in (
        ("pdf", b"<svg/>", b"svg element"),
        ("pdf", b" " * 3_000_001, b"bytes"),
        ("moving?format=gif", b"", b"2 to"),
        ("moving?format=exe", sent(pictures(2)), b"format must"),
        ("moving?format=gif&seconds=x", sent(pictures(2)), b"seconds"),
    ):
        status, _, sentence = answered(path, body)
        assert status == 422
        assert words in sentence
    assert answered("pdf", method="GET")[0] == 405


def test_too_many_at_once_are_told_to_wait(monkeypatch):
    monkeypatch.setattr(figures, "_waiting", figures.MOST_WAITING)
    status, _, sentence = answered("pdf", drawn(TEXT))
    assert status == 503
    assert b"try again" in sentence


def test_half_a_body_takes_nobodys_place(monkeypatch):
    """Forty who send half a figure and then nothing: whoever sends a whole one gets theirs."""

    async def forty_and_one() -> int:
        route = next(route for route in figures.routes() if route.path.endswith("pdf"))
        scope = {"type": "http", "method": "POST", "path": route.path, "query_string": b"", "headers": []}
        told: list[dict[str, Any]] = []

        def sends(*parts: dict[str, Any]) -> Any:
            rest = iter(parts)

            async def receive() -> dict[str, Any]:
                part = next(rest, None)
                return part if part is not None else await asyncio.Future()

            return receive

        async def send(message: Any) -> None:
            told.append(message)

        half = {"type": "http.request", "body": b"<svg", "more_body": True}
        whole = {"type": "http.request", "body": drawn(TEXT), "more_body": False}
        slow = [asyncio.create_task(route.handle(dict(scope), sends(half), send)) for _ in range(figures.MOST_WAITING)]
        await asyncio.sleep(0)
        await route.handle(dict(scope), sends(whole), send)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        return int(told[0]["status"])

    monkeypatch.setattr(figures, "_turns", asyncio.Semaphore(figures.AT_ONCE))  # of this loop
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(forty_and_one())).result() == 200
    assert figures._held == 0


def test_no_more_is_held_of_bodies_than_there_is_memory_for(monkeypatch):
    monkeypatch.setattr(figures, "MOST_HELD_BYTES", 100_000)
    assert answered("moving", b"x" * 100_001)[0] == 503
    assert figures._held == 0


def test_every_form_is_known_by_its_type():
    assert {"png", "svg", "pdf", "html", "csv", "gif"} <= set(FORMATS)
    assert SIZES["16:9"].width / SIZES["16:9"].height == pytest.approx(16 / 9)
    assert SIZES["column"].width / 72 * 25.4 == pytest.approx(85, abs=0.01)
    assert SIZES["two-columns"].width / 72 * 25.4 == pytest.approx(178, abs=0.01)
