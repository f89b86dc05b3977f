"""What several visitors want of one run, before there is a worker: an engine that was not started trains nothing."""

import json

import pytest

from dashboard.engine.engine import Engine
from dashboard.runs.states import PAUSED, QUEUED, STOPPED
from dashboard.runs.store import Store
from demo_models import TASKS, Task
from radam_core.race.plan import HALVED
from tests.dashboard.engines import config


@pytest.fixture
def engine(tmp_path):
    store = Store(tmp_path)
    yield Engine(store)
    store.close()


@pytest.mark.parametrize(
    ("acts", "state", "wanted_by"),
    [
        # who and what they press, after Ann has pressed Train; the state of the run; how many want it
        ([], QUEUED, 1),
        ([("ann", "train")], QUEUED, 1),
        ([("bob", "train")], QUEUED, 2),
        ([("ann", "stop")], STOPPED, 0),
        ([("bob", "stop")], QUEUED, 1),
        ([("bob", "pause")], QUEUED, 1),
        ([("ann", "pause")], PAUSED, 1),
        ([("ann", "pause"), ("bob", "stop")], PAUSED, 1),
        ([("ann", "pause"), ("bob", "train")], QUEUED, 2),
        ([("ann", "pause"), ("bob", "resume")], QUEUED, 2),
        ([("ann", "pause"), ("bob", "resume"), ("bob", "stop")], PAUSED, 1),
        ([("bob", "train"), ("ann", "pause")], QUEUED, 2),
        ([("bob", "train"), ("ann", "pause"), ("bob", "pause")], PAUSED, 2),
        ([("bob", "train"), ("ann", "pause"), ("bob", "stop")], PAUSED, 1),
        ([("bob", "train"), ("ann", "stop")], QUEUED, 1),
        ([("bob", "train"), ("ann", "stop"), ("ann", "stop")], QUEUED, 1),
        ([("bob", "train"), ("ann", "stop"), ("bob", "stop")], STOPPED, 0),
        ([("ann", "stop"), ("bob", "resume")], STOPPED, 0),
        ([("ann", "stop"), ("bob", "train")], QUEUED, 1),
    ],
)
def test_a_run_goes_while_one_wants_it_to_and_stops_when_nobody_does(engine, acts, state, wanted_by):
    run = engine.submit(config(), "ann")
    for visitor, act in acts:
        if act == "train":
            assert engine.submit(config(), visitor) == run
        else:
            getattr(engine, act)(run, visitor)
    status = engine.status(run)
    assert (status.state, status.wanted_by) == (state, wanted_by)
    assert status.position == (1 if state == QUEUED else None)
    assert engine.run(run).state == state


def test_a_page_can_ask_what_its_visitor_wants(engine):
    run = engine.submit(config(), "ann")
    engine.submit(config(), "bob")
    engine.pause(run, "bob")
    assert [engine.wants(run, name) for name in ("ann", "bob", "eve", "")] == ["go", "pause", None, None]
    assert engine.wants("0" * 20, "ann") is None
    told = engine.feeds.cached(run).status_event.decode().split("data: ")[1]
    assert json.loads(told)["wanted_by"] == 2
    engine.stop(run, "ann")
    engine.stop(run, "bob")
    assert engine.wants(run, "bob") is None


def test_a_task_that_names_no_speed_is_queued_like_the_others(engine, monkeypatch):
    settings = {name: value for name, value in vars(TASKS["surfaces"]).items() if name != "lane_steps_per_second"}
    monkeypatch.setitem(TASKS, "surfaces", Task(**settings))
    run = engine.submit(config(300))
    assert engine.status(run).position == 1
    assert engine.estimate(config(300)).seconds == pytest.approx(3 * 300 / 30.0)  # three lanes, at a guess
    halved = config(300).changed(half_batch_steps=100, batch_size=2)
    assert engine.estimate(halved).seconds == pytest.approx(3 * (200 + 100 * HALVED) / 30.0)
