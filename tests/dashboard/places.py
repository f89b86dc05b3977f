"""Where the charts are that are made into files: every page's, those that wait for a click, an own run's, a class's."""

import base64
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from dashboard.asked import tour
from dashboard.asked.norms import norm_race
from dashboard.browser.chart import Drawing, message
from dashboard.engine.engine import running_engine
from dashboard.engine.real_gradients import RealGradients
from dashboard.figure_studio import Query, Studio, sent_by
from dashboard.forms import drawings
from dashboard.own_runs import open_file, put
from dashboard.paper.rows import ROWS
from dashboard.runs.classes import Pooled
from dashboard.tour import drawings as tour_drawings
from dashboard.words.tour_words import QUESTIONS
from tests.dashboard.own_files import histogram, lane, steps, written

Components = list[dict[str, str]]
GUESSES = ("ac", "zyvtqomkigd", "3", "2", "300", "0.01_1", "b", "a")  # a prediction for each step of the tour


def page(name: str, query: Query | None = None) -> Callable[[Studio], Components]:
    return lambda _: sent_by(name, query or {})


def direct(name: str, drawing: Drawing, title: str = "") -> dict[str, str]:
    """A chart as a page would send it."""
    sent = message(drawing, name, alt=name, title=title)
    return {"script": "chart.js", "className": "lab-chart", "data": base64.b64encode(sent).decode()}


def answered_tour(_: Studio) -> Components:
    asked = [{"step": str(k), f"p{k}": code} for k, code in enumerate(GUESSES, 1)]
    return [one for query in asked for one in sent_by("tour", query)]


def tour_before(_: Studio) -> Components:
    """What is shown before a prediction, but for the curve, which is drawn on a board of its own."""
    return [
        one for k, step in enumerate(tour.STEPS, 1) if step.name != "curve" for one in sent_by("tour", {"step": str(k)})
    ]


POOLS: dict[str, Pooled] = {
    "lanes": (("ac", 12), ("abcd", 3), ("0", 2), ("-", 4)),
    "curve": tuple((f"{'zyxwvutsrqponmlkjihg'[k]}yvtqomkigd", 3) for k in range(20)),
    "gradients": (("0", 9), ("1", 14), ("3", 120), ("6", 1)),
    "fan": (("1.1", 2), ("2", 31), ("30", 7)),
    "length": (("30", 5), ("300", 44), ("3000", 1)),
    "seeds": (("0.001_0.003", 5), ("0.01_1", 9), ("0.3_3", 30)),
    "models": (("a", 3), ("abc", 30), ("0", 1)),
    "cause": (("a", 13), ("b", 8), ("c", 29)),
}


def class_of_the_tour(_: Studio) -> Components:
    """A class's predictions beside one's own."""
    return [
        direct(
            f"tour-{step.name}",
            tour_drawings.of_step(step, code, POOLS[step.name], revealed=step.name != "cause"),  # which shows no votes
            QUESTIONS[step.name],
        )
        for step, code in zip(tour.STEPS, GUESSES, strict=True)
    ]


def own_run(studio: Studio) -> Components:
    """Two optimizers of a file that somebody wrote, with all that a file may have."""
    lines = [
        line for k in range(2) for line in [*steps(60, k, angle=0.1), histogram(1, k), histogram(40, k, first=103)]
    ]
    with TemporaryDirectory() as folder:
        lanes = [lane("RAdam"), lane("My own optimizer of a long name", "Mine")]
        file = open_file(written(Path(folder) / "mine.jsonl", lines, lanes))
    return sent_by("race", {"run": put(studio.store, [file])})


def curved(_: Studio) -> Components:
    """A race that was recorded with its curvature."""
    engine = running_engine()
    run = engine.recorded_race(norm_race("post")) if engine else None
    assert run is not None
    return sent_by("race", {"run": run.id})


def measured(_: Studio) -> Components:
    """What a worker would measure of real gradients."""
    t = np.arange(1.0, 101.0)
    quartiles = np.outer([0.5, 1.0, 2.0], 1 / t)
    found = RealGradients(t, 1.1 * quartiles, quartiles, 1.2 / t, 1 / t, 0.01, 1000, 10)
    return [direct("real-gradients", drawings.real_gradients(found, "digits"))]


PLACES: dict[str, Callable[[Studio], Components]] = {
    "home": page("home"),
    "race": page("race", {"preset": "figure-1"}),
    "valley": page("race", {"preset": "valley"}),
    "sweep": page("sweep", {"preset": "map"}),
    "paper": page("paper", {"row": [row.name for row in ROWS]}),
    "four-steps": page("four-steps"),
    "norms": page("norms"),
    "rectification": page("rectification"),
    "variance": page("variance", {"paper": "true"}),
    "size": page("size"),
    "implementations": page("implementations"),
    "tour": answered_tour,
    "tour-before": tour_before,
    "class": class_of_the_tour,
    "own": own_run,
    "curved": curved,
    "measured": measured,
}
# Of these the others are drawn as in another place.
ALONE = {"valley": {"surface"}, "curved": {"curvature"}}
