"""A visitor in a real Chromium. The live charts of the race page carry marks of what is on the screen."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page

Theme = Literal["light", "dark"]
PATIENCE = 120.0  # seconds: workers may still be warming up, on a machine that has other things to do


@contextmanager
def flawless_page(
    browser: Browser, width: int = 1280, height: int = 720, theme: Theme = "light", cut_off: bool = False
) -> Iterator[Page]:
    """A page in a context of its own. A script error, an error in the console or a drawing with an infinite place fails
    the test; only where the connection is `cut_off` may the browser complain that it is."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    flaws: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        # Streamlit looks for its own files below a page's path, too, where they are not.
        network = "_stcore" in message.location["url"] or (cut_off and re.search("ERR_|server", message.text))
        if message.type == "error" and not network:
            flaws.append(message.text)

    context.on("console", heard)
    context.on("weberror", lambda error: flaws.append(str(error.error)))
    page = context.new_page()
    page.set_default_timeout(90_000)
    try:
        yield page
        flaws += page.evaluate(
            """() => [...document.querySelectorAll('.lab-chart svg *')]
                .flatMap((node) => [...node.attributes].filter(({ value }) => /Infinity|NaN/.test(value)))
                .map(({ name, value }) => `${name}=${value.slice(0, 80)}`)"""
        )
    finally:
        context.close()  # a page that a failed test leaves open goes on drawing
    assert not flaws


@contextmanager
def visitor(browser: Browser, url: str, width: int = 1280, cut_off: bool = False) -> Iterator[Page]:
    """On the race page, in a browser of their own."""
    with flawless_page(browser, width, cut_off=cut_off) as page:
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(url)
        page.wait_for_selector(".lab-race[data-run]")
        yield page


def wait(page: Page, condition: str, argument: object = None) -> None:
    """Until the marks fulfil a condition: `d` are those of the race, `loss` those of the loss chart."""
    page.wait_for_function(
        f"""(a) => {{
            const d = document.querySelector('.lab-race')?.dataset ?? {{}}
            const loss = document.querySelector('[data-chart=loss]')?.dataset ?? {{}}
            return {condition}
        }}""",
        arg=argument,
        timeout=1000 * PATIENCE,
        polling=50,
    )


def mark(page: Page, name: str) -> str:
    return page.locator(".lab-race").get_attribute(f"data-{name}") or ""


def button(page: Page, name: str) -> Locator:
    """By the end of its name: an icon's may stand before it, and lanes' cards are buttons, too, that say "stopped".

    Streamlit has a button of its own called Stop, while a script runs.
    """
    named = page.get_by_role("button", name=re.compile(rf"\b{name}$"))
    return named.and_(page.locator("button:not([kind=header])"))


def press(page: Page, name: str) -> None:
    button(page, name).click()
