"""What viewers of a run share: the same bytes, one wake-up, a heartbeat, and a bounded memory."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from dashboard import api, headless
from dashboard.config import RaceConfig
from dashboard.feed import Feed, Feeds, Status
from dashboard.presets import lane
from dashboard.store import FINISHED, RUNNING, Store, StoredFrame
from radam_core.frames import encode_frame


def in_a_loop_of_its_own(coroutine):
    """In another thread, since a browser of other tests may hold this one's event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(coroutine())).result(60)


def config(seed: int = 0) -> RaceConfig:
    values = {"task": "surfaces", "lanes": [lane("radam", 1e-2)], "steps": 40, "steps_per_frame": 10, "seed": seed}
    return RaceConfig.make(values)


@pytest.fixture(scope="module")
def recorded():
    return [StoredFrame(frame.number, frame.last, encode_frame(frame)) for frame in headless.frames(config())]


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    yield made
    made.close()


def running(store: Store) -> Feed:
    run, _ = store.add(config())
    store.set_state(run.id, RUNNING)
    feed = Feeds(store).open(run.id)
    assert feed is not None
    return feed


async def listen(feed: Feed, heard: list[bytes], start: int = 0) -> None:
    async for part in api.stream(feed, start):
        heard.append(part)  # noqa: PERF401 - the test looks at them while they come


def test_all_viewers_get_the_same_bytes_as_they_come(store, recorded):
    feed = running(store)

    async def watch() -> list[list[bytes]]:
        heard: list[list[bytes]] = [[] for _ in range(20)]
        viewers = [asyncio.create_task(listen(feed, parts)) for parts in heard]
        for frame in recorded:
            await asyncio.sleep(0.01)
            await asyncio.to_thread(lambda frame=frame: (feed.add(frame), feed.wake()))
        feed.set_status(Status(FINISHED, step=40, steps=40))
        feed.wake()
        await asyncio.wait_for(asyncio.gather(*viewers), 10)
        return heard

    heard = in_a_loop_of_its_own(watch)
    assert all(parts == heard[0] for parts in heard)
    assert [part.split(b"\n")[0] for part in heard[0] if part.startswith(b"id")] == [b"id: %d" % n for n in range(5)]
    assert b"event: end\ndata: " in heard[0][-1]


def test_frames_that_are_not_the_next_are_left_out(store, recorded):
    feed = running(store)
    assert feed.add(recorded[1]) is None
    assert feed.add(recorded[0]) is not None
    assert feed.add(recorded[0]) is None
    assert len(feed.frames) == 1


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
        run, _ = store.add(config(seed))
        store.add_frames(run.id, recorded)
        store.set_state(run.id, RUNNING if seed == 0 else FINISHED)
        ids.append(run.id)
    feeds = Feeds(store, most_bytes=1)
    opened = [feeds.open(run) for run in ids]
    assert [len(feed.frames) for feed in opened] == [5, 5, 5]
    assert feeds.cached(ids[0]) is opened[0]  # under way
    assert feeds.cached(ids[1]) is None
    assert feeds.cached(ids[2]) is opened[2]  # the newest
    assert feeds.open(ids[1]).frames == opened[1].frames
    assert feeds.open("0" * 20) is None
