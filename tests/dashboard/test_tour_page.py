"""The guided tour without a browser: every step closed until a prediction, then open; its address, and a class."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.asked.tour import SKIPPED, STEPS, TourStep
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.figures.tour import CLASS, OWN, loss_curve_figure
from dashboard.runs.classes import Classes
from dashboard.runs.store import Store
from dashboard.tour import outcomes
from dashboard.tour.answers import answer
from dashboard.words.tour_words import QUESTIONS
from tests.dashboard.opening import components, go_to, open_page
from tests.dashboard.test_pages import charts

# A prediction of each step, as its address has it.
PREDICTED = {
    "lanes": "bc",
    "curve": "zyxwvutsrqp",
    "gradients": "1",
    "fan": "5",
    "length": "300",
    "seeds": "0.01_1",
    "models": "c",
    "cause": "b",
}
PLACES = {step.name: place for place, step in enumerate(STEPS, 1)}


@pytest.fixture
def classes(tmp_path: Path) -> Iterator[Classes]:
    """Of a server that does not train."""
    store = Store(tmp_path)
    set_running_engine(Engine(store))
    yield Classes(store.path)
    set_running_engine(None)
    store.close()


def prose(app: AppTest) -> str:
    return " ".join(element.value for element in app.markdown)


def button(app: AppTest, label: str):
    return next(one for one in app.button if one.label == label)


def said(app: AppTest, key: str) -> str:
    """In the address."""
    value = app.query_params[key]
    return value if isinstance(value, str) else value[0]


def names(app: AppTest, step: TourStep) -> list[str]:
    return [trace.get("name", "") for trace in charts(app)[f"tour-{step.name}"]["data"]]


def test_the_lesson_has_eight_steps_and_takes_45_minutes():
    assert len(STEPS) == 8
    assert sum(step.minutes for step in STEPS) == 45
    assert not [name for step in STEPS for name in outcomes.missing(step)]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_an_answer_stays_closed_until_a_prediction_is_made_and_then_both_are_on_one_chart(step):
    app = open_page("tour", step=str(PLACES[step.name]))
    assert not app.exception
    assert app.header[0].value.endswith(QUESTIONS[step.name])
    explained = answer(step.name, "")[:60]
    assert explained not in prose(app)
    if step.name == "curve":
        assert components(app, "radam_lab_draw_curve")
        assert button(app, "This is my prediction").disabled
        app.session_state["tour-draft-curve"] = PREDICTED["curve"]
        app.run()
    elif step.name == "cause":
        assert button(app, "This is my prediction").disabled
        app.radio(key="tour-draft-cause").set_value(step.form.options[1]).run()
    before = None if step.name == "curve" else names(app, step)
    button(app, "This is my prediction").click().run()
    assert not app.exception
    assert explained in prose(app)
    after = names(app, step)
    assert any(name.startswith(OWN) for name in after), "the prediction is on the chart"
    assert after != before
    assert f"p{PLACES[step.name]}" in app.query_params


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_step_can_be_skipped_and_predicted_again(step):
    app = open_page("tour", step=str(PLACES[step.name]))
    button(app, "Skip").click().run()
    assert not app.exception
    assert answer(step.name, "")[:60] in prose(app)
    assert said(app, f"p{PLACES[step.name]}") == SKIPPED
    assert not any(name.startswith(OWN) for name in names(app, step))
    button(app, "Predict again").click().run()
    assert answer(step.name, "")[:60] not in prose(app)


def test_a_link_and_the_menu_keep_every_prediction():
    query = {f"p{PLACES[name]}": code for name, code in PREDICTED.items()}
    app = open_page("tour", step="8", **query)
    assert not app.warning
    assert not app.exception
    link = "&".join(f"{key}={value}" for key, value in query.items())
    assert len(link) < 80, "links are short"
    app = go_to(go_to(app, "home"), "tour")
    assert {key: said(app, key) for key in query} == query
    for place in range(7, 0, -1):
        button(app, "Back").click().run()
        assert not app.exception
        assert app.header[0].value.startswith(f"{place}. ")
        assert any(name.startswith(OWN) for name in names(app, STEPS[place - 1]))


def test_a_drawn_curve_is_on_its_chart_as_it_was_drawn():
    step = STEPS[PLACES["curve"] - 1]
    drawn = loss_curve_figure(
        [], None, (step.form.steps, step.form.decode(PREDICTED["curve"])), [], step.form.steps, (0, 1), None
    )
    (drawn,) = drawn.data
    assert list(drawn["x"]) == list(step.form.steps)
    # z is the highest of 36 levels, each lower letter one of 35 steps below it
    height = (step.form.high - step.form.low) / 35
    assert list(drawn["y"]) == pytest.approx([10 ** (step.form.high - k * height) for k in range(11)])


@pytest.mark.usefixtures("classes")
@pytest.mark.parametrize("code", ["", "abc", "'; DROP TABLE classes; --", "<b>x</b>", "a" * 5000, "BCDFG"])
def test_a_class_that_is_none_gets_a_sentence(code):
    app = open_page("tour", **{"class": code, "view": "teacher"})
    assert not app.exception
    assert len(app.warning) == 1
    assert "class" in app.warning[0].value
    assert "class" not in app.query_params


def test_a_class_pools_its_predictions_and_its_teacher_sees_them(classes):
    teacher = open_page("tour")
    button(teacher, "Start a class").click().run()
    assert not teacher.exception
    code = said(teacher, "class")
    assert said(teacher, "view") == "teacher"
    assert "**0 predicted**" in prose(teacher)
    for own in ("bc", "c"):
        student = open_page("tour", **{"class": code})
        assert not student.warning
        assert CLASS not in " ".join(names(student, STEPS[0])), "others are not shown before one's own prediction"
        student.pills(key="tour-draft-lanes").set_value([STEPS[0].form.options["abcd".index(c)] for c in own]).run()
        button(student, "This is my prediction").click().run()
        assert any(name.startswith(CLASS) for name in names(student, STEPS[0]))
        button(student, "Predict again").click().run()
        button(student, "Skip").click().run()
    assert classes.pooled(code, "lanes") == (("bc", 1), ("c", 1)), "the first of each counts"
    teacher.run()
    assert "**2 predicted**" in prose(teacher)
    (shares,) = (t for t in charts(teacher)["tour-lanes"]["data"] if t.get("name", "").startswith(CLASS))
    assert shares["y"] == [0, 0.5, 1, 0]
    assert not any(trace.get("type") == "bar" for trace in charts(teacher)["tour-lanes"]["data"])
    teacher.toggle(key="tour-answer-lanes").set_value(True).run()
    assert answer("lanes", "")[:60] in prose(teacher)
    button(teacher, "My own tour").click().run()
    assert "view" not in teacher.query_params
    button(teacher, "Leave the class").click().run()
    assert "class" not in teacher.query_params


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_the_teachers_chart_of_every_step(classes, step):
    code = classes.open("teacher")
    for number, own in enumerate((PREDICTED[step.name], PREDICTED[step.name], SKIPPED)):
        classes.add(code, step.name, f"visitor {number}", own)
    app = open_page("tour", step=str(PLACES[step.name]), view="teacher", **{"class": code})
    assert not app.exception
    assert "**2 predicted**, 1 skipped" in prose(app)
    assert charts(app)[f"tour-{step.name}"]["data"]


def test_a_store_that_cannot_be_read_gets_a_sentence(classes):
    code = classes.open("teacher")
    app = open_page("tour", **{"class": code})
    classes.path.with_name("runs.sqlite-wal").unlink(missing_ok=True)
    classes.path.write_bytes(b"no database" * 1000)
    button(app, "Skip").click().run()
    assert not app.exception
    assert "not in your class" in app.warning[0].value


def test_what_is_not_recorded_gets_a_sentence(monkeypatch):
    monkeypatch.setattr(outcomes, "_is_here", lambda name: False)
    app = open_page("tour")
    assert not app.exception
    assert "is not recorded here" in app.info[0].value
    assert charts(open_page("tour", step="4")), "the fan needs no recording"


def test_the_link_to_this_page_opens_the_step_that_is_open():
    app = open_page("tour", step="8", p8="a", p1=PREDICTED["lanes"])
    app.session_state["tour-door"] = True
    app.run()
    assert not app.exception
    links = [element.value for element in app.code]
    assert links == [f"/tour?step=8&p1={PREDICTED['lanes']}&p8=a"]
