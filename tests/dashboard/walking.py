"""The longest walk in three parts: every way from one page to another, by menu and back, with a run under way.

The slowest tests of all. They buy that whichever way one comes, a page is found as it was left. Each part is a file of
its own, for a process of its own; and a browser, which keeps fifty entries, can go all the way back.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from playwright.sync_api import Page

from bench.driving.visiting import UsedWindows, press, wait
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
from tests.dashboard.visiting import slowed, worker_of

KEPT_ENTRIES = 50  # of a browser's history


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


PARTS = 3


def parts() -> list[list[str]]:
    """Each begins on the page where the one before it ends."""
    walk = every_ordered_pair(NAMES)
    ends = [round(place * (len(walk) - 1) / PARTS) for place in range(PARTS + 1)]
    return [walk[first : last + 1] for first, last in pairwise(ends)]


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
    elif name == "norms":
        page.get_by_role("slider").first.press("ArrowLeft")
        address_says(page, "depth=5")
    elif name == "tour":
        page.get_by_role("radio", name="5", exact=True).click()
        address_says(page, "step=5")
        page.get_by_text("How long is RAdam's warmup?").wait_for()
    elif name == "paper":
        page.get_by_text("Theorem 1: the variance falls with rho").click()
        address_says(page, "row=theorem-1")
    elif name == "four-steps":
        rate = page.get_by_role("slider").first
        rate.press("ArrowLeft")
        address_says(page, f"lr-digits={rate.get_attribute('aria-valuetext')}")
    elif name != "home":
        beta2 = page.get_by_role("slider").first
        for _ in range(NAMES.index(name) - NAMES.index("rectification") + 1):  # on each page another value
            beta2.press("ArrowLeft")
        address_says(page, f"beta2={beta2.get_attribute('aria-valuetext')}")


def pause_elsewhere(page: Page, race: str) -> None:
    """In another tab."""
    tab = page.context.new_page()
    tab.goto(race)
    press(tab, "Pause")
    wait(tab, "d.state === 'paused'")
    tab.close()


@contextmanager
def walked(
    browser: UsedWindows, server: tuple[str, int], walk: list[str], paused: bool
) -> Iterator[tuple[Page, dict[str, dict[str, Any]]]]:
    """A visitor who has set something everywhere and has walked by the menu, and how each page was left.

    Afterwards the race, which may be `paused` from here on, is found again, goes on and is stopped.
    """
    address, process_id = server
    with opened(browser, f"{address}/race") as page:
        set_something(page, "race")
        with slowed(worker_of(process_id)):
            left = {"race": page.evaluate(AS_IT_IS)}
            for name in (name for name in NAMES if name != "race"):
                by_menu(page, name)
                set_something(page, name)
                left[name] = page.evaluate(AS_IT_IS)
                something = (value for kind in ("sliders", "numbers", "doors") for value in left[name][kind])
                assert name == "home" or any(something), "there is nothing to lose here"
            by_menu(page, walk[0])
            before = page.evaluate("history.length")
            for name in walk[1:]:
                click_menu(page, name)
                is_as_it_was(page, name, left[name])
            if paused:
                pause_elsewhere(page, f"{address}{left['race']['address']}")
            assert len(walk) <= KEPT_ENTRIES
            assert page.evaluate("history.length") == min(KEPT_ENTRIES, before + len(walk) - 1)
            yield page, left
            by_menu(page, "race")
            if paused:
                press(page, "Resume")
            wait(page, "d.state === 'running'")
            stop(page)
