"""The browser's own modules, where they need no page: histories, thinning, smoothing, shares, lane states, scales."""

import base64
import json
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route

from dashboard.asked.lane_states import LOSS_STATES, STATES
from dashboard.browser.assets import SCRIPTS
from dashboard.runs.states import ACTIVE, OVER
from radam_core.race.plan import FINAL_STEPS

EMPTY: dict[str, list[Any]] = {"x": [], "y": []}


def call(page: Page, module: str, function: str, *arguments: Any) -> Any:
    return page.evaluate(
        "async ([module, name, given]) => (await load(module))[name](...given)", [module, function, arguments]
    )


def test_every_module_loads_with_all_that_it_imports(scripts):
    for path in SCRIPTS.glob("*.js"):
        assert path.read_text(encoding="utf-8").startswith("// @ts-check\n"), path.name
        drawn = scripts.evaluate("async (name) => typeof (await load(name)).default", path.name)
        component = path.stem in ("address", "chart", "draw_curve", "four_steps", "live", "sweep")
        assert drawn == ("function" if component else "undefined"), path.name


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("M10.04,20L10.96,19.96L12.04,18", "M10,20l1,0 1,-2"),
        ("M10,20L9.5,20M30,1L31,1.25L30,2", "M10,20l-0.5,0m20.5,-19l1,0.3-1,0.7"),
        ("M0,0L1e-7,3", "M0,0l0,3"),
        ("M9.123,52.2h34.26", "M9.1,52.2h34.3"),  # not of lines alone: rounded where it is
    ],
)
def test_a_figures_path_in_few_letters_ends_where_it_did(scripts, path, short):
    assert call(scripts, "figure_paths.js", "shortPath", path) == short


@pytest.mark.parametrize("numbered", [True, False])
def test_panels_side_by_side_leave_room_for_the_numbers_between_them(scripts, numbered):
    """Some three letters' heights; a panel without numbers of its own needs none. Titles stay above their panels."""
    layout = {
        "xaxis": {"domain": [0, 0.48], "anchor": "y"},
        "xaxis2": {"domain": [0.52, 1], "anchor": "y2"},
        "yaxis": {"type": "log", "anchor": "x"},
        "yaxis2": {"type": "log", "anchor": "x2", "showticklabels": numbered},
        "annotations": [{"xref": "paper", "x": 0.24}, {"xref": "paper", "x": 0.76}, {"xref": "x", "x": 0.24}],
    }
    width, letters = 960, 27
    spread = scripts.evaluate(
        "async ([layout, ...room]) => { (await load('figure_axes.js')).spreadColumns(layout, ...room); return layout }",
        [layout, width, letters],
    )
    (left, one), (other, right) = (spread[name]["domain"] for name in ("xaxis", "xaxis2"))
    assert ((other - one) * width > 3 * letters) == numbered
    assert (left, right) == (0, pytest.approx(1))
    middles = [(left + one) / 2, (other + right) / 2]
    assert [note["x"] for note in spread["annotations"]] == pytest.approx([*middles, 0.24])


def test_a_table_says_of_every_row_which_panel_curve_and_kind_it_is(scripts):
    """Two columns that share an axis of losses, raw and smoothed, and a band; a map whose colours are logarithms."""
    title = {"xref": "paper", "yref": "paper", "yanchor": "bottom", "y": 1}
    panels = {
        "xaxis": {"domain": [0, 0.5]},
        "xaxis2": {"domain": [0.5, 1]},
        "yaxis": {"domain": [0, 1], "title": {"text": "a<br>loss<sub>t</sub>"}},
        "yaxis2": {"domain": [0, 1], "matches": "y"},
        "annotations": [
            {**title, "x": 0.25, "text": "<b>left</b>"},
            {**title, "x": 0.75, "text": "<b>right</b>"},
            {**title, "x": 0.75, "yref": "y", "text": "a note"},
        ],
    }
    lane = {"name": "A &lt; B", "x": [5], "y": [2]}
    curves = [
        {**lane, "meta": {"lane": 0, "behind": True}},
        {**lane, "meta": {"lane": 0, "smooth": True}},
        {**lane, "meta": {"lane": 0, "smooth": False}, "xaxis": "x2", "yaxis": "y2"},
        {**lane, "x": [5, 5], "y": [3, 1], "fill": "toself", "line": {"width": 0}},
        {**lane, "meta": {"lane": 0, "again": True}},
    ]
    words = {"tickvals": [0, 1], "ticktext": ["0.001", "0.01"]}
    rows = {"domain": [0, 0.4], "tickvals": [0], "ticktext": ["warmup 50"]}
    scale = {"colorbar": {"title": {"text": "loss"}}}
    higher = {**title, "x": 0, "text": "<b>higher</b>"}
    layout = {
        "xaxis": words,
        "yaxis": rows,
        "coloraxis": scale,
        "annotations": [higher, {**higher, "y": 0.4, "text": "own"}],
    }
    cells = {"name": "own", "coloraxis": "coloraxis", "z": [[-1, 2]], "meta": {"values": [[0.1, None]]}}
    charts = [{"title": "one", "data": curves, "layout": panels}, {"title": "two", "data": [cells], "layout": layout}]
    assert call(scripts, "figure_table.js", "csvOf", charts).split("\r\n") == [
        "chart,panel,curve,kind,x,y,z",
        'one,"left, a, loss_t",A < B,raw,5,2,',
        'one,"left, a, loss_t",A < B,smoothed,5,2,',
        'one,"right, a, loss_t",A < B,,5,2,',
        'one,"left, a, loss_t",A < B,highest,5,3,',
        'one,"left, a, loss_t",A < B,lowest,5,1,',
        "two,own,own,loss,0.001,warmup 50,0.1",
        "two,own,own,loss,0.01,warmup 50,",
        "",
    ]


def test_thinning_keeps_spikes(scripts):
    """10,000 points become at most 2,000, and a spike of one point stays."""
    x = np.arange(10_000)
    y = [None] * 100 + np.sin(x[100:]).tolist()
    y[4321], y[8765] = 99, -99
    thin = call(scripts, "live_curves.js", "thinned", {"x": x.tolist(), "y": y})
    assert len(thin["x"]) <= 2000
    assert thin["x"] == sorted(thin["x"])
    assert dict(zip(thin["x"], thin["y"], strict=True))[4321] == 99
    assert dict(zip(thin["x"], thin["y"], strict=True))[8765] == -99


def test_a_short_curve_is_copied_whole(scripts):
    """Plotly tells by the array whether there is something new."""
    assert scripts.evaluate(
        """async () => {
            const { thinned } = await load("live_curves.js")
            const curve = { x: [1, 2], y: [3, null] }
            const thin = thinned(curve)
            return thin.x !== curve.x && thin.y !== curve.y && JSON.stringify(thin) === JSON.stringify(curve)
        }"""
    )


def test_smoothing_starts_unbiased(scripts):
    def smoothed(y: list[float | None], weight: float) -> list[float | None]:
        return call(scripts, "live_curves.js", "smoothed", {"x": list(range(len(y))), "y": y}, weight)["y"]

    assert smoothed([5, None, 5], 0.9) == pytest.approx([5, None, 5])
    # With weight 1/2: 1, then (1/4 + 3/2) / (3/4), then (1/8 + 3/4 + 5/2) / (7/8).
    assert smoothed([1, 3, 5], 0.5) == pytest.approx([1, 7 / 3, 27 / 7])
    assert smoothed([1, 3, None], 0) == [1, 3, None]


def test_a_plan_is_cut_on_the_line_between_its_points(scripts):
    def up_to(step: float, y: tuple[float | None, ...] = (0, 9, 9)) -> dict[str, Any]:
        return call(scripts, "live_curves.js", "upTo", {"x": [1, 10, 20], "y": y}, step)

    assert up_to(0) == EMPTY
    assert up_to(1) == {"x": [1], "y": [0]}
    assert up_to(4) == {"x": [1, 4], "y": [0, 3]}
    assert up_to(4, y=(None, 9, 9)) == {"x": [1], "y": [None]}
    assert up_to(20) == up_to(99) == {"x": [1, 10, 20], "y": [0, 9, 9]}


def packed(numbers: Any) -> str:
    return base64.b64encode(np.array(numbers, dtype="<f4").tobytes()).decode()


def packed_counts(rows: list[list[int]]) -> str:
    """Rows of zeros, first bin, how many, and those; each below 128, which is a byte of its own."""
    return base64.b64encode(bytes(number for row in rows for number in row)).decode()


def record(number: int, first: int, losses: list[float], **more: Any) -> dict[str, Any]:
    """A lane's record: its losses from step `first` on, and gradient norms that are ten times as large."""
    steps = [first + i for i in range(len(losses))]
    rows = packed([steps, losses, [10 * loss for loss in losses]])
    return {"number": number, "last": steps[-1], "rows": rows, **more}


def histogram(t: int, bins: int = 1, **spread: float) -> dict[str, Any]:
    """Of two groups; g has one count in each of the first group's bins from 127 on, and nothing else has any."""
    counts = packed_counts([[0, 127, bins, *[1] * bins], *[[0, 1, 0]] * 5])
    groups = ["first", "last"]
    by_group = {"grad_norm": packed([3, 4]), "angle": packed([0.5, np.nan])}
    return {"t": t, "groups": groups, "counts": counts, "by_group": by_group, "spread": {"psi_across": 5} | spread}


def asked(page: Page, lanes: list[list[dict[str, Any]]], expression: str, last_step: int = 100) -> Any:
    """What an expression says of the `history` of these lanes' records, and of `lane`, the first of them."""
    return page.evaluate(
        f"""async ([lanes, lastStep]) => {{
            const {{ History }} = await load("live_history.js")
            const history = new History(lanes.length, lastStep, ["loss", "grad_norm"])
            const taken = lanes.map((records, place) => records.map((record) => history.add(place, record)))
            const [lane] = history.lanes
            return {expression}
        }}""",
        [lanes, last_step],
    )


def test_a_record_that_comes_again_or_too_early_is_passed_over(scripts):
    a, b, c = record(0, 1, [4.0, 3.0]), record(1, 3, [2.0]), record(2, 4, [1.0])
    lane = [a, c, b, a, b, c]
    assert asked(scripts, [lane], "taken") == [[True, False, True, False, False, True]]
    meta = {"of": "steps", "column": "loss", "lane": 0}
    assert asked(scripts, [lane], f"lane.series({meta}, 'all')") == {"x": [1, 2, 3, 4], "y": [4, 3, 2, 1]}
    assert asked(scripts, [lane], "[lane.next, lane.step]") == [3, 4]


def test_lanes_stand_at_steps_of_their_own(scripts):
    """The race is where the last of those is that go on: one at step 3, one at 1, one lost at 2, one at its end."""
    ahead, behind = [record(0, 1, [4.0, 3.0]), record(1, 3, [2.0])], [record(0, 1, [4.0])]
    lost, done = [record(0, 1, [4.0, 999.0], diverged_at=2)], [record(0, 1, [1.0] * 100)]
    lanes = [ahead, behind, lost, done]
    assert asked(scripts, lanes, "history.lanes.map(({ step }) => step)") == [3, 1, 2, 100]
    assert asked(scripts, lanes, "history.lanes.map(({ over }) => over)") == [False, False, True, True]
    assert asked(scripts, lanes, "[history.step, history.after, history.count]") == [1, "2.1.1.1", 5]
    assert asked(scripts, [ahead, lost, done], "history.step") == 3
    assert asked(scripts, [lost, done], "history.step") == 100
    assert asked(scripts, [lost, lost], "history.step") == 2
    assert asked(scripts, [[], [], []], "[history.step, history.after, history.started]") == [0, "0.0.0", False]
    assert asked(scripts, [[], behind], "[history.step, history.after, history.started]") == [0, "0.1", True]


def test_a_record_without_recorded_steps_moves_the_lane(scripts):
    lane = [record(0, 1, [4.0]), {"number": 1, "last": 9, "rows": ""}]
    assert asked(scripts, [lane], "[lane.step, lane.steps, lane.columns]") == [9, [1], {"loss": [4], "grad_norm": [40]}]


def test_a_lanes_loss_is_the_mean_of_its_last_steps(scripts):
    """The loss at step t is t in the first lane; the second has none at step 95, and the third at step 50."""
    t = np.arange(1.0, 101.0)
    losses = [t, np.where(t == 95, np.nan, t), np.where(t == 50, np.nan, t)]
    lanes = [[record(0, 1, lane[:60].tolist()), record(1, 61, lane[60:].tolist())] for lane in losses]
    mean = 100 - (FINAL_STEPS - 1) / 2
    assert asked(scripts, lanes, "history.lanes.map((lane) => lane.finalLoss())") == [mean, None, mean]
    assert asked(scripts, [[]], "lane.finalLoss()") is None


def test_a_lane_that_was_lost_has_no_loss(scripts):
    """Also where its last loss is a number: it grew a hundredfold."""
    lane = [record(0, 1, [4.0, 3.0]), record(1, 3, [400.0], diverged_at=3)]
    assert asked(scripts, [lane], "[lane.divergedAt, lane.over, lane.finalLoss()]") == [3, True, None]
    assert asked(scripts, [lane[:1]], "[lane.divergedAt, lane.over, lane.finalLoss()]") == [None, False, 3.5]


def test_metrics_groups_and_the_spread_of_psi_have_steps_of_their_own(scripts):
    lane = [
        record(0, 1, [4.0, 3.0], metrics={"2": {"accuracy": 0.5}}, histograms=[histogram(2)]),
        record(1, 3, [2.0], metrics={"3": {"accuracy": None}}, histograms=[histogram(3, psi_within=0.25)]),
    ]

    def series(group: str = "all", **meta: Any) -> dict[str, Any]:
        return asked(scripts, [lane], f"lane.series({ {'lane': 0, **meta} }, '{group}')")

    assert series(of="metrics", column="accuracy") == {"x": [2, 3], "y": [0.5, None]}
    assert series(of="metrics", column="nothing") == EMPTY
    assert series(of="spread", column="psi_across") == {"x": [2, 3], "y": [5, 5]}
    assert series(of="spread", column="psi_within") == {"x": [3], "y": [0.25]}
    assert series(of="spread", column="kurtosis") == EMPTY
    assert series(of="steps", column="grad_norm", grouped=1) == {"x": [1, 2, 3], "y": [40, 30, 20]}
    assert series(of="steps", column="grad_norm", grouped=1, group="last") == {"x": [2, 3], "y": [4, 4]}
    assert series(of="steps", column="angle", grouped=1, group="first") == {"x": [2, 3], "y": [0.5, 0.5]}
    assert series(of="steps", column="angle", grouped=1, group="last") == {"x": [2, 3], "y": [None, None]}
    assert asked(scripts, [lane], "lane.latestMetric('accuracy')") == 0.5
    assert asked(scripts, [lane], "lane.latestMetric('nothing')") is None


def test_sharpness_and_layers_are_read_at_the_steps_that_have_them(scripts):
    """Of the first histogram the gradient is known by three layers; the second has none finer than its groups."""
    layered = histogram(1) | {"layers": ["words", "encoder 1", "output"], "by_layer": packed([3, 4, np.nan])}
    lane = [
        record(0, 1, [4.0, 3.0], histograms=[layered, histogram(2)], sharpness={"1": [35, 1200]}),
        record(1, 3, [2.0], sharpness={"3": [None, 900]}),
    ]

    def series(**meta: Any) -> dict[str, Any]:
        return asked(scripts, [lane], f"lane.series({ {'lane': 0, **meta} }, 'last')")

    assert series(of="sharpness", place=0) == {"x": [1], "y": [35]}  # the two take turns
    assert series(of="sharpness", place=1) == {"x": [1, 3], "y": [1200, 900]}
    assert series(of="layers", step=1) == {"x": ["words", "encoder 1", "output"], "y": [3, 4, None]}
    assert series(of="layers", step=2) == {"x": ["first", "last"], "y": [3, 4]}
    assert series(of="layers", step=3) == EMPTY
    assert asked(scripts, [[]], "lane.series({ of: 'sharpness', place: 1 }, 'all')") == EMPTY


def test_a_limit_is_drawn_whole_and_hidden_with_its_lane(scripts):
    """Before anything is recorded; it is no curve that another can lie on, and no point that was measured."""
    limit = {"x": [1, 9], "y": [5, 7], "meta": {"of": "limit", "lane": 1, "run": 1}}
    drawn = """async ([limit, hidden]) => {
        const { LiveChart } = await load("live_chart.js")
        return LiveChart.prototype.filled.call({ live: { hidden: new Set(hidden), runs: [], view: {} } }, limit)
    }"""
    assert scripts.evaluate(drawn, [limit, ["0:1"]]) == limit | {"visible": True}
    assert scripts.evaluate(drawn, [limit, ["1:1"]]) == limit | {"visible": False}


def status(state: str, step: int = 0, **more: Any) -> dict[str, Any]:
    plain = {"position": None, "lane_steps_per_second": None, "seconds_left": None, "wanted_by": 1, "message": ""}
    return {"state": state, "step": step, "steps": 100, **plain, **more}


def standing(page: Page, *runs: tuple[str | None, str | None, dict[str, Any] | None]) -> dict[str, Any]:
    """How runs stand together, given of each its id, what is wanted of it, and its status."""
    plain = [
        {"id": identity, "wants": wants, "status": told, "steps": 100, "history": {"step": 0}}
        for identity, wants, told in runs
    ]
    return call(page, "live_standing.js", "standingOf", plain)


def test_two_runs_stand_as_the_one_that_has_more_before_it(scripts):
    quick = status("running", 60, lane_steps_per_second=30, seconds_left=4)
    slow = status("running", 20, lane_steps_per_second=20, seconds_left=9, wanted_by=2)
    both = standing(scripts, ("a", "go", quick), ("b", "go", slow))
    assert (both["done"], both["steps"], both["wants"]) == (20, 100, "go")
    told = both["status"]
    assert (told["state"], told["step"], told["lane_steps_per_second"]) == ("running", 20, 50)
    assert (told["seconds_left"], told["wanted_by"]) == (9, 2)
    waits = standing(scripts, ("a", "go", quick), ("b", "go", status("queued", position=2)))["status"]
    assert (waits["state"], waits["position"], waits["seconds_left"]) == ("running", 2, None)


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("finished", "running", "running"),
        ("paused", "finished", "paused"),
        ("finished", "stopped", "stopped"),
        ("stopped", "failed", "failed"),
        ("finished", "finished", "finished"),
    ],
)
def test_two_runs_are_over_when_both_are(scripts, first, second, together):
    runs = ("a", None, status(first, 100)), ("b", "pause", status(second, 50))
    for order in (runs, runs[::-1]):
        found = standing(scripts, *order)
        assert (found["status"]["state"], found["done"], found["wants"]) == (together, 50, "pause")


def test_a_pair_of_which_one_was_never_trained_asks_for_training(scripts):
    known = ("a", None, status("finished", 100))
    found = standing(scripts, known, (None, None, None))
    assert (found["id"], found["status"], found["done"]) == (None, None, 0)
    assert standing(scripts, known)["status"] == known[2]
    assert {*scripts.evaluate("async () => (await load('live_standing.js')).ORDER")} == {*ACTIVE, *OVER}


def test_choosing_layers_draws_every_panel_again_that_shows_them(scripts):
    """All panels that can show a group, as their traces say."""
    figures = {
        name: {"data": [{"x": [], "y": []}, {"meta": {"lane": 0, "grouped": grouped}}]}
        for name, grouped in (("loss", False), ("updates", True), ("norms", True))
    }
    redrawn = """async (figures) => {
        const { Tools } = await load("live_tools.js")
        return Object.getOwnPropertyDescriptor(Tools.prototype, "grouped").get.call({ live: { figures } })
    }"""
    assert scripts.evaluate(redrawn, figures) == ["updates", "norms"]


def test_what_the_spread_of_psi_leaves_out_is_said(scripts):
    """Of the latest histogram of each lane that has a psi; a lane without one, and an empty one, say nothing."""
    lanes = [
        [record(0, 1, [4.0], histograms=[histogram(1, rounding=576, no_gradient=9000)])],
        [record(0, 1, [4.0], histograms=[histogram(1, rounding=576, no_gradient=842)])],
        [record(0, 1, [4.0], histograms=[histogram(1) | {"spread": {"rounding": 576, "no_gradient": 130800}}])],
        [],
    ]

    def said(*places: int) -> str:
        return asked(
            scripts,
            [lanes[place] for place in places],
            "(await load('live_charts.js')).leftOut(history.lanes).replace('<br>', ' ')",
        )

    assert said(0, 1, 2, 3) == ("left out: 576 parameters with rounding for a gradient, 842 to 9,000 with none so far")
    assert said(1) == "left out: 576 parameters with rounding for a gradient, 842 with none so far"
    assert said(2, 3) == ""


def test_a_lane_walks_where_it_was(scripts):
    lane = [record(0, 1, [4.0, 3.0], positions=packed([[1, 2], [np.nan, 3]]))]
    meta = {"of": "steps", "column": "positions", "lane": 0}
    assert asked(scripts, [lane], f"lane.series({meta}, 'all')") == {"x": [1, None], "y": [2, 3]}
    started = {**meta, "start": [-1.5, 2]}
    assert asked(scripts, [lane], f"lane.series({started}, 'all')") == {"x": [-1.5, 1, None], "y": [2, 2, 3]}
    assert asked(scripts, [[]], f"lane.series({started}, 'all')") == EMPTY


def test_each_lane_has_histograms_of_its_own(scripts):
    """The first lane is at step 30, the second at step 10, and the third has none yet."""
    first = [record(0, 1, [1.0] * 30, histograms=[histogram(1), histogram(10, bins=2), histogram(30)])]
    second = [record(0, 1, [1.0] * 10, histograms=[histogram(1), histogram(5)])]
    lanes = [first, second, []]
    assert asked(scripts, lanes, "history.histogramSteps") == [1, 5, 10, 30]
    assert asked(scripts, lanes[::-1], "history.groups") == ["first", "last"]
    assert asked(scripts, [[]], "[history.histogramSteps, history.groups]") == [[], []]

    def latest(step: int | None) -> list[int | None]:
        chosen = "null" if step is None else step
        return asked(scripts, lanes, f"history.lanes.map((lane) => lane.histogramAt({chosen})?.t ?? null)")

    assert latest(None) == [30, 5, None]
    assert latest(10) == [10, 5, None]
    assert latest(9) == [1, 5, None]
    assert latest(0) == [None, None, None]

    def distribution(quantity: int, group: str) -> dict[str, list[float]]:
        return asked(scripts, lanes, f"lane.distribution(lane.histograms[1], {quantity}, '{group}')")

    # Bin 127 is 1 <= |x| < 2, whose middle is 2 ** 0.5; an empty bin stands on either side.
    for group in ("all", "first"):
        read = distribution(0, group)
        assert read["x"] == pytest.approx([np.log10(2) * e for e in (-0.5, 0.5, 1.5, 2.5)])
        assert read["y"] == [0, 0.5, 0.5, 0]
    assert distribution(0, "last") == distribution(1, "all") == EMPTY


def test_a_lane_has_ridges_where_it_has_histograms(scripts):
    """Lines are at 0, -1 and -2, for the steps 1, 5 and 10; the second lane has got to step 5."""
    first = [record(0, 1, [1.0] * 10, histograms=[histogram(1), histogram(5), histogram(10)])]
    second = [record(0, 1, [1.0] * 5, histograms=[histogram(1), histogram(5)])]

    def bases(step: str) -> list[list[float]]:
        """On which lines ridges stand: of each lane all, and the chosen one."""
        return asked(
            scripts,
            [first, second, []],
            f"""await (async () => {{
                const {{ CHARTS }} = await load("live_charts.js")
                const view = {{ quantity: 0, group: "all", step: {step} }}
                const lanes = history.lanes.map(() => ({{ label: "lane", line: {{ color: "#000000" }} }}))
                const live = {{ observers: [], hidden: new Set(), runs: [{{ history, lanes }}], view, frozen: null }}
                live.chosenStep = view.step
                const {{ data }} = new CHARTS.ridges(live, {{ name: "ridges" }}).figure(600)
                return data.map(({{ y }}) => y.filter((_, i) => i === 0 || y[i - 1] === null))
            }})()""",
        )

    assert bases("null") == [[0, -1, -2], [-2], [0, -1], [-1], [], []]
    assert bases("7") == [[0, -1, -2], [-1], [0, -1], [-1], [], []]
    assert bases("1") == [[0, -1, -2], [0], [0, -1], [0], [], []]


def test_a_lane_that_has_said_nothing_yet_says_so(scripts):
    """The first lane is silent until its own sentences come; the table is made anew only for other words."""
    lanes = [[], [record(0, 1, [1.0], samples=[["eins", "one", "one"], ["zwei", "", "two"]])]]
    said = asked(
        scripts,
        lanes,
        """await (async () => {
            const { Translations } = await load("live_view.js")
            const run = { history, lanes: history.lanes.map(() => ({ label: "lane", line: { color: "red" } })) }
            const view = new Translations({ runs: [run] })
            const words = () => Array.from(view.box.querySelectorAll("caption, td"), (node) => node.textContent)
            view.draw()
            const before = words()
            const table = view.box.querySelector("table")
            history.lanes[1].samples = structuredClone(history.lanes[1].samples)
            view.draw()
            const kept = table === view.box.querySelector("table")
            history.lanes[0].samples = [["eins", "two", "one"], ["zwei", "two", "two"]]
            view.draw()
            return [before, kept, words()]
        })()""",
    )
    before = ["eins → one", "…", "✓ one", "zwei → two", "…", "(nothing)"]
    after = ["eins → one", "two", "✓ one", "zwei → two", "✓ two", "(nothing)"]
    assert said == [before, True, after]


def test_a_stream_resumes_each_lane_where_it_was(scripts):
    """It is opened twice, and one record comes three times."""
    a, b, c = record(0, 1, [4.0, 3.0]), record(1, 3, [2.0], metrics={"3": {"accuracy": 1}}), record(0, 1, [1.0])
    batches = [[{"0": [a]}, {"0": [a]}], [{"0": [a, b], "1": [c]}]]
    bodies = [[f"event: records\ndata: {json.dumps(batch)}\n\n" for batch in opened] for opened in batches]
    addresses: list[str] = []

    def answer(route: Route) -> None:
        addresses.append(route.request.url.removeprefix("http://scripts.test"))
        body = "".join([*bodies[len(addresses) - 1], "event: end\ndata: {}\n\n"])
        route.fulfill(body=body, content_type="text/event-stream")

    scripts.route("**/api/runs/**", answer)
    drawn = scripts.evaluate(
        """async () => {
            const { Stream } = await load("live_stream.js")
            const drawn = []
            const live = {
                answer: () => drawn.push("at once"),
                changed: (parts) => parts?.length && drawn.push(parts),
            }
            const stream = new Stream(live, "", { id: "run", lanes: [{}, {}], steps: 100 }, ["loss", "grad_norm"])
            for (let opened = 0; opened < 2; opened++)
                await new Promise((ended) => {
                    live.ended = ended
                    stream.open()
                })
            return [...drawn, stream.history.after]
        }"""
    )
    assert addresses == [f"/api/runs/run/events?after={after}" for after in ("0.0", "1.0")]
    assert drawn == ["at once", ["steps", "metrics"], "2.1"]


def test_curves_take_turns_only_where_they_coincide(scripts):
    """Two curves that part in the middle, and a third that stays away."""

    def shares(curves: list[dict[str, Any]], width: int, height: int) -> list[dict[str, Any]]:
        return call(scripts, "live_shares.js", "shares", curves, width, height)

    x = list(range(101))
    up, down = ([slope * max(0, i - 50) for i in x] for slope in (1, -1))
    first, second, third = shares([{"x": x, "y": y} for y in (up, down, [40] * 101)], 1400, 400)
    assert third == EMPTY
    for one in (first, second):
        assert max(one["x"]) <= 51, "drawn again where nothing lies under it"
        assert {y for y in one["y"] if y is not None} <= {0, 0.5, -0.5, 1, -1}
    covered = [sum(1 for a, b in zip(one["y"], one["y"][1:], strict=False) if a == b == 0) for one in (first, second)]
    assert covered == [25, 25], "fifty blocks of 14 pixels in turns"
    assert shares([{"x": [1, 2], "y": [3, 3]}], 100, 100) == [EMPTY]
    assert shares([EMPTY, {"x": [1], "y": [None]}], 100, 100) == [EMPTY] * 2


def lane_states(page: Page, lanes: list[list[dict[str, Any]]], state: str | None, last_step: int = 100) -> list[str]:
    """The words on the cards of lanes that train, that warm up until step 50, or that stay frozen."""
    return asked(
        page,
        lanes,
        f"""await (async () => {{
            const {{ laneState }} = await load("live_states.js")
            const phases = [[[1, "training"]], [[1, "warming up"], [50, "training"]], [[1, "frozen"]]]
            const status = {json.dumps(state and {"state": state})}
            const run = {{ history, status, baseline: 2.82, lanes: phases.map((phases) => ({{ phases }})) }}
            return history.lanes.map((_, place) => laneState(run, place))
        }})()""",
        last_step,
    )


def test_every_word_on_a_card_has_its_rule_on_the_page(scripts):
    """For each state of a race and each way a lane can be."""

    def words(state: str | None, step: int = 60, loss: float = 1.0, last_step: int = 100) -> list[str]:
        """Of three lanes: one that diverged, one that goes its way, and one that is still frozen."""
        plain = [record(0, 1, [loss] * step)] if step else []
        lost = [record(0, 1, [loss] * 7, diverged_at=7)] if step else []
        return lane_states(scripts, [lost, plain, plain], state, last_step)

    assert words("running") == ["diverged at step 7", "training · learned", "frozen · learned"]
    assert words("running", step=49) == ["diverged at step 7", "warming up · learned", "frozen · learned"]
    assert words("running", step=19) == ["diverged at step 7", "warming up", "frozen"]
    assert words("running", loss=2.85)[1:] == ["training · at the baseline", "frozen · at the baseline"]
    assert words("running", step=0) == words(None, step=0) == ["waiting"] * 3
    for state in (*ACTIVE, *OVER):
        for step in (0, 49, 60):
            parts = [word.split(" · ") for word in words(state, step)]
            assert {phase.split(" at step")[0] for phase, *_ in parts} <= set(STATES)
            assert {loss for _, *losses in parts for loss in losses} <= set(LOSS_STATES)
            if state != "running":
                assert [phase for phase, *_ in parts[1:]] == ["waiting" if state == "queued" else state] * 2
        assert words(state, last_step=60) == ["diverged at step 7", *["finished · learned"] * 2]


def test_a_lanes_state_is_its_own(scripts):
    """One is known whole before the race has begun; of the others one is behind, and one has not begun."""
    whole, begun = [record(0, 1, [1.0] * 100)], [record(0, 1, [4.0] * 20)]
    lanes, ends = [whole, begun, []], {"running": "warming up", "queued": "waiting", "stopped": "stopped"}
    for state, phase in ends.items():
        rest = "stopped" if state == "stopped" else "waiting"
        assert lane_states(scripts, lanes, state) == ["finished · learned", f"{phase} · above the baseline", rest]


def test_the_page_and_the_server_agree_on_what_is_active_and_what_is_final(scripts):
    assert set(scripts.evaluate("async () => [...(await load('live_states.js')).ACTIVE]")) == set(ACTIVE)
    assert scripts.evaluate("async () => (await load('live_loss.js')).FINAL_STEPS") == FINAL_STEPS


@pytest.mark.parametrize(
    ("axis", "values", "places"),
    [
        ("log", [100, 1, 0.001, 0, -1, None], [2, 0, -3, None, None, None]),
        ("linear", [100, 0, -1, None], [100, 0, -1, None]),
    ],
)
def test_an_axis_has_places_for_what_it_can_show(scripts, axis, values, places):
    there, back = scripts.evaluate(
        """async ([axis, values]) => {
            const { to, from } = (await load("live_chart.js")).scaleOf(axis)
            return [values.map(to), values.map(to).map(from)]
        }""",
        [axis, values],
    )
    assert there == pytest.approx(places)
    shown = [value if place is not None else None for value, place in zip(values, places, strict=True)]
    assert back == pytest.approx(shown)  # to float32, as the data


def test_ridges_stand_on_their_lines_inside_the_axis(scripts):
    ridge = {"x": [-3, -2, -1], "y": [0, 0.5, 0.25]}
    assert call(scripts, "live_histograms.js", "filledRange", [ridge]) == pytest.approx([-2.4, -0.6])
    assert call(scripts, "live_histograms.js", "filledRange", []) == [-8, 1]
    path = scripts.evaluate(
        """async (ridge) => {
            const { appendRidge } = await load("live_histograms.js")
            const path = { x: [], y: [] }
            appendRidge(path, ridge, 0, 0.5)
            appendRidge(path, { x: [], y: [] }, 1, 0.5)
            appendRidge(path, ridge, 2, 0.5)
            return path
        }""",
        ridge,
    )
    # The highest of all is 2.2 lines high; each ridge begins and ends on its own line.
    once = [-3, -3, -2, -1, -1]
    assert path["x"] == [*once, None, *once]
    assert path["y"] == pytest.approx([0, 0, 2.2, 1.1, 0, None, -2, -2, 0.2, -0.9, -2])


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        ("shortNumber", None, "–"),
        ("shortNumber", 0, "0"),
        ("shortNumber", 0.123456, "0.1235"),
        ("shortNumber", 0.000999, "9.99e-4"),
        ("shortNumber", -123456, "-1.23e+5"),
        ("duration", None, ""),
        ("duration", -1, "0 s left"),
        ("duration", 89.4, "89 s left"),
        ("duration", 90, "2 min left"),
        ("duration", 5400, "1.5 h left"),
        ("escaped", "<b>&", "&lt;b&gt;&amp;"),
    ],
)
def test_numbers_and_labels_as_a_reader_wants_them(scripts, function, value, text):
    assert call(scripts, "live_elements.js", function, value) == text


def test_a_run_that_back_has_overtaken_adds_no_entry_to_the_history(scripts):
    """Streamlit pushes the page of each run: of one that was under way, too, when the browser went back."""
    seen = scripts.evaluate(
        """async () => {
            await load("address.js")
            const click = () => document.body.dispatchEvent(new MouseEvent("click", { bubbles: true }))
            click()
            history.pushState({}, "", "/first")
            click()
            history.pushState({}, "", "/second?a=1")
            const back = new Promise((resolve) => addEventListener("popstate", resolve, { once: true }))
            history.back()
            await back
            const entries = history.length
            history.pushState({}, "", "/second?a=2") // by the run that Back has overtaken
            history.pushState({}, "", "/first?b=1") // by that of the page where one is
            const overtaken = [location.pathname + location.search, history.length - entries]
            click()
            history.pushState({}, "", "/third")
            const gone = location.pathname
            history.replaceState({}, "", "/")
            return [...overtaken, gone]
        }"""
    )
    assert seen == ["/first?b=1", 0, "/third"]
