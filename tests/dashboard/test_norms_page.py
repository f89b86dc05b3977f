"""Post-LN beside Pre-LN without a browser: the page's controls, its figures and limits, and what it starts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.asked.config import RaceConfig
from dashboard.asked.norms import NORMS, norm_race
from dashboard.asked.presets import lane
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.browser.norm_panels import NORM_PANELS
from dashboard.browser.race_panels import panel_figures
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.evidence.findings import Findings
from dashboard.evidence.norms import largest_rate, lines_of_norm
from dashboard.evidence.outcomes import FINISHED, Outcome
from dashboard.figures.curvature import PLAIN, PRECONDITIONED, limits
from dashboard.figures.norms import norm_figures, rates_by_norm_figure
from dashboard.recorded.form import FOLDER, path_of, read
from dashboard.recorded.loading import load
from dashboard.runs.identity import recorded_id, run_id
from dashboard.runs.outlines import from_json
from dashboard.runs.states import STOPPED
from dashboard.runs.store import Store
from dashboard.words.norm_words import over_seeds_words
from tests.dashboard.opening import components, go_to, open_page

PAIR = [norm_race(norm) for norm in NORMS]


def sent(app: AppTest) -> dict[str, Any]:
    """What the page hands to the live charts."""
    (race,) = components(app, "radam_lab_race")
    return json.loads(race.proto.bytes)


def test_it_opens_with_both_norms_and_says_what_it_measures():
    app = open_page("norms")
    assert not app.exception
    assert not app.warning
    assert app.title[0].value == "Who needs warmup?"
    drawn = sent(app)["drawn"]
    assert drawn["together"]
    assert [run["title"] for run in drawn["specs"]] == ["Post-LN", "Pre-LN"]
    assert [panel["name"] for panel in drawn["panels"]] == [panel.name for panel in NORM_PANELS]
    assert all(panel["note"] for panel in drawn["panels"])
    prose = " ".join(element.value for element in app.markdown)
    for source in ("Xiong et al.", "Kalra & Barkeshli", "Liu et al."):
        assert source in prose
    assert next(button for button in app.button if button.label == "Train").disabled, "there is no server to train"


def test_a_link_sets_every_control_and_what_is_set_is_kept():
    query = {"depth": "2", "lr": "0.003", "warmup": "50", "seed": "3", "steps": "100"}
    app = open_page("norms", **query)
    assert not app.warning
    values = [app.select_slider(key=f"norms-{name}").value for name in query]
    assert values == [2, 0.003, 50, 3, 100]
    assert sent(app)["drawn"]["revision"] != sent(open_page("norms"))["drawn"]["revision"]
    assert [lane["name"] for lane in sent(app)["drawn"]["specs"][1]["lanes"]] == ["Adam", "Adam + warmup 50", "RAdam"]
    app = go_to(go_to(app, "home"), "norms")
    assert [app.select_slider(key=f"norms-{name}").value for name in query] == values


def test_hidden_lanes_are_in_the_link():
    app = open_page("norms", hide="2-c3")
    assert sent(app)["hidden"] == ["0:1", "1:2"]
    assert app.query_params["hide"] == "2-c3"
    hostile = open_page("norms", hide="<b>")
    assert "hide must be numbers of lanes" in hostile.warning[0].value
    assert sent(hostile)["hidden"] == []


@pytest.mark.parametrize("name", ["depth", "lr", "warmup", "seed", "steps"])
def test_nonsense_in_a_link_gets_a_sentence(name):
    app = open_page("norms", **{name: "13.5"})
    assert not app.exception
    assert f"The link asked for `{name} = 13.5`" in app.warning[0].value


def test_every_figure_has_a_column_for_each_run_on_the_same_axes():
    for name, figure in norm_figures(PAIR).items():
        assert [note.text for note in figure.layout.annotations] == ["<b>Post-LN</b>", "<b>Pre-LN</b>"], name
        left, right = ([trace for trace in figure.data if trace.meta["run"] == run] for run in (0, 1))
        assert [{**trace.meta, "run": 0} for trace in right] == [trace.meta for trace in left], name
        assert {(trace.name, trace.line.color) for trace in right} == {(trace.name, trace.line.color) for trace in left}
        axes = {trace.yaxis for trace in left}, {trace.yaxis for trace in right}
        assert axes[0].isdisjoint(axes[1])
        matched = {figure.layout[axis.replace("y", "yaxis")].matches for axis in axes[1]}
        assert matched == axes[0], f"{name}: the columns have axes of their own"
        assert {axis.type for axis in figure.select_yaxes()} == {"log"}


def test_what_fills_the_figures_is_what_the_page_promises():
    figures = norm_figures(PAIR)
    asked = {name: [trace.meta for trace in figure.data] for name, figure in figures.items()}
    assert {meta["step"] for meta in asked["by-layer"]} == {1, 10}
    assert {(meta["column"], meta["grouped"]) for meta in asked["moves"]} == {
        ("relative_update", True),
        ("angle", True),
    }
    for name, place in (("preconditioned", 1), ("plain", 0)):
        assert {meta["place"] for meta in asked[name] if meta["of"] == "sharpness"} == {place}
        assert [meta["of"] for meta in asked[name]].count("limit") == 6
    assert [shape.y0 for shape in figures["loss"].layout.shapes] == [2.8207] * 2


def test_limits_follow_the_rate_in_force():
    """At lr 6e-3, beta1 0.9, beta2 0.99, a warmup of 200 steps and a linear decay over 300."""
    adam, warm, radam = PAIR[0].plan().lanes
    t = np.array([1.0, 4.0, 5.0, 100.0])
    # Adam decays from step 1 on: what is left at t is 1 - (t - 1)/300, which 38/lr is divided by.
    np.testing.assert_allclose(limits(adam, t, PRECONDITIONED), 38 / (6e-3 * (1 - (t - 1) / 300)), rtol=1e-12)
    np.testing.assert_allclose(limits(adam, t, PLAIN), 2 / (6e-3 * (1 - (t - 1) / 300)), rtol=1e-12)
    # In its first step the warmup has 1/200 of the rate.
    assert limits(warm, t[:1], PRECONDITIONED)[0] == pytest.approx(200 * 38 / 6e-3)
    # RAdam's first four steps are momentum alone, at the full rate: no limit of Adam's, but one of gradient descent.
    assert np.isnan(limits(radam, t, PRECONDITIONED)).tolist() == [True, True, False, False]
    assert limits(radam, t[:1], PLAIN)[0] == pytest.approx(2 / 6e-3)


def test_what_moves_nothing_and_what_is_never_adaptive_has_no_limit():
    config = RaceConfig.make(
        {"task": "digits", "lanes": [lane("adam-2k", 1e-3, frozen_steps=3), lane("sgd", 0.1)], "steps": 10}
    )
    frozen, sgd = config.plan().lanes
    t = np.array([3.0, 4.0])
    assert np.isnan(limits(frozen, t, PRECONDITIONED)).tolist() == [True, False]
    assert np.isnan(limits(frozen, t, PLAIN)).tolist() == [True, False]
    assert np.isnan(limits(sgd, t, PRECONDITIONED)).all()
    np.testing.assert_allclose(limits(sgd, t, PLAIN), 20)


def test_the_race_page_has_the_curvature_where_it_is_measured():
    config = PAIR[0]
    titles = [axis.title.text for axis in panel_figures(config)["curvature"].select_yaxes()]
    assert titles == ["preconditioned<br>sharpness", "sharpness"]
    assert "curvature" not in panel_figures(config.changed(sharpness_every=0))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Nothing trains in it: what is submitted waits."""
    kept = Engine(Store(tmp_path))
    set_running_engine(kept)
    yield kept
    set_running_engine(None)
    kept.store.close()


@pytest.mark.usefixtures("engine")
def test_train_starts_both_and_they_stay_while_the_controls_move():
    app = open_page("norms")
    assert any("6 lanes × 300 steps = 1,800 lane-steps" in caption.value for caption in app.caption)
    next(button for button in app.button if button.label == "Train").click().run()
    assert not app.exception
    ids = [run_id(config) for config in PAIR]
    assert [run["id"] for run in sent(app)["runs"]] == ids
    assert {run["wants"] for run in sent(app)["runs"]} == {"go"}
    app.select_slider(key="norms-depth").set_value(2).run()
    assert [run["id"] for run in sent(app)["runs"]] == ids
    assert any("before you moved the controls" in caption.value for caption in app.caption)


def test_a_run_that_was_seen_under_way_stays_when_it_is_stopped(engine):
    """A regression: who reloaded the page and pressed Stop was shown the recording as what they had trained."""
    load(engine.store, FOLDER)
    ids = [run_id(config) for config in PAIR]
    for config in PAIR:
        engine.store.add(config)
    app = open_page("norms")
    assert [run["id"] for run in sent(app)["runs"]] == ids
    for run in ids:
        engine.store.set_state(run, STOPPED)
    assert [run["id"] for run in sent(app.run())["runs"]] == ids
    recorded = [recorded_id(config.to_json()) for config in PAIR]
    assert [run["id"] for run in sent(open_page("norms"))["runs"]] == recorded, "nobody else is shown what was stopped"


RATES = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)
# By norm and method: at how many of the three seeds it learns, rate by rate.
INVENTED = {
    ("post", "Adam"): (3, 2, 3, 0, 0, 0),  # what a larger rate does beyond one that fails does not count
    ("post", "Adam + warmup 200"): (3, 3, 3, 3, 1, 0),
    ("post", "RAdam"): (2, 3, 3, 3, 3, 3),
    ("pre", "Adam"): (3, 3, 3, 3, 3, 3),
    ("pre", "Adam + warmup 200"): (3, 3, 3, 3, 3, 0),
    ("pre", "RAdam"): (3, 3, 3, 3, 3, 2),
}
BORNE = {
    "post": {"Adam": 0.001, "Adam + warmup 200": 0.008, "RAdam": None},
    "pre": {"Adam": 0.032, "Adam + warmup 200": 0.016, "RAdam": 0.016},
}


def invented(open_cells: int = 0) -> Findings:
    config = SWEEPS["norms"].config
    outcomes = []
    for cell in config.cells:
        label, _, norm = config.contenders[cell.contender].label.rpartition(", ")
        learned = INVENTED[norm.removesuffix("-LN").lower(), label][RATES.index(cell.values["lr"])]
        outcomes.append(
            Outcome(status=FINISHED, last=500, first_loss=4.0, final_loss=0.1 if cell.seed < learned else 2.8)
        )
    outcomes[len(outcomes) - open_cells :] = [Outcome()] * open_cells
    return Findings.of(config, outcomes)


def test_the_largest_rate_that_is_borne_of_an_invented_sweep():
    found = invented()
    assert found.config.axes["lr"] == RATES
    for norm, borne in BORNE.items():
        lines = lines_of_norm(found, norm)
        rates = {name: largest_rate(line) for name, line in lines.items()}
        assert {name: rate and rate.lr for name, rate in rates.items()} == borne
    told = over_seeds_words(found)
    assert "| **Post\u2011LN** | Adam | 0.001 (0.1) | 0.001 (0.1) |" in told
    assert "| **Post\u2011LN** | RAdam | no rate | 0.002 (0.1) |" in told
    assert "| **Pre\u2011LN** | Adam | 0.032 (0.1) | 0.001 (0.1) |" in told
    known = largest_rate(lines_of_norm(invented(open_cells=7), "pre")["RAdam"])
    assert known is not None
    assert known.lr == 0.004, "what is open bears nothing yet"


def test_the_rates_of_an_invented_sweep_have_a_column_for_each_norm():
    figure = rates_by_norm_figure(invented())
    curves = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert [(curve.name, curve.xaxis) for curve in curves] == [
        (name, axis) for axis in ("x", "x2") for name in ("Adam", "Adam + warmup 200", "RAdam")
    ]
    left, right = curves[:3], curves[3:]
    assert [curve.line.color for curve in left] == [curve.line.color for curve in right]
    assert [curve.showlegend for curve in right] == [False] * 3
    assert list(left[0].x) == list(RATES)
    # Of Post-LN's Adam: 0.1 at 3, 2, 3, 0, 0, 0 of three seeds, else 2.8.
    np.testing.assert_allclose(left[0].y, [0.1, 1.0, 0.1, 2.8, 2.8, 2.8])
    assert figure.layout.yaxis2.matches == "y"


def test_the_page_tells_what_was_recorded_over_rates_and_seeds():
    """Counted again from the file, without the page's own functions."""
    config, lanes = SWEEPS["norms"].config, read(path_of("sweep-norms")).lanes
    ends: dict[str, dict[float, list[float]]] = {}
    for cell, recorded in zip(config.cells, lanes, strict=True):
        outcome = from_json(recorded.outline)
        of_label = ends.setdefault(config.contenders[cell.contender].label, {})
        of_label.setdefault(cell.values["lr"], []).append(outcome.final_loss)
    told = next(element.value for element in open_page("norms").markdown if "**Pre\u2011LN** |" in element.value)
    for label, by_rate in ends.items():
        assert {len(losses) for losses in by_rate.values()} == {3}
        borne = [rate for rate in RATES if all(loss < 0.5 * 2.8207 for r in RATES if r <= rate for loss in by_rate[r])]
        method, _, norm = label.rpartition(", ")
        up_to = f"{borne[-1]:g} ({np.mean(by_rate[borne[-1]]):.2g})" if borne else "no rate"
        best = min(RATES, key=lambda rate: np.mean(by_rate[rate]))
        unbroken = norm.replace("-", "\u2011")
        assert f"| **{unbroken}** | {method} | {up_to} | {best:g} ({np.mean(by_rate[best]):.2g}) |" in told
