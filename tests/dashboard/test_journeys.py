"""The journeys of a visitor between the pages, in the real app and a real Chromium: by menu, Back, reload and keyboard.

Every page is found as it was left, whichever way one comes, with a run under way all the time.
"""

import contextlib
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page
from playwright.sync_api import TimeoutError as TimedOut

from bench.driving.visiting import button, mark, press, wait
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS
from dashboard.navigation import PAGES
from tests.conftest import opened, wait_until_drawn
from tests.dashboard.visiting import slowed, worker_of

NAMES = [page.name for page in PAGES]
TITLES = {page.name: page.title for page in PAGES}
# Nobody waits for its end: it goes on while the visitor walks about.
LONG = PRESETS["valley"].config.changed(steps=100_000, settings={"surface": "quadratic"}, seed=11)
# Some 30 steps a second, so that the browser has time for its pages.
SLOW = PRESETS["digits"].config.changed(steps=100_000)


def settled(page: Page, name: str) -> None:
    """The page of this name stands there, with all its charts."""
    path = "/" if name == NAMES[0] else f"/{name}"
    page.wait_for_function("(path) => location.pathname === path", arg=path)
    page.locator(f"a[aria-current=page] >> text={TITLES[name]}").first.wait_for()
    wait_until_drawn(page)
    assert page.locator("[data-testid=stException]").count() == 0


def click_menu(page: Page, name: str) -> None:
    # By role it would take the names of all that a page of 4,000 elements holds.
    page.locator(f'a[data-testid=stTopNavLink]:has(:text-is("{TITLES[name]}"))').click()


def by_menu(page: Page, name: str) -> None:
    click_menu(page, name)
    settled(page, name)


# What a visitor has set on a page, as its controls and its address show it.
AS_IT_IS = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)]
    return {
        address: location.pathname + location.search,
        sliders: all('input[type=range]:not([aria-label^="step of the"])')
            .map((slider) => slider.getAttribute('aria-valuetext') ?? slider.value),
        numbers: all('input[type=number], input[type=text]').map((input) => input.value),
        chosen: all('[role=combobox]').map((box) => box.value || box.textContent),
        options: all('.lab-option').map((option) => option.getAttribute('aria-pressed')),
        pressed: all('[role=radio]').map((option) => option.getAttribute('aria-checked')),
        doors: all('details[open] > summary').map((door) => door.textContent),
        hidden: all('.lab-card').map((card) => card.getAttribute('aria-pressed')),
        run: document.querySelector('.lab-race')?.dataset.run ?? '',
    }
}"""


def is_as_it_was(page: Page, name: str, left: dict[str, Any]) -> None:
    """The page of this name stands there again, with all that was set."""
    settled(page, name)
    try:
        page.wait_for_function(
            f"(left) => JSON.stringify(({AS_IT_IS})()) === left",
            arg=json.dumps(left, ensure_ascii=False, separators=(",", ":")),
            timeout=20_000,
            polling=100,  # not in every frame: the core has pages to draw
        )
    except TimedOut:
        assert page.evaluate(AS_IT_IS) == left


def address_says(page: Page, text: str) -> None:
    """Whole: an address that is a step behind may begin alike, as 0.993 does 0.99."""
    whole = text if text.endswith("=") else f"{text}&"
    page.wait_for_function("(text) => `${location.search}&`.includes(text)", arg=whole, polling=50)
    wait_until_drawn(page)


def stop(page: Page) -> None:
    press(page, "Stop")
    wait(page, "d.state === 'stopped'")


def choose(page: Page, race: str) -> None:
    """By mouse, from the list of races."""
    page.get_by_role("combobox", name="Race").click()
    page.get_by_role("option", name=race, exact=True).click()
    page.get_by_text(f"{race}:", exact=False).first.wait_for()


def test_a_page_that_is_new_to_the_visitor_starts_from_what_was_set_elsewhere(browser, address):
    with opened(browser, f"{address}/rectification?beta2=0.98") as page:
        by_menu(page, "variance")
        first_slider_says(page, "0.98")
        page.get_by_role("slider").first.press("ArrowLeft")
        address_says(page, "beta2=0.97")
        by_menu(page, "rectification")
        first_slider_says(page, "0.98")


def first_slider_says(page: Page, value: str) -> None:
    page.wait_for_function(
        "(value) => document.querySelector('input[type=range]')?.getAttribute('aria-valuetext') === value",
        arg=value,
        timeout=20_000,
    )


def test_two_tabs_have_their_own_settings_and_one_run(browser, address, server):
    with opened(browser, f"{address}/race?config={LONG.changed(seed=12).to_link()}") as first:
        second = first.context.new_page()
        second.set_default_timeout(90_000)
        second.goto(f"{address}/race?preset=digits")
        settled(second, "race")
        press(first, "Train")
        wait(first, "Number(d.step) > 0")
        with slowed(worker_of(server[1])):
            assert "preset=digits" in second.url
            assert mark(second, "run") == ""
            second.goto(first.url)
            wait(second, "d.run === a && Number(d.step) > 0", mark(first, "run"))
            press(second, "Pause")  # two tabs are one visitor
            wait(first, "d.state === 'paused'")
            press(first, "Resume")
            wait(second, "d.state === 'running'")
            stop(second)
            wait(first, "d.state === 'stopped'")


def test_a_visitor_stops_only_what_nobody_else_wants(browser, address, server):
    link = f"{address}/race?config={LONG.changed(seed=13).to_link()}"
    with opened(browser, link) as first, opened(browser, link) as second:
        press(first, "Train")
        wait(first, "Number(d.step) > 0")
        with slowed(worker_of(server[1])):
            second.goto(first.url)
            wait(second, "d.run === a && Number(d.step) > 0", mark(first, "run"))
            assert not button(second, "Stop").is_visible(), "who only looks on has nothing to stop"
            press(second, "Train")
            first.get_by_text("wanted by 2 visitors").wait_for()
            press(second, "Stop")
            button(second, "Stop").wait_for(state="hidden")
            step = int(mark(first, "step"))
            wait(first, "d.state === 'running' && Number(d.step) > a", step)
            stop(first)
            wait(second, "d.state === 'stopped'")
            with opened(browser, link) as newcomer:
                assert mark(newcomer, "run") == "", "a newcomer was shown a run that somebody stopped"
                assert set(newcomer.locator(".lab-card .lab-state").all_inner_texts()) == {"waiting"}


def test_another_race_can_be_chosen_while_one_trains(browser, address):
    with opened(browser, f"{address}/race?config={LONG.changed(seed=14).to_link()}") as page:
        press(page, "Train")
        wait(page, "Number(d.step) > 0")
        run = mark(page, "run")
        choose(page, "valley")
        page.get_by_text("Below is the race before you moved the controls").wait_for()
        page.reload()
        wait(page, "d.run === a && d.state === 'running'", run)
        page.get_by_text("Below is the race before you moved the controls").wait_for()
        press(page, "Train")
        wait(page, "d.run !== a && d.ended === 'true' && d.state === 'finished'", run)
        press(page, "Runs")
        page.get_by_role("combobox", name="Open a run").click()
        page.get_by_role("option", name="surfaces, 5 lanes, 100000 steps, seed 14").click()
        page.get_by_test_id("stBaseButton-secondary").filter(has_text="Open").click()
        wait(page, "d.run === a && d.state === 'running'", run)
        page.keyboard.press("Escape")
        stop(page)


def test_by_keyboard_alone_from_home_to_a_finished_race(browser, address):
    with opened(browser, address) as page:
        press_until_focused(page, "a[href$='/race']")
        page.keyboard.press("Enter")
        settled(page, "race")
        press_until_focused(page, "[role=combobox]")
        page.keyboard.type("valley")
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-chart=surface]")
        press_until_focused(page, "[data-testid=stBaseButton-primary]")
        page.keyboard.press("Enter")
        wait(page, "d.ended === 'true' && d.state === 'finished'")
        press_until_focused(page, ".lab-card")
        page.keyboard.press("Space")
        address_says(page, "hide=1")


def press_until_focused(page: Page, selector: str) -> None:
    """Tab from where the focus is, as somebody without a mouse does."""
    page.wait_for_selector(selector)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached by the Tab key")


def test_an_edited_table_of_lanes_is_there_after_a_change_of_page_and_a_reload(browser, address):
    with opened(browser, f"{address}/race?preset=valley") as page:
        edit_cell(page, row=1, column=3, value="0.5")  # the learning rate of the first lane
        wait_for_rates(page, {"Adam": 0.5, "Adam + warmup": 0.02})
        by_menu(page, "size")
        by_menu(page, "race")
        wait_for_rates(page, {"Adam": 0.5, "Adam + warmup": 0.02})
        edit_cell(page, row=2, column=3, value="-1")
        page.get_by_text("lane 'Adam + warmup': lr must be above 0").wait_for()
        assert page.locator("[data-chart=loss]").is_visible(), "one bad cell took the charts away"
        edit_cell(page, row=2, column=3, value="0.25")
        wait_for_rates(page, {"Adam": 0.5, "Adam + warmup": 0.25})
        page.reload()
        settled(page, "race")
        wait_for_rates(page, {"Adam": 0.5, "Adam + warmup": 0.25})


def test_every_whole_number_that_is_typed_is_taken_and_kept(browser, address):
    typed = {"Steps": 60, "Batch size": 16, "Seed": 3, "Evaluate every": 30, "Width": 4}
    with opened(browser, f"{address}/race?preset=digits") as page:
        page.get_by_text("Lanes and settings").click()
        for name, value in typed.items():
            field = page.get_by_role("spinbutton", name=name, exact=True)
            field.fill(str(value))
            field.press("Enter")
        page.get_by_text("4 lanes × 60 steps").wait_for()
        by_menu(page, "sweep")
        for name, value, sentence in (("Seeds", 2, "24 lanes × 500 steps"), ("Steps", 40, "24 lanes × 40 steps")):
            field = page.get_by_role("spinbutton", name=name, exact=True)
            field.fill(str(value))
            field.press("Enter")
            page.get_by_text(sentence).wait_for()
        by_menu(page, "race")
        page.get_by_text("4 lanes × 60 steps").wait_for()
        race = RaceConfig.from_link(parse_qs(urlsplit(page.url).query)["config"][0])
        assert (race.steps, race.batch_size, race.seed, race.evaluate_every) == (60, 16, 3, 30)
        assert race.settings["width"] == 4
        page.get_by_text("Lanes and settings").click()
        steps = page.get_by_role("spinbutton", name="Steps", exact=True)
        for text, sentence in (("-5", "steps must be"), ("999999999", "steps must be"), ("70", "4 lanes × 70 steps")):
            steps.fill(text)
            steps.press("Enter")
            page.get_by_text(sentence).first.wait_for()


def edit_cell(page: Page, row: int, column: int, value: str) -> None:
    """Types into a cell of the table of lanes: a canvas, whose cells are told to those who cannot see it."""
    grid = page.locator("[data-testid=stDataFrame] .dvn-scroller")
    if not grid.is_visible():
        page.get_by_text("Lanes and settings").click()
    while True:  # a table that is just being drawn again forgets what was selected
        grid.click(position={"x": 60, "y": 35 * row + 17})  # a cell of the first column; rows are 35 pixels high
        with contextlib.suppress(TimedOut):
            grid_cell(page, row, 1).wait_for(state="attached", timeout=3000)
            break
    for place in range(2, column + 1):
        page.keyboard.press("ArrowRight")
        grid_cell(page, row, place).wait_for(state="attached")
    page.keyboard.press("Enter")
    page.locator("#portal input").fill(value)
    page.keyboard.press("Enter")
    page.locator("#portal input").wait_for(state="detached")
    wait_until_drawn(page)


def grid_cell(page: Page, row: int, column: int) -> Locator:
    """A cell of the table, once it is selected; rows are counted from 1."""
    return page.locator(f"[data-testid=glide-cell-{column}-{row - 1}][aria-selected=true]")


def wait_for_rates(page: Page, rates: dict[str, float]) -> None:
    """Until the configuration in the address, which a reload opens, has lanes of these learning rates."""
    seen = None
    while seen is None or not rates.items() <= seen.items():
        page.wait_for_function("(before) => location.href !== before", arg=page.url if seen else "")
        link = parse_qs(urlsplit(page.url).query).get("config", [""])[0]
        seen = {lane.label: lane.lr for lane in RaceConfig.from_link(link).lanes} if link else {"": 0.0}
    wait_until_drawn(page)
