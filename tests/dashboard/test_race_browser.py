"""A visitor's race in the real app and a real Chromium. The live charts carry marks of what is on the screen."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page

from dashboard.presets import PRESETS
from dashboard.store import Store
from radam_core.frames import decode_frame
from tests.conftest import ROOT, running_server

# About half a minute of steps if nobody stops it, and frames from the first second on.
LONG = PRESETS["valley"].config.changed(steps=30_000, settings={"surface": "quadratic"}, seed=5)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def racing(runs) -> Iterator[str]:
    with running_server(environment={"RADAM_LAB_RUNS": str(runs)}) as (address, _):
        yield f"{address}/race"


@contextmanager
def visitor(browser: Browser, url: str, width: int = 1280) -> Iterator[Page]:
    """A browser of their own; a script error fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 720})
    page = context.new_page()
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    page.wait_for_selector(".lab-race[data-run]")
    yield page
    context.close()
    assert not errors


def wait(page: Page, condition: str, argument: object = None, seconds: float = 60) -> None:
    """Until the marks fulfil a condition: `d` are those of the race, `loss` those of the loss chart."""
    page.wait_for_function(
        f"""(a) => {{
            const d = document.querySelector('.lab-race')?.dataset ?? {{}}
            const loss = document.querySelector('[data-chart=loss]')?.dataset ?? {{}}
            return {condition}
        }}""",
        arg=argument,
        timeout=1000 * seconds,
        polling=50,
    )


def mark(page: Page, name: str) -> str:
    return page.locator(".lab-race").get_attribute(f"data-{name}") or ""


def steps_drawn(page: Page) -> list[int]:
    return page.evaluate("document.querySelector('[data-chart=loss]').data.at(-1).x.slice()")


def test_train_draws_a_race_in_one_chart_to_its_stored_end(browser, racing, runs):
    with visitor(browser, racing) as page:
        assert mark(page, "run") == ""
        page.get_by_role("combobox", name="Race").click()
        page.get_by_text("valley", exact=True).click()
        page.wait_for_selector("[data-chart=surface]")
        page.evaluate("document.querySelector('[data-chart=loss]').mine = true")
        page.get_by_role("button", name="Train").click()
        wait(page, "Number(loss.points) > 0")
        first = page.locator("[data-chart=loss]").get_attribute("data-points")
        wait(page, "Number(loss.points) > Number(a)", first)
        wait(page, "d.ended === 'true' && d.state === 'finished' && d.step === '2000'")
        assert page.evaluate("document.querySelector('[data-chart=loss]').mine")
        assert page.evaluate("document.querySelector('[data-chart=loss]')._fullLayout.xaxis.range") == [1, 2000]
        run = Store(runs).run(mark(page, "run"))
        assert run.config == PRESETS["valley"].config
        assert run.id in page.url
        frames = [decode_frame(stored.body, run.config.entry().lanes) for stored in Store(runs).frames(run.id)]
        for k, lane in enumerate(run.config.lanes):
            card = page.locator(f".lab-card[data-lane='{lane.label}']")
            losses = [value for frame in frames for value in frame.loss[:, k].tolist() if value == value]
            assert float(card.get_attribute("data-loss")) == pytest.approx(losses[-1], rel=1e-4)
            at = frames[-1].diverged_at[k]
            assert card.locator(".lab-state").inner_text() == (f"diverged at step {at}" if at else "finished")


def test_a_refresh_and_a_second_visitor_see_the_whole_race(browser, racing):
    with visitor(browser, f"{racing}?config={LONG.to_link()}") as page:
        page.get_by_role("button", name="Train").click()
        wait(page, "Number(d.step) >= 300")
        run, step = mark(page, "run"), int(mark(page, "step"))
        page.reload()
        wait(page, "d.run === a[0] && Number(d.step) > a[1] && Number(loss.points) > 0", [run, step])
        assert steps_drawn(page)[0] == 1
        with visitor(browser, page.url) as second:
            wait(second, "d.run === a && Number(loss.points) > 0 && d.state === 'running'", run)
            assert steps_drawn(second)[0] == 1
            now = int(mark(second, "step"))
            wait(second, "Number(d.step) > a", now)
            pause_zoom_and_stop(page, second)


def pause_zoom_and_stop(page: Page, second: Page) -> None:
    """Pressed by one visitor, seen by both."""
    page.get_by_role("button", name="Pause").click()
    wait(page, "d.state === 'paused'")
    wait(second, "d.state === 'paused'")
    page.get_by_role("button", name="Resume").wait_for()
    box = page.locator("[data-chart=loss] .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"], steps=4)
    page.mouse.up()
    zoomed = page.evaluate("document.querySelector('[data-chart=loss]')._fullLayout.xaxis.range")
    page.locator(".lab-card").first.click()
    step, drawn = int(mark(page, "step")), page.locator("[data-chart=loss]").get_attribute("data-drawn")
    page.get_by_role("button", name="Resume").click()
    wait(page, "Number(d.step) > a[0] && Number(loss.drawn) > Number(a[1]) + 2", [step, drawn])
    assert page.evaluate("document.querySelector('[data-chart=loss]')._fullLayout.xaxis.range") == zoomed
    assert page.locator(".lab-card").first.get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Stop").click()
    for one in (page, second):
        wait(one, "d.ended === 'true' && d.state === 'stopped'")
    assert page.get_by_role("button", name="Stop").count() == 0


def test_two_runs_are_laid_over_each_other(browser, racing, runs):
    identity = next(run.id for run in Store(runs).recent() if run.config == PRESETS["valley"].config)
    other = next(run.id for run in Store(runs).recent() if run.id != identity)
    with visitor(browser, f"{racing}?run={identity}&compare={other}") as page:
        wait(page, "d.ended === 'true' && Number(loss.points) > 0")
        page.wait_for_selector(".lab-card[data-lane='Adam (compared)'][data-loss]:not([data-loss=''])")
        page.wait_for_function(
            "document.querySelector('[data-chart=loss]').data.some((t) => t.meta.run === 1 && t.x.length > 0)"
        )


def test_choices_move_the_charts_and_downloads_hold_the_run(browser, racing, runs):
    identity = next(run.id for run in Store(runs).recent() if run.config == PRESETS["valley"].config)
    with visitor(browser, f"{racing}?run={identity}") as page:
        wait(page, "d.ended === 'true' && Number(loss.points) > 0")
        page.get_by_role("group", name="loss axis").get_by_role("button", name="linear").click()
        page.wait_for_function("document.querySelector('[data-chart=loss]')._fullLayout.yaxis.type === 'linear'")
        page.locator("[data-chart=ridges]").scroll_into_view_if_needed()
        page.wait_for_selector("[data-chart=ridges].lab-chart")
        page.get_by_role("button", name="v", exact=True).click()
        page.wait_for_function("document.querySelector('[data-chart=ridges]').textContent.includes('|v|')")
        page.get_by_role("button", name="Download").click()
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Records (CSV)").click()
        table = pd.read_csv(waiting.value.path())
        assert set(table["lane"]) == {lane.label for lane in PRESETS["valley"].config.lanes}
        assert table["step"].max() == 2000


def test_a_lost_connection_is_said_and_found_again(browser, racing):
    with visitor(browser, f"{racing}?config={LONG.changed(seed=6).to_link()}") as page:
        page.route("**/api/runs/**", lambda route: route.abort())
        page.get_by_role("button", name="Train").click()
        page.get_by_text("connection lost, trying again").wait_for()
        page.unroute("**/api/runs/**")
        wait(page, "d.connection === 'open' && Number(d.step) > 0 && Number(loss.points) > 0")
        page.get_by_role("button", name="Stop").click()
        wait(page, "d.state === 'stopped'")


def test_thinning_keeps_spikes_and_smoothing_starts_unbiased(browser):
    """The page's own functions: 10,000 points become at most 2,000, and a spike of one point stays."""
    page = browser.new_page()
    page.add_script_tag(content=(ROOT / "dashboard" / "live_history.js").read_text(encoding="utf-8"))
    thin = page.evaluate(
        """() => {
            const x = Array.from({ length: 10000 }, (_, i) => i)
            const y = x.map((i) => (i === 4321 ? 99 : i === 8765 ? -99 : i < 100 ? null : Math.sin(i)))
            return thinned({ x, y })
        }"""
    )
    assert len(thin["x"]) <= 2000
    assert thin["x"] == sorted(thin["x"])
    assert dict(zip(thin["x"], thin["y"], strict=True))[4321] == 99
    assert dict(zip(thin["x"], thin["y"], strict=True))[8765] == -99
    assert page.evaluate("smoothed({ x: [1, 2, 3], y: [5, null, 5] }, 0.9).y") == pytest.approx([5, None, 5])
    page.close()


def test_a_link_to_a_run_that_is_gone_says_so_and_fits_a_telephone(browser, racing):
    with visitor(browser, f"{racing}?run={'0' * 20}&config={LONG.to_link()}", width=390) as page:
        page.get_by_text("This server does not have the run").wait_for()
        page.wait_for_selector("[data-chart=loss]", state="attached")
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
