"""Sweeps against the same runs as plain sequential loops, in lane-steps a second; and the page with 500 cells.

A sweep's time is that of the engine, from the order to the last record, with all that its lanes measure and record. The
plain loops train and evaluate at the same intervals, and measure nothing else.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Route, sync_playwright

from bench.driving.chromium import CHROMIUM_FLAGS
from bench.driving.visiting import flawless_page
from bench.interleaved import Result
from bench.plain_loops import plain_seconds
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.browser.assets import SCRIPTS
from dashboard.browser.plotly_cut import plotly_js
from dashboard.browser.sweep import drawn
from dashboard.engine.engine import Engine
from dashboard.export.chrome import find
from dashboard.figures.look import TEMPLATES
from dashboard.runs.states import OVER
from dashboard.runs.store import Store
from demo_models import TASKS

REPEATS, PLAIN_LANES = 3, 3  # a plain loop's lanes are all alike: some of them tell
GRIDS = {
    # The paper's four rates with three methods over three seeds.
    "rates on digits": (SWEEPS["rates"].config.changed(seeds=(0, 1, 2)), 5.0),
    # 72 lanes: the map at one seed, over its first 100 steps, which measure the most: the rest only goes faster.
    "map on numbers": (SWEEPS["map"].config.changed(seeds=(0,), steps=100), 5.0),
}
CELLS, MOST_MS = 500, 100.0


def run() -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        engine = Engine(store)
        engine.start()
        try:
            assert engine.wait_until_ready(300)
            for name, (config, bar) in GRIDS.items():
                yield _grid(name, config, bar, engine)
        finally:
            engine.close()
            store.close()
    yield _redraw()


def _grid(name: str, config: SweepConfig, bar: float, engine: Engine) -> Result:
    problem = TASKS[config.task].open(config.settings)
    lanes = [cell.lane for cell in config.cells if cell.seed == config.seeds[0]][:PLAIN_LANES]
    sweeps, loops = [], []
    for repeat in range(REPEATS):
        seeds = tuple(1000 * (repeat + 1) + seed for seed in config.seeds)  # lanes that nobody has trained
        sweeps.append(_sweep_seconds(engine, config.changed(seeds=seeds)) / (config.size * config.steps))
        plain = plain_seconds(problem, lanes, seeds[0], config.evaluate_every, config.batch_size, evaluate=True)
        loops.append(plain / (len(lanes) * config.evaluate_every))
    ours, theirs = 1e3 * statistics.median(sweeps), 1e3 * statistics.median(loops)
    print(f"sweep: {name}, lane-steps a second: {1e3 / ours:.0f}, plain loops {1e3 / theirs:.0f}")
    return Result(
        f"sweep: {name}, a lane-step over plain loops", theirs / ours, bar, True, {"sweep": ours, "plain": theirs}
    )


def _sweep_seconds(engine: Engine, config: SweepConfig) -> float:
    start = time.perf_counter()
    run = engine.submit(config)
    while (status := engine.status(run)) is None or status.state not in OVER:
        time.sleep(0.02)
    assert status.state == "finished", status
    return time.perf_counter() - start


# As the page does it: every cell has another number, and the maps are filled and drawn in place.
_REDRAW = """async ([drawn, templates]) => {
    const [{ Cells }, { filledMaps }] = await Promise.all([import('/sweep_cells.js'), import('/sweep_maps.js')])
    const cells = new Cells(drawn.labels.length, drawn.grid.length)
    const view = { quantity: 'loss', needs: [], chosen: new Set(), sweep: drawn }
    const took = []
    for (let point = 0; point < 40; point++) {
        cells.add(drawn.labels.map((_, place) => [place, point, Math.exp(Math.sin(place + point)), 0.5]))
        const started = performance.now()
        const { data, layout } = filledMaps(drawn.maps.mean, cells, { ...view, point })
        await Plotly.react(document.body, data, { ...layout, template: templates.light, width: 1200 }, {})
        await new Promise(requestAnimationFrame)
        took.push(performance.now() - started)
    }
    return took.slice(5)
}"""


def _redraw() -> Result:
    """The maps of 500 lanes at one seed, so that each is a cell of its own, in Chromium."""
    rates = tuple(float(f"{1e-3 * 1.1**k:.3g}") for k in range(25))
    lengths = tuple(50 * k for k in range(CELLS // len(rates)))
    config = SWEEPS["map"].config.changed(
        contenders=SWEEPS["map"].config.model_dump()["contenders"][:1],
        axes={"lr": rates, "warmup_steps": lengths},
        seeds=(0,),
    )
    assert config.size == CELLS
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find(), args=list(CHROMIUM_FLAGS))
        with flawless_page(chromium) as page:
            page.route("http://scripts.test/**", _answer)
            page.goto("http://scripts.test/")
            page.add_script_tag(content=plotly_js())
            took = page.evaluate(_REDRAW, [json.loads(drawn(config.to_json())), TEMPLATES])
        chromium.close()
    ms = statistics.median(took)
    name = f"sweep: maps of {CELLS} cells drawn again, of {MOST_MS:.0f} ms"
    return Result(name, ms / MOST_MS, 1.0, False, {"redraw": ms, "worst": max(took)})


def _answer(route: Route) -> None:
    name = route.request.url.rpartition("/")[2]
    if name:
        route.fulfill(body=(SCRIPTS / name).read_text(encoding="utf-8"), content_type="text/javascript")
    else:
        route.fulfill(body="<body></body>", content_type="text/html")
