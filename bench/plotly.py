"""How long a browser reads plotly.js before it can draw: the package's file, and what is cut of it."""

import statistics
from collections.abc import Iterator

from playwright.sync_api import Page, sync_playwright

from bench.driving.chromium import CHROMIUM_FLAGS
from bench.driving.visiting import flawless_page
from bench.interleaved import Result
from dashboard.browser.plotly_cut import PLOTLY_JS, plotly_js
from dashboard.export.chrome import find

VISITS = 9
LEAST = 4.0  # times faster

_READ = """(text) => {
    const script = document.createElement("script")
    script.textContent = text
    const start = performance.now()
    document.head.append(script)
    const took = performance.now() - start
    if (!window.Plotly.newPlot) throw new Error("this is not plotly.js")
    return took
}"""


def run() -> Iterator[Result]:
    files = {"cut": plotly_js(), "whole": PLOTLY_JS.read_text(encoding="utf-8")}
    times: dict[str, list[float]] = {name: [] for name in files}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(CHROMIUM_FLAGS))
        for _ in range(VISITS):
            for name, text in files.items():
                with flawless_page(browser) as page:
                    times[name].append(_milliseconds(page, text))
        browser.close()
    ms = {name: statistics.median(took) for name, took in times.items()}
    sizes = " and ".join(f"{len(text) / 1e6:.1f} MB" for text in files.values())
    yield Result(f"plotly: {sizes} read by a new browser", ms["whole"] / ms["cut"], LEAST, True, ms)


def _milliseconds(page: Page, text: str) -> float:
    return float(page.evaluate(_READ, text))
