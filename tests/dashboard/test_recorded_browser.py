"""What a first visitor sees where nothing was trained yet: recordings, in the real app and a real Chromium.

A server of its own, whose store is empty and which may use the recordings; all other tests go without them.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route

from bench.driving.visiting import button, flawless_page, mark, press, wait
from dashboard.asked.presets import PRESETS
from tests.conftest import opened, running_server, wait_until_drawn


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """With one worker; the recordings are those of the repository."""
    runs = tmp_path_factory.mktemp("recorded-runs")
    with running_server(environment={"RADAM_LAB_RUNS": str(runs), "RADAM_LAB_WORKERS": "1"}) as started:
        yield started


@pytest.fixture(scope="module")
def recorded(server) -> str:
    return str(server[0])


def test_a_first_visitor_sees_a_finished_race_at_once(browser, recorded):
    """Its curves and losses before plotly.js has come. How soon is measured by `python -m bench live`."""
    with flawless_page(browser) as page:
        held: list[Route] = []
        page.route("**/plotly-*.js", lambda route: held.append(route))
        page.goto(f"{recorded}/race")
        page.wait_for_selector("[data-chart=loss][data-sketched] .lab-sketch")
        assert page.locator(".lab-sketch path[stroke='#D55E00']").count() > 0, "Adam's curve is not there"
        assert float(page.locator(".lab-card[data-lane=Adam]").get_attribute("data-loss") or "nan") > 2
        for route in held:
            route.continue_()
        wait(page, "d.state === 'finished' && Number(d.step) === 1000 && Number(loss.points) > 100")
        assert page.get_by_text("Recorded on").is_visible()
        assert page.locator(".lab-card").count() == len(PRESETS["figure-1"].config.lanes)
        assert page.locator(".lab-sketch").count() == 0
        assert "run=" not in page.url, "its name is the shorter link"


def test_the_first_page_plays_the_recorded_race(browser, recorded):
    with opened(browser, f"{recorded}/size") as page:
        page.emulate_media(reduced_motion="no-preference")
        page.goto(recorded)
        wait_until_drawn(page)
        picture = page.locator(".lab-chart").first
        assert "losses of eight optimizers" in (picture.get_attribute("aria-label") or "")
        assert picture.get_attribute("data-played") == "yes"


def test_a_recording_is_trained_here_when_that_is_asked_for(browser, recorded):
    with opened(browser, f"{recorded}/race?preset=valley") as page:
        wait(page, "d.state === 'finished'")
        before = mark(page, "run")
        press(page, "Train")
        wait(page, "d.run !== a && d.state === 'finished' && d.ended === 'true'", before)
        assert not page.get_by_text("Recorded on").is_visible()
        page.reload()
        wait(page, "d.run !== a && d.state === 'finished'", before)


def test_from_a_row_of_the_paper_to_its_live_run_and_back(browser, recorded):
    with opened(browser, f"{recorded}/paper?row=figure-1") as page:
        assert page.locator("[data-testid=stException]").count() == 0
        page.get_by_role("link", name="Open it live").first.click()
        wait(page, "d.state === 'finished'")
        assert button(page, "Train").is_visible()
        page.go_back()
        page.get_by_text("The paper claims:").first.wait_for()
        wait_until_drawn(page)
        assert "row=figure-1" in page.url or page.url.endswith("/paper")


def test_a_link_leads_to_its_row_and_back_to_where_one_stood(browser, recorded):
    with opened(browser, f"{recorded}/paper?row=appendix-c") as page:
        row = page.locator(".st-key-paper-row-appendix-c")
        page.wait_for_function(_TOP_IS_SEEN)
        link = row.get_by_role("link", name="Open it live")
        link.scroll_into_view_if_needed()
        place = page.evaluate(_ROW_IS_AT)
        link.click()
        page.get_by_role("heading", name="Do four steps matter?").wait_for()
        page.wait_for_function("() => document.title === 'Four steps · RAdam Lab'")
        stood = page.evaluate("history.length")
        page.go_back()
        page.wait_for_function(f"(place) => Math.abs(({_ROW_IS_AT})() - place) < 5", arg=place)
        assert page.evaluate("history.length") == stood
        page.mouse.wheel(0, -5000)
        page.wait_for_function("() => document.querySelector('[data-testid=stMain]').scrollTop === 0")


_ROW_IS_AT = "() => document.querySelector('.st-key-paper-row-appendix-c')?.getBoundingClientRect().top"
_TOP_IS_SEEN = f"() => {{ const top = ({_ROW_IS_AT})(); return top > 50 && top < 200 }}"


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (390, "light")])
def test_the_papers_rows_fit_on_any_screen(browser, recorded, width, theme):
    rows = "&".join(f"row={name}" for name in ("figure-1", "figure-2", "learning-rates", "simulation", "imagenet"))
    with opened(browser, f"{recorded}/paper?{rows}", width=width, theme=theme) as page:
        assert page.locator("[data-testid=stException]").count() == 0
        assert page.locator(".lab-chart").count() >= 5
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 1, "the page scrolls sideways"


def panel_of(page: Page, chart: str) -> Locator:
    """The export panel, opened from a chart's toolbar."""
    box = page.locator(f"[data-chart={chart}], .st-key-chart-{chart} .lab-chart").first
    box.scroll_into_view_if_needed()
    box.hover()
    box.locator("[data-title='Export figure']").click()
    panel = page.locator("dialog.lab-figure")
    panel.locator(".lab-figure-preview img").wait_for()
    return panel


def saved(page: Page, panel: Locator) -> tuple[str, bytes]:
    with page.expect_download() as waiting:
        panel.get_by_role("button", name="Save").click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def changed(panel: Locator, name: str, value: str) -> None:
    """The preview is drawn again."""
    preview = panel.locator(".lab-figure-preview")
    before = preview.get_attribute("data-drawn")
    field = panel.locator(f"[name={name}]")
    if field.evaluate("(one) => one.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.evaluate("(one, value) => { one.value = value; one.dispatchEvent(new Event('input')) }", value)
    panel.locator(f".lab-figure-preview:not([data-drawn='{before}'])").wait_for()


def test_what_is_exported_is_what_is_seen(browser, recorded):
    """A hidden lane stays hidden, a zoom stays, and a file's name says what is in it."""
    with opened(browser, f"{recorded}/race") as page:
        wait(page, "d.state === 'finished' && Number(loss.points) > 100")
        page.locator(".lab-card", has_text="Adam-2k").first.click()
        page.wait_for_function("() => document.querySelectorAll('.lab-card[aria-pressed=false]').length === 1")
        page.evaluate("Plotly.relayout(document.querySelector('[data-chart=loss]'), {'xaxis.range': [100, 300]})")
        panel = panel_of(page, "loss")
        changed(panel, "format", "svg")
        name, svg = saved(page, panel)
        assert name == "radam-lab-loss-figure-1-seed-0-16x9-light.svg"
        assert b"Adam-eps" in svg
        assert b"Adam-2k" not in svg
        assert b">200<" in svg
        assert b">600<" not in svg
        assert b"seed 0" in svg
        changed(panel, "step", "200")
        changed(panel, "theme", "dark")
        changed(panel, "format", "pdf")
        name, pdf = saved(page, panel)
        assert name == "radam-lab-loss-figure-1-seed-0-step-200-16x9-dark.pdf"
        assert pdf.startswith(b"%PDF")
        page.keyboard.press("Escape")
        panel.wait_for(state="detached")


def test_charts_side_by_side_and_the_numbers_behind_them(browser, recorded):
    with opened(browser, f"{recorded}/rectification") as page:
        panel = panel_of(page, "rectification")
        panel.get_by_label("ρt: how many gradients the average holds").check()
        changed(panel, "format", "svg")
        name, svg = saved(page, panel)
        assert name.startswith("radam-lab-rectification-and-rho-beta2-0.999")
        assert svg.count(b'font-weight="bold">a</tspan>') == svg.count(b'font-weight="bold">b</tspan>') == 1
        changed(panel, "title", "My own title")
        panel.locator("[name=format]").select_option("csv")
        panel.locator(".lab-figure-preview pre").wait_for()
        _, table = saved(page, panel)
        assert table.startswith(b"chart,panel,curve,kind,x,y,z")


@pytest.mark.parametrize(
    ("path", "name"), [("size", "variance-or-size"), ("paper?row=appendix-c", "paper-appendix-c-seeds-1")]
)
def test_the_panel_fits_a_telephone(browser, recorded, path, name):
    """Also where charts with long titles may stand beside this one."""
    with opened(browser, f"{recorded}/{path}", width=390, height=844, theme="dark") as page:
        panel = panel_of(page, name)
        place = panel.bounding_box()
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 390
        assert panel.evaluate("(box) => box.scrollWidth <= box.clientWidth")


@pytest.mark.parametrize(("status", "words"), [(422, "the letters are missing"), (0, "the server does not answer")])
def test_the_panel_says_what_is_missing_and_what_can_be_made(browser, recorded, status, words):
    with flawless_page(browser, cut_off=True) as page:
        page.goto(f"{recorded}/size")
        wait_until_drawn(page)
        panel = panel_of(page, "variance-or-size")
        changed(panel, "format", "pdf")
        answer = (lambda route: route.fulfill(status=status, body=words)) if status else (lambda route: route.abort())
        page.route("**/api/figures/**", answer)
        panel.get_by_role("button", name="Save").click()
        panel.get_by_text(f"This figure cannot be made: {words}").wait_for()
        changed(panel, "format", "svg")
        assert saved(page, panel)[1].startswith(b"<svg")
