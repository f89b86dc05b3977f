"""The soak's own judgement: it must notice what is lost, late or too much, or its report says nothing."""

import json
import sqlite3
from pathlib import Path

import pytest

from bench.soak import command
from bench.soak.ledger import Ledger
from bench.soak.outcome import Amount, Delays, Outcome
from bench.soak.report import Done, report
from bench.soak.scenarios import SCENARIOS, Scenario
from bench.soak.starters import Starter, seconds_to_wait
from dashboard.runs.feed import RunFeed
from dashboard.runs.feeds import Feeds
from dashboard.runs.identity import lane_ids
from dashboard.runs.records import Record
from dashboard.runs.store import Store
from tests.dashboard.engines import config


@pytest.fixture
def watched(tmp_path) -> Ledger:
    """What a viewer was shown of a run in this folder: two records of each lane."""
    store = Store(tmp_path)
    run = store.add(config())
    store.add_records(
        (lane, Record(n, n + 1, False, json.dumps({"loss": n / 3}))) for lane in lane_ids(config()) for n in range(2)
    )
    feed = Feeds(store).open(run.id)
    assert isinstance(feed, RunFeed)
    told, _ = feed.news(feed.start)
    identity, _, data = (line.partition(b": ")[2] for line in told.splitlines()[:3])
    ledger = Ledger()
    for _ in range(3):  # three viewers
        ledger.saw(ledger.watch(config()), identity.decode(), data)
    store.close()
    return ledger


@pytest.mark.parametrize(
    ("damage", "lost"),
    [
        ("select 1", 0),
        ("delete from records where number = 1", 3),
        ("update records set body = '{\"loss\": 0.5}' where number = 0", 3),
        ("delete from records", 6),
    ],
)
def test_a_record_that_was_shown_and_is_gone_is_noticed(tmp_path, watched, damage, lost):
    assert (watched.records, watched.events) == (6, 3)
    with sqlite3.connect(tmp_path / "runs.sqlite") as database:
        database.execute(damage)
    database.close()
    outcome = Outcome()
    watched.judge(outcome, tmp_path)
    assert outcome.figures["of these lost"] == str(lost)
    assert outcome.passed == (lost == 0)


def test_a_record_that_two_viewers_saw_in_two_forms_is_noticed(tmp_path, watched):
    watched.saw(watched.watch(config()), "1.0.0", b'{"0":[{"loss":7}]}')
    outcome = Outcome()
    watched.judge(outcome, tmp_path)
    assert not outcome.passed


def test_starts_are_counted_over_any_minute():
    starter = Starter(0, accepted=[0.0, 50.0, 55.0, 61.0, 200.0])
    assert starter.most_in_a_minute() == 3
    assert len({Starter(number).client for number in range(500)}) == 500
    assert seconds_to_wait("You can start 6 runs a minute on this hosted copy\\: try again in 17 s.") == 17


def test_delays_and_amounts():
    delays = Delays()
    for number in range(100):
        delays.add(number / 100)
    assert delays.quantile(0.95) == 0.95
    assert delays.told() == "median 500 ms, p95 950 ms, worst 990 ms"
    assert (Amount(0.1).count(500), Amount(0.001).count(3), Amount(0.1).seconds(300)) == (50, 1, 30)


def test_one_miss_fails_the_soak_and_is_in_its_report(tmp_path, monkeypatch):
    def missed(folder: Path, amount: Amount) -> Outcome:  # noqa: ARG001 - a scenario's form
        outcome = Outcome()
        outcome.sent("pages", "showed an error")
        outcome.no_errors()
        return outcome

    def ends(folder: Path, amount: Amount) -> Outcome:  # noqa: ARG001
        raise RuntimeError("the server ended")

    rows = {"passes": lambda *_: Outcome(), "misses": missed, "ends": ends}
    known = {name: Scenario(name, run, 1.0, "none") for name, run in rows.items()}
    monkeypatch.setattr(command, "SCENARIOS", known)
    monkeypatch.setattr("bench.soak.report.SCENARIOS", known)
    monkeypatch.setattr(command.signal, "signal", lambda *_: None)
    path = tmp_path / "report.md"
    assert command.main(["--only", "passes", "--report", str(path)]) == 0
    assert "1 of 1 scenarios passed" in path.read_text()
    assert command.main(["--minutes", "0.3", "--report", str(path)]) == 1
    text = path.read_text()
    assert "1 of 3 scenarios passed" in text
    assert "shortened: 10% of the full durations and counts" in text
    assert "- pages: showed an error (1 times)" in text
    assert "- it could not be done: RuntimeError: the server ended" in text


def test_the_report_says_what_could_not_be_run_here():
    name = next(iter(SCENARIOS))
    text = report({name: Done(Outcome(left_out="it takes root"), 1.0)}, "make soak", 1.0)
    assert "0 of 1 scenarios passed" in text
    assert "Left out: it takes root." in text
