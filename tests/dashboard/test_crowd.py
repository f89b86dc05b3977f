"""A class opens a page in the same second: everybody gets it, and what they share is made once."""

import importlib.metadata
import json
from concurrent.futures import ThreadPoolExecutor

import plotly.graph_objects as go
import pytest
from plotly.basedatatypes import BaseFigure

from bench.driving.crowd import visit_at_once
from dashboard.browser.chart import MOST_DRAWINGS, drawn_once
from dashboard.navigation import PAGES
from dashboard.remembered import shared
from tests.dashboard.test_pages import open_page

VISITORS = 60
NAMES = [page.name for page in PAGES]


@pytest.mark.parametrize("name", NAMES)
def test_everyone_of_a_class_gets_the_whole_page(address, name):
    (alone,) = visit_at_once(address, name, 1)
    together = visit_at_once(address, name, VISITORS)
    assert "bidi_component" in alone.elements
    assert "exception" not in alone.elements
    assert {visit.elements for visit in together} == {alone.elements}


@pytest.mark.parametrize("name", NAMES)
def test_no_package_is_asked_for_its_version_while_a_page_runs(monkeypatch, name):
    # Of many threads that ask at once, now and then one is told that there is no such package.
    open_page(name)

    def refuse(package: str) -> None:
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "distribution", refuse)
    assert not open_page(name).exception


@pytest.mark.parametrize("name", NAMES)
def test_the_second_visitor_of_a_page_has_no_figure_built(monkeypatch, name):
    open_page(name)
    built = []
    monkeypatch.setattr(BaseFigure, "__init__", lambda *_, **__: built.append(name))
    assert not open_page(name).exception
    assert not built


def test_a_drawing_is_built_once_for_all_who_ask_at_the_same_time():
    built = []

    @drawn_once
    def figure(beta2: float) -> go.Figure:
        built.append(beta2)
        return go.Figure(go.Scatter(x=[1, 2], y=[0.0, beta2]))

    with ThreadPoolExecutor(30) as visitors:
        drawings = list(visitors.map(figure, [0.9, 0.99] * 30))
    assert sorted(built) == [0.9, 0.99]
    assert len(set(drawings)) == 2
    drawn = json.loads(drawings[0])
    assert drawn.pop("told")["slug"] == "beta2-0.9"
    assert drawn == json.loads(go.Figure(go.Scatter(x=[1, 2], y=[0.0, 0.9])).to_json())


def test_no_more_drawings_are_kept_than_there_is_memory_for():
    built = []

    @drawn_once
    def figure(number: int) -> go.Figure:
        built.append(number)
        return go.Figure()

    for number in range(MOST_DRAWINGS + 1):  # the first has gone when the last comes
        figure(number)
    figure(MOST_DRAWINGS)
    assert len(built) == MOST_DRAWINGS + 1
    figure(0)
    assert len(built) == MOST_DRAWINGS + 2


def test_what_fails_is_tried_again_and_arrays_are_refused():
    asked = []

    @shared(most=2)
    def root(value: float) -> float:
        asked.append(value)
        if len(asked) == 1:
            raise ValueError("not yet")
        return value**0.5

    with pytest.raises(ValueError, match="not yet"):
        root(4.0)
    assert root(4.0) == root(4.0) == 2.0
    assert asked == [4.0, 4.0]
    with pytest.raises(TypeError, match="unhashable"):
        root([4.0])
