"""`make screenshots`: every page as a visitor first sees it, in light and dark, into docs/."""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from bench.driving.chromium import CHROMIUM_FLAGS
from bench.driving.visiting import Theme
from dashboard.export.chrome import find
from dashboard.navigation import PAGES
from tests.conftest import opened, running_server

DOCS = Path(__file__).resolve().parent.parent / "docs"
# With the recordings in them: the paper's Figure 1, Post-LN beside Pre-LN, the whole map of learning rates and warmup
# lengths, and Appendix C over its seeds.
RECORDED = {"race": "race", "norms": "norms", "sweep": "sweep?preset=map", "four-steps": "four-steps"}
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
                photograph(browser, address, entry.name, theme)
        browser.close()


def photograph(browser: Browser, address: str, name: str, theme: Theme) -> None:
    link = "" if name == PAGES[0].name else RECORDED.get(name, name)
    with opened(browser, f"{address}/{link}", theme=theme) as page:
        if name in RECORDED:
            page.wait_for_function("() => document.querySelector('[data-run]')?.dataset.state === 'finished'")
        page.wait_for_timeout(3500)  # the first page's picture moves, and charts that come into view are drawn
        page.screenshot(path=DOCS / f"{name}-{theme}.png")


if __name__ == "__main__":
    main()
