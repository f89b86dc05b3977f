"""Sweeps in the engine, on two workers: every cell is a lane like any other, trained once, and never lost."""

import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from dashboard.asked.config import RaceConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS, contender
from dashboard.engine.cluster import Layout
from dashboard.engine.engine import Engine
from dashboard.engine.packing import WIDEST, share_out_wide
from dashboard.evidence.findings import Findings
from dashboard.runs.identity import lane_ids, run_id
from dashboard.runs.states import CUT_OFF, FINISHED, PAUSED, STOPPED
from dashboard.runs.store import Store
from dashboard.runs.sweep_feed import SweepFeed
from tests.dashboard.engines import plain, stored, wait_for, wait_until_over


def sweep(steps: int = 300, seeds: tuple[int, ...] = (0, 1), **changes) -> SweepConfig:
    """Six cells a seed, one of which is a warmup of no steps: plain Adam."""
    return SweepConfig.make(
        {
            "task": "surfaces",
            "contenders": [contender("adam-linear", "Adam + warmup"), contender("radam", profile="authors")],
            "axes": {"lr": (0.01, 0.02), "warmup_steps": (0, 100)},
            "steps": steps,
            "steps_per_frame": 50,
            "seeds": seeds,
            **changes,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def engine(folder):
    store = Store(folder)
    made = Engine(store, Layout(workers=2, threads=1))
    made.start()
    assert made.wait_until_ready(120)
    yield made
    made.close()
    store.close()


def trained(engine: Engine, run: str) -> int:
    """How many lane-steps workers have sent for a run. Dask keeps the last thousand notes or so: one run's, not all."""
    told: Counter[tuple[str, int]] = Counter()
    for _, note in engine.cluster.client.get_events(engine.dispatcher.topic):
        for place, _, last, *_ in note.get("records", ()) if run in note["key"] else ():
            told[note["key"], place] = max(told[note["key"], place], last)
    return told.total()


def feed_of(engine: Engine, run: str) -> SweepFeed:
    feed = engine.feeds.open(run)
    assert isinstance(feed, SweepFeed)
    return feed


def cells(engine: Engine, run: str) -> list[dict]:
    feed = feed_of(engine, run)
    feed.look()
    return Findings.of(feed.config, feed.outcomes()).cells()


def test_every_cell_is_the_lane_of_a_race_and_nothing_is_trained_twice(engine):
    asked = sweep()
    # A race that has two of its cells: Adam without warmup at one rate, and RAdam at the other, at the second seed.
    lanes = [
        {"label": "mine", "method": "adam", "lr": 0.01},
        {"label": "yours", "method": "radam", "lr": 0.02, "profile": "authors"},
    ]
    race = RaceConfig.make({"task": "surfaces", "lanes": lanes, "steps": 300, "steps_per_frame": 50, "seed": 1})
    assert set(lane_ids(race)) < set(lane_ids(asked))
    assert wait_until_over(engine, engine.submit(race)) == FINISHED
    assert (engine.estimate(asked).new, engine.estimate(asked).lane_steps) == (10, 3000)
    run = engine.submit(asked)
    assert wait_until_over(engine, run) == FINISHED
    assert trained(engine, run) == 10 * 300
    for seed in (0, 1):
        places = [cell.place for cell in asked.cells if cell.seed == seed]
        own = asked.only(places)
        assert [stored(engine, run)[place] for place in places] == plain(own)  # bit for bit
    assert engine.submit(asked) == run
    assert engine.status(run).state == FINISHED
    assert trained(engine, run) == 10 * 300
    # A larger one has all of these cells.
    larger = sweep(axes={"lr": (0.01, 0.02, 0.05), "warmup_steps": (0, 100)})
    assert engine.estimate(larger).new == 6
    run = engine.submit(larger)
    assert wait_until_over(engine, run) == FINISHED
    assert trained(engine, run) == 6 * 300


def test_what_was_found_is_told_and_kept_in_outline(engine):
    asked = sweep(seeds=(5, 6))
    run = engine.submit(asked)
    assert wait_until_over(engine, run) == FINISHED
    rows = cells(engine, run)
    assert [row["status"] for row in rows] == ["finished"] * 12
    assert set(engine.store.outlines(lane_ids(asked))) == set(lane_ids(asked))
    engine.feeds.forget(run)  # as after a restart: from the outlines alone
    feed = feed_of(engine, run)
    assert not feed.lanes
    assert cells(engine, run) == rows
    assert feed.status.step == feed.status.steps == 12 * 300
    news, (end,) = feed.news((0,))
    assert news.startswith(b"id: ")
    assert feed.news((end,)) == (b"", (end,))
    assert feed.places(f"{feed.epoch}.{end}") == (end,)
    assert feed.places(f"{feed.epoch + 1}.{end}") == feed.places("nonsense") == feed.places(None) == (0,)


def test_a_lane_that_diverges_leaves_the_others_and_says_so(engine):
    contenders = [contender("sgd"), contender("adam")]
    asked = sweep(contenders=contenders, axes={"lr": (1e-3, 1.0)}, seeds=(0,))
    run = engine.submit(asked)
    assert wait_until_over(engine, run) == FINISHED
    found = {(row["label"], row["lr"]): row for row in cells(engine, run)}
    assert found["SGD", 1.0]["status"].startswith("diverged at step ")
    assert (found["SGD", 1.0]["final_loss"], found["SGD", 1.0]["learns"]) == (None, False)
    assert found["Adam", 1.0]["status"] == "finished"


def test_contenders_may_differ_in_the_tasks_settings(engine):
    contenders = [contender("adam", name, settings={"surface": name}) for name in ("quadratic", "beale")]
    asked = sweep(contenders=contenders, axes={"lr": (0.01,)}, seeds=(0,))
    run = engine.submit(asked)
    assert wait_until_over(engine, run) == FINISHED
    assert stored(engine, run) == [plain(asked.only([place]))[0] for place in range(2)]
    with pytest.raises(ValueError, match="same settings"):
        asked.race_of([0, 1])


def test_a_killed_worker_costs_only_its_pack(engine):
    """Slow: a new worker takes its six seconds."""
    asked = sweep(steps=3000, seeds=(40, 41))
    run = engine.submit(asked)
    wait_for(lambda: engine.status(run).step > 0)
    engine.pause(run)
    wait_for(lambda: engine.status(run).state == PAUSED)
    hit, other = engine.dispatcher.under_way.races[run].packs
    os.kill(engine.cluster.client.run(os.getpid)[hit.worker], signal.SIGKILL)
    wait_for(lambda: "worker was lost" in engine.status(run).message)
    engine.resume(run)
    assert wait_until_over(engine, run) == FINISHED
    assert (hit.attempts, other.attempts) == (2, 1)
    for seed in (40, 41):
        places = [cell.place for cell in asked.cells if cell.seed == seed]
        assert [stored(engine, run)[place] for place in places] == plain(asked.only(places))


def test_a_stop_and_a_restart_keep_every_finished_cell_and_train_only_the_rest(engine, folder):
    """Pack after pack: when some seeds are done and others are not, it is stopped; it goes on, and the engine ends;
    then the command line goes on with the app's store. The last test, and slow: it needs new workers."""
    asked = sweep(steps=2000, seeds=tuple(range(60, 66)))
    run = engine.submit(asked, "ann")
    wait_for(lambda: engine.store.known(lane_ids(asked)))
    engine.stop(run, "ann")
    assert engine.status(run).state == STOPPED
    wait_for(lambda: not engine.dispatcher.under_way.packs)
    told, lanes = engine.status(run), [engine.feeds.lane(lane) for lane in lane_ids(asked)]
    assert told.step == sum(2000 if lane.complete else lane.step for lane in lanes) < told.steps  # as far as it came
    done = engine.store.known(lane_ids(asked))
    assert 0 < len(done) < asked.size
    kept = {lane: [record.body for record in engine.store.records(lane)] for lane in done}
    so_far = trained(engine, run)
    assert engine.submit(asked, "ann") == run
    wait_for(lambda: engine.store.known(lane_ids(asked)) > done)
    engine.pause(run, "ann")
    wait_for(lambda: engine.status(run).state == PAUSED)
    now = engine.store.known(lane_ids(asked))
    assert trained(engine, run) - so_far <= (asked.size - len(done)) * 2000
    engine.close()

    store = Store(folder)
    guest = Engine(store, Layout(workers=1, threads=1), guest=True)
    assert store.run(run).state == CUT_OFF
    assert guest.estimate(asked).new == asked.size - len(now)
    guest.start()
    try:
        assert guest.wait_until_ready(120)
        assert guest.submit(asked) == run == run_id(asked)
        assert store.run(run).state == STOPPED  # to others it is not under way: only its owner could end it
        assert wait_until_over(guest, run) == FINISHED
        assert trained(guest, run) == (asked.size - len(now)) * 2000  # none of those that were done
        assert store.run(run).state == FINISHED
        assert {lane: [record.body for record in store.records(lane)] for lane in done} == kept
    finally:
        guest.close()
        store.close()


@pytest.mark.parametrize(
    ("seeds", "lanes", "workers", "packs"),
    [
        (2, 6, 2, [6, 6]),  # a worker each
        (3, 6, 2, [6, 6, 3, 3]),  # the last one is shared
        (1, 6, 2, [3, 3]),
        (1, 6, 8, [2, 2, 2]),  # two lanes are as fast as one
        (1, 6, 1, [6]),
    ],
)
def test_packs_are_wide_and_leave_no_worker_idle(seeds, lanes, workers, packs):
    asked = sweep(seeds=tuple(range(seeds)))
    assert asked.size == seeds * lanes
    found = share_out_wide(asked, list(range(asked.size)), workers)
    assert [len(pack) for pack in found] == packs
    assert sorted(place for pack in found for place in pack) == list(range(asked.size))
    assert all(len({asked.stack_key(place) for place in pack}) == 1 for pack in found)


def test_no_pack_is_wider_than_pays_but_on_a_gpu():
    asked = sweep(axes={"lr": tuple(0.01 * k for k in range(1, 21)), "warmup_steps": (0, 100)}, seeds=(0,))
    assert asked.size == 60
    assert [len(pack) for pack in share_out_wide(asked, list(range(60)), 1)] == [30, 30]
    assert WIDEST == 36
    assert [len(pack) for pack in share_out_wide(asked, list(range(60)), 1, on_gpu=True)] == [60]


def test_every_worker_gets_as_many_packs_of_a_large_stack():
    """Three packs would keep one of two workers busy twice as long as the other."""
    asked = SWEEPS["map"].config.changed(seeds=(0,))
    assert asked.size == 72
    assert [len(pack) for pack in share_out_wide(asked, list(range(72)), 2)] == [36, 36]
    assert [len(pack) for pack in share_out_wide(asked, list(range(72)), 3)] == [24, 24, 24]
