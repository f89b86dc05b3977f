"""The real app in a real browser: one server and one Chromium for the whole test run."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from _pytest.fixtures import FixtureDef
from playwright.sync_api import Browser, Page, Route, sync_playwright

from bench.driving.chromium import CHROMIUM_FLAGS
from bench.driving.visiting import NewWindows, Theme, UsedWindows, flawless_page
from dashboard.export.chrome import find

if TYPE_CHECKING:
    from dashboard.figure_studio import Studio

ROOT = Path(__file__).resolve().parent.parent
# A busy machine is no mistake of the code that is tested.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")
# Before torch is loaded: two processes test on two cores, and small models gain nothing from a second thread. Threads
# that spin while they wait slow each other down where other programs use the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Two processes share the tests, file by file: whoever takes a long one last lets the other wait. What they buy is said
# in each of them.
LONGEST_FIRST = (
    "test_walk",
    "test_every_figure",
    "test_figure_wishes",
    "test_journeys",
    "test_race_browser",
    "test_browser",
    "test_race_survives",
    "test_sweep_browser",
    "test_norms_browser",
    "test_four_steps_browser",
    "test_tour_browser",
    "test_api",
    "test_separate_cluster",
    "test_engine",
    "test_sweep_engine",
    "test_shared_lanes",
    "test_packs",
    "test_race_page",
    "test_pages",
    "test_adding",
)


# Fixtures that start browsers, servers and workers, wherever they are kept for more than one test.
REAL_PROCESSES = {"browser", "server", "started", "engine", "processes", "studio"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))
    for item in items:
        # A machine with other guests may be too slow for a real browser, and is no mistake: such a test gets a second
        # and a third try, which the summary tells (-rR). All others, which nothing outside can disturb, pass at once.
        if not REAL_PROCESSES.isdisjoint(made.argname for made in _kept_fixtures(item)):
            item.add_marker(pytest.mark.flaky(reruns=2))


def _kept_fixtures(item: pytest.Item) -> list["FixtureDef[object]"]:
    """Our own fixtures that a test shares with others."""
    known = item._fixtureinfo.name2fixturedefs.values()
    made = [one for several in known for one in several]
    return [one for one in made if one.scope != "function" and one.func.__module__.startswith("tests.")]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A second try begins with new processes and an empty store: the first may have left anything in the old ones."""
    if getattr(item, "execution_count", 1) > 1:
        for made in _kept_fixtures(item):
            with suppress(Exception):  # what is broken may not end as it should
                made.finish(item._request)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_server(
    *flags: str, environment: dict[str, str] | None = None, port: int | None = None
) -> Iterator[tuple[str, int]]:
    """`streamlit run app.py` on a free port, or the given one: its address and its process id; ended on leaving."""
    port = free_port() if port is None else port
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1", *flags]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, env={**os.environ, **(environment or {})}
    ) as process:
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_until_healthy(process, address, flags)
            yield address, process.pid
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_until_healthy(process: "subprocess.Popen[bytes]", address: str, flags: tuple[str, ...]) -> None:
    base = next((flag.split("=")[1] for flag in flags if flag.startswith("--server.baseUrlPath=")), "")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended before it was ready"
        try:
            with urllib.request.urlopen(f"{address}/{base + '/' if base else ''}_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the server did not become healthy within 120 s")


@pytest.fixture(scope="session")
def server_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server keeps its runs."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def server(server_runs: Path) -> Iterator[tuple[str, int]]:
    # One worker: the other core is the browser's. What two of them do is in test_shared_lanes.
    with running_server(
        environment={"RADAM_LAB_RUNS": str(server_runs), "RADAM_LAB_WORKERS": "1", "RADAM_LAB_RECORDINGS": "none"}
    ) as started:
        yield started


@pytest.fixture(scope="session")
def address(server: tuple[str, int]) -> str:
    return str(server[0])


@pytest.fixture(scope="session")
def browser() -> Iterator[UsedWindows]:
    executable = find()
    if executable is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium for the browser tests: set CHROME_PATH or install chromium")
        pytest.skip("no Chromium for the browser tests: set CHROME_PATH or install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        yield UsedWindows(chromium)
        chromium.close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Studio]":
    """Draws figures; for a module at a time, since the pages see its store as theirs."""
    from dashboard.figure_studio import Studio  # which brings Streamlit with it

    with Studio(tmp_path_factory.mktemp("runs")) as opened:
        yield opened


@pytest.fixture(scope="session")
def scripts(browser: UsedWindows) -> Iterator[Page]:
    """A page with the browser's own modules and no server: there `load(NAME.js)` imports one of them."""
    origin, folder = "http://scripts.test", ROOT / "dashboard" / "browser" / "scripts"
    start = "<script type=module>window.load = (name) => import(`/${name}`)</script>"

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(f"{origin}/")
        if name:
            route.fulfill(body=(folder / name).read_text(encoding="utf-8"), content_type="text/javascript")
        else:
            route.fulfill(body=start, content_type="text/html")

    with flawless_page(browser) as page:
        page.route(f"{origin}/**", answer)
        page.goto(f"{origin}/")
        yield page


@contextmanager
def opened(
    browser: NewWindows | Browser, url: str, width: int = 1280, height: int = 720, theme: Theme = "light"
) -> Iterator[Page]:
    """A page of the app with every chart on it drawn."""
    with flawless_page(browser, width, height, theme) as page:
        page.goto(url)
        wait_until_drawn(page)
        yield page


def wait_until_drawn(page: Page) -> None:
    """The script has come to its end, and every chart and every lane's card is drawn."""
    page.wait_for_selector("h1")
    page.wait_for_function(
        """() => {
            const charts = [...document.querySelectorAll('.lab-chart')]
            return document.querySelector('[data-test-script-state=notRunning]')
                && charts.length > 0 && charts.every((chart) => chart.dataset.drawn)
                && [...document.querySelectorAll('.lab-card')].every((card) => card.ariaPressed !== null)
        }""",
        polling=100,
    )
