"""What the sweep page's scripts compute, in the Chromium that is there: cells, colours and lines, without a server."""

import json

import numpy as np
import pytest

from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import contender
from dashboard.browser.sweep import drawn

CONFIG = SweepConfig.make(
    {
        "task": "numbers",
        "contenders": [contender("adam-linear", "Adam + warmup"), contender("radam")],
        "axes": {"lr": (0.001, 0.01), "warmup_steps": (0, 100)},
        "seeds": (0, 1),
        "steps": 60,
    }
)


def cells(scripts, news: list, question: str, size: int = 3, points: int = 4):
    """What a `Cells` answers after these news."""
    return scripts.evaluate(
        f"""async ([news, size, points]) => {{
            const {{ Cells }} = await load("sweep_cells.js")
            const cells = new Cells(size, points)
            cells.add(news)
            return {question}
        }}""",
        [news, size, points],
    )


def test_a_cell_is_over_when_it_has_all_its_points_or_diverged(scripts):
    news = [*([0, k, 2.0, None] for k in range(4)), [1, 0, 3.0, None], [1, 1, None, None], [2, 0, 1.0, None]]
    assert cells(scripts, news, "[0, 1, 2].map((place) => cells.over(place))") == [True, True, False]
    assert cells(scripts, news, "[cells.done, cells.latest]") == [2, 3]
    assert cells(scripts, [*news, *news], "[cells.done, cells.latest]") == [2, 3]  # told twice


@pytest.mark.parametrize(
    ("places", "point", "quantity", "expected"),
    [
        ([0, 1], 0, "loss", {"value": 3.0, "lost": 0, "values": [2.0, 4.0]}),
        ([0, 1], 9, "loss", {"value": 1.0, "lost": 1, "values": [1.0, None]}),  # at the last point each has come to
        ([1], 9, "loss", {"value": None, "lost": 1, "values": [None]}),
        ([0, 1], 9, "learned", {"value": 0.5, "lost": 1, "values": [1.0, None]}),
        ([0], 9, "metric", {"value": 0.75, "lost": 0, "values": [0.75]}),
        ([2], 0, "loss", None),  # not begun
    ],
)
def test_a_cell_of_a_map_is_the_mean_of_its_lanes(scripts, places, point, quantity, expected):
    news = [[0, 0, 2.0, 0.25], [0, 1, 1.0, 0.75], [1, 0, 4.0, 0.5], [1, 1, None, None]]
    question = f"cells.summary({places}, {point}, '{quantity}', () => 1.5)"
    assert cells(scripts, news, question) == expected


@pytest.mark.parametrize(
    ("values", "ends"),
    [([], [-2, 0.5]), ([0.1, 0.2], [0, 0.5]), ([-1.2, 0.4], [-1.5, 0.5]), ([-9, 0], [-4, 0]), ([0.5], [0.5, 1])],
)
def test_the_colours_span_half_powers_of_ten_and_at_most_four_of_them(scripts, values, ends):
    assert scripts.evaluate("async (values) => (await load('sweep_cells.js')).halfDecades(values)", values) == ends


def test_the_line_of_the_shortest_warmup_runs_below_the_first_row_that_works(scripts):
    """Of three lengths: none at the first rate is needed, the third works at the second, none does at the last."""
    line = scripts.evaluate("async (needs) => (await load('sweep_cells.js')).needsLine(needs)", [0, 2, None, 3])
    assert line == {
        "x": [-0.5, 0.5, 0.5, 1.5, None, 2.5, 3.5],
        "y": [-0.5, -0.5, 1.5, 1.5, None, 2.5, 2.5],
    }


def test_maps_are_filled_with_what_their_lanes_have_come_to(scripts):
    sweep = json.loads(drawn(CONFIG.to_json()))
    size = CONFIG.size
    filled = scripts.evaluate(
        """async ([sweep, size]) => {
            const { Cells } = await load("sweep_cells.js")
            const { filledMaps } = await load("sweep_maps.js")
            const cells = new Cells(size, sweep.grid.length)
            cells.add(Array.from({ length: size - 2 }, (_, place) => [place, 0, 2.0 + place, 0.5]))
            cells.add([[0, 1, 0.1, 0.9], [1, 1, null, null]])
            const state = { point: 99, quantity: "loss", needs: [[0, 2], []], chosen: new Set([0, 1]), sweep }
            const { data, layout } = filledMaps(sweep.maps.mean, cells, state)
            const learned = filledMaps(sweep.maps.mean, cells, { ...state, quantity: "learned" })
            return { data, layout, learned: learned.data }
        }""",
        [sweep, size],
    )
    adam, line, radam = filled["data"]
    places = adam["meta"]["cells"]
    assert adam["text"][0][places[0].index([0, 1])] == "0.1✕"  # one of two seeds diverged
    assert radam["text"] == [["11", ""]]  # (10 + 11) / 2; the last two lanes have not begun
    assert radam["z"][0][1] is None
    assert radam["meta"]["values"] == [[10.5, None]]  # for a table, where the colours are logarithms
    assert adam["meta"]["values"][0][places[0].index([0, 1])] == 0.1
    assert line["y"] == [-0.5, -0.5, 1.5, 1.5]
    assert len(filled["layout"]["shapes"]) == 1  # around the cell that is chosen whole
    # Below half of the baseline of 2.82 is one of the two lanes of the first cell, and no other.
    assert filled["learned"][0]["text"][0][0] == "50%"
    assert "0%" in filled["learned"][2]["text"][0]


def luminance(colour: list[int]) -> float:
    """Relative luminance, as WCAG 2.1 defines it."""
    shares = [part / 255 for part in colour]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("reversescale", [False, True])
def test_numbers_in_a_map_stand_out_from_their_cells(scripts, reversescale):
    """4.5 to 1, which WCAG asks of small text, at a thousand places of the scale; the map itself is as it was."""
    axis = json.loads(drawn(CONFIG.to_json()))["maps"]["mean"]["layout"]["coloraxis"]
    places, colours = zip(*axis["colorscale"], strict=True)
    z = np.linspace(-1, 3, 1000)
    share = (1 - (z + 1) / 4) if reversescale else (z + 1) / 4
    parts = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours])
    cells = np.stack([np.interp(share, places, part) for part in parts.T], axis=1).round()
    trace = {"type": "heatmap", "texttemplate": "%{text}", "z": [[*z.tolist(), None]], "text": [["0.1"] * 1000 + [""]]}
    layout = {"coloraxis": {**axis, "cmin": -1, "cmax": 3, "reversescale": reversescale}}
    inked = "async ([trace, layout]) => (await load('figure_maps.js')).inked([trace], layout, 900, 13)[0].text[0]"
    *texts, empty = scripts.evaluate(inked, [trace, layout])
    assert empty == ""
    for text, cell in zip(texts, cells, strict=True):
        ink = 0.0 if text == '<span style="color:#000000">0.1</span>' else 1.0
        assert ink or "#ffffff" not in text
        low, high = sorted([ink, luminance(cell)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, cell)
