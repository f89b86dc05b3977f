"""Charts in words, and by keyboard: the browser's own modules in Chromium, without a server."""

import pytest


def numbers(scripts, data, layout=None) -> str:
    """What is told of these traces, which are drawn as they are."""
    data = [{"type": "scatter", "mode": "lines", "visible": True, **trace} for trace in data]
    told = "async ([data, layout]) => (await load('chart_words.js')).numbersOf(data, layout)"
    return scripts.evaluate(told, [data, layout or {}])


AXES = {
    "xaxis": {"title": {"text": "step"}},
    "yaxis": {"title": {"text": "training loss"}},
    "yaxis2": {"title": {"text": "r<sub>t</sub>"}},
}


def test_curves_are_told_from_their_first_value_to_their_last(scripts):
    curves = [
        {"name": "RAdam", "x": [1, 500, 1000], "y": [3.21, 0.1, 0.00412]},
        {"name": "Adam &lt;b&gt;", "x": [1, 1000], "y": [3.21, 2.8172]},
    ]
    assert numbers(scripts, curves, AXES) == (
        "training loss, step from 1 to 1,000: RAdam 3.21 to 0.00412, Adam <b> 3.21 to 2.817."
    )


def test_a_curve_that_ends_elsewhere_says_where(scripts):
    """One that diverged has no value at its end, and one that is hidden or drawn twice is not told."""
    curves = [
        {"name": "whole", "x": [1, 2, 3], "y": [5, 4, 3]},
        {"name": "lost", "x": [1, 2, 3], "y": [5, 7, None]},
        {"name": "hidden", "x": [1], "y": [9], "visible": "legendonly"},
        {"name": "again", "x": [1], "y": [9], "hoverinfo": "skip", "showlegend": False},
        {"name": "band", "x": [1], "y": [9], "hoverinfo": "skip", "fill": "toself"},
        {"name": "empty", "x": [], "y": []},
        {"name": "below", "x": [1, 3], "y": [0.5, 0.5], "yaxis": "y2"},
    ]
    notes = {"annotations": [{"text": "r<sub>t</sub> starts<br>at step 5"}]}
    assert numbers(scripts, curves, {**AXES, **notes}) == (
        "training loss, step from 1 to 3: whole 5 to 3, lost 5 to 7 (from 1 to 2). "
        "r_t, step from 1 to 3: below 0.5. Written in it: r_t starts, at step 5."
    )


def test_bars_points_and_maps_have_words_of_their_own(scripts):
    bars = {"type": "bar", "name": "seeds", "x": ["Adam", "RAdam"], "y": [0, 5]}
    few = {"mode": "markers", "name": "your guess", "x": [10], "y": ["warmup"]}
    many = {"mode": "markers", "name": "learned", "x": [1, 2, 3, 4, 5], "y": [0.1, 0.5, 0.2, 0.3, None]}
    more = {**many, "y": [0.1, 0.5, 0.2, 0.3, 0.4]}
    cells = {"type": "heatmap", "name": "Adam", "x": ["0.01", "0.1"], "y": ["0", "50"]}
    filled = {**cells, "z": [[-2.0, None], [0.5, 1.0]], "text": [["0.01", ""], ["3.2", "10✕"]]}
    assert numbers(scripts, [bars, few]) == "seeds: Adam 0, RAdam 5. your guess: 10, warmup."
    assert numbers(scripts, [many]) == "learned: 1, 0.1; 2, 0.5; 3, 0.2; 4, 0.3."
    assert numbers(scripts, [more]) == "learned: 5 points, across 1 to 5, up 0.1 to 0.5."
    assert numbers(scripts, [filled]) == "Adam: 3 of 4 cells, lowest 0.01 at 0.01, 0, highest 10✕ at 0.1, 50."
    named = {"xaxis": {"ticktext": ["0.01", "0.1"]}, "yaxis": {"ticktext": ["warmup 0", "warmup 50"]}}
    unnamed = {name: value for name, value in filled.items() if name not in "xy"}
    assert "lowest 0.01 at 0.01, warmup 0, highest 10✕ at 0.1, warmup 50." in numbers(scripts, [unnamed], named)
    assert numbers(scripts, [{**cells, "z": [[None, None]]}]) == "Adam: none of 2 cells has begun."
    assert numbers(scripts, []) == "Nothing is drawn yet."


def test_an_axis_without_a_title_takes_that_of_the_lowest_panel_and_nothing_is_said_twice(scripts):
    untitled = {"title": {"text": "Click to enter X axis title"}}
    layout = {"xaxis": untitled, "xaxis2": AXES["xaxis"], "yaxis": AXES["yaxis"]}
    curve = {"name": "Adam", "x": [1, 9], "y": [2, 1]}
    assert numbers(scripts, [curve, curve], layout) == "training loss, step from 1 to 9: Adam 2 to 1."


def test_more_curves_than_one_can_hear_are_counted(scripts):
    curves = [{"name": f"lane {k}", "x": [1, 2], "y": [k, k + 1]} for k in range(20)]
    told = numbers(scripts, curves, AXES)
    assert "lane 11 11 to 12, and 8 more." in told
    assert "lane 12" not in told


def test_a_histogram_is_told_by_its_median(scripts):
    found = scripts.evaluate(
        "async () => (await load('live_histograms.js')).medianOf({ x: [-3, -2, -1], y: [0.2, 0.25, 0.5] })"
    )
    assert found == -1  # half of 0.95 is 0.475, and by -2 there is 0.45


@pytest.mark.parametrize(
    ("key", "at", "expected"),
    [
        ([1, 0], [0, 0, 0], [0, 0, 1]),
        ([1, 0], [0, 0, 2], [0, 0, 2]),  # the last column
        ([0, 1], [0, 0, 1], [0, 1, 1]),
        ([0, -1], [0, 0, 2], [1, 2, 1]),  # below its first row comes the next map, from its last row, of two columns
        ([0, 1], [1, 2, 1], [0, 0, 1]),
        ([0, 1], [0, 1, 0], [0, 1, 0]),  # above the first map there is none
    ],
)
def test_keys_go_from_cell_to_cell_and_from_map_to_map(scripts, key, at, expected):
    """The first map has two rows of three cells, the second three rows of two."""
    moved = scripts.evaluate(
        """async ([key, [panel, row, column]]) => {
            const grid = (rows, columns) => Array.from({ length: rows }, () => Array(columns).fill([0]))
            const { moved } = await load('sweep_keys.js')
            const at = moved({ panel, row, column }, key, [grid(2, 3), grid(3, 2)])
            return [at.panel, at.row, at.column]
        }""",
        [key, at],
    )
    assert moved == expected


def test_a_dash_is_drawn_as_plotly_draws_it(scripts):
    dashes = scripts.evaluate(
        """async () => {
            const { dashesOf } = await load('figure_dashes.js')
            return [dashesOf('solid', 2), dashesOf('dashdot', 2), dashesOf('5px,3px', 2), dashesOf('', 2)]
        }"""
    )
    assert dashes == [[], [6, 2, 2, 2], [5, 3], []]


ONE_CHART = """
    const box = document.createElement('div')
    box.innerHTML = '<svg class="main-svg"></svg><svg class="main-svg"></svg><div class="modebar">'
        + '<button class="modebar-btn">Export</button><button class="modebar-btn">Zoom</button></div>'
    document.body.append(box)
    const curve = { type: 'scatter', mode: 'lines', x: [1, 2], visible: true, showlegend: true }
    box._fullData = [{ ...curve, name: 'RAdam', y: [3, 0.5] }, { ...curve, name: 'Adam', y: [3, 2] }]
    box._fullLayout = { showlegend: true, xaxis: { title: { text: 'step' } }, yaxis: { title: { text: 'loss' } } }
    const Plotly = {
        restyle: async (_, { visible }, places) => places.forEach((i) => (box._fullData[i].visible = visible)),
    }
    const { tellChart } = await load('chart_access.js')
    tellChart(box, 'A race', { Plotly })
"""


def test_a_chart_has_one_tab_stop_and_arrows_go_through_its_buttons_and_curves(scripts):
    found = scripts.evaluate(
        "async () => {"
        + ONE_CHART
        + """
            const all = [...document.querySelectorAll('button')]
            const stops = () => all.filter((one) => one.tabIndex === 0).map((one) => one.textContent)
            const seen = [stops()]
            all[0].focus()
            for (const key of ['ArrowRight', 'End', 'ArrowRight', 'ArrowLeft']) {
                document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
                seen.push(stops())
            }
            const [picture, over] = box.querySelectorAll('svg')
            const told = [picture.getAttribute('aria-label')]
            document.activeElement.click()
            await new Promise((resolve) => setTimeout(resolve))
            told.push(picture.getAttribute('aria-label'))
            const pressed = document.activeElement.ariaPressed
            for (const one of [box, ...document.querySelectorAll('.lab-curves')]) one.remove()
            return { seen, told, pressed, hidden: over.ariaHidden, role: box.getAttribute('role') }
        }"""
    )
    assert found["seen"] == [["Export"], ["Zoom"], ["Adam"], ["Export"], ["Adam"]]
    assert found["told"] == [
        "A race. loss, step from 1 to 2: RAdam 3 to 0.5, Adam 3 to 2.",
        "A race. loss, step from 1 to 2: RAdam 3 to 0.5.",
    ]
    assert found["pressed"] == "false"
    assert (found["role"], found["hidden"]) == ("figure", "true")
