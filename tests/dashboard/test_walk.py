"""The longest walk: every way from one page to another, by menu and back by the browser's button, with a run under way.

The slowest test of all. It buys that whichever way one comes, a page is found as it was left. It has three rounds,
because a browser keeps fifty entries: after the first each page is loaded again once; in the third the run is paused
from another tab, and the visitor goes forward again.
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
ROUNDS = 3


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


def parts() -> list[list[str]]:
    """Each begins on the page where the one before it ends, and is short enough to be gone all the way back."""
    walk = every_ordered_pair(NAMES)
    ends = [round(place * (len(walk) - 1) / ROUNDS) for place in range(ROUNDS + 1)]
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


class Walker:
    """Walks by the menu and back, and looks whether each page is as it was `left`."""

    def __init__(self, page: Page, left: dict[str, dict[str, Any]]) -> None:
        self.page, self.left = page, left
        self.entries = page.evaluate("history.length")  # of the history, up to the page that is shown

    def by_menu(self, name: str) -> None:
        click_menu(self.page, name)
        is_as_it_was(self.page, name, self.left[name])
        self.entries = min(KEPT_ENTRIES, self.entries + 1)
        assert self.page.evaluate("history.length") == self.entries, "a change of page is one entry"

    def back(self, name: str) -> None:
        self.page.go_back()
        is_as_it_was(self.page, name, self.left[name])
        self.entries -= 1

    def forward(self, name: str) -> None:
        self.page.go_forward()
        is_as_it_was(self.page, name, self.left[name])
        self.entries += 1

    def reload(self, name: str) -> None:
        self.page.reload()
        is_as_it_was(self.page, name, self.left[name])


@contextmanager
def walker(browser: UsedWindows, server: tuple[str, int]) -> Iterator[Walker]:
    """A visitor who has set something everywhere, with a race under way, which goes on and is stopped at the end."""
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
            yield Walker(page, left)
            by_menu(page, "race")
            wait(page, "d.state === 'running'")
            stop(page)


def test_the_walk_takes_every_way_once():
    ways = [way for part in parts() for way in pairwise(part)]
    assert all(before[-1] == after[0] for before, after in pairwise(parts()))
    assert len(ways) == len(set(ways)) == len(NAMES) * (len(NAMES) - 1)


def test_every_page_is_found_as_it_was_left_whichever_way_one_comes(browser, server):
    with walker(browser, server) as visitor:
        again = set(NAMES)
        for number, walk in enumerate(parts(), start=1):
            assert len(walk) <= KEPT_ENTRIES
            visitor.by_menu(walk[0])
            for name in walk[1:]:
                visitor.by_menu(name)
            if number == ROUNDS:
                pause_elsewhere(visitor.page, f"{server[0]}{visitor.left['race']['address']}")
            for name in reversed(walk[:-1]):
                visitor.back(name)
                if number > 1 and name in again:
                    again.remove(name)
                    visitor.reload(name)
        assert not again
        for name in walk[1 : len(NAMES) + 1]:
            visitor.forward(name)
        by_menu(visitor.page, "race")
        press(visitor.page, "Resume")
