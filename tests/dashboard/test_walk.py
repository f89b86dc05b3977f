"""The longest walk: every way from one page to another, by menu and back by the browser's button, with a run under way.

One test, and the slowest of all. It buys that whichever way one comes, a page is found as it was left.
"""

from itertools import pairwise

from playwright.sync_api import Page

from bench.driving.visiting import press, wait
from tests.conftest import opened
from tests.dashboard.test_journeys import (
    AS_IT_IS,
    NAMES,
    SLOW,
    address_says,
    by_menu,
    click_menu,
    is_as_it_was,
    settled,
    stop,
)


def every_ordered_pair(names: list[str]) -> list[str]:
    """A walk that takes each way from one page to another exactly once (an Eulerian circuit, by Hierholzer)."""
    ways = {name: [other for other in names if other != name] for name in names}
    walk, stack = [], [names[0]]
    while stack:
        if ways[stack[-1]]:
            stack.append(ways[stack[-1]].pop())
        else:
            walk.append(stack.pop())
    return walk


def test_the_walk_takes_every_way_once():
    ways = list(pairwise(every_ordered_pair(NAMES)))
    assert len(ways) == len(set(ways)) == len(NAMES) * (len(NAMES) - 1)


def set_something(page: Page, name: str) -> None:
    """On every page that has something to set, so that it is not at its defaults."""
    if name == "race":
        page.goto(f"{page.url.split('/race')[0]}/race?config={SLOW.to_link()}")
        settled(page, name)
        press(page, "Train")
        wait(page, "Number(d.step) > 0 && d.state === 'running'")
        page.get_by_role("group", name="loss axis").get_by_role("button", name="linear").click()
        page.locator(".lab-card").nth(1).click()
        address_says(page, "hide=2")
    elif name == "sweep":
        rates = page.get_by_role("textbox", name="Learning rates")
        rates.fill("0.01, 0.02")
        rates.press("Enter")
        address_says(page, "config=")
    elif name == "four-steps":
        rate = page.get_by_role("slider").first
        rate.press("ArrowLeft")
        address_says(page, f"lr-digits={rate.get_attribute('aria-valuetext')}")
    elif name != "home":
        beta2 = page.get_by_role("slider").first
        for _ in range(NAMES.index(name)):
            beta2.press("ArrowLeft")
        address_says(page, f"beta2={beta2.get_attribute('aria-valuetext')}")


def test_every_page_is_found_as_it_was_left_whichever_way_one_comes(browser, address):
    with opened(browser, f"{address}/race") as page:
        left = {}
        for name in ["race", *(name for name in NAMES if name != "race")]:
            if name != "race":
                by_menu(page, name)
            set_something(page, name)
            left[name] = page.evaluate(AS_IT_IS)
            assert name == "home" or left[name]["sliders"] + left[name]["numbers"], "there is nothing to lose here"
        by_menu(page, NAMES[0])
        walk = every_ordered_pair(NAMES)
        before = page.evaluate("history.length")
        for name in walk[1:]:
            click_menu(page, name)
            is_as_it_was(page, name, left[name])
        # A browser keeps the last fifty entries.
        assert page.evaluate("history.length") == min(50, before + len(walk) - 1)
        race = page.context.new_page()  # records that come while one walks were seen to: the core is the browser's now
        race.goto(f"{address}{left['race']['address']}")
        press(race, "Pause")
        wait(race, "d.state === 'paused'")
        race.close()
        remembered = walk[-page.evaluate("history.length") :]
        for name in reversed(remembered[:-1]):
            page.go_back()
            is_as_it_was(page, name, left[name])
        for name in remembered[1 : len(NAMES) + 1]:
            page.go_forward()
            settled(page, name)
            page.reload()
            is_as_it_was(page, name, left[name])
        by_menu(page, "race")
        press(page, "Resume")
        wait(page, "d.state === 'running'")
        stop(page)
