"""What a first visitor sees where nothing was trained yet: recordings, in the real app and a real Chromium.

A server of its own, whose store is empty and which may use the recordings; all other tests go without them.
"""

import pytest

from bench.driving.visiting import button, mark, press, wait
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
    """How soon is measured by `python -m bench live`."""
    with opened(browser, f"{recorded}/race") as page:
        wait(page, "d.state === 'finished' && Number(d.step) === 1000 && Number(loss.points) > 100")
        assert page.get_by_text("Recorded on").is_visible()
        assert page.locator(".lab-card").count() == len(PRESETS["figure-1"].config.lanes)
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


@pytest.mark.parametrize(("width", "theme"), [(1280, "dark"), (390, "light")])
def test_the_papers_rows_fit_on_any_screen(browser, recorded, width, theme):
    rows = "&".join(f"row={name}" for name in ("figure-1", "figure-2", "learning-rates", "simulation", "imagenet"))
    with opened(browser, f"{recorded}/paper?{rows}", width=width, theme=theme) as page:
        assert page.locator("[data-testid=stException]").count() == 0
        assert page.locator(".lab-chart").count() >= 5
        over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert over <= 1, "the page scrolls sideways"
