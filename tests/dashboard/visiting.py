"""What a visitor to the race page does and sees, beside what the server has kept of it."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page

from bench.driving.visiting import UsedWindows, mark, press, visitor, wait
from dashboard.asked.config import RaceConfig
from dashboard.headless import Recording
from dashboard.runs.store import Run, Store
from radam_core.race.plan import FINAL_STEPS


def train(browser: UsedWindows, race_page: str, config: RaceConfig) -> str:
    """Opens a configuration's link, trains it to its end, and gives the run's id."""
    with visitor(browser, f"{race_page}?config={config.to_link()}") as page:
        press(page, "Train")
        wait(page, "d.ended === 'true' && d.state === 'finished'")
        return mark(page, "run")


def worker_of(server: int) -> psutil.Process:
    """The only worker of the server with this process id."""
    (worker,) = (child for child in psutil.Process(server).children() if "spawn_main" in " ".join(child.cmdline()))
    return worker


@contextmanager
def suspended(process: psutil.Process) -> Iterator[None]:
    process.suspend()
    try:
        yield
    finally:
        process.resume()


@contextmanager
def slowed(process: psutil.Process) -> Iterator[None]:
    """On a core a tenth of the time, as on a busy machine: a run that nobody waits for leaves the cores to the others,
    and still has something new on every page."""
    over = threading.Event()

    def hold() -> None:
        with suppress(psutil.NoSuchProcess):
            while not over.wait(0.05):
                with suspended(process):
                    over.wait(0.45)

    holding = threading.Thread(target=hold)
    holding.start()
    try:
        yield
    finally:
        over.set()
        holding.join()


def steps_drawn(page: Page) -> list[int]:
    return page.evaluate(
        "document.querySelector('[data-chart=loss]').data.findLast((trace) => !trace.meta.again).x.slice()"
    )


def lane_phases(page: Page) -> list[str]:
    """The first part of each lane's state: what its race does with it."""
    return [state.split(" · ")[0] for state in page.locator(".lab-card .lab-state").all_inner_texts()]


def stored(runs: Path, identity: str) -> tuple[Run, Recording]:
    """What the server has kept of a run."""
    with closing(Store(runs)) as store:
        run = store.run(identity)
        assert run is not None
        recording = Recording(run.config)
        for place, lane in enumerate(run.lanes):
            records = store.records(lane)
            assert [record.number for record in records] == list(range(len(records)))
            for record in records:
                recording.add(place, record)
        return run, recording


def check_cards(page: Page, runs: Path, metric: str) -> None:
    """Each card shows its lane's loss and state as the command line gives them, and its last metric."""
    run, recording = stored(runs, mark(page, "run"))
    summary = {lane["label"]: lane for lane in recording.summary()["lanes"]}
    for k, lane in enumerate(run.config.lanes):
        measured = [values[metric] for values in recording.lanes[k].metrics.values()]
        card = page.locator(f".lab-card[data-lane='{lane.label}']")
        text = card.locator(".lab-loss").inner_text()
        assert text.startswith(f"loss (last {FINAL_STEPS}) "), "the card does not name what it shows"
        final = summary[lane.label]["final_loss"]
        if final is None:
            assert text.endswith(" –")
        else:
            assert float(text.split()[-1]) == pytest.approx(final, rel=6e-3, abs=1e-6)
        finite = [value for value in measured if value == value]
        if finite:
            assert float(card.get_attribute("data-metric") or "nan") == pytest.approx(finite[-1], rel=1e-4)
        assert card.locator(".lab-metric").inner_text().startswith(f"{metric} " if finite else f"{metric} –")
        assert card.locator(".lab-state").inner_text() == summary[lane.label]["state"]
