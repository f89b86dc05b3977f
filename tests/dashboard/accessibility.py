"""axe-core on a page that a test has open, and what a visitor with a keyboard or a screen reader finds there."""

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

# What is Streamlit's own and cannot be reached from our side: a rule of axe-core, and where alone it is passed over.
STREAMLITS_OWN: dict[str, tuple[str, ...]] = {}


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe-core calls serious or critical, each as a line."""
    page.wait_for_selector("style#lab-page-style", state="attached")
    page.evaluate(f"() => {{ if (!window.axe) {{ {_axe()} }} }}")
    options = {"resultTypes": ["violations"], "rules": {"heading-order": {"enabled": False}}}
    found: list[dict[str, Any]] = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [
        f"{one['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
        if not any(place in str(node["target"]) for place in STREAMLITS_OWN.get(one["id"], ()))
    ]


def names_of_controls(page: Page) -> list[str]:
    """Of all that the Tab key comes to, as a screen reader says them."""
    return page.evaluate(
        """() => [...document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex="0"]')]
            .filter((one) => one.offsetParent && one.tabIndex >= 0)
            .map((one) => one.ariaLabel ?? one.labels?.[0]?.innerText ?? one.innerText ?? '')"""
    )


def are_words(names: list[str]) -> None:
    raw = [name for name in names if any(mark in name for mark in ("$", "**", "\\", "<sub>", ":material"))]
    assert raw == [], "names of controls are source, not words"


def charts_say_numbers(page: Page) -> None:
    """Every chart that is drawn has a name and a text with numbers, and one stop of the Tab key at most."""
    charts: list[dict[str, Any]] = page.evaluate(
        """() => [...document.querySelectorAll('.lab-chart[data-drawn]')].map((box) => ({
            role: box.getAttribute('role'),
            name: box.getAttribute('aria-label') ?? '',
            told: box.querySelector('.main-svg').getAttribute('aria-label') ?? '',
            stops: [...box.querySelectorAll('button')].filter(({ tabIndex }) => tabIndex >= 0).length,
        }))"""
    )
    assert charts
    for chart in charts:
        assert chart["role"] == "figure", chart
        assert chart["name"], chart
        assert chart["told"].startswith(chart["name"]), chart
        said = chart["told"].removeprefix(chart["name"])
        assert any(letter.isdigit() for letter in said) or "Nothing is drawn yet" in said, chart
        assert chart["stops"] <= 1, chart
