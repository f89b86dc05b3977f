"""Lanes that several races have: on two workers each is trained once, whoever asks, and stops when nobody does."""

import os
import signal
from collections import Counter

import pytest

from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import lane
from dashboard.engine.cluster import Layout
from dashboard.engine.engine import Engine
from dashboard.engine.packing import share_out
from dashboard.runs.identity import lane_ids
from dashboard.runs.states import FINISHED, PAUSED, RUNNING, STOPPED
from dashboard.runs.store import Store
from tests.dashboard.engines import plain, stored, wait_for, wait_until_over

RATES = [1e-2, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3, 7e-3]


def config(*rates: float, steps: int = 300, seed: int = 0) -> RaceConfig:
    lanes = [lane("adam", rate, f"lr {rate:g}") for rate in rates]
    return RaceConfig.make({"task": "surfaces", "lanes": lanes, "steps": steps, "steps_per_frame": 50, "seed": seed})


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("runs"))
    made = Engine(store, Layout(workers=2, threads=1))
    made.start()
    assert made.wait_until_ready(120)
    yield made
    made.close()
    store.close()


def trained(engine: Engine, since: int) -> Counter[tuple[str, int]]:
    """How many steps workers have sent of each lane, by its pack and its place there, after so many notes."""
    told: Counter[tuple[str, int]] = Counter()
    for _, note in notes(engine)[since:]:
        for place, _, last, *_ in note.get("records", ()):
            told[note["key"], place] = max(told[note["key"], place], last)
    return told


def notes(engine: Engine) -> list:
    return list(engine.cluster.client.get_events(engine.dispatcher.topic))


def test_two_races_that_share_lanes_train_each_lane_once(engine):
    before, mine, theirs = len(notes(engine)), config(*RATES[:5]), config(*RATES[2:])
    runs = [engine.submit(mine, "ann"), engine.submit(theirs, "bob")]
    assert [wait_until_over(engine, run) for run in runs] == [FINISHED, FINISHED]
    assert sum(trained(engine, before).values()) == len(RATES) * 300
    for run, asked in zip(runs, (mine, theirs), strict=True):
        assert stored(engine, run) == plain(asked)


def test_a_finished_race_with_one_lane_changed_trains_that_lane_alone(engine):
    known = config(*RATES)
    assert wait_until_over(engine, engine.submit(known)) == FINISHED
    before, changed = len(notes(engine)), config(*RATES[:-1], 8e-3)
    assert (engine.estimate(changed).new, engine.estimate(changed).lane_steps) == (1, 300)
    run = engine.submit(changed)
    feed = engine.feeds.open(run)
    assert [len(found.records) for found in feed.lanes[:-1]] == [7] * 6  # at once
    assert wait_until_over(engine, run) == FINISHED
    assert list(trained(engine, before).values()) == [300]
    assert stored(engine, run) == plain(changed)
    assert engine.estimate(changed).new == 0


def test_lanes_that_differ_in_their_label_alone_are_one(engine):
    lanes = [lane("radam", 1e-2, name) for name in ("one", "the same")]
    before, twice = len(notes(engine)), config(*RATES[:1]).changed(lanes=lanes)
    assert len(set(lane_ids(twice))) == engine.estimate(twice).new == 1
    run = engine.submit(twice)
    assert wait_until_over(engine, run) == FINISHED
    assert list(trained(engine, before).values()) == [300]
    first, second = stored(engine, run)
    assert first == second


def test_a_stop_ends_the_lanes_that_nobody_else_waits_for(engine):
    mine, theirs = config(*RATES[:4], steps=60_000), config(*RATES[2:4], steps=60_000)
    ours, shared = engine.submit(mine, "ann"), engine.submit(theirs, "bob")
    wait_for(lambda: engine.status(ours).step > 0)
    engine.stop(ours, "ann")
    assert engine.status(ours).state == STOPPED
    own, both = lane_ids(mine)[:2], lane_ids(mine)[2:]
    assert set(engine.dispatcher.under_way.lanes) == set(both)
    length = {name: len(engine.store.records(name)) for name in own}
    wait_for(lambda: min(len(engine.store.records(name)) for name in both) > max(length.values()) + 20)
    assert {name: len(engine.store.records(name)) for name in own} == length
    engine.pause(shared, "bob")
    wait_for(lambda: engine.status(shared).state == PAUSED)
    again = engine.submit(mine, "ann")  # who wants them to go on, and her own two from the start
    assert again == ours
    wait_for(lambda: engine.status(shared).state == RUNNING)
    for run, visitor in ((ours, "ann"), (shared, "bob")):
        engine.stop(run, visitor)
    wait_for(lambda: not engine.dispatcher.under_way.packs)
    assert not engine.dispatcher.under_way.lanes


def test_a_killed_worker_takes_one_pack_back_and_not_the_other(engine):
    """Slow: a new worker takes its six seconds. It buys that a crash costs no more than the lanes it hit."""
    asked = config(*RATES[:4], steps=4000, seed=5)
    run = engine.submit(asked)
    wait_for(lambda: engine.status(run).step > 0)
    engine.pause(run)
    wait_for(lambda: engine.status(run).state == PAUSED)
    packs = engine.dispatcher.under_way.races[run].packs
    assert [len(pack.lanes) for pack in packs] == [2, 2]
    hit, other = packs
    assert hit.worker != other.worker  # each idle worker has one
    os.kill(engine.cluster.client.run(os.getpid)[hit.worker], signal.SIGKILL)
    wait_for(lambda: "worker was lost" in engine.status(run).message)  # told a moment after the pack is there again
    assert (hit.attempts, other.attempts) == (2, 1)
    engine.resume(run)
    assert wait_until_over(engine, run) == FINISHED
    assert other.attempts == 1
    assert stored(engine, run) == plain(asked)


@pytest.mark.parametrize(
    ("lanes", "idle", "packs"),
    [
        (7, 0, [7]),
        (7, 1, [7]),
        (7, 2, [4, 3]),
        (7, 8, [2, 2, 2, 1]),
        (3, 2, [2, 1]),
        (2, 2, [2]),
        (1, 2, [1]),
    ],
)
def test_a_race_has_as_many_packs_as_workers_are_idle(lanes, idle, packs):
    asked = config(*RATES[:lanes])
    assert [len(pack) for pack in share_out(asked, list(range(lanes)), idle)] == packs
    assert share_out(asked, list(range(lanes)), idle, on_gpu=True) == [list(range(lanes))]


def test_a_pack_holds_lanes_of_one_seed():
    lanes = [lane("adam", 1e-2, f"seed {seed}, {k}", seed=seed) for k in range(2) for seed in range(3)]
    asked = config(*RATES).changed(lanes=lanes)
    assert share_out(asked, list(range(6)), 2) == [[0, 3], [1, 4], [2, 5]]
