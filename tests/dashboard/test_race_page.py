"""The race page without a browser: its controls, its table of lanes, its figures, and what it says to bad input."""

import base64
import io
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.asked.config import RaceConfig
from dashboard.asked.lane_phases import FROZEN, MOMENTUM, TRAINING, WARMING_UP, lane_phases
from dashboard.asked.lane_states import LOSS_STATES, STATES
from dashboard.asked.presets import PRESETS, lane, task_race
from dashboard.browser.race_panels import panel_figures
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.figures.methods import METHOD_ROWS
from dashboard.figures.race import lane_styles, overlay
from dashboard.forms import race_form
from dashboard.forms.race_lanes import Shared, lane_table, lanes_of, shared_settings
from dashboard.navigation import PAGES
from dashboard.runs import downloads
from dashboard.runs.states import OVER, STOPPED
from dashboard.runs.store import Store
from dashboard.words.race_words import glossary, story
from demo_models import TASKS
from radam_core.race.frames import schedule_columns
from radam_core.theory import first_rectified_step, rectification, variance_log_psi_exact
from radam_core.torch_methods import LANE_METHODS
from tests.dashboard.engines import plain
from tests.dashboard.opening import components, go_to, open_page

ALL = {name: preset.config for name, preset in PRESETS.items()} | {name: task_race(name) for name in TASKS}


def opened(**query: str) -> AppTest:
    return open_page("race", **query)


def control(kind: Any, label: str) -> Any:
    """The control of a kind that has this label."""
    return next(one for one in kind if one.label == label)


def test_it_opens_with_figure_1_and_its_lanes():
    app = opened()
    assert not app.exception
    assert app.selectbox(key="race-choice").value == "figure-1"


def test_a_race_that_the_list_does_not_offer_is_passed_over(monkeypatch):
    """A visitor cannot choose one, but a program can send any text in place of it."""
    session = {"race-choice": "true"}
    monkeypatch.setattr(race_form.st, "session_state", session)
    race_form._open_choice()
    assert session == {"race-choice": "true"}


@pytest.mark.parametrize("choice", ["valley", "digits", "task: text"])
def test_another_race_fills_every_control(choice):
    app = opened()
    app.selectbox(key="race-choice").set_value(choice).run()
    assert not app.exception
    assert not app.error
    config = ALL[choice.removeprefix("task: ")]
    assert control(app.number_input, "Steps").value == config.steps


@pytest.mark.parametrize(
    ("label", "value", "sentence"),
    [
        ("Steps", 0, "steps must be at least 1 and at most 100,000, got 0"),
        ("Batch size", 5000, "batch_size must be at least 1 and at most 1,024, got 5000"),
        ("Seed", -1, "seed must be at least 0 and below 2,147,483,648, got -1"),
        ("Half batches: first N steps", 2000, "half_batch_steps must be at least 0 and at most 1,000, got 2000"),
        ("Depth", 99, "numbers.depth must be a whole number from 1 to 12, got 99"),
    ],
)
def test_bad_input_gives_a_sentence_that_names_the_field(label, value, sentence):
    app = opened()
    control(app.number_input, label).set_value(value).run()
    assert not app.exception
    assert app.error[0].value.replace("\\", "") == sentence
    assert next(button for button in app.button if button.label == "Train").disabled


def test_a_beta2_too_small_for_radam_says_so_in_place():
    app = opened()
    assert not app.warning
    control(app.select_slider, "β₂, memory of the squares").set_value(0.6).run()
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
    config = RaceConfig.make({"task": "surfaces", "lanes": [lane("radam", 1e-3, label, beta2=0.5)]})
    app = opened(config=config.to_link())
    assert app.warning[0].value.startswith(r"!\[\](https\://evil.example/p.png) \<b\>\*x\*\</b\>: At β₂ = 0.5")
    for name, figure in panel_figures(config).items():
        for trace in figure.data:
            assert "<b>" not in (trace.name or ""), name


@pytest.mark.parametrize(("link", "choice"), [({"preset": "valley"}, "valley"), ({"task": "text"}, "task: text")])
def test_a_link_names_a_preset_or_a_task(link, choice):
    app = opened(**link)
    assert not app.exception
    assert not app.warning
    assert app.selectbox(key="race-choice").value == choice
    assert {name: app.query_params[name] for name in app.query_params} == link


@pytest.mark.parametrize("link", [{"preset": "vally"}, {"task": "<b>"}, {"hide": "2-x"}, {"hide": "0"}])
def test_a_name_that_a_link_may_not_say_gets_a_sentence_with_those_it_may(link):
    app = opened(**link)
    ((field, value),) = link.items()
    allowed = {"preset": "figure-1, collapse", "task": "numbers, digits", "hide": "2-5-c1"}[field]
    sentence = app.warning[0].value.replace("\\", "")
    assert sentence.startswith(f"The link cannot be opened: {field} must be ")
    assert allowed in sentence
    assert value in sentence
    assert app.selectbox(key="race-choice").value == "figure-1"


@pytest.mark.parametrize("other", [page.name for page in PAGES if page.name != "race"])
def test_who_comes_back_by_the_menu_finds_everything_as_it_was(other):
    app = opened()
    app.selectbox(key="race-choice").set_value("digits").run()
    control(app.number_input, "Steps").set_value(77).run()
    control(app.select_slider, "Learning rate").set_value(0.03).run()
    control(app.selectbox, "Device").set_value("cpu").run()
    go_to(app, other)
    assert not app.exception
    go_to(app, "race")
    assert not app.exception
    assert app.selectbox(key="race-choice").value == "digits"
    assert control(app.number_input, "Steps").value == 77
    assert control(app.select_slider, "Learning rate").value == 0.03
    assert control(app.selectbox, "Device").value == "cpu"
    asked = RaceConfig.from_link(app.query_params["config"])  # what a reload would open
    assert (asked.steps, asked.device, asked.lanes[0].lr) == (77, "cpu", 0.03)


def test_what_is_trained_has_a_link_of_a_few_letters(stored):
    engine, runs = stored
    app = opened(run=runs[-1], hide="2-5")
    assert {name: app.query_params[name] for name in app.query_params} == {"run": runs[-1], "hide": "2-5"}
    short, whole = (block.value for block in app.code)
    assert short.endswith(f"race?run={runs[-1]}&hide=2-5")
    config = parse_qs(urlsplit(whole).query)["config"][0]
    assert RaceConfig.from_link(config) == engine.run(runs[-1]).config


@pytest.mark.parametrize("name", ALL)
def test_every_race_says_what_it_is_about_and_what_its_methods_are(name):
    choice = name if name in PRESETS else f"task: {name}"
    about, words = story(choice, ALL[name]), glossary(ALL[name])
    assert TASKS[ALL[name].task].story in about
    assert name not in PRESETS or PRESETS[name].story in about
    for one in ALL[name].lanes:
        assert f"**{LANE_METHODS[one.method].label}**: {METHOD_ROWS[one.method].about}" in words
    assert all(f"**{name}**: {rule}" in words for name, rule in (STATES | LOSS_STATES).items())


def test_every_method_and_every_state_of_a_lane_is_explained():
    assert set(METHOD_ROWS) == set(LANE_METHODS)
    assert {FROZEN, MOMENTUM, WARMING_UP, TRAINING, *OVER} <= set(STATES)


def test_a_setting_that_is_not_allowed_leaves_the_charts_where_they_are():
    app = opened(preset="digits")
    control(app.number_input, "Steps").set_value(0).run()
    assert "steps must be at least 1" in app.error[0].value
    (live,) = components(app, "radam_lab_race")
    drawn = json.loads(live.proto.bytes)["drawn"]
    assert [lane["label"] for lane in drawn["specs"][0]["lanes"]] == [
        one.label for one in PRESETS["digits"].config.lanes
    ]


@pytest.fixture
def stored(tmp_path) -> Iterator[tuple[Engine, list[str]]]:
    """An engine that trains nothing, with 25 finished runs: more than the page lists. The first is the oldest."""
    store = Store(tmp_path)
    engine = Engine(store)
    configs = [PRESETS["valley"].config.changed(seed=seed) for seed in range(25)]
    runs = [store.add(config, STOPPED).id for config in configs]
    set_running_engine(engine)
    yield engine, runs
    set_running_engine(None)
    store.close()


def test_a_run_is_opened_from_the_list(stored):
    _, runs = stored
    app = opened()
    app.selectbox(key="race-open").set_value(runs[7]).run()
    next(button for button in app.button if button.label == "Open").click().run()
    assert not app.exception
    assert app.query_params["run"] == runs[7]
    assert control(app.number_input, "Seed").value == 7  # the eighth of the fixture's configurations


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
    config = PRESETS["collapse"].config
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
    assert len({style.dash for style in styles}) == len(styles), "colour alone tells two lanes apart"
    figures = panel_figures(config)
    for kind in ("loss", "metric", "schedule", "updates", "norms", "variance"):
        lanes = {trace.meta["lane"] for trace in figures[kind].data if trace.meta}
        assert lanes == set(range(len(config.lanes))), kind
    assert ("surface" in figures) == (config.task == "surfaces")


@pytest.mark.parametrize("half_batch_steps", [0, 40])
def test_the_spread_of_psi_is_within_one_parameter_or_across_them_and_never_both_on_one_axis(half_batch_steps):
    config = PRESETS["collapse"].config.changed(half_batch_steps=half_batch_steps)
    config = config.changed(lanes=[*config.lanes[:2], lane("radam", 6e-3, beta2=0.9), lane("gi-adam", 6e-3, beta2=0.8)])
    figure = panel_figures(config)["variance"]
    axes: dict[str, set[str]] = {}
    for trace in figure.data:
        axes.setdefault(trace.yaxis, set()).add(trace.meta["column"] if trace.meta else trace.name)
    theories = {"psi_within", "theory, β₂ = 0.9", "theory, β₂ = 0.999"}  # GI-Adam's is another average
    between = [{"kurtosis", "Gaussian"}] if half_batch_steps else []
    assert list(axes.values()) == [theories, *between, {"psi_across"}]
    titles = [axis.title.text for axis in figure.select_yaxes()]
    assert titles[0] == "Var[ln ψ]<br>within one"
    assert titles[-1] == "Var[ln ψ]<br>across"
    for trace in (trace for trace in figure.data if (trace.name or "").startswith("theory")):
        expected = variance_log_psi_exact(np.array(trace.x), float(trace.name.split("= ")[1]))
        np.testing.assert_allclose(np.array(trace.y, float), expected, rtol=1e-4)
        assert (trace.x[0], trace.x[-1]) == (1, config.steps)
    said = [note.text for note in figure.layout.annotations]
    assert ["Half batches" in text for text in said] == ([] if half_batch_steps else [True])


def test_a_batch_of_one_has_no_halves():
    app = opened()
    control(app.number_input, "Half batches: first N steps").set_value(20).run()
    assert not app.error
    control(app.number_input, "Batch size").set_value(1).run()
    assert "half_batch_steps must be 0 where batch_size is 1" in app.error[0].value.replace("\\", "")


@pytest.mark.parametrize("name", ["figure-1", "warmups", "valley"])
def test_planned_curves_are_the_schedules_at_every_step(name):
    """Lines between the points that are sent, against the schedules themselves; jumps and bends included."""
    config = PRESETS[name].config
    lanes, t = config.plan().lanes, np.arange(1, config.steps + 1)
    exact, figure = schedule_columns(lanes, t), panel_figures(config)["schedule"]
    plans = [trace for trace in figure.data if trace.meta]
    columns = [("multiplier", k) for k in range(len(lanes))] + [("lr", k) for k in range(len(lanes))]
    assert [trace.meta for trace in plans] == [{"of": "plan", "lane": k} for _, k in columns]
    for trace, (column, k) in zip(plans, columns, strict=True):
        drawn, own = np.interp(t, trace.x, trace.y), exact[column][:, k]
        np.testing.assert_allclose(drawn, own, atol=1e-3 * own.max())
    assert all(len(trace.x) < 300 for trace in plans)


def test_phases_of_a_lane_follow_from_its_settings():
    config = PRESETS["collapse"].config.changed(steps=1000)
    phases = {lane.label: lane_phases(lane, config.steps) for lane in config.plan().lanes}
    assert phases["Adam"] == [(1, "training")]
    assert phases["Adam + warmup"] == [(1, "warming up"), (100, "training")]  # t / 200 reaches a half at t = 100
    assert phases["Adam-2k"] == [(1, "frozen"), (51, "training")]
    assert phases["SGD"] == [(1, "momentum-only")]
    first = first_rectified_step(0.999, 4.0)
    half = first + int(np.argmax(rectification(np.arange(first, 1001), 0.999) >= 0.5))
    assert phases["RAdam"] == [(1, "momentum-only"), (first, "warming up"), (half, "training")]


def test_a_compared_run_is_dashed_and_marked():
    config = PRESETS["digits"].config
    figures = panel_figures(config)
    count = len(figures["loss"].data)
    overlay(figures, panel_figures(config.changed(seed=1), lane_styles(config, beside=lane_styles(config))))
    added = figures["loss"].data[count:]
    assert len(added) == 2 * len(config.lanes)
    assert all(trace.meta["run"] == 1 for trace in added)
    dashes = [trace.line.dash for trace in added if trace.meta.get("smooth")]
    assert "solid" not in dashes
    assert len(set(dashes)) == len(dashes)


@pytest.mark.parametrize(
    ("shown", "compared"), [("figure-1", "warmups"), ("warmups", "figure-1"), ("digits", "digits")]
)
def test_no_two_lanes_of_a_comparison_look_alike(shown, compared):
    styles = lane_styles(PRESETS[shown].config)
    styles += lane_styles(PRESETS[compared].config, beside=styles)
    assert len({(style.color, style.dash) for style in styles}) == len(styles)
    assert "solid" not in {style.dash for style in styles[len(PRESETS[shown].config.lanes) :]}


def test_the_frequency_baseline_is_the_entropy_of_the_target_tokens():
    from demo_models.numbers import _number_pairs

    counts = Counter(word for _, target in _number_pairs() for word in (*target, "</s>"))
    total = sum(counts.values())
    entropy = -sum(n / total * math.log(n / total) for n in counts.values())
    assert TASKS["numbers"].baseline == pytest.approx(entropy, abs=5e-4)
    config = PRESETS["figure-1"].config
    assert TASKS["numbers"].baseline_at(config.settings) == TASKS["numbers"].baseline
    assert TASKS["numbers"].baseline_at(config.changed(settings={"label_smoothing": 0.1}).settings) is None
    assert TASKS["digits"].baseline_at(PRESETS["digits"].config.settings) is None


def check_losses(table: pd.DataFrame, recording: Any) -> None:
    for config, recorded in zip(recording.config.lanes, recording.lanes, strict=True):
        rows = table[(table["lane"] == config.label) & table["step"].isin(recorded.steps)]
        assert rows["step"].tolist() == recorded.steps.tolist()
        np.testing.assert_array_equal(rows["loss"], recorded.column("loss"))


def told_steps(lane):
    """At which a lane has something to say: recorded, evaluated, or a histogram step with the spread of psi."""
    return {*lane.steps.tolist(), *lane.metrics, *(t for part in lane.parts for t in part.spread)}


def test_records_hold_every_recorded_step_of_every_lane():
    from dashboard.headless import run

    config = PRESETS["valley"].config.changed(steps=200, evaluate_every=100)
    recording = run(config)
    table = downloads.records(config, plain(config))
    assert len(table) == sum(len(told_steps(lane)) for lane in recording.lanes) < 41 * len(config.lanes)
    check_losses(table, recording)
    assert sorted(table.dropna(subset="distance")["step"].unique()) == [100, 200]
    parquet = pd.read_parquet(io.BytesIO(downloads.as_parquet(table)))
    pd.testing.assert_frame_equal(parquet, table, check_dtype=False)
    csv = pd.read_csv(io.BytesIO(downloads.as_csv(table)))
    assert list(csv.columns) == list(table.columns)


@pytest.mark.parametrize(
    ("preset", "metric", "measured_every", "changes"),
    [
        ("valley", "distance", 30, {"steps": 200}),  # recorded every 20 steps, and the last 20 of all
        ("digits", "accuracy", 15, {"steps": 60, "batch_size": 2, "settings": {"width": 2}}),  # every 2
    ],
)
def test_records_hold_what_was_measured_between_the_recorded_steps(preset, metric, measured_every, changes):
    from dashboard.headless import run

    recording = run(preset, evaluate_every=measured_every, **changes)
    table = downloads.records(recording.config, plain(recording.config))
    measured = recording.lanes[0].metrics
    assert set(measured) - set(recording.steps.tolist()), "all measured steps were recorded"
    for step in measured:
        rows = table[table["step"] == step]
        going = [k for k, lane in enumerate(recording.lanes) if step in lane.metrics]
        assert list(rows["lane"]) == [recording.config.lanes[k].label for k in going]
        values = [recording.lanes[k].metrics[step][metric] for k in going]
        np.testing.assert_allclose(rows[metric], values, rtol=1e-7)
        assert rows["lr"].notna().all() == (step in recording.steps)
        assert rows["branch"].notna().all() == (step in recording.steps)
    check_losses(table, recording)
    assert len(table) == sum(len(told_steps(lane)) for lane in recording.lanes)
    assert table["step"].is_monotonic_increasing
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(downloads.as_parquet(table))), table, check_dtype=False)


def test_what_is_said_of_a_preset_that_was_changed_is_of_its_own_settings():
    app = open_page("race")
    assert "**figure-1**: The race" in " ".join(caption.value for caption in app.caption)
    next(one for one in app.select_slider if one.label == "Learning rate").set_value(0.003).run()
    said = " ".join(caption.value for caption in app.caption)
    assert "**figure-1, changed.** At its own settings: The race" in said
