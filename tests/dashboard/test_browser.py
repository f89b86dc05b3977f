"""The journeys of a visitor through the theory pages, in the real app and a real Chromium."""

import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page

from bench.driving.crowd import visit_at_once
from bench.driving.visiting import flawless_page
from dashboard.browser.assets import SCRIPTS, importing, plotly_url, script_url
from dashboard.navigation import PAGES
from tests.conftest import ROOT, opened, wait_until_drawn
from tests.dashboard.accessibility import (
    BY_KEYBOARD,
    are_words,
    charts_say_numbers,
    names_of_controls,
    reach,
    violations,
)
from tests.dashboard.opening import LINK_KEYS, hostile_query

EVERY = [page.name for page in PAGES]


def url_of(address: str, name: str) -> str:
    return f"{address}/{'' if name == 'home' else name}"


def curve(page, chart: str, trace: int = -1) -> list:
    """The y values of a drawn curve, as the browser has them."""
    return page.evaluate(
        """([key, trace]) => {
            const graph = document.querySelector(`.st-key-chart-${key} .lab-chart`)
            return Array.from(graph._fullData.at(trace).y, (y) => (Number.isFinite(y) ? y : null))
        }""",
        [chart, trace],
    )


@pytest.mark.parametrize("name", EVERY)
def test_page_opens_on_a_projector_in_light(browser, address, name):
    with opened(browser, url_of(address, name), theme="light") as page:
        assert page.locator("[data-testid=stException]").count() == 0
        page.wait_for_function(  # what the fonts and the script's end move may still come
            "() => document.querySelector('.lab-chart').getBoundingClientRect().top < 560", timeout=10_000
        )
        assert background(page) == "#ffffff"
        ways_in_are_written_out(page, name)
        serves_everybody(page)
        if name in BY_KEYBOARD:
            BY_KEYBOARD[name](page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_figure_is_exported_by_keyboard_alone(browser, address, theme):
    """From the chart's one stop to a saved file, and back to where one was."""
    with opened(browser, url_of(address, "size"), theme=theme) as page:
        reach(page, "[data-title='Export figure']")
        page.keyboard.press("Enter")
        page.locator("dialog.lab-figure .lab-figure-preview img").wait_for()
        assert violations(page) == []
        are_words(names_of_controls(page))
        reach(page, "dialog.lab-figure select[name=format]")
        page.keyboard.type("SVG")
        reach(page, "dialog.lab-figure .lab-figure-save")
        with page.expect_download() as waiting:
            page.keyboard.press("Enter")
        assert waiting.value.suggested_filename.endswith(f"{theme}.svg")
        page.keyboard.press("Escape")
        page.locator("dialog.lab-figure").wait_for(state="detached")
        assert page.evaluate("document.activeElement.dataset.title") == "Export figure"


@pytest.mark.parametrize("name", EVERY)
def test_page_stays_usable_on_a_phone_in_the_dark(browser, address, name):
    with opened(browser, url_of(address, name), width=390, height=844, theme="dark") as page:
        assert page.locator("[data-testid=stException]").count() == 0
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
        for box in (chart.bounding_box() for chart in page.locator(".lab-chart").all()):
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
        assert background(page) == "#11161c"
        buttons = page.locator(".modebar-btn").evaluate_all(
            "(all) => [...new Set(all.map((one) => one.dataset.title))]"
        )
        assert buttons == ["Export figure"], "a telephone has no room for more"
        ways_in_are_written_out(page, name)
        serves_everybody(page)


def serves_everybody(page: Page) -> None:
    """By axe-core, and beyond it: charts in numbers and one tab stop, controls with names of words."""
    assert violations(page) == []
    charts_say_numbers(page)
    are_words(names_of_controls(page))


def ways_in_are_written_out(page: Page, name: str) -> None:
    """The first page leads to all others, and no link is cut off anywhere."""
    links = page.locator("[data-testid=stPageLink-NavLink] p, [data-testid=stPageLink-NavLink] span")
    assert name != "home" or links.count() >= len(PAGES) - 1
    cut = "(labels) => labels.filter((label) => label.scrollWidth > label.clientWidth + 1).map((l) => l.textContent)"
    assert links.evaluate_all(cut) == []


def background(page: Page) -> str:
    return str(page.evaluate("document.querySelector('.lab-chart')._fullLayout.paper_bgcolor"))


@pytest.mark.parametrize(("name", "chart"), [("rectification", "rectification"), ("variance", "variance")])
def test_at_200_percent_a_control_and_its_chart_share_a_screen(browser, address, name, chart):
    """A laptop's 1280x720 at 200% is 640x360."""
    with opened(browser, f"{address}/{name}", width=640, height=360) as page:
        page.wait_for_selector("style#lab-page-style", state="attached")
        box = page.locator(f".st-key-chart-{chart} .lab-chart")
        page.wait_for_function("(chart) => chart.offsetHeight <= 180", arg=box.element_handle())
        control = page.get_by_test_id("stSlider").first
        top, bottom = control.bounding_box(), box.bounding_box()
        header = page.get_by_test_id("stHeader").bounding_box()["height"]
        assert bottom["y"] + bottom["height"] - top["y"] <= 360 - header
        page.get_by_role("slider").last.focus()  # also what a row of controls has to the right


def test_moving_beta2_moves_the_curve_in_the_same_chart(browser, address):
    with opened(browser, f"{address}/rectification") as page:
        before = curve(page, "rectification")
        drawn = int(page.locator(".st-key-chart-rectification .lab-chart").get_attribute("data-drawn"))
        page.evaluate("document.querySelector('.st-key-chart-rectification .lab-chart').dataset.mark = 'same'")
        page.get_by_role("slider").first.focus()
        page.keyboard.press("ArrowLeft")
        page.wait_for_function("() => new URL(location).searchParams.get('beta2') === '0.9985'")
        page.wait_for_function(
            "(drawn) => Number(document.querySelector('.st-key-chart-rectification .lab-chart').dataset.drawn) > drawn",
            arg=drawn,
        )
        assert curve(page, "rectification") != before
        assert page.locator(".st-key-chart-rectification .lab-chart").get_attribute("data-mark") == "same"


def test_a_link_opens_the_same_state(browser, address):
    link = f"{address}/rectification?beta2=0.98&warmup=500&threshold=5&axis=linear"
    with opened(browser, link) as page:
        first = curve(page, "rectification")
        assert page.locator("[data-testid=stAlert]").count() == 0
        again = page.url
    with opened(browser, again) as page:
        assert curve(page, "rectification") == first
        assert page.get_by_text("starts at step 6").count() > 0


@pytest.mark.parametrize("name", LINK_KEYS)
def test_hostile_links_give_a_working_page_and_sentences(browser, address, name):
    """With one round of values; test_pages tries them all, without a browser."""
    query, refused = hostile_query(name, 3)
    with opened(browser, f"{address}/{name}?{urllib.parse.urlencode(query)}") as page:
        assert page.locator("[data-testid=stException]").count() == 0
        assert page.get_by_text("The link asked for").count() == refused


@pytest.mark.parametrize(
    ("name", "chart"),
    [
        ("rectification", "learning-rate"),
        ("implementations", "question-just-adam"),
        ("variance", "paper-approximation"),
    ],
)
def test_in_a_narrow_column_the_toolbar_leaves_the_legend_free(browser, address, name, chart):
    with opened(browser, f"{address}/{name}") as page:
        box = page.locator(f".st-key-chart-{chart} .lab-chart")
        box.hover()
        place, legend = box.bounding_box(), box.locator(".infolayer .legend").bounding_box()
        assert place["width"] < 600
        buttons = box.locator(".modebar").bounding_box()
        assert buttons["y"] + buttons["height"] <= legend["y"], "the buttons cover the legend"
        assert legend["x"] + legend["width"] <= place["x"] + place["width"], "the legend is cut off"
        names = box.evaluate("(graph) => graph._fullData.map((trace) => trace.name.split('<')[0])")
        assert box.locator(".infolayer .legendtext").count() == len(names)


def test_one_click_draws_the_papers_simulation(browser, address):
    with opened(browser, f"{address}/variance") as page:
        page.get_by_text("Simulate at the paper's settings").click()
        page.wait_for_selector(".st-key-chart-paper-simulation .lab-chart[data-drawn]")
        assert len(curve(page, "paper-simulation")) > 50


def test_real_gradients_are_measured_in_a_worker_and_drawn_over_gaussian_ones(browser, address):
    with opened(browser, f"{address}/variance?real=true") as page:
        page.wait_for_selector(".st-key-chart-real-gradients .lab-chart[data-drawn]", timeout=120_000)
        gaussian, median = curve(page, "real-gradients", 2), curve(page, "real-gradients", 3)
        assert len(median) == len(gaussian) > 10
        # The digits network's gradients vary a little more than Gaussian ones (docs/RESULTS.md: 1.10 to 1.16 times).
        assert all(1 < one / other < 1.3 for one, other in zip(median, gaussian, strict=True))


def test_the_running_server_has_not_imported_torch(server):
    address, process_id = server
    (visit,) = visit_at_once(address, "implementations", 1)
    assert "bidi_component" in visit.elements
    maps = Path(f"/proc/{process_id}/maps")
    if not maps.exists():
        pytest.skip("the loaded libraries of a process are read from /proc, which this system does not have")
    assert "libtorch" not in maps.read_text()


def test_plotly_and_the_scripts_come_from_our_own_server_zipped_and_cacheable(address):
    for url, most in ((plotly_url(), 500_000), (script_url("live.js"), 5_000)):
        request = urllib.request.Request(address + url, headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(request) as response:
            assert response.headers["Content-Encoding"] == "gzip"
            assert response.headers["Content-Type"].startswith("text/javascript")
            assert "immutable" in response.headers["Cache-Control"]
            assert len(response.read()) < most
    with urllib.request.urlopen(address + script_url("live.js")) as response:
        assert response.read() == (SCRIPTS / "live.js").read_bytes()


@pytest.mark.parametrize(("name", "script"), [("race", "live.js"), ("size", "chart.js")])
def test_a_page_names_the_scripts_that_it_will_need(address, name, script):
    with urllib.request.urlopen(f"{address}/{name}") as response:
        links = [link.strip() for link in response.headers["Link"].split(",")]
    assert links[0] == f"<{plotly_url()}>; rel=preload; as=script"
    named = [link.partition(">")[0].removeprefix("<") for link in links[1:]]
    assert script_url(script) in named
    assert len(named) == len(set(named)) > 5
    for url in named:
        with urllib.request.urlopen(address + url) as response:
            assert response.status == 200


def test_nothing_else_comes_from_the_folder_of_the_scripts(address):
    folder = script_url("live.js").removesuffix("live.js")
    others = (
        "/assets/",
        "/assets/0123456789abcdef/live.js",
        f"{folder}types.d.ts",
        f"{folder}%2e%2e/assets.py",
        folder,
    )
    for url in others:
        with pytest.raises(urllib.error.HTTPError, match=r"40[04]"):
            urllib.request.urlopen(address + url)


def test_a_chart_carries_no_script_but_its_import():
    assert len(importing("live.js", ".lab-race")) < 500
    with pytest.raises(ValueError, match=r"script must be one of address\.js, .*got 'no\.js'"):
        importing("no.js", "span")


def test_a_page_whose_scripts_do_not_load_says_so(browser, address):
    with flawless_page(browser, cut_off=True) as page:
        page.route("**/assets/*/chart.js", lambda route: route.abort())
        page.goto(f"{address}/size")
        page.get_by_text("This part of the page could not be loaded").wait_for()
        page.get_by_text("Reload the page to try again").wait_for()
        page.unroute("**/assets/*/chart.js")
        page.reload()
        wait_until_drawn(page)


def find_chromium(path: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """`python -m bench.driving.chromium` where nothing but `path` is searched, so that it can install nothing."""
    searched = {"PATH": str(path), "PLAYWRIGHT_BROWSERS_PATH": str(path), **environment}
    command = [sys.executable, "-m", "bench.driving.chromium"]
    return subprocess.run(command, check=False, capture_output=True, text=True, env=searched, cwd=ROOT)


def test_a_chromium_on_the_path_is_found(tmp_path):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = find_chromium(tmp_path)
    assert found.stdout == f"browser tests use {program}\n"
    assert found.returncode == 0


def test_a_missing_chromium_is_an_error_in_ci_and_a_sentence_elsewhere(tmp_path):
    for environment, code in (({}, 0), ({"CI": "true"}, 1)):
        found = find_chromium(tmp_path, **environment)
        assert found.returncode == code
        assert "no Chromium was found: set CHROME_PATH" in found.stderr
        assert not found.stdout
    wrong = find_chromium(tmp_path, CHROME_PATH=str(tmp_path / "nothing"))
    assert "CHROME_PATH must be a browser's program" in wrong.stderr
    assert wrong.returncode == 1
