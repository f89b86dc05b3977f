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
    """What axe-core calls serious or critical, and headings that leave a level out, each as a line."""
    page.wait_for_selector("style#lab-page-style", state="attached")
    page.evaluate(f"() => {{ if (!window.axe) {{ {_axe()} }} }}")
    options = {"resultTypes": ["violations"]}
    found: list[dict[str, Any]] = page.evaluate("(options) => axe.run(document, options)", options)["violations"]
    return [
        f"{one['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found
        if one["impact"] in ("serious", "critical") or one["id"] == "heading-order"
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


def reach(page: Page, selector: str, most: int = 60) -> None:
    """By the Tab key alone, to something whose focus can be seen."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            ring = page.evaluate(
                "(({ outlineStyle, outlineWidth }) => [outlineStyle, parseFloat(outlineWidth)])"
                "(getComputedStyle(document.activeElement))"
            )
            assert ring == ["solid", 3], "its focus is not to be seen"
            return
    raise AssertionError(f"the Tab key does not come to {selector}")


def _home(page: Page) -> None:
    """Its picture moves by the arrow keys, and says where it is."""
    curve = "document.querySelector('.st-key-chart-home .lab-chart')._fullData[1].y[100]"
    before = page.evaluate(curve)
    reach(page, ".st-key-chart-home .lab-frames input")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"(before) => {curve} > before", arg=before)  # a smaller beta2 warms up sooner
    assert page.locator(":focus").get_attribute("aria-valuetext") == "β₂ = 0.9985"


def _rectification(page: Page) -> None:
    """An arrow key chooses on the step axis; the menu's focus is seen."""
    reach(page, "[data-testid=stTopNavLink]")
    page.get_by_role("radio", name="log", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => new URL(location).searchParams.get('axis') === 'linear'")
    page.wait_for_function(
        "() => document.querySelector('.st-key-chart-rectification .lab-chart')._fullLayout.xaxis.type === 'linear'"
    )


def _sweep(page: Page) -> None:
    """From cell to cell of the maps, and one of them chosen."""
    page.get_by_role("button", name="Select several cells").press("Enter")
    reach(page, ".lab-cell")
    first = page.locator(":focus").inner_text()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(first) => document.activeElement.innerText !== first", arg=first)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="as a race").and_(page.locator(":not([disabled])")).wait_for()


def _race(page: Page) -> None:
    """A lane's card hides its lane."""
    reach(page, ".lab-card")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.ariaPressed === 'false'")


# What is done by keyboard on a page that a test has open.
BY_KEYBOARD = {"home": _home, "rectification": _rectification, "sweep": _sweep, "race": _race}
