"""The race page without a browser: its controls, its table of lanes, its figures, and what it says to bad input."""

import base64
import io
import math
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import downloads
from dashboard.config import RaceConfig
from dashboard.engine import Engine, hold
from dashboard.figures.race import lane_styles, overlay, race_figures
from dashboard.lane_phases import lane_phases
from dashboard.live import FREQUENCY_LOSS, frequency_loss
from dashboard.presets import PRESETS, lane, task_race
from dashboard.race_lanes import Shared, lane_table, lanes_of, shared_settings
from dashboard.store import FINISHED, Store
from demo_models import TASKS
from radam_core.frames import encode_frame, schedule_columns
from radam_core.theory import first_rectified_step, rectification

PAGE = str(Path(__file__).resolve().parents[2] / "pages" / "race.py")
ALL = {name: preset.config for name, preset in PRESETS.items()} | {name: task_race(name) for name in TASKS}


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(PAGE, default_timeout=30)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def test_it_opens_with_figure_1_and_its_lanes():
    app = opened()
    assert not app.exception
    assert app.selectbox(key="race-choice").value == "figure-1"
    assert "Adam-2k (authors)" in app.expander[0].label


@pytest.mark.parametrize("choice", ["valley", "digits", "task: text"])
def test_another_race_fills_every_control(choice):
    app = opened()
    app.selectbox(key="race-choice").set_value(choice).run()
    assert not app.exception
    assert not app.error
    config = ALL[choice.removeprefix("task: ")]
    steps = next(control for control in app.number_input if control.label == "Steps")
    assert steps.value == config.steps


@pytest.mark.parametrize(
    ("label", "value", "sentence"),
    [
        ("Steps", 0, "steps must be at least 1 and at most 100000, got 0"),
        ("Batch size", 5000, "batch_size must be at least 1 and at most 1024, got 5000"),
        ("Seed", -1, "seed must be at least 0 and below 2.14748e+09, got -1"),
        ("Depth", 99, "numbers.depth must be a whole number from 1 to 12, got 99"),
    ],
)
def test_bad_input_gives_a_sentence_that_names_the_field(label, value, sentence):
    app = opened()
    next(control for control in app.number_input if control.label == label).set_value(value).run()
    assert not app.exception
    assert app.error[0].value.replace("\\", "") == sentence
    assert next(button for button in app.button if button.label == "Train").disabled


def test_a_beta2_too_small_for_radam_says_so_in_place():
    app = opened()
    assert not app.warning
    next(control for control in app.select_slider if "beta_2" in control.label).set_value(0.6).run()
    assert not app.exception
    assert app.warning[0].value.startswith("RAdam: At β₂ = 0.6")
    assert "SGD with momentum for ever" in app.warning[0].value


def test_a_link_opens_its_configuration():
    config = PRESETS["figure-1"].config.changed(steps=123, seed=7)
    app = opened(config=config.to_link())
    assert not app.exception
    assert not app.warning
    values = {control.label: control.value for control in app.number_input}
    assert (values["Steps"], values["Seed"]) == (123, 7)
    assert app.selectbox(key="race-choice").value == "from the link"


@pytest.mark.parametrize("text", ["nonsense", "<script>alert(1)</script>", "a" * 70_000, "eNoDAAAAAAE"])
def test_a_bad_link_gives_a_sentence_and_a_working_page(text):
    app = opened(config=text)
    assert not app.exception
    assert app.warning[0].value.startswith("The link cannot be opened: ")
    assert "<script>" not in app.warning[0].value
    assert app.selectbox(key="race-choice").value == "figure-1"


def test_a_label_from_a_link_is_text_and_never_markdown():
    label = "![](https://evil.example/p.png) <b>*x*</b>"
    config = RaceConfig.make({"task": "surfaces", "lanes": [lane("adam", 1e-3, label)]})
    app = opened(config=config.to_link())
    assert app.expander[0].label == (r"Lanes and settings: !\[\](https\://evil.example/p.png) \<b\>\*x\*\</b\>")
    for name, figure in race_figures(config).items():
        for trace in figure.data:
            assert "<b>" not in (trace.name or ""), name


@pytest.fixture
def stored(tmp_path) -> Iterator[tuple[Engine, list[str]]]:
    """An engine that trains nothing, with 25 finished runs: more than the page lists. The first is the oldest."""
    store = Store(tmp_path)
    engine = Engine(store)
    configs = [PRESETS["valley"].config.changed(seed=seed) for seed in range(25)]
    runs = [store.add(config)[0].id for config in configs]
    for run in runs:
        store.set_state(run, FINISHED)
    hold(engine)
    yield engine, runs
    hold(None)
    store.close()


def test_a_link_compares_with_a_run_however_old_it_is(stored):
    _, runs = stored
    app = opened(run=runs[-1], compare=runs[0])
    assert not app.exception
    assert not app.warning
    compare = app.selectbox(key="race-compare")
    assert compare.value == runs[0]
    assert app.query_params["compare"] == runs[0]
    assert len(compare.options) == 20  # 19 of the 20 most recent, without the one on screen, and the linked one


def test_a_run_is_not_compared_with_itself(stored):
    engine, runs = stored
    engine.store.touch(runs[-1])  # another time stamp is not another run
    app = opened(run=runs[-1], compare=runs[-1])
    assert app.selectbox(key="race-compare").value is None
    assert len(app.selectbox(key="race-compare").options) == 19


def test_a_run_to_compare_with_that_is_gone_gets_a_sentence(stored):
    _, runs = stored
    app = opened(run=runs[-1], compare="f" * 20)
    assert [warning.value for warning in app.warning] == [
        f"This server does not have the run {'f' * 20} that the link compares with."
    ]
    assert "compare" not in app.query_params


def test_a_link_may_not_name_files_of_this_machine():
    values = {"task": "text", "lanes": [lane("adam", 1e-3)], "settings": {"file": "/etc/passwd"}}
    named = RaceConfig.make(values)
    text = base64.urlsafe_b64encode(zlib.compress(named.to_json().encode())).decode().rstrip("=")
    app = opened(config=text)
    assert "text.file must be empty in a link" in app.warning[0].value
    assert app.selectbox(key="race-choice").value == "figure-1"


@pytest.mark.parametrize("name", ALL)
def test_controls_that_nobody_touched_give_the_same_configuration(name):
    config = ALL[name]
    lanes = lanes_of(lane_table(config), shared_settings(config))
    assert RaceConfig.make({**config.model_dump(), "lanes": lanes}).to_json() == config.to_json()


def test_shared_settings_reach_the_lanes_that_do_not_have_their_own():
    config = PRESETS["figure-1"].config
    lanes = lanes_of(lane_table(config), Shared(lr=1e-3, beta2=0.99, warmup="exponential", warmup_steps=50.0))
    by_label = {one["label"]: one for one in lanes}
    assert by_label["Adam"] == {"label": "Adam", "method": "adam", "lr": 1e-3, "beta2": 0.99, "seed": 0}
    assert by_label["SGD"]["lr"] == 1e-2
    assert (by_label["Adam + warmup"]["warmup"], by_label["Adam + warmup"]["warmup_steps"]) == ("exponential", 50.0)
    assert "warmup" not in by_label["RAdam"]


def test_a_new_row_needs_only_a_method():
    table = pd.concat([lane_table(PRESETS["digits"].config), pd.DataFrame([{"method": "gi-adam"}, {}])])
    last = lanes_of(table, Shared(lr=1e-3, beta2=0.999))[-1]
    assert last == {"method": "gi-adam", "lr": 1e-3, "label": "GI-Adam"}


@pytest.mark.parametrize("name", ["figure-1", "valley", "digits"])
def test_every_lane_has_a_line_of_its_own_in_every_figure(name):
    config = PRESETS[name].config
    styles = lane_styles(config)
    assert len({(style.color, style.dash) for style in styles}) == len(styles)
    figures = race_figures(config)
    for kind in ("loss", "metric", "schedule", "updates", "norms", "variance"):
        lanes = {trace.meta["lane"] for trace in figures[kind].data if trace.meta}
        assert lanes == set(range(len(config.lanes))), kind
    assert ("surface" in figures) == (config.task == "surfaces")


@pytest.mark.parametrize("name", ["figure-1", "warmups", "valley"])
def test_planned_curves_are_the_schedules_at_every_step(name):
    """Lines between the points that are sent, against the schedules themselves; jumps and bends included."""
    config = PRESETS[name].config
    lanes, t = config.entry().lanes, np.arange(1, config.steps + 1)
    exact, figure = schedule_columns(lanes, t), race_figures(config)["schedule"]
    plans = [trace for trace in figure.data if trace.meta]
    columns = [("multiplier", k) for k in range(len(lanes))] + [("lr", k) for k in range(len(lanes))]
    assert [trace.meta for trace in plans] == [{"of": "plan", "lane": k} for _, k in columns]
    for trace, (column, k) in zip(plans, columns, strict=True):
        drawn, own = np.interp(t, trace.x, trace.y), exact[column][:, k]
        np.testing.assert_allclose(drawn, own, atol=1e-3 * own.max())
    assert all(len(trace.x) < 300 for trace in plans)


def test_phases_of_a_lane_follow_from_its_settings():
    config = PRESETS["figure-1"].config.changed(steps=1000)
    phases = {lane.label: lane_phases(lane, config.steps) for lane in config.entry().lanes}
    assert phases["Adam"] == [(1, "learning")]
    assert phases["Adam + warmup"] == [(1, "warming up"), (100, "learning")]  # t / 200 reaches a half at t = 100
    assert phases["Adam-2k"] == [(1, "frozen"), (201, "learning")]
    assert phases["SGD"] == [(1, "momentum-only")]
    first = first_rectified_step(0.999, 4.0)
    half = first + int(np.argmax(rectification(np.arange(first, 1001), 0.999) >= 0.5))
    assert phases["RAdam"] == [(1, "momentum-only"), (first, "warming up"), (half, "learning")]


def test_a_compared_run_is_dashed_and_marked():
    config = PRESETS["digits"].config
    figures = race_figures(config)
    count = len(figures["loss"].data)
    overlay(figures, race_figures(config.changed(seed=1), compared=True))
    added = figures["loss"].data[count:]
    assert len(added) == 2 * len(config.lanes)
    assert all(trace.meta["run"] == 1 for trace in added)
    assert {trace.line.dash for trace in added if trace.meta.get("smooth")} == {"dash"}


def test_the_frequency_baseline_is_the_entropy_of_the_target_tokens():
    from demo_models.numbers import _number_pairs

    counts = Counter(word for _, target in _number_pairs() for word in (*target, "</s>"))
    total = sum(counts.values())
    entropy = -sum(n / total * math.log(n / total) for n in counts.values())
    assert FREQUENCY_LOSS["numbers"] == pytest.approx(entropy, abs=5e-4)
    config = PRESETS["figure-1"].config
    assert frequency_loss(config) == FREQUENCY_LOSS["numbers"]
    assert frequency_loss(config.changed(settings={"label_smoothing": 0.1})) is None
    assert frequency_loss(PRESETS["digits"].config) is None


def test_records_hold_every_recorded_step_of_every_lane():
    from dashboard.headless import run

    recording = run("valley", steps=200, evaluate_every=100)
    table = downloads.records(recording.config, [encode_frame(frame) for frame in recording.frames])
    lanes = len(recording.config.lanes)
    assert len(table) == len(recording.steps) * lanes
    np.testing.assert_array_equal(table["loss"].to_numpy().reshape(-1, lanes), recording.column("loss"))
    assert sorted(table.dropna(subset="distance")["step"].unique()) == [100, 200]
    parquet = pd.read_parquet(io.BytesIO(downloads.as_parquet(table)))
    pd.testing.assert_frame_equal(parquet, table, check_dtype=False)
    csv = pd.read_csv(io.BytesIO(downloads.as_csv(table)))
    assert list(csv.columns) == list(table.columns)


@pytest.mark.parametrize(
    ("preset", "metric", "measured_every", "changes"),
    [
        ("valley", "distance", 50, {"steps": 200}),  # recorded every 20 steps, and the last 20 of all
        ("digits", "accuracy", 25, {"steps": 60, "batch_size": 2, "settings": {"width": 2}}),  # every 2
    ],
)
def test_records_hold_what_was_measured_between_the_recorded_steps(preset, metric, measured_every, changes):
    from dashboard.headless import run

    recording = run(preset, evaluate_every=measured_every, **changes)
    table = downloads.records(recording.config, [encode_frame(frame) for frame in recording.frames])
    assert set(recording.metrics) - set(recording.steps.tolist()), "all measured steps were recorded"
    for step, values in recording.metrics.items():
        rows = table[table["step"] == step]
        assert list(rows["lane"]) == [lane.label for lane in recording.config.lanes]
        np.testing.assert_array_equal(rows[metric], values[metric])
        assert rows["lr"].notna().all() == (step in recording.steps)
        assert rows["branch"].notna().all() == (step in recording.steps)
    recorded = table[table["step"].isin(recording.steps)]
    np.testing.assert_array_equal(
        recorded["loss"].to_numpy().reshape(len(recording.steps), -1), recording.column("loss")
    )
    assert len(table) == len(set(recording.metrics) | set(recording.steps.tolist())) * len(recording.config.lanes)
    assert table["step"].is_monotonic_increasing
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(downloads.as_parquet(table))), table, check_dtype=False)
