"""A hosted copy as strangers meet it: direct requests, forged names, large bodies, and every page in a real browser."""

import http.client
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from bench.driving.visiting import flawless_page
from dashboard.hosting.headers import policy
from dashboard.navigation import PAGES
from tests.conftest import running_server, wait_until_drawn
from tests.dashboard.direct import closed_with, press_train
from tests.dashboard.engines import config

SETTINGS = """
lanes: 8
steps: 1000
starts_per_visitor: 2
starts_per_address: 4
runs_per_visitor: 50
runs_per_address: 50
figures_per_address: 30
request_kilobytes: 10
embedders: ["https://course.example"]
"""
EMBEDDED = "?embed=true"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    folder = tmp_path_factory.mktemp("hosted")
    (folder / "hosted.yaml").write_text(SETTINGS, encoding="utf-8")
    environment = {
        "RADAM_LAB_MODE": "hosted",
        "RADAM_LAB_SETTINGS": str(folder / "hosted.yaml"),
        "RADAM_LAB_RUNS": str(folder / "runs"),
        "RADAM_LAB_RECORDINGS": "none",
        "RADAM_LAB_WORKERS": "1",
    }
    with running_server(environment=environment) as started:
        yield started


@pytest.fixture(scope="module")
def hosted(server: tuple[str, int]) -> str:
    return str(server[0])


def ask(address: str, method: str, path: str, body: bytes = b"", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request(method, path, body or None, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.told = answer.read().decode(errors="replace")
    connection.close()
    return answer


def test_a_start_is_refused_however_one_asks(hosted):
    """One test, since all that was started before counts in what is asked next."""
    seed = iter(range(100))

    def start(cookie: str = "", **headers: str) -> str:
        answer = press_train(hosted, config(1000, seed=next(seed)), cookie, **headers)
        return next((told for told in answer.sentences if "can start" in told), "")

    assert [start("a" * 32) for _ in range(2)] == ["", ""]
    assert start("a" * 32).startswith("You can start 2 runs a minute")  # another tab of the same browser
    assert [start("b" * 32), start("c" * 32)] == ["", ""]  # with cleared cookies
    assert start("d" * 32).startswith("Your network can start 4 runs a minute")
    assert start().startswith("Your network can start 4")
    for forged in ("198.51.100.9", "198.51.100.10, 127.0.0.1", "::1"):
        assert start("e" * 32, X_Forwarded_For=forged, Forwarded=f"for={forged}").startswith("Your network can")
    known = press_train(hosted, config(1000, seed=0), "f" * 32)  # under way or known: it trains nothing new
    assert not known.says("can start")


def test_what_is_too_large_is_refused_though_the_button_was_closed(hosted):
    answer = press_train(hosted, config(1001), "1" * 32)
    assert answer.says("steps must be at most 1,000 on this hosted copy, got 1,001")
    assert answer.says("This hosted copy allows up to 8 lanes, 1,000 steps")


def test_requests_are_bounded(hosted):
    assert ask(hosted, "POST", "/api/figures/pdf", b"<svg/>").status in (200, 422)
    large = ask(hosted, "POST", "/anything", b"x" * 10_001)
    assert (large.status, large.told) == (413, "a request here may have at most 10,000 bytes")

    def chunks() -> Iterator[bytes]:
        for _ in range(50):
            yield b"x" * 1_000_000

    connection = http.client.HTTPConnection(urlsplit(hosted).netloc, timeout=30)
    try:
        connection.request("POST", "/api/figures/moving", chunks(), encode_chunked=True)
        assert connection.getresponse().status in (413, 422)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it hung up on us, which bounds it, too
    finally:
        connection.close()
    upload = ask(hosted, "PUT", "/_stcore/upload_file/session/file", b"x")
    assert (upload.status, upload.told) == (403, "files cannot be sent to a hosted copy")
    assert closed_with(hosted, 1_024_001) == 1009
    assert ask(hosted, "GET", "/_stcore/health").status == 200


@pytest.mark.parametrize("path", ["/", "/race", "/api/runs/0", "/_stcore/health", "/assets/none", "/static/none"])
def test_every_answer_has_the_headers(hosted, path):
    answer = ask(hosted, "GET", path)
    assert answer.status < 500
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    given = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'self' https://course.example;" in given
    assert "'unsafe-eval'" not in given
    assert "'unsafe-inline'" not in given.partition("script-src")[2].partition(";")[0]
    assert f"connect-src 'self' ws://{urlsplit(hosted).netloc} " in given


def test_a_host_that_is_none_is_not_repeated():
    assert "connect-src 'self';" in policy("a; script-src *", ())
    assert "connect-src 'self' ws://[::1]:8501 wss://[::1]:8501;" in policy("[::1]:8501", ())


def violations(page: Page) -> list[str]:
    return page.evaluate("window.violations ?? []")


def watched(page: Page) -> None:
    page.add_init_script(
        """addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
            (window.violations ??= []).push(`${violatedDirective} ${blockedURI}`)
        })"""
    )


def test_no_page_breaks_the_policy_nor_does_the_export_of_its_figure(hosted, browser):
    with flawless_page(browser) as page:
        watched(page)
        for one in PAGES:
            page.goto(f"{hosted}/{'' if one is PAGES[0] else one.name}")
            wait_until_drawn(page)
            assert page.locator("[data-testid=stException]").count() == 0
            box = page.locator(".lab-chart[data-drawn]").first
            box.hover()
            box.locator("[data-title='Export figure']").click()
            panel = page.locator("dialog.lab-figure")
            panel.locator(".lab-figure-preview img").wait_for()
            if one is PAGES[0]:
                saved(page)
            assert violations(page) == [], one.name


def saved(page: Page) -> None:
    """In each form that takes a way of its own: drawn, sent to the server, and moving."""
    panel = page.locator("dialog.lab-figure")
    for form in ("png", "svg", "pdf"):
        panel.locator("select[name=format]").select_option(form)
        with page.expect_download() as download:
            panel.get_by_role("button", name="Save").click()
        assert Path(download.value.path()).stat().st_size > 1000


def test_a_page_in_a_frame_has_no_menu_and_fits(hosted, browser):
    with flawless_page(browser, width=360, height=640) as page:
        page.goto(f"{hosted}/race{EMBEDDED}&task=surfaces")
        page.locator("[data-chart=loss][data-drawn]").wait_for()
        assert page.get_by_role("link", name="Sweep").filter(visible=True).count() == 0
        assert not page.locator("h1").is_visible()
        assert page.get_by_role("button", name="Train").is_visible()
        fits(page, 360)


@pytest.mark.parametrize(("path", "name"), [("rectification", "rectification"), ("race", "loss")])
def test_one_chart_in_a_frame_is_all_there_is(hosted, browser, path, name):
    with flawless_page(browser, width=360, height=400) as page:
        page.goto(f"{hosted}/{path}{EMBEDDED}&chart={name}")
        chart = page.locator(f":is(.st-key-chart-{name} .lab-chart, [data-chart={name}])[data-drawn]").first
        chart.wait_for()
        shown = page.locator(".lab-chart").filter(visible=True)
        assert shown.count() == 1
        assert page.locator("[data-testid=stSlider], [data-testid=stPopover], h1").filter(visible=True).count() == 0
        fits(page, 360)
        assert "embed=true" in page.url
        assert f"chart={name}" in page.url


def test_a_chart_that_is_not_there_gets_a_sentence(hosted, browser):
    with flawless_page(browser) as page:
        page.goto(f"{hosted}/size{EMBEDDED}&chart=none")
        page.get_by_text("and the address asks for").wait_for()


def fits(page: Page, width: int) -> None:
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width
    for box in (one.bounding_box() for one in page.locator(".lab-chart").filter(visible=True).all()):
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_figures_are_counted_by_address(hosted):
    """The last one: from here on this address gets none for a minute."""
    found = [ask(hosted, "POST", "/api/figures/pdf", b"x", X_Forwarded_For=f"198.51.100.{k}") for k in range(31)]
    assert found[-1].status == 429
    assert 1 <= int(found[-1].headers["Retry-After"]) <= 60
    assert found[-1].told.startswith("at most 30 figures a minute are made here: try again in ")
