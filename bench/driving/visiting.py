"""A visitor in a real Chromium. The live charts of the race page carry marks of what is on the screen."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, WebError
from playwright.sync_api import Error as BrowserError

Theme = Literal["light", "dark"]
PATIENCE = 120.0  # seconds: workers may still be warming up, on a machine that has other things to do


class NewWindows:
    """A window of its own for every visitor, as on a first visit: nothing is loaded yet."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def take(self) -> Page:
        return self.browser.new_context().new_page()

    def give_back(self, page: Page) -> None:
        page.context.close()


class UsedWindows(NewWindows):
    """Windows that the next visitor gets when one has left, with nothing in them of who was there before.

    They keep their process, and with it the compiled scripts of Streamlit and Plotly: a page takes 2.5 s of CPU time
    there instead of 6 s.
    """

    def __init__(self, browser: Browser) -> None:
        super().__init__(browser)
        self._free: list[Page] = []

    def take(self) -> Page:
        return self._free.pop() if self._free else super().take()

    def give_back(self, page: Page) -> None:
        try:
            for tab in page.context.pages:
                if tab is not page:
                    tab.close()
            page.unroute_all()
            page.evaluate("() => { sessionStorage.clear(); localStorage.clear() }")
            page.goto("about:blank")
            page.context.clear_cookies()
            devtools = page.context.new_cdp_session(page)
            devtools.send("Page.resetNavigationHistory")
            devtools.detach()
            self._free.append(page)
        except BrowserError:  # it shows an error of its own, or has crashed
            super().give_back(page)


@contextmanager
def flawless_page(
    browser: Browser | NewWindows, width: int = 1280, height: int = 720, theme: Theme = "light", cut_off: bool = False
) -> Iterator[Page]:
    """A visitor's page, with their own cookies. A script error, an error in the console or a drawing with an infinite
    place fails the test; only where the connection is `cut_off` may the browser complain that it is."""
    windows = browser if isinstance(browser, NewWindows) else NewWindows(browser)
    flaws: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        # Streamlit looks for its own files below a page's path, too, where they are not.
        network = "_stcore" in message.location["url"] or (cut_off and re.search("ERR_|server", message.text))
        if message.type == "error" and not network:
            flaws.append(message.text)

    def failed(error: WebError) -> None:
        flaws.append(str(error.error))

    page = windows.take()
    page.context.on("console", heard)
    page.context.on("weberror", failed)
    page.set_default_timeout(90_000)
    try:
        page.set_viewport_size({"width": width, "height": height})
        # Pictures that play by themselves take a core for two seconds at every visit.
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        yield page
        flaws += page.evaluate(
            """() => [...document.querySelectorAll('.lab-chart svg *')]
                .flatMap((node) => [...node.attributes].filter(({ value }) => /Infinity|NaN/.test(value)))
                .map(({ name, value }) => `${name}=${value.slice(0, 80)}`)"""
        )
    except BaseException:
        page.context.close()  # whatever is the matter with it, nobody else gets it
        raise
    page.context.remove_listener("console", heard)
    page.context.remove_listener("weberror", failed)
    windows.give_back(page)
    assert not flaws


@contextmanager
def visitor(browser: Browser | NewWindows, url: str, width: int = 1280, cut_off: bool = False) -> Iterator[Page]:
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
