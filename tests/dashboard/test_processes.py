"""Two engines on one store, as two server processes have them: one trains for the visitors of both.

None of them has workers, and their clock is the test's: what a real cluster and a real kill add is in
test_separate_cluster.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dashboard.engine.cluster import Layout
from dashboard.engine.engine import Engine
from dashboard.runs import alive
from dashboard.runs.identity import lane_ids
from dashboard.runs.processes import EXPIRED_SECONDS, MOST_HANDOVERS
from dashboard.runs.records import Record
from dashboard.runs.states import CUT_OFF, FAILED, FINISHED, OLDER_MESSAGE, PAUSED, QUEUED, STOPPED
from dashboard.runs.store import Store
from dashboard.server import api
from tests.dashboard.engines import config
from tests.dashboard.test_feed import in_a_loop_of_its_own

TRAINS, SHOWS = Layout(workers=1, threads=1), Layout(workers=0, threads=1)


class House:
    """Some processes, and a clock that all of them go by."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.now = folder, 1000.0
        self.stores: list[Store] = []

    def process(self, plan: Layout = TRAINS) -> Engine:
        self.stores.append(Store(self.folder))
        engine = Engine(self.stores[-1], plan)
        engine.sharing.look(self.now)
        return engine

    def after(self, seconds: float, *engines: Engine) -> None:
        """A look of each every second, in their order; who is not named is dead, or stopped."""
        for _ in range(round(seconds)):
            self.now += 1.0
            for engine in engines:
                engine.sharing.look(self.now)


@pytest.fixture
def house(tmp_path, monkeypatch) -> Iterator[House]:
    monkeypatch.setattr("dashboard.runs.feeds.PACE_SECONDS", -1.0)  # the clock of feeds is the real one
    made = House(tmp_path)
    yield made
    for store in made.stores:
        store.close()


@pytest.fixture
def two(house) -> tuple[Engine, Engine]:
    first, second = house.process(), house.process()
    house.after(1, first, second)
    return first, second


def record(engine: Engine, run: str, number: int, ends: bool = False) -> None:
    """As the leader does when a worker says it of every lane."""
    race, last = engine.dispatcher.under_way.races[run], 300 if ends else 50 * (number + 1)
    found = Record(number, last, ends, f'{{"number":{number}}}')
    engine.store.add_records((lane.id, found) for lane in race.lanes)
    for lane in race.lanes:
        lane.feed.add(found)
    engine.dispatcher.under_way.show(race)


def test_the_first_one_leads_and_the_next_one_follows(two):
    assert [engine.leads for engine in two] == [True, False]
    assert [len(engine.processes.others) for engine in two] == [1, 1]


def test_a_run_that_a_follower_is_asked_for_is_trained_by_the_leader(house, two):
    leader, follower = two
    run = follower.submit(config(), "ann")
    assert follower.under_way(run)
    assert not follower.dispatcher.knows(run)
    assert follower.status(run).state == QUEUED
    house.after(1, leader, follower)
    assert leader.dispatcher.knows(run)
    assert leader.wants(run, "ann") == follower.wants(run, "ann") == "go"
    house.after(1, leader, follower)
    assert follower.status(run) == leader.status(run)
    assert (follower.status(run).position, follower.status(run).wanted_by) == (1, 1)


@pytest.mark.parametrize(
    ("acts", "state", "wanted_by"),
    [
        # which process whose visitor asks for what, after Ann has pressed Train in the leader and Bob in the follower
        ([], QUEUED, 2),
        ([(0, "ann", "stop")], QUEUED, 1),
        ([(1, "bob", "stop")], QUEUED, 1),
        ([(0, "ann", "stop"), (1, "bob", "stop")], STOPPED, 0),
        ([(1, "bob", "stop"), (0, "ann", "stop")], STOPPED, 0),
        ([(1, "ann", "stop"), (0, "bob", "stop")], STOPPED, 0),  # each of them in the other process by now
        ([(1, "eve", "stop"), (1, "eve", "pause")], QUEUED, 2),
        ([(0, "ann", "pause"), (1, "bob", "pause")], PAUSED, 2),
        ([(0, "ann", "pause"), (1, "bob", "pause"), (1, "bob", "resume")], QUEUED, 2),
        ([(0, "ann", "pause"), (1, "bob", "stop"), (1, "eve", "resume")], QUEUED, 2),
    ],
)
@pytest.mark.parametrize("looks", [True, False])
def test_a_wish_counts_wherever_it_was_made(house, two, acts, state, wanted_by, looks):
    """Whether the leader has looked between two of them or not."""
    leader, follower = two
    run = leader.submit(config(), "ann")
    assert follower.submit(config(), "bob") == run
    for place, visitor, act in acts:
        if looks:
            house.after(1, leader, follower)
        getattr(two[place], act)(run, visitor)
    house.after(2, leader, follower)
    for engine in two:
        assert (engine.status(run).state, engine.status(run).wanted_by) == (state, wanted_by)
        assert engine.under_way(run) == (state != STOPPED)
        assert engine.run(run).state == state


def test_the_last_one_to_stop_does_not_stop_it_for_one_who_has_just_come(two):
    leader, follower = two
    run = leader.submit(config(), "ann")
    follower.submit(config(), "bob")  # the leader has not looked since
    leader.stop(run, "ann")
    assert leader.status(run).state == QUEUED
    assert leader.wants(run, "bob") == "go"


def test_nothing_happens_to_a_run_that_is_over(house, two):
    leader, follower = two
    run = leader.submit(config(), "ann")
    leader.stop(run, "ann")
    house.after(1, leader, follower)
    for act in ("resume", "pause", "stop"):
        getattr(follower, act)(run, "bob")
    house.after(1, leader, follower)
    assert not leader.under_way(run)
    assert follower.status(run).state == STOPPED


def test_viewers_of_a_follower_see_records_as_they_come(house, two):
    leader, follower = two
    run = leader.submit(config(), "ann")

    async def watch() -> list[bytes]:
        feed, heard = await asyncio.to_thread(follower.feeds.open, run), []

        async def listen() -> None:
            async for part in api.stream(feed):
                heard.append(part)  # noqa: PERF401 - looked at while they come

        viewer = asyncio.create_task(listen())
        for number in range(3):
            await asyncio.to_thread(record, leader, run, number, number == 2)
            if number == 2:
                await asyncio.to_thread(
                    leader.dispatcher.under_way.over, leader.dispatcher.under_way.races[run], FINISHED
                )
            await asyncio.to_thread(house.after, 1, leader, follower)
            while len([part for part in heard if b"event: records" in part]) <= number:
                await asyncio.sleep(0.01)
        await asyncio.wait_for(viewer, 10)
        return heard

    heard = in_a_loop_of_its_own(watch)
    ids = [part.split(b"\n")[0] for part in heard if b"event: records" in part]
    assert ids == [b"id: 1.1.1", b"id: 2.2.2", b"id: 3.3.3"]
    assert b"event: end" in heard[-1]
    assert b'"state":"finished"' in heard[-1]
    assert follower.status(run).state == FINISHED


def test_a_follower_asks_the_store_only_while_somebody_looks(house, two, monkeypatch):
    leader, follower = two
    run = leader.submit(config(), "ann")
    follower.feeds.open(run)
    record(leader, run, 0)
    reads: list[str] = []
    read = follower.store.run
    monkeypatch.setattr(follower.store, "run", lambda identity: (reads.append(identity), read(identity))[1])
    house.after(3, leader, follower)
    assert reads == []
    assert follower.status(run).step == 50


def test_a_lane_that_two_runs_share_is_trained_once_whoever_was_asked(house, two):
    leader, follower = two
    first = leader.submit(config(), "ann")
    second = follower.submit(config(lanes=config().model_dump(exclude_none=True)["lanes"][:2]), "bob")
    house.after(1, leader, follower)
    under_way = leader.dispatcher.under_way
    assert list(under_way.races) == [first, second]
    assert len(under_way.lanes) == 3
    assert not follower.dispatcher.under_way.lanes


def test_a_leader_that_dies_hands_its_runs_over(house, two):
    leader, follower = two
    run = leader.submit(config(), "ann")
    follower.submit(config(), "bob")
    house.after(1, leader, follower)
    record(leader, run, 0)
    house.after(EXPIRED_SECONDS - 1, follower)
    assert not follower.leads
    assert follower.run(run).state == QUEUED
    house.after(2, follower)
    assert follower.leads
    assert follower.dispatcher.knows(run)
    assert [follower.wants(run, name) for name in ("ann", "bob")] == ["go", "go"]
    assert len(follower.feeds.open(run).lanes[0].records) == 1  # what was recorded stays
    # The first one was only stopped for a while: it hears that it leads no more, and says nothing more of the run.
    leader.dispatcher.under_way.over(leader.dispatcher.under_way.races[run], FAILED, "It was late.")
    assert follower.run(run).state == QUEUED
    house.after(1, leader, follower)
    assert [engine.leads for engine in two] == [False, True]
    assert not leader.dispatcher.knows(run)
    leader.status(run)
    house.after(1, leader, follower)
    assert leader.status(run).state == QUEUED
    assert leader.status(run).wanted_by == 2


def test_one_that_starts_marks_nothing_of_a_live_one(house, two):
    leader, follower = two
    run = leader.submit(config(), "ann")
    record(leader, run, 0)
    third = house.process()
    house.after(3 * EXPIRED_SECONDS, leader, follower, third)
    assert [engine.leads for engine in (leader, follower, third)] == [True, False, False]
    assert third.run(run).state == QUEUED
    assert third.status(run).step == 50


def test_a_server_that_was_killed_goes_on_when_it_is_started_again(house):
    run = house.process().submit(config(), "ann")
    again = house.process()
    house.after(EXPIRED_SECONDS + 1, again)
    assert again.leads
    assert again.dispatcher.knows(run)
    assert again.wants(run, "ann") == "go"


def test_a_run_that_older_code_was_training_is_cut_off_and_says_so(house, monkeypatch):
    """A regression: its lanes have other ids by now, and whoever took it up trained nothing from then on, of no run."""
    with monkeypatch.context() as older:
        older.setattr("dashboard.runs.identity.code_version", lambda: "older")
        lane_ids.cache_clear()
        run = house.process().submit(config(), "ann")
    lane_ids.cache_clear()
    again = house.process()
    house.after(EXPIRED_SECONDS + 1, again)
    assert again.leads
    assert not again.dispatcher.knows(run)
    assert (again.run(run).state, again.run(run).message) == (CUT_OFF, OLDER_MESSAGE)
    new = again.submit(config(), "ann")
    assert new != run
    assert again.dispatcher.knows(new)


def test_a_process_that_the_system_knows_to_be_gone_is_not_waited_for(house, two):
    leader, follower = two
    run = leader.submit(config(), "ann")
    boot, namespace, number, started = follower.processes.name.split()
    gone = [f"{boot} {namespace} {number} 1", f"other {namespace} {number} {started}"]
    open_ones = ["", f"{boot} other {number} 1", follower.processes.name]
    assert [alive.is_gone(name, follower.processes.name) for name in gone + open_ones] == [True] * 2 + [False] * 3
    assert not alive.is_gone(gone[0], "")
    with leader.store.write() as db:
        db.execute("update processes set name = ? where id = ?", (gone[0], leader.processes.id))
    house.after(1, follower)
    assert follower.leads
    assert follower.dispatcher.knows(run)


def test_a_run_that_outlives_nobody_is_cut_off_at_last(house):
    run = house.process().submit(config(), "ann")
    for _ in range(MOST_HANDOVERS):
        latest = house.process()
        house.after(EXPIRED_SECONDS + 1, latest)
        assert latest.dispatcher.knows(run)
    latest = house.process()
    house.after(EXPIRED_SECONDS + 1, latest)
    assert latest.leads
    assert not latest.dispatcher.knows(run)
    assert latest.run(run).state == CUT_OFF


@pytest.mark.parametrize("jump", [-1e6, 1e6])
def test_clocks_that_jump_end_nothing(house, two, jump, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1.8e9 + jump)
    house.after(30, *two)
    assert [engine.leads for engine in two] == [True, False]


def test_processes_that_all_stood_still_are_all_alive(house, two):
    """A machine that slept, with a monotonic clock that did not."""
    house.now += 3600
    for engine in reversed(two):
        engine.sharing.look(house.now)
    house.after(2, *reversed(two))
    assert [engine.leads for engine in two] == [True, False]


def test_one_that_is_closed_leaves_its_runs_to_the_others_at_once(house, two):
    leader, follower = two
    run = leader.submit(config(), "ann")
    leader.close()
    house.after(1, follower)
    assert follower.leads
    assert follower.dispatcher.knows(run)
    assert follower.run(run).state == QUEUED


def test_the_last_one_that_is_closed_cuts_its_runs_off(house):
    only = house.process()
    run = only.submit(config(), "ann")
    with only.dispatcher.lock:
        for race in list(only.dispatcher.under_way.races.values()):  # as its thread does, which was not started here
            only.dispatcher.under_way.over(race, CUT_OFF)
    only.close()
    assert only.run(run).state == CUT_OFF
    assert house.process().leads
    assert only.store.read("select * from wishes") == []


def test_where_nobody_trains_what_was_under_way_is_cut_off(house):
    run = house.process().submit(config(), "ann")
    shows = house.process(SHOWS)
    assert shows.run(run).state == QUEUED  # its process may be alive
    house.after(EXPIRED_SECONDS + 1, shows)
    assert not shows.leads
    assert shows.run(run).state == CUT_OFF


def test_a_wish_that_a_full_disk_did_not_take_is_written_later(house, two, monkeypatch):
    leader, follower = two
    run = leader.submit(config(), "ann")

    @contextmanager
    def full() -> Iterator[None]:
        raise sqlite3.OperationalError("database or disk is full")
        yield

    with monkeypatch.context() as disk:
        disk.setattr(leader.store, "write", full)
        leader.stop(run, "ann")
        assert leader.status(run).state == STOPPED
    follower.submit(config(seed=1), "bob")
    house.after(2, leader, follower)
    assert follower.status(run).state == STOPPED
    assert not leader.under_way(run)
    assert list(leader.dispatcher.under_way.races) == [follower.submit(config(seed=1), "bob")]


def test_what_other_processes_outlined_is_counted_once(two):
    leader = two[0]
    leader.submit(config(), "ann")
    lane, size = lane_ids(config())[0], "select bytes from lanes where id = ?"
    before = leader.store.read(size, lane)[0]["bytes"]
    for engine in two:
        engine.store.add_outlines({lane: "x" * 100})
    assert leader.store.read(size, lane)[0]["bytes"] == before + 100


def test_no_row_outlives_what_it_is_about(house, two):
    leader, follower = two
    run = follower.submit(config(), "ann")
    house.after(2, leader, follower)
    assert leader.store.read("select * from statuses")
    follower.stop(run, "ann")
    house.after(2, leader, follower)
    for engine in two:
        engine.close()
    for table in ("wishes", "statuses", "handovers", "processes"):
        assert leader.store.read(f"select * from {table}") == [], table
