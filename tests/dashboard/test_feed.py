"""What viewers of a run share: the same bytes, one wake-up, a heartbeat, and a bounded memory."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from dashboard import headless
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import lane
from dashboard.runs.feed import RunFeed, Status
from dashboard.runs.feeds import Feeds
from dashboard.runs.states import FINISHED, RUNNING, STOPPED
from dashboard.runs.store import Store
from dashboard.server import api


def in_a_loop_of_its_own(coroutine):
    """In another thread, since a browser of other tests may hold this one's event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(coroutine())).result(60)


def config(seed: int = 0) -> RaceConfig:
    values = {
        "task": "surfaces",
        "lanes": [lane("radam", 1e-2), lane("adam", 1e-2)],
        "steps": 40,
        "steps_per_frame": 10,
        "seed": seed,
    }
    return RaceConfig.make(values)


@pytest.fixture(scope="module")
def recorded():
    return list(headless.records(config()))


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    yield made
    made.close()


def running(store: Store) -> RunFeed:
    run = store.add(config())
    store.set_state(run.id, RUNNING)
    feed = Feeds(store).open(run.id)
    assert feed is not None
    return feed


async def listen(feed: RunFeed, heard: list[bytes], after: tuple[int, ...] | None = None) -> None:
    async for part in api.stream(feed, after):
        heard.append(part)  # noqa: PERF401 - the test looks at them while they come


def test_all_viewers_get_the_same_bytes_as_they_come(store, recorded):
    feed = running(store)

    async def watch() -> list[list[bytes]]:
        heard: list[list[bytes]] = [[] for _ in range(20)]
        viewers = [asyncio.create_task(listen(feed, parts)) for parts in heard]
        for found in recorded:
            for place, record in found.items():  # one lane is ahead of the other
                await asyncio.sleep(0.01)
                await asyncio.to_thread(lambda lane=feed.lanes[place], record=record: (lane.add(record), feed.wake()))
        feed.set_status(Status(FINISHED, step=40, steps=40))
        feed.wake()
        await asyncio.wait_for(asyncio.gather(*viewers), 10)
        return heard

    heard = in_a_loop_of_its_own(watch)
    assert all(parts == heard[0] for parts in heard)
    expected = [b"id: %d.%d" % (n + 1, n + ahead) for n in range(5) for ahead in (0, 1)]
    assert [part.split(b"\n")[0] for part in heard[0] if part.startswith(b"id")] == expected
    assert b"event: end\ndata: " in heard[0][-1]


def test_records_that_are_not_the_next_are_left_out(store, recorded):
    lane = running(store).lanes[0]
    assert not lane.add(recorded[1][0])
    assert lane.add(recorded[0][0])
    assert not lane.add(recorded[0][0])
    assert (len(lane.records), lane.step, lane.complete) == (1, 1, False)


def test_a_viewer_goes_on_with_each_lane_where_it_was(store, recorded):
    feed = running(store)
    for found in recorded:
        for place, record in found.items():
            feed.lanes[place].add(record)
    news, after = feed.news((5, 3))
    assert after == (5, 5)
    told = json.loads(news.decode().split("data: ")[1])
    assert {place: [record["number"] for record in records] for place, records in told.items()} == {"1": [3, 4]}
    assert feed.news((5, 5)) == (b"", (5, 5))
    assert feed.news((9, 5)) == (b"", (9, 5))  # it has seen more than there is now


def test_a_lane_is_shared_by_the_runs_that_have_it(store, recorded):
    feeds, other = Feeds(store), config().changed(lanes=[lane("radam", 1e-2, "mine"), lane("sgd", 1e-4)])
    ours, theirs = (feeds.open(store.add(one).id) for one in (config(), other))
    assert ours.lanes[0] is theirs.lanes[0]
    assert ours.lanes[1] is not theirs.lanes[1]
    ours.lanes[0].add(recorded[0][0])
    assert theirs.news((0, 0))[1] == (1, 0)


def test_what_another_program_recorded_is_found_when_a_run_is_opened_again(store, recorded):
    run = store.add(config(), STOPPED)
    feeds = Feeds(store)
    feed = feeds.open(run.id)
    assert (feed.status.state, feed.news((0, 0))) == (STOPPED, (b"", (0, 0)))
    store.add_records((run.lanes[place], record) for found in recorded for place, record in found.items())
    assert feeds.open(run.id) is feed
    assert (feed.status.state, feed.news((0, 0))[1]) == (FINISHED, (5, 5))


def test_a_silent_run_sends_its_status_again_and_a_closing_server_ends_the_stream(store, monkeypatch):
    monkeypatch.setattr(api, "HEARTBEAT_SECONDS", 0.02)
    feed = running(store)

    async def watch() -> list[bytes]:
        heard: list[bytes] = []
        viewer = asyncio.create_task(listen(feed, heard))
        while len(heard) < 3:
            await asyncio.sleep(0.01)
        feed.closed = True
        feed.wake()
        await asyncio.wait_for(viewer, 10)
        return heard

    heard = in_a_loop_of_its_own(watch)
    assert set(heard) == {feed.status_event}
    name, data, *_ = feed.status_event.decode().split("\n")
    assert name == "event: status"
    assert json.loads(data.removeprefix("data: "))["state"] == "running"


def test_old_runs_are_read_again_and_held_only_while_they_fit(store, recorded):
    ids = []
    for seed in range(3):
        run = store.add(config(seed))
        told = recorded[:1] if seed == 0 else recorded
        store.add_records((run.lanes[place], record) for found in told for place, record in found.items())
        store.set_state(run.id, RUNNING if seed == 0 else FINISHED)
        ids.append(run.id)
    feeds = Feeds(store, most_bytes=1)
    opened = [feeds.open(run) for run in ids]
    assert [[len(lane.records) for lane in feed.lanes] for feed in opened] == [[1, 1], [5, 5], [5, 5]]
    assert feeds.cached(ids[0]) is opened[0]  # under way
    assert feeds.cached(ids[1]) is None
    assert feeds.cached(ids[2]) is opened[2]  # the newest
    assert feeds.open(ids[1]).news((0, 0)) == opened[1].news((0, 0))
    assert feeds.open("0" * 20) is None
