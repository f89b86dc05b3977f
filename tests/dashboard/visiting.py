"""A visitor to the race page in a real Chromium. The live charts carry marks of what is on the screen."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from dashboard.config import RaceConfig
from dashboard.store import Run, Store
from radam_core.frames import Frame, decode_frame

PATIENCE = 120.0  # seconds: workers may still be warming up, on a machine that has other things to do


@contextmanager
def visitor(browser: Browser, url: str, width: int = 1280) -> Iterator[Page]:
    """A browser of their own; a script error fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 720})
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    page.wait_for_selector(".lab-race[data-run]")
    yield page
    context.close()
    assert not errors


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
    """By the end of its name: an icon's may stand before it, and lanes' cards are buttons, too, that say "stopped"."""
    return page.get_by_role("button", name=re.compile(rf"\b{name}$"))


def press(page: Page, name: str) -> None:
    button(page, name).click()


def train(browser: Browser, race_page: str, config: RaceConfig) -> str:
    """Opens a configuration's link, trains it to its end, and gives the run's id."""
    with visitor(browser, f"{race_page}?config={config.to_link()}") as page:
        press(page, "Train")
        wait(page, "d.ended === 'true' && d.state === 'finished'")
        return mark(page, "run")


def steps_drawn(page: Page) -> list[int]:
    return page.evaluate("document.querySelector('[data-chart=loss]').data.at(-1).x.slice()")


def lane_states(page: Page) -> list[str]:
    return page.locator(".lab-card .lab-state").all_inner_texts()


def stored(runs: Path, identity: str) -> tuple[Run, list[Frame]]:
    """What the server has kept of a run."""
    with closing(Store(runs)) as store:
        run = store.run(identity)
        assert run is not None
        return run, [decode_frame(frame.body, run.config.entry().lanes) for frame in store.frames(identity)]


def check_cards(page: Page, runs: Path, metric: str) -> None:
    """Each card shows its lane's last recorded loss and metric, in digits and in words, and how it ended."""
    run, frames = stored(runs, mark(page, "run"))
    measured = [values[metric] for frame in frames for values in frame.metrics.values()]
    assert measured
    for k, lane in enumerate(run.config.lanes):
        card = page.locator(f".lab-card[data-lane='{lane.label}']")
        losses = [value for frame in frames for value in frame.loss[:, k].tolist() if value == value]
        assert float(card.get_attribute("data-loss") or "nan") == losses[-1]
        assert card.locator(".lab-loss").inner_text().startswith("loss ")
        assert float(card.locator(".lab-loss").inner_text().split()[1]) == pytest.approx(losses[-1], rel=6e-3)
        finite = [values[k] for values in measured if values[k] == values[k]]
        if finite:
            assert float(card.get_attribute("data-metric") or "nan") == pytest.approx(finite[-1], rel=1e-4)
        assert card.locator(".lab-metric").inner_text().startswith(f"{metric} " if finite else f"{metric} –")
        at = frames[-1].diverged_at[k]
        assert card.locator(".lab-state").inner_text() == (f"diverged at step {at}" if at else "finished")
