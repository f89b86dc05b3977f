"""The real app in a real browser: one server and one Chromium for the whole test run."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hypothesis
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.chromium import CHROMIUM_FLAGS, find

ROOT = Path(__file__).resolve().parent.parent
# A busy machine is no mistake of the code that is tested.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")
# Before torch is loaded: threads that spin while they wait slow each other down where other programs use the cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


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
def server(tmp_path_factory) -> Iterator[tuple[str, int]]:
    with running_server(environment={"RADAM_LAB_RUNS": str(tmp_path_factory.mktemp("runs"))}) as started:
        yield started


@pytest.fixture(scope="session")
def address(server) -> str:
    return str(server[0])


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = find()
    if executable is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium for the browser tests: set CHROME_PATH or install chromium")
        pytest.skip("no Chromium for the browser tests: set CHROME_PATH or install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=list(CHROMIUM_FLAGS))
        yield chromium
        chromium.close()


@contextmanager
def opened(browser: Browser, url: str, width: int = 1280, height: int = 720, theme: str = "light") -> Iterator[Page]:
    """A page in a context of its own, with every chart on it drawn; a script error on it fails the test."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
    page = context.new_page()
    page.set_default_timeout(90_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(url)
    wait_until_drawn(page)
    yield page
    context.close()
    assert not errors


def wait_until_drawn(page: Page) -> None:
    """The script has come to its end, and every chart is drawn."""
    page.wait_for_selector("h1")
    page.wait_for_function(
        """() => {
            const charts = [...document.querySelectorAll('.lab-chart')]
            return document.querySelector('[data-test-script-state=notRunning]')
                && charts.length > 0 && charts.every((chart) => chart.dataset.drawn)
        }""",
        polling=100,
    )
