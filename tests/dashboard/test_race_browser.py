"""A visitor's race in the real app and a real Chromium. The live charts carry marks of what is on the screen."""

from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, Route

from bench.driving.visiting import button, flawless_page, mark, press, visitor, wait
from dashboard.asked.presets import PRESETS
from tests.dashboard.visiting import check_cards, lane_phases, slowed, steps_drawn, stored, suspended, train, worker_of

# As long as a race may be: it never ends by itself while a test looks at it. Frames come from the first second on.
LONG = PRESETS["valley"].config.changed(steps=100_000, settings={"surface": "quadratic"}, seed=5)
# All its lanes on a Transformer of two layers a side, which takes a third of the time; with its half batches, so that
# there is something to see while it trains.
COLLAPSE = PRESETS["collapse"].config.changed(steps=30, evaluate_every=15, settings={"depth": 2})


@pytest.fixture(scope="module")
def runs(server_runs) -> Path:
    return server_runs


@pytest.fixture(scope="module")
def racing(address) -> str:
    return f"{address}/race"


@pytest.fixture(scope="module")
def valley(browser, racing) -> str:
    """A finished run of the preset."""
    return train(browser, racing, PRESETS["valley"].config)


def test_train_on_figure_1_draws_in_one_chart_to_the_stored_end(browser, racing, runs):
    with visitor(browser, f"{racing}?config={COLLAPSE.to_link()}") as page:
        assert mark(page, "run") == ""
        assert set(lane_phases(page)) == {"waiting"}
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
        assert stored(runs, mark(page, "run"))[0].config == COLLAPSE
        check_cards(page, runs, "exact match")
        lanes_that_coincide_are_all_seen(page)


def lanes_that_coincide_are_all_seen(page: Page) -> None:
    page.locator("[data-chart=schedule]").scroll_into_view_if_needed()
    # Frozen lanes have one loss and the multiplier 0; vanilla Adam, Adam-eps and SGD have the multiplier 1.
    frozen, plain = ["Adam-2k", "Adam-2k (authors)"], ["Adam", "Adam-eps", "SGD"]
    for chart, lanes in (("loss", frozen), ("schedule", [*frozen, *plain])):
        page.wait_for_function(  # a chart that comes into view is drawn with what it has missed a moment later
            """([chart, lanes]) => {
                const traces = document.querySelector(`[data-chart=${chart}].lab-chart`)?.data ?? []
                const again = traces.filter((trace) => trace.meta?.again).map((trace) => trace.name)
                return lanes.every((lane) => again.includes(lane))
            }""",
            arg=[chart, lanes],
            polling=50,
        )


ONLY_THE_FIRST_IS_OPEN = """() => {
    const [first, ...others] = [...document.querySelectorAll('.lab-card .lab-state')].map((state) => state.textContent)
    const { ended } = document.querySelector('.lab-race').dataset
    return ended !== 'true' && !first.startsWith('finished') && others.every((state) => state.startsWith('finished'))
}"""


def test_a_race_with_one_lane_changed_has_the_others_at_once_and_trains_that_one(browser, server, racing, runs):
    before = COLLAPSE.changed(settings={"depth": 1}, seed=6)
    first, *others = before.lanes
    changed = before.changed(lanes=[first.model_copy(update={"lr": 7e-3}), *others])
    known = stored(runs, train(browser, racing, before))[1]
    with visitor(browser, f"{racing}?config={changed.to_link()}") as page:
        page.get_by_text("1 of 7 lanes is new: 1 × 30 steps = 30 lane-steps").wait_for()
        with suspended(worker_of(server[1])):  # so that the lane is not done before the browser has drawn the others
            press(page, "Train")
            page.wait_for_function(ONLY_THE_FIRST_IS_OPEN, polling=50)
        wait(page, "d.ended === 'true' && d.state === 'finished' && loss.points === '30'")
        _, recording = stored(runs, mark(page, "run"))
        for before, after in zip(known.lanes[1:], recording.lanes[1:], strict=True):
            assert after.column("loss").tobytes() == before.column("loss").tobytes()
        assert recording.lanes[0].column("loss")[-1] != known.lanes[0].column("loss")[-1]
        page.get_by_text("All 7 lanes were trained before").wait_for()


def test_a_preset_pressed_twice_is_one_run(browser, racing, runs, valley):
    with visitor(browser, racing) as page:
        page.get_by_role("combobox", name="Race").click()
        page.get_by_text("valley", exact=True).click()
        page.wait_for_selector("[data-chart=surface]")
        press(page, "Train")
        wait(page, "d.run === a && d.ended === 'true' && d.state === 'finished' && Number(loss.points) > 0", valley)
        assert stored(runs, valley)[0].config == PRESETS["valley"].config
        page.wait_for_function(  # what came last is drawn a moment after it is told
            "() => String(document.querySelector('[data-chart=loss]')._fullLayout.xaxis.range) === '1,2000'", polling=50
        )
        check_cards(page, runs, "distance")


def test_a_refresh_and_a_second_visitor_see_the_whole_race(browser, racing, server):
    with visitor(browser, f"{racing}?config={LONG.to_link()}") as page:
        press(page, "Train")
        wait(page, "Number(d.step) >= 300")
        with slowed(worker_of(server[1])):
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
    assert lane_phases(page) == ["paused"] * len(LONG.lanes)
    x_range = "document.querySelector('[data-chart=loss]')._fullLayout.xaxis.range"
    whole, box = page.evaluate(x_range), page.locator("[data-chart=loss] .nsewdrag").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.5 * box["height"], steps=4)
    page.mouse.up()
    page.wait_for_function(f"(whole) => {x_range}[0] > whole[0] && {x_range}[1] < whole[1]", arg=whole)
    zoomed = page.evaluate(x_range)
    page.locator(".lab-card").first.click()
    step, drawn = int(mark(page, "step")), page.locator("[data-chart=loss]").get_attribute("data-drawn")
    press(page, "Resume")
    wait(page, "Number(d.step) > a[0] && Number(loss.drawn) > Number(a[1]) + 2", [step, drawn])
    assert page.evaluate(x_range) == zoomed
    assert page.locator(".lab-card").first.get_attribute("aria-pressed") == "false"
    press(page, "Stop")
    for one in (page, second):
        wait(one, "d.ended === 'true' && d.state === 'stopped'")
        assert lane_phases(one) == ["stopped"] * len(LONG.lanes)
    assert button(page, "Stop").count() == 0


def test_two_runs_are_laid_over_each_other_and_all_of_it_can_be_read(browser, racing, valley):
    other = train(browser, racing, PRESETS["valley"].config.changed(steps=200, seed=1))
    with visitor(browser, f"{racing}?run={valley}&compare={other}") as page:
        wait(page, "d.ended === 'true' && Number(loss.points) > 0")
        page.wait_for_selector(".lab-card[data-lane='Adam (compared)'][data-loss]:not([data-loss=''])")
        page.wait_for_function(
            "document.querySelector('[data-chart=loss]').data.some((t) => t.meta.run === 1 && t.x.length > 0)"
        )
        clipped = (
            "(nodes) => nodes.filter((n) => n.scrollWidth > n.clientWidth + 1 || n.scrollHeight > n.clientHeight + 1)"
        )
        boxes = page.locator(".lab-cards, .lab-card, .lab-card .lab-label, .lab-card .lab-state")
        assert boxes.evaluate_all(f"(all) => ({clipped})(all).map((n) => n.textContent)") == []
        assert page.locator(".lab-cards-head").all_inner_texts() == ["This race", "Compared, thinner and dashed"]


def test_choices_move_the_charts_the_toolbar_covers_nothing_and_downloads_hold_the_run(browser, racing, valley):
    with visitor(browser, f"{racing}?run={valley}") as page:
        wait(page, "d.ended === 'true' && Number(loss.points) > 0")
        toolbar_covers_nothing(page.locator("[data-chart=loss]"))
        page.get_by_role("group", name="loss axis").get_by_role("button", name="linear").click()
        page.wait_for_function("() => document.querySelector('[data-chart=loss]')._fullLayout.yaxis.type === 'linear'")
        page.locator("[data-chart=ridges]").scroll_into_view_if_needed()
        page.wait_for_selector("[data-chart=ridges].lab-chart")
        page.get_by_role("button", name="v", exact=True).click()
        page.wait_for_function("() => document.querySelector('[data-chart=ridges]').textContent.includes('|v|')")
        page.get_by_role("button", name="Download").click()
        page.get_by_role("button", name="Records (CSV)").wait_for()
        page.wait_for_selector("[data-test-script-state=notRunning]", state="attached")  # a file is its script's
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Records (CSV)").click()
        table = pd.read_csv(waiting.value.path())
        assert set(table["lane"]) == {lane.label for lane in PRESETS["valley"].config.lanes}
        assert table["step"].max() == 2000


def toolbar_covers_nothing(chart: Locator) -> None:
    chart.hover()
    legend, buttons = chart.locator(".infolayer .legend").bounding_box(), chart.locator(".modebar").bounding_box()
    assert buttons["y"] >= legend["y"] + legend["height"]
    plot = chart.locator(".nsewdrag").bounding_box()
    assert buttons["y"] >= plot["y"] + plot["height"], "the buttons cover the curves"


def test_a_lost_connection_is_said_and_found_again(browser, racing):
    with visitor(browser, f"{racing}?config={LONG.changed(seed=6).to_link()}", cut_off=True) as page:
        page.route("**/api/runs/**", lambda route: route.abort())
        press(page, "Train")
        page.get_by_text("connection lost, trying again").wait_for()
        page.unroute("**/api/runs/**")
        wait(page, "d.connection === 'open' && Number(d.step) > 0 && Number(loss.points) > 0")
        press(page, "Stop")
        wait(page, "d.state === 'stopped'")


def test_a_race_whose_scripts_come_late_is_drawn_as_it_was_last_set(browser, racing):
    """Streamlit ends the calls that a rerun overtook when they are over: that must not end the race that is shown."""
    held: list[Route] = []
    late = True
    with flawless_page(browser) as page:
        page.route("**/assets/*/live.js", lambda route: held.append(route) if late else route.continue_())
        with page.expect_request("**/assets/*/live.js"):
            page.goto(racing)
        page.get_by_role("combobox", name="Race").click()
        page.get_by_text("valley", exact=True).click()
        page.get_by_text("Rosenbrock's valley").wait_for()
        page.wait_for_selector("[data-test-script-state=notRunning]", state="attached")
        late = False  # from here on nothing is held
        for route in held:
            route.continue_()
        page.wait_for_selector("[data-chart=surface].lab-chart")
        press(page, "Train")
        wait(page, "d.ended === 'true' && d.state === 'finished' && Number(loss.points) > 0")


def test_a_link_to_a_run_that_is_gone_says_so_and_fits_a_telephone(browser, racing):
    with visitor(browser, f"{racing}?run={'0' * 20}&config={LONG.to_link()}", width=390) as page:
        page.get_by_text("This server does not have the run").wait_for()
        page.wait_for_selector("[data-chart=loss]", state="attached")
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
