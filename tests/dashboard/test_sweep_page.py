"""The sweep page by Streamlit's AppTest, without workers: its controls make a configuration, or a sentence."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from tests.dashboard.opening import HOSTILE, components, go_to, open_page


def labels(app: AppTest) -> list[str]:
    """The lanes that the page draws."""
    (element,) = components(app, "radam_lab_sweep")
    return json.loads(element.proto.bytes)["drawn"]["labels"]


def field(app: AppTest, label: str):
    return next(
        one for one in [*app.text_input, *app.number_input, *app.selectbox, *app.multiselect] if one.label == label
    )


@pytest.mark.parametrize("preset", SWEEPS)
def test_every_preset_opens_by_its_name(preset):
    app = open_page("sweep", preset=preset)
    assert not app.exception
    assert not app.warning
    assert labels(app) == [cell.lane.label for cell in SWEEPS[preset].config.cells]
    assert field(app, "Sweep").value == preset


def test_the_grid_follows_its_controls_and_survives_a_change_of_page():
    app = open_page("sweep")
    field(app, "Learning rates").set_value("0.001 to 0.1 in 3").run()
    field(app, "Seeds").set_value(1).run()
    field(app, "Methods").set_value(["RAdam", "Adam + linear warmup"]).run()
    assert not app.exception
    expected = ["RAdam, lr 0.001", "RAdam, lr 0.01", "RAdam, lr 0.1"]
    assert labels(app) == [*expected, *(text.replace("RAdam", "Adam + linear warmup") for text in expected)]
    config = SweepConfig.from_link("".join(app.query_params["config"]))
    assert config.contenders[1].lane == {"warmup_steps": 200}  # not the method's own 2,000, of 500 steps
    go_to(app, "race")
    go_to(app, "sweep")
    assert not app.exception
    assert field(app, "Learning rates").value == "0.001 to 0.1 in 3"
    assert len(labels(app)) == 6


@pytest.mark.parametrize(
    ("label", "value", "sentence"),
    [
        ("Learning rates", "fast", "lr must be numbers"),
        ("Learning rates", "", "the grid is empty"),
        ("Learning rates", "0", "lr must be greater than 0"),
        ("Learning rates", "0.1, 0.1", "must have different values"),
        ("Learning rates", "1e-3 to 1e-1 in 500", "at most 1,000 cells"),
        ("β₂", "1.5", "beta2 must be less than 1"),
        ("Seeds", 0, "seeds must be from 1 to 100"),
        ("Steps", 0, "steps must be at least 1"),
        ("Methods", [], "contenders must hold at least one entry"),
    ],
)
def test_a_value_that_is_not_allowed_gets_a_sentence_and_keeps_the_charts(label, value, sentence):
    app = open_page("sweep")
    before = labels(app)
    field(app, label).set_value(value).run()
    assert not app.exception
    (error,) = app.error
    assert sentence in error.value.replace("\\", "")
    assert labels(app) == before
    assert app.button[0].disabled


@pytest.mark.parametrize("name", ["preset", "config", "run"])
@pytest.mark.parametrize("value", [value for value in HOSTILE if value])
def test_a_hostile_link_gives_a_working_page_and_a_sentence(name, value):
    app = open_page("sweep", **{name: value})
    assert not app.exception
    assert len(app.warning) == 1
    assert labels(app)
