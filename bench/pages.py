"""Server time of a redraw: a visitor moves beta2 on each theory page, to a value that nobody has asked for yet."""

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

from streamlit.testing.v1 import AppTest

from bench.interleaved import Result, medians, slowdown
from dashboard.forms.controls import BETA2S

_PAGES = Path(__file__).resolve().parent.parent / "pages"
_BAR_MS = 300.0


def run() -> Iterator[Result]:
    """Simulated runs are drawn anew at every value, so this is the slow case; the defaults are kept otherwise."""
    for name in ("rectification", "variance", "size", "implementations"):
        app = AppTest.from_file(str(_PAGES / f"{name}.py"), default_timeout=60).run()
        values = cycle([beta2 for beta2 in BETA2S if 0.9 <= beta2 < 0.9993])

        def move(app: AppTest = app, values: Iterator[float] = values) -> None:
            app.select_slider(key="beta2").set_value(next(values)).run()

        times = medians({"ours": move}, repeats=9, warmup=1)
        times["300 ms"] = _BAR_MS
        yield slowdown(f"redraw of {name}: of 300 ms", "ours", "300 ms", 1, times)
