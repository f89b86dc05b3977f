"""`make screenshots`: every page as a visitor first sees it, in light and dark, into docs/; the race while it runs."""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.driving.chromium import CHROMIUM_FLAGS, find
from bench.driving.visiting import Theme
from dashboard.navigation import PAGES
from tests.conftest import opened, running_server

DOCS = Path(__file__).resolve().parent.parent / "docs"
THEMES: tuple[Theme, ...] = ("light", "dark")


def main() -> None:
    executable = find()
    if executable is None:
        raise SystemExit("no Chromium was found: set CHROME_PATH or install chromium")
    DOCS.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as runs,
        running_server(environment={"RADAM_LAB_RUNS": runs}) as (address, _),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        for theme in THEMES:
            for entry in PAGES:
                if entry.name == "race":
                    photograph_race(browser, address, theme)
                else:
                    photograph(browser, address, entry.name, theme)
        browser.close()


def photograph(browser: Browser, address: str, name: str, theme: Theme) -> None:
    with opened(browser, f"{address}/{'' if name == PAGES[0].name else name}", theme=theme) as page:
        page.wait_for_timeout(2500)  # the first page's picture moves
        page.screenshot(path=DOCS / f"{name}-{theme}.png")


def photograph_race(browser: Browser, address: str, theme: Theme) -> None:
    """The paper's Figure 1 in the middle; pressed a second time, it is the same run."""
    page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme=theme)
    page.goto(f"{address}/race")
    page.wait_for_selector(".lab-race[data-run]")
    page.get_by_role("button", name="Train").click()
    page.wait_for_function(
        "Number(document.querySelector('.lab-race').dataset.step) > 250", timeout=300_000, polling=200
    )
    page.screenshot(path=DOCS / f"race-{theme}.png")
    page.close()


if __name__ == "__main__":
    main()
