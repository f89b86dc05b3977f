"""A disk without room, and a browser's word that is none: pages and routes say so in a sentence, or show what is."""

import asyncio
import sqlite3
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from dashboard.asked.sweep_presets import SWEEPS
from dashboard.forms import norms_run, race_run, starting, sweep_run
from dashboard.hosting.counts import Counts
from dashboard.recorded import loading
from dashboard.runs.feeds import Feeds
from dashboard.runs.identity import lane_ids
from dashboard.runs.store import Store
from dashboard.runs.sweep_feed import SweepFeed
from dashboard.server import api
from tests.dashboard.direct import in_a_thread
from tests.dashboard.engines import config


def full(*_, **__):
    raise sqlite3.OperationalError("database or disk is full")


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    yield made
    made.close()


def test_a_start_without_room_gets_a_sentence(monkeypatch):
    state: dict[str, object] = {}
    monkeypatch.setattr(starting, "st", SimpleNamespace(session_state=state))
    monkeypatch.setattr(starting, "visitor_id", lambda: "a")
    engine = SimpleNamespace(submit=full)
    assert starting.try_to_start(engine, config()) == []
    assert starting.refused() == "The run cannot be stored: database or disk is full."
    run = SimpleNamespace(config=SWEEPS["rates"].config, recorded="")
    with pytest.raises(ValueError, match=r"The run cannot be stored: database or disk is full\."):
        sweep_run.race_of_cells(engine, run, [0, 1])


def test_a_run_is_watched_though_nobody_can_note_that(monkeypatch, store):
    run = store.add(config(), "stopped")
    monkeypatch.setattr(store, "touch", full)
    monkeypatch.setattr(api, "running_engine", lambda: SimpleNamespace(store=store, feeds=Feeds(store)))
    scope = {"type": "http", "headers": [], "query_string": b"", "path_params": {"run": run.id}}

    async def told() -> bytes:
        answer = await api._events(Request(scope))
        return b"".join([part async for part in answer.body_iterator])

    assert b'"state":"stopped"' in in_a_thread(lambda: asyncio.run(told()))


def test_a_sweep_goes_on_without_its_outlines_being_kept(monkeypatch, store):
    asked = SWEEPS["rates"].config
    run, feeds = store.add(asked), Feeds(store)
    feed = feeds.open(run.id)
    assert isinstance(feed, SweepFeed)
    first = lane_ids(asked)[0]
    outline = SimpleNamespace(records=0, outcome=SimpleNamespace(over=True, losses=(), metrics=(), diverged_at=None))
    outline.add = lambda _: setattr(outline, "records", outline.records + 1)
    feed._outlines[first] = outline
    feeds.lane(first).records.append(b"{}")
    monkeypatch.setattr(store, "add_outlines", full)
    monkeypatch.setattr("dashboard.runs.sweep_feed.to_json", lambda _: "{}")
    feed.look()
    assert first not in {lane.id for lane in feed.lanes}


def test_recordings_that_do_not_fit_are_left_out(monkeypatch, store):
    monkeypatch.setattr(store, "add_recording", full)
    assert loading.load(store) == 0


@pytest.mark.parametrize("told", [None, 5, "0:1", {"0:1": 1}, [["0:1"], {}, None, "0:1"]])
@pytest.mark.parametrize("form", [race_run, norms_run])
def test_what_a_browser_says_is_hidden_may_be_anything(monkeypatch, form, told):
    state: dict[str, object] = {}
    monkeypatch.setattr(form, "st", SimpleNamespace(session_state=state))
    form.hide_lanes(told)
    assert list(state.values()) == [["0:1"] if isinstance(told, list) else []]


@pytest.mark.parametrize("told", [None, 5, "01", {"0": 1}, ["0", 10**9, -1, None]])
def test_what_a_browser_says_is_chosen_may_be_anything(told):
    with pytest.raises(ValueError, match="lanes"):
        sweep_run.race_of_cells(SimpleNamespace(), SimpleNamespace(config=SWEEPS["rates"].config), told)


def test_counts_that_cannot_be_committed_leave_no_transaction_behind(monkeypatch):
    class Full:
        """A connection to a disk on which the last page of a transaction does not fit."""

        def __init__(self, real: sqlite3.Connection) -> None:
            self.real = real

        def __getattr__(self, name: str) -> object:
            return getattr(self.real, name)

        def execute(self, text: str, *values: object) -> object:
            return full() if text == "commit" else self.real.execute(text, *values)

    counts = Counts()
    with monkeypatch.context() as disk:
        disk.setattr(counts.database, "_db", Full(counts.database._db))
        with pytest.raises(sqlite3.OperationalError, match="full"):
            counts.acquire_entry("a", 1, 60)
    assert counts.acquire_entry("a", 1, 60)
    counts.close()
