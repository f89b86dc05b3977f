"""A visitor's race in the real app and a real Chromium. The live charts carry marks of what is on the screen."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page

from dashboard.lane_phases import FROZEN, LEARNING, MOMENTUM, WARMING_UP
from dashboard.presets import PRESETS
from dashboard.store import ACTIVE, OVER
from tests.conftest import ROOT, running_server
from tests.dashboard.visiting import (
    button,
    check_cards,
    lane_states,
    mark,
    press,
    steps_drawn,
    stored,
    train,
    visitor,
    wait,
)

# As long as a race may be: it never ends by itself while a test looks at it. Frames come from the first second on.
LONG = PRESETS["valley"].config.changed(steps=100_000, settings={"surface": "quadratic"}, seed=5)
FIGURE_1 = PRESETS["figure-1"].config.changed(steps=30, evaluate_every=15)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def racing(runs) -> Iterator[str]:
    with running_server(environment={"RADAM_LAB_RUNS": str(runs)}) as (address, _):
        yield f"{address}/race"


@pytest.fixture(scope="module")
def valley(browser, racing) -> str:
    """A finished run of the preset."""
    return train(browser, racing, PRESETS["valley"].config)


def test_train_on_figure_1_draws_in_one_chart_to_the_stored_end(browser, racing, runs):
    with visitor(browser, f"{racing}?config={FIGURE_1.to_link()}") as page:
        assert mark(page, "run") == ""
        assert set(lane_states(page)) == {"waiting"}
        page.evaluate(
            """() => {
                const chart = document.querySelector('[data-chart=loss]')
                window.first = chart
                window.points = []
                new MutationObserver(() => window.points.push(Number(chart.dataset.points)))
                    .observe(chart, { attributeFilter: ['data-points'] })
            }"""
        )
        press(page, "Train")
        wait(page, "d.ended === 'true' && d.state === 'finished' && d.step === '30' && loss.points === '30'")
        points = page.evaluate("window.points")
        assert points == sorted(points)
        assert len(set(points) - {0}) > 2, "the chart did not grow while the race went on"
        assert page.evaluate("document.querySelector('[data-chart=loss]') === window.first")
        assert mark(page, "run") in page.url
        assert stored(runs, mark(page, "run"))[0].config == FIGURE_1
        check_cards(page, runs, "exact match")


def test_a_preset_pressed_twice_is_one_run(browser, racing, runs, valley):
    with visitor(browser, racing) as page:
        page.get_by_role("combobox", name="Race").click()
        page.get_by_text("valley", exact=True).click()
        page.wait_for_selector("[data-chart=surface]")
        press(page, "Train")
        wait(page, "d.run === a && d.ended === 'true' && d.state === 'finished' && Number(loss.points) > 0", valley)
        assert stored(runs, valley)[0].config == PRESETS["valley"].config
        assert page.evaluate("document.querySelector('[data-chart=loss]')._fullLayout.xaxis.range") == [1, 2000]
        check_cards(page, runs, "distance")


def test_a_refresh_and_a_second_visitor_see_the_whole_race(browser, racing):
    with visitor(browser, f"{racing}?config={LONG.to_link()}") as page:
        press(page, "Train")
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
    press(page, "Pause")
    wait(page, "d.state === 'paused'")
    wait(second, "d.state === 'paused'")
    button(page, "Resume").wait_for()
    assert lane_states(page) == ["paused"] * len(LONG.lanes)
    box = page.locator("[data-chart=loss] .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"], steps=4)
    page.mouse.up()
    zoomed = page.evaluate("document.querySelector('[data-chart=loss]')._fullLayout.xaxis.range")
    page.locator(".lab-card").first.click()
    step, drawn = int(mark(page, "step")), page.locator("[data-chart=loss]").get_attribute("data-drawn")
    press(page, "Resume")
    wait(page, "Number(d.step) > a[0] && Number(loss.drawn) > Number(a[1]) + 2", [step, drawn])
    assert page.evaluate("document.querySelector('[data-chart=loss]')._fullLayout.xaxis.range") == zoomed
    assert page.locator(".lab-card").first.get_attribute("aria-pressed") == "false"
    press(page, "Stop")
    for one in (page, second):
        wait(one, "d.ended === 'true' && d.state === 'stopped'")
        assert lane_states(one) == ["stopped"] * len(LONG.lanes)
    assert button(page, "Stop").count() == 0


def test_two_runs_are_laid_over_each_other(browser, racing, valley):
    other = train(browser, racing, PRESETS["valley"].config.changed(steps=200, seed=1))
    with visitor(browser, f"{racing}?run={valley}&compare={other}") as page:
        wait(page, "d.ended === 'true' && Number(loss.points) > 0")
        page.wait_for_selector(".lab-card[data-lane='Adam (compared)'][data-loss]:not([data-loss=''])")
        page.wait_for_function(
            "document.querySelector('[data-chart=loss]').data.some((t) => t.meta.run === 1 && t.x.length > 0)"
        )


def test_choices_move_the_charts_and_downloads_hold_the_run(browser, racing, valley):
    with visitor(browser, f"{racing}?run={valley}") as page:
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
        press(page, "Train")
        page.get_by_text("connection lost, trying again").wait_for()
        page.unroute("**/api/runs/**")
        wait(page, "d.connection === 'open' && Number(d.step) > 0 && Number(loss.points) > 0")
        press(page, "Stop")
        wait(page, "d.state === 'stopped'")


def test_every_word_on_a_card_has_its_rule_on_the_page(browser):
    """The page's own function, for each state of a race and each way a lane can be."""
    page = browser.new_page()
    for name in ("live_history.js", "live_states.js"):
        page.add_script_tag(content=(ROOT / "dashboard" / name).read_text(encoding="utf-8"))
    rules = set(page.evaluate("Object.keys(RULES)"))
    assert rules >= {FROZEN, MOMENTUM, WARMING_UP, LEARNING}

    def words(state: str | None, step: int = 60, loss: float = 1.0) -> list[str]:
        """Of three lanes: one that diverged, one that goes its way, and one that is still frozen."""
        return page.evaluate(
            """([state, step, loss]) => {
                const history = new History()
                const steps = Array.from({ length: step }, (_, i) => i + 1)
                const columns = { loss: [0, 1, 2].map(() => steps.map(() => loss)) }
                Object.assign(history, { step, steps, columns, divergedAt: step ? { 0: 7 } : {} })
                const lanes = [[[1, "learning"]], [[1, "warming up"], [50, "learning"]], [[1, "frozen"]]]
                const run = { history, baseline: 2.82, lanes: lanes.map((phases) => ({ phases })) }
                run.status = state && { state }
                return [0, 1, 2].map((lane) => laneState(run, lane))
            }""",
            [state, step, loss],
        )

    assert words("running") == ["diverged at step 7", "learning", "frozen"]
    assert words("running", step=49) == ["diverged at step 7", "warming up", "frozen"]
    assert words("running", loss=2.85) == ["diverged at step 7", *["stuck at the frequency baseline"] * 2]
    assert words("running", step=0) == words(None, step=0) == ["waiting"] * 3
    for state in (*ACTIVE, *OVER):
        for step in (0, 49, 60):
            found = words(state, step)
            assert {word.split(" at step")[0] for word in found} <= rules
            if state != "running":
                assert found[1:] == ["waiting" if state == "queued" else state] * 2
        assert "stuck at the frequency baseline" in words(state, loss=2.85)
    page.close()


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
