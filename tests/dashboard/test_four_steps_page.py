"""The page of Appendix C by Streamlit's AppTest, with a store of its own and without workers."""

import json
from contextlib import closing

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.asked.config import PHASES, RaceConfig
from dashboard.asked.four_steps import Choice, four_steps
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.evidence.outcomes import FINISHED, Outcome
from dashboard.forms.sweep_run import race_of_cells
from dashboard.headless import records
from dashboard.recorded.form import FOLDER
from dashboard.recorded.loading import load
from dashboard.runs.identity import lane_ids, recorded_id, run_id
from dashboard.runs.outlines import to_json
from dashboard.runs.states import STOPPED
from dashboard.runs.store import Store
from dashboard.words import four_steps_words as words
from tests.dashboard.opening import components, go_to, open_page
from tests.dashboard.test_pages import charts


def table(app: AppTest) -> dict:
    """The table that the page draws before anything is trained."""
    (element,) = components(app, "radam_lab_four_steps")
    return json.loads(element.proto.bytes)["drawn"]["start"]["table"]


def labels(config: SweepConfig) -> list[str]:
    return [one.label for one in config.contenders]


def rows(app: AppTest) -> list[str]:
    return [row[0] for row in table(app)["rows"]]


def field(app: AppTest, label: str):
    return next(one for one in [*app.selectbox, *app.select_slider, *app.button_group] if one.label == label)


def test_it_opens_with_the_papers_table_and_says_what_is_not_there():
    app = open_page("four-steps")
    assert not app.exception
    assert app.title[0].value == "Do four steps matter?"
    assert rows(app) == labels(SWEEPS["appendix-c"].config)
    assert list(charts(app)) == ["four-steps-planned"]
    assert "has not been trained at these settings yet" in app.info[0].value
    assert app.button[0].disabled
    said = " ".join(element.value for element in [*app.markdown, *app.caption])
    assert "not measured here" in said
    assert "method `momentum`" in said


def test_the_controls_make_the_sweep_and_survive_a_change_of_page():
    app = open_page("four-steps")
    field(app, "Task").set_value("numbers").run()
    assert rows(app) == labels(SWEEPS["appendix-c-numbers"].config)
    field(app, "Learning rate").set_value(0.002)
    field(app, "Steps 1-4").set_value("gi-adam")
    field(app, "Seeds").set_value(2).run()
    assert not app.exception
    made = four_steps("numbers", 0.002, Choice("gi-adam", "radam", "radam"), 2)
    assert rows(app) == labels(made)
    assert rows(app)[-1] == "GI-Adam for 1-4, then RAdam"
    expected = {"task": "numbers", "lr-numbers": "0.002", "first": "gi-adam", "seeds": "2"}
    assert {name: "".join(app.query_params[name]) for name in app.query_params} == expected
    go_to(app, "rectification")
    go_to(app, "four-steps")
    assert not app.exception
    assert rows(app) == labels(made)
    field(app, "Task").set_value("digits").run()
    assert field(app, "Learning rate").value == 0.1  # each task keeps its own


def test_fewer_seeds_than_the_one_that_is_looked_at():
    app = open_page("four-steps", seed="4", step="3")
    assert not app.warning
    assert field(app, "Seed").value == 4
    field(app, "Seeds").set_value(2).run()
    assert not app.exception
    assert field(app, "Seed").value == 0


@pytest.mark.parametrize(
    ("query", "allowed"),
    [({"first": "sgd"}, f"one of {', '.join(PHASES)}."), ({"seed": "5"}, "one of 0, 1, 2, 3, 4")],
    ids=str,
)
def test_a_link_that_asks_for_what_is_not_allowed_gets_a_sentence(query, allowed):
    app = open_page("four-steps", **query)
    assert not app.exception
    assert f"Allowed: {allowed}" in app.warning[0].value


@pytest.fixture
def engine(tmp_path):
    with closing(Store(tmp_path)) as store:
        made = Engine(store)  # never started: it knows what is in its store
        set_running_engine(made)
        yield made
        set_running_engine(None)


def test_what_the_store_has_of_the_first_steps_is_drawn_whichever_run_it_is_from(engine):
    config = four_steps("surfaces", 0.01, seeds=1)
    engine.store.add(config)
    for place, lane in enumerate(lane_ids(config)[:2]):
        engine.store.add_records((lane, part[0]) for part in records(config.only([place]).changed(steps=10)))
    app = open_page("four-steps", task="surfaces", seeds="1", **{"lr-surfaces": "0.01"})
    assert not app.exception
    assert not app.info
    drawn = charts(app)
    assert [trace["name"] for trace in drawn["four-steps-gradients"]["data"]] == labels(config)[:2]
    assert drawn["four-steps-updates"]["layout"]["yaxis"]["title"]["text"] == "update, RMS"
    assert "step 8" in drawn["four-steps-layers"]["layout"]["yaxis"]["title"]["text"]
    assert any(f"Not there yet at seed 0: {labels(config)[2]}" in caption.value for caption in app.caption)


def test_a_choice_of_ones_own_is_seen_beside_what_was_trained_before(engine):
    config = four_steps("surfaces", 0.01, seeds=1)
    engine.store.add(config)
    ended = Outcome(FINISHED, config.steps, 5.0, 0.25, losses=(5.0,), latest={"distance": 0.5})
    engine.store.add_outlines({lane_ids(config)[0]: to_json(ended)})
    app = open_page("four-steps", task="surfaces", seeds="1", first="gi-adam", **{"lr-surfaces": "0.01"})
    assert not app.exception
    (element,) = components(app, "radam_lab_four_steps")
    told = json.loads(element.proto.bytes)
    assert told["run"]["id"] is None
    assert told["known"]["table"]["rows"][0][:6] == ["RAdam", "0.5", "–", "0.25", "–", "1 of 1"]
    assert told["known"]["table"]["rows"][-1][:2] == ["GI-Adam for 1-4, then RAdam", "…"]
    assert words.AS_RECORDED not in [caption.value for caption in app.caption]


def test_a_choice_of_ones_own_is_seen_beside_what_was_recorded(engine):
    """One row that was changed took all recorded ones away."""
    load(engine.store, FOLDER)
    app = open_page("four-steps", first="gi-adam")
    assert not app.exception
    (element,) = components(app, "radam_lab_four_steps")
    told = json.loads(element.proto.bytes)
    assert told["run"]["id"] is None
    *recorded, own = told["known"]["table"]["rows"]
    assert [row[0] for row in recorded] == labels(SWEEPS["appendix-c"].config)
    assert [row[5] for row in [*recorded, own]] == [*["5 of 5"] * len(recorded), "0 of 5"]
    assert words.AS_RECORDED in [caption.value for caption in app.caption]


@pytest.mark.parametrize("task", ["numbers", "digits"])
def test_a_recording_without_single_steps_says_so(engine, task):
    """The sweeps are recorded by their outlines; of seed 0 a race has the first steps, too."""
    load(engine.store, FOLDER)
    for seed, told in (
        ("0", []),
        ("1", ["Seed 1 was recorded without its single steps: press *Train* above to run it here."]),
    ):
        app = open_page("four-steps", task=task, seed=seed)
        assert not app.exception
        assert [info.value for info in app.info] == told


def test_what_somebody_else_stopped_does_not_take_the_place_of_the_recording(engine):
    load(engine.store, FOLDER)
    config = four_steps("digits", 0.1)
    engine.store.add(config)
    before = open_page("four-steps")
    assert shown(before) == run_id(config)
    engine.store.set_state(run_id(config), STOPPED)
    assert shown(before.run()) == run_id(config), "who saw it under way sees how it ended"
    assert shown(open_page("four-steps")) == recorded_id(config.to_json())


def shown(app: AppTest) -> str | None:
    (element,) = components(app, "radam_lab_four_steps")
    return json.loads(element.proto.bytes)["run"]["id"]


def test_a_look_at_a_recorded_row_trains_nothing(engine):
    """A regression: *Race* in the row of a recording started five lanes, unasked."""
    load(engine.store, FOLDER)
    run = engine.recorded_sweep(four_steps("digits", 0.1))
    address = race_of_cells(engine, run, [0, 1])
    assert set(address) == {"config"}
    assert RaceConfig.from_link(address["config"]).lanes == run.config.race_of([0, 1]).lanes
    assert engine.store.recent() == []
