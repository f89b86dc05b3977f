"""The app without a browser, by Streamlit's AppTest: a visitor who walks from page to page."""

from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dashboard.navigation import PAGES, page_file

DOORS = (
    *(f"race-{name}" for name in ("more", "words", "runs", "share", "download")),
    *(f"sweep-{name}" for name in ("more", "words", "runs", "share", "download")),
    *(f"own-{name}" for name in ("lanes", "download")),
    "norms-words",
    "tour-door",
    "rectification-steps",
)
ROOT = Path(__file__).resolve().parents[2]
# What a stranger may put into a link.
HOSTILE = ["nan", "1e999", "-1", "<script>alert(1)</script>", "'; DROP TABLE runs; --", "a" * 10_000, "", "0.9990"]
RECTIFICATION_KEYS = ("beta2", "threshold", "axis", "warmup", "tau", "lr", "decay", "compare", "t")
LINK_KEYS = {
    "tour": ("step", "p1", "p2", "p4", "p6", "class", "view"),  # a step of each form
    "norms": ("depth", "lr", "warmup", "seed", "steps"),
    "four-steps": ("task", "lr-digits", "first", "second", "then", "seeds", "seed", "step"),
    "rectification": RECTIFICATION_KEYS,
    "variance": ("beta2", "mu", "runs", "network", "real", "paper"),
    "size": ("beta2", "beta1", "mu"),
    "implementations": ("beta2", "gradient", "which", "profile", "lr", "wd"),
}
MANY = ("compare", "which")  # an empty one of these is an empty choice


def hostile_query(name: str, shift: int) -> tuple[dict[str, str], int]:
    """An address of a page with nonsense in all its settings, and how many of them it must refuse."""
    query = {key: HOSTILE[(i + shift) % len(HOSTILE)] for i, key in enumerate(LINK_KEYS[name])}
    return query, sum(bool(value) or key not in MANY for key, value in query.items())


def open_page(name: str, **query: str | list[str]) -> AppTest:
    """From the first page to another, which is entered with this address."""
    app = AppTest.from_file(str(ROOT / "dashboard" / "main.py"), default_timeout=60).run()
    for key, value in query.items():
        app.query_params[key] = value
    return app if name == PAGES[0].name else go_to(app, name)


def components(app: AppTest, name: str) -> list[Any]:
    """The page's components of this name."""
    return [element for element in app.get("bidi_component") if element.proto.component_name.endswith(name)]


def go_to(app: AppTest, name: str) -> AppTest:
    """With everything open that can be opened: it is drawn only then."""
    for door in DOORS:
        app.session_state[door] = door.startswith((f"{name}-", *(["own-"] if name == "race" else [])))
    return app.switch_page(page_file(name)).run()
