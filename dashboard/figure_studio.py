"""Draws figures without a visitor: the pages' own charts, by the pages' own scripts, in a Chrome that nobody sees.

A page runs as under Streamlit's AppTest, which yields what it would send to a browser. A small server of our own hands
that, the scripts and the runs' records to a headless Chrome, which stays open until the studio is closed.
"""

import asyncio
import base64
import json
import threading
from collections.abc import Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import uvicorn
from choreographer import Browser
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from streamlit.logger import set_log_level
from streamlit.testing.v1 import AppTest

from dashboard.browser import address, assets
from dashboard.browser.sweep import STYLES
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.export.chrome import find
from dashboard.navigation import PAGES, page_file
from dashboard.recorded.loading import load
from dashboard.runs.store import Store
from dashboard.server import api, figures

# The component's name on the server, its script, and the element that it draws into.
COMPONENTS = {
    "radam_lab_chart": ("chart.js", "lab-chart"),
    "radam_lab_race": ("live.js", "lab-race"),
    "radam_lab_sweep": ("sweep.js", "lab-sweep"),
    "radam_lab_four_steps": ("four_steps.js", "lab-sweep lab-four-steps"),
}
READY_SECONDS = 60
_MAIN = Path(__file__).with_name("main.py")
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Figures</title><style>%s</style>
<body style="margin:0;width:1280px;--st-background-color:#ffffff"></body></html>"""

# A page's charts, each in its own element; resolved when the still ones are drawn and every run is told to its end.
# What is not trained to its end has no charts: its state is told.
_MOUNT = """async ({ components, scripts, seconds }) => {
  document.body.replaceChildren()
  for (const leave of window.leaves ?? []) leave?.()
  window.leaves = []
  for (const { script, className, data } of components) {
    const parentElement = document.createElement("section")
    // Out of sight nothing is painted, and a race's charts, which are figures of their records, are not even drawn.
    parentElement.style.cssText = "position:relative;left:-20000px"
    parentElement.innerHTML = `<div class="${className}"></div>`
    document.body.append(parentElement)
    const { default: render } = await import(scripts + script)
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
    window.leaves.push(render({ parentElement, data: bytes, setTriggerValue() {} }))
  }
  const { ACTIVE } = await import(scripts + "live_states.js")
  const stands = (run) => run.querySelector(".lab-bar")?.dataset.state
  const waits = (run) => stands(run) === "ready" || ACTIVE.has(stands(run))
  const runs = () => [...document.querySelectorAll(".lab-race, .lab-sweep")]
  const awaited = (box) => runs().some((run) => waits(run) && run.contains(box))
  const drawn = () => {
    const still = document.querySelectorAll(".lab-sweep [data-chart], section > .lab-chart")
    const boxes = [...still].filter((box) => box.offsetWidth && !awaited(box))
    const told = runs().every((run) => waits(run) || run.dataset.ended === "true")
    return told && boxes.every(({ dataset }) => dataset.drawn)
  }
  const until = performance.now() + 1000 * seconds
  for (let quiet = 0; quiet < 3; quiet = drawn() ? quiet + 1 : 0) {
    if (performance.now() > until) throw new Error("the page's charts were not drawn in time")
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  const { shownCharts, sourceOf } = await import(scripts + "figure_source.js")
  const charts = shownCharts().filter((box) => !awaited(box) && !("partial" in box.dataset))
  return { charts: charts.map((box) => sourceOf(box).name), waiting: runs().filter(waits).map(stands) }
}"""

_DRAW = """async ({ names, options, scripts }) => {
  const [{ figureFile, fileName }, { shownCharts, sourceOf }] = await Promise.all([
    import(scripts + "figure_files.js"), import(scripts + "figure_source.js"),
  ])
  const boxes = names.map((name) => shownCharts().find((box) => sourceOf(box).name === name))
  const title = options.title ?? sourceOf(boxes[0]).title
  const made = await figureFile(boxes, { ...options, title })
  const url = await new Promise((resolve) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result)
    reader.readAsDataURL(made)
  })
  return [fileName(boxes, { ...options, title }), url.slice(url.indexOf(",") + 1)]
}"""

T = TypeVar("T")
Query = Mapping[str, str | list[str]]  # of a page's address


class Studio:
    """Use it as a context. Figures of one page are quicker one after the other."""

    def __init__(self, folder: Path | None = None) -> None:
        chrome = find()
        if chrome is None:
            raise FileNotFoundError("a figure needs Chrome or Chromium: install one, or name it in CHROME_PATH")
        self.store = Store(folder)
        load(self.store)
        set_running_engine(Engine(self.store, guest=True))  # never started: it shows what there is
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._shown: tuple[str, str] | None = None
        self._charts: tuple[str, ...] = ()
        self._waiting: tuple[str, ...] = ()  # the states of the runs that are not trained to their end
        self._port, self._server, self._serving = self._do(_serve())
        self._browser, self._tab = self._do(self._open(chrome))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        set_running_engine(None)
        self.store.close()

    def charts(self, page: str, query: Query) -> tuple[str, ...]:
        """The names of the charts that a page shows at this address."""
        asked = (page, json.dumps(dict(query), sort_keys=True))
        if self._shown != asked:
            self.show(sent_by(page, query))
            self._shown = asked
        return self._charts

    def show(self, components: list[dict[str, str]]) -> tuple[str, ...]:
        """The charts of these components, as `sent_by` yields them, in place of those that were there."""
        self._shown = None
        found = self._run(_MOUNT, components=components, seconds=READY_SECONDS)
        self._charts, self._waiting = tuple(found["charts"]), tuple(found["waiting"])
        return self._charts

    def figure(self, page: str, query: Query, names: tuple[str, ...], options: Mapping[str, Any]) -> tuple[str, bytes]:
        """A file's usual name, and what is in it. `ValueError` where the page has no such chart."""
        there = self.charts(page, query)
        for name in names:
            if name not in there and self._waiting:
                stands = "not trained" if self._waiting[0] == "ready" else f"still {self._waiting[0]}"
                told = f"the chart {name} of the page {page} is {stands} at these settings"
                raise ValueError(f"{told}: open {options.get('link', page)} and train it to its end there")
            if name not in there:
                raise ValueError(f"the page {page} shows {', '.join(there) or 'no chart'} here, got {name!r}")
        name, text = self._run(_DRAW, names=names, options=dict(options))
        return name, base64.b64decode(text)

    def _run(self, function: str, **given: Any) -> Any:
        given["scripts"] = assets.script_url("chart.js").removesuffix("chart.js")
        return self._do(_evaluate(self._tab, f"({function})({json.dumps(given)})"))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(READY_SECONDS + 60)

    async def _open(self, chrome: str) -> tuple[Browser, Any]:
        browser = Browser(path=chrome, headless=True, enable_sandbox=False, enable_gpu=False)
        await browser.open()
        tab = await browser.create_tab(f"http://127.0.0.1:{self._port}/studio")
        size = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
        await tab.send_command("Emulation.setDeviceMetricsOverride", params=size)
        still = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}  # a chart that plays stands still
        await tab.send_command("Emulation.setEmulatedMedia", params=still)
        await _evaluate(tab, "new Promise((done) => document.body ? done(1) : addEventListener('load', () => done(1)))")
        return browser, tab

    async def _close(self) -> None:
        await self._browser.close()
        self._server.should_exit = True
        await self._serving


async def _serve() -> tuple[int, uvicorn.Server, asyncio.Task[None]]:
    async def page(_: Request) -> Response:
        return HTMLResponse(_PAGE % STYLES)

    app = Starlette(routes=[*assets.routes(), *api.routes(), *figures.routes(), Route("/studio", page)])
    config = uvicorn.Config(
        app, port=0, log_level="warning", lifespan="off", timeout_graceful_shutdown=1
    )  # on loopback
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        if task.done():
            task.result()
        await asyncio.sleep(0.01)
    return int(server.servers[0].sockets[0].getsockname()[1]), server, task


async def _evaluate(tab: Any, expression: str) -> Any:
    asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
    answer = await tab.send_command("Runtime.evaluate", params=asked)
    if "error" in answer:
        raise RuntimeError(f"Chrome refused to draw: {answer['error']}")
    result = answer["result"]
    if "exceptionDetails" in result:
        told = str(result["exceptionDetails"].get("exception", {}).get("description", result["exceptionDetails"]))
        raise ValueError(told.splitlines()[0].removeprefix("Error: "))
    return result["result"].get("value")


def sent_by(page: str, query: Query) -> list[dict[str, str]]:
    """What a page would send to its components, with the script and the element of each."""
    set_log_level("ERROR")  # it warns that there is no visitor
    app = AppTest.from_file(str(_MAIN), default_timeout=READY_SECONDS)
    if Path(page_file(page)).stem != page:
        app.run()  # Streamlit finds a page by its file's name; one with another name only among those it has shown
    for name, value in query.items():
        app.query_params[name] = value
    if page != PAGES[0].name:
        app.switch_page(page_file(page))
    app.run()
    if app.exception:
        raise ValueError(f"the page {page} cannot be shown: {app.exception[0].message}")
    address.check(page, app.session_state)
    found = []
    for element in app.get("bidi_component"):
        script, classes = COMPONENTS.get(element.proto.component_name.split(".")[-1], ("", ""))
        if script:
            data = base64.b64encode(element.proto.bytes).decode()
            found.append({"script": script, "className": classes, "data": data})
    return found
