"""A class's pool: bounded in every direction, without names, and gone after a day. And the codes of predictions."""

import sqlite3
import time

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from dashboard.asked.tour import SKIPPED, STEPS, checked
from dashboard.runs import classes as module
from dashboard.runs.classes import CODE, Classes
from dashboard.runs.store import Store


@pytest.fixture
def classes(tmp_path):
    store = Store(tmp_path)
    yield Classes(store.path)
    store.close()


def test_a_visitor_has_one_prediction_a_step_and_the_first_counts(classes):
    code = classes.open("teacher")
    assert CODE.fullmatch(code)
    for step, said in (("fan", "3"), ("fan", "5"), ("length", "100")):
        classes.add(code, step, "a", said)
    classes.add(code, "fan", "b", "3")
    assert classes.pooled(code, "fan") == (("3", 2),)
    assert classes.pooled(code, "length") == (("100", 1),)


def test_classes_see_nothing_of_each_other_and_no_visitor_is_named(classes):
    one, other = classes.open("teacher"), classes.open("teacher")
    for code in (one, other):
        classes.add(code, "fan", "0123456789abcdef" * 2, "3")
    with sqlite3.connect(classes.path) as db:
        visitors = [row[0] for row in db.execute("select visitor from predictions")]
    db.close()
    assert len(set(visitors)) == 2, "the same visitor has another name in another class"
    assert not any("0123456789abcdef" in visitor for visitor in visitors)


def test_a_class_is_over_after_a_day_and_takes_its_predictions_along(classes):
    code = classes.open("teacher", now=time.time() - module.LIFE_SECONDS + 60)
    classes.add(code, "fan", "a", "3")
    assert classes.exists(code)
    assert not classes.exists(code, now=time.time() + 120)
    classes.open("another", now=time.time() + 120)
    assert classes.pooled(code, "fan") == ()
    with pytest.raises(ValueError, match="a class lasts 24 hours"):
        classes.add(code, "fan", "a", "3")


def test_everything_has_a_bound(classes, monkeypatch):
    monkeypatch.setattr(module, "MOST_PUPILS", 2)
    monkeypatch.setattr(module, "MOST_CLASSES", 3)
    code = classes.open("teacher")
    for visitor in "ab":
        classes.add(code, "fan", visitor, "3")
    with pytest.raises(ValueError, match="The class is full"):
        classes.add(code, "fan", "c", "3")
    classes.add(code, "length", "a", "100")
    with pytest.raises(ValueError, match="at most 40 letters"):
        classes.add(code, "length", "b", "x" * 41)
    for robot in range(5):
        classes.open(f"robot {robot}")
    assert classes.exists(code), "empty classes go before one that has predictions"
    with sqlite3.connect(classes.path) as db:
        assert db.execute("select count(*) from classes").fetchone() == (3,)
    db.close()
    monkeypatch.setattr(module, "MOST_CLASSES", 100)
    classes.open("teacher")
    classes.open("teacher")
    with pytest.raises(ValueError, match="You have opened 3 classes"):
        classes.open("teacher")


@given(st.text(max_size=30), st.sampled_from(STEPS))
def test_a_code_is_taken_or_refused_in_words(code, step):
    try:
        taken = checked(step, code)
    except ValueError as error:
        taken, why = "", str(error)
        event(why)
    assert taken in ("", code)
    if taken not in ("", SKIPPED):
        step.form.decode(code)
