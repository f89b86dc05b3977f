"""`make screenshots`: every page as a visitor first sees it, in light and dark, into docs/; those that train with
something in them."""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.driving.chromium import CHROMIUM_FLAGS, find
from bench.driving.visiting import Theme
from dashboard.navigation import PAGES
from tests.conftest import opened, running_server

DOCS = Path(__file__).resolve().parent.parent / "docs"
# The paper's Figure 1 in the middle, the whole map of learning rates and warmup lengths, which takes its time, and
# Appendix C over its seeds.
TRAINED = {
    "race": ("race", "Train", "Number(dataset.step) > 250"),
    "norms": ("norms", "Train", "dataset.state === 'finished'"),
    "sweep": ("sweep?preset=map", "Run", "dataset.state === 'finished' && dataset.found === 'true'"),
    "four-steps": ("four-steps", "Train", "dataset.state === 'finished' && dataset.found === 'true'"),
}
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
                if entry.name in TRAINED:
                    photograph_trained(browser, address, theme, *TRAINED[entry.name])
                else:
                    photograph(browser, address, entry.name, theme)
        browser.close()


def photograph(browser: Browser, address: str, name: str, theme: Theme) -> None:
    with opened(browser, f"{address}/{'' if name == PAGES[0].name else name}", theme=theme) as page:
        page.wait_for_timeout(2500)  # the first page's picture moves
        page.screenshot(path=DOCS / f"{name}-{theme}.png")


def photograph_trained(browser: Browser, address: str, theme: Theme, link: str, button: str, until: str) -> None:
    """With its charts filled; pressed a second time, it is the same run."""
    page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme=theme)
    page.goto(f"{address}/{link}")
    page.wait_for_selector("[data-run]")
    page.get_by_role("button", name=button).first.click()
    page.wait_for_function(f"(({{ dataset }}) => {until})(document.querySelector('[data-run]'))", timeout=3.6e6)
    page.wait_for_timeout(1500)
    page.screenshot(path=DOCS / f"{link.partition('?')[0]}-{theme}.png")
    page.close()


if __name__ == "__main__":
    main()
