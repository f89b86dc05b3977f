"""The routes of the real server in a process of its own: whole histories, live frames, resumption, hard kills."""

import http.client
import json
import threading
from pathlib import Path

import pytest

from dashboard.config import RaceConfig
from dashboard.presets import lane
from dashboard.store import Store
from dashboard.wire import wire
from radam_core.frames import decode_frame
from tests.dashboard.watching import Event, Server


def config(steps: int = 500, seed: int = 0) -> RaceConfig:
    lanes = [lane("adam", 1e-2), lane("radam", 1e-2), lane("sgd", 1e-4)]
    return RaceConfig.make({"task": "surfaces", "lanes": lanes, "steps": steps, "steps_per_frame": 50, "seed": seed})


def submit(server: Server, config: RaceConfig) -> str:
    return server.tell(submit=json.loads(config.to_json()))


def frames(events: list[Event]) -> list[Event]:
    return [event for event in events if event.name == "frame"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def server(runs):
    made = Server(runs)
    yield made
    # A stream that is still open must not keep the server from going.
    listening = made.events(submit(made, config(100_000)))
    next(listening)
    made.stop()
    listening.close()


@pytest.fixture(scope="module")
def finished(server):
    """A run that was watched from its start to its end, and what its viewer saw."""
    run = submit(server, config())
    return run, list(server.events(run))


def test_a_viewer_sees_every_frame_once_in_order_and_then_the_end(runs, finished):
    run, events = finished
    assert [event.id for event in frames(events)] == list(range(11))
    assert events[-1].name == "end"
    assert events[-1].data["state"] == "finished"
    statuses = [event.data for event in events if event.name == "status"]
    assert statuses[-1] == events[-1].data
    assert statuses[-1]["step"] == statuses[-1]["steps"] == 500
    assert set(statuses[-1]) == {
        "state",
        "position",
        "step",
        "steps",
        "lane_steps_per_second",
        "seconds_left",
        "message",
    }
    store = Store(runs)
    stored = [wire(decode_frame(frame.body, config().entry().lanes)) for frame in store.frames(run)]
    store.close()
    assert [event.data for event in frames(events)] == stored


def test_a_late_viewer_gets_the_same_frames(server, finished):
    run, events = finished
    assert frames(list(server.events(run))) == frames(events)


def test_a_stream_resumes_where_it_was_cut(server, finished):
    run, events = finished
    for k in (0, 4, 8):
        assert frames(list(server.events(run, last=k))) == frames(events)[k + 1 :]
        assert frames(list(server.events(run, f"?after={k}"))) == frames(events)[k + 1 :]
    assert [event.name for event in server.events(run, last=10)] == ["status", "end"]
    assert [event.name for event in server.events(run, last=10**9 - 1)] == ["status", "end"]
    for nonsense in ("-1", "x", "1e3", "9" * 50, "%00"):
        assert frames(list(server.events(run, f"?after={nonsense}"))) == frames(events)


def test_many_watch_one_live_run_and_a_lost_connection_misses_nothing(server):
    run = submit(server, config(3000, seed=1))
    seen: list[list[Event]] = [[] for _ in range(8)]

    def watch(events: list[Event]) -> None:
        for event in server.events(run):
            if event.name == "frame":
                events.append(event)
                if len(events) == 7:
                    break  # the connection is lost, and the browser comes back
        events += frames(list(server.events(run, last=events[-1].id)))

    viewers = [threading.Thread(target=watch, args=(events,)) for events in seen]
    for viewer in viewers:
        viewer.start()
    for viewer in viewers:
        viewer.join(60)
    assert [event.id for event in seen[0]] == list(range(61))
    assert all(events == seen[0] for events in seen)


def test_status_and_configuration(server, finished):
    run, _ = finished
    code, answer = server.get(run)
    assert code == 200
    assert RaceConfig.make(answer["config"]) == config()
    assert (answer["id"], answer["frames"], answer["status"]["state"]) == (run, 11, "finished")
    assert submit(server, config()) == run


@pytest.mark.parametrize("path", ["", "/events"])
@pytest.mark.parametrize(
    "run", ["0" * 20, "0" * 19, "A" * 20, "z" * 20, "'or'1'='1", "%ff%fe", "x" * 5000, "0" * 20 + "%0a"]
)
def test_hostile_ids_find_nothing(server, run, path):
    code, answer = server.get(run + path)
    assert code == 404
    assert answer == {"error": "there is no such run"}


def test_nothing_else_is_offered(server, finished):
    run, _ = finished
    for method in ("POST", "PUT", "DELETE"):
        assert server.get(run, method)[0] == 405
    for path in (f"{run}/frames", "%00" * 20, "..%5c..", f"{run}/../../../app.py", "..%2f..%2fapp.py"):
        code, answer = server.get(path)
        assert code in (400, 403, 404) or b"<!doctype html" in answer.lower(), path


def test_a_proxy_is_asked_not_to_hold_events_back(server, finished):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", f"/lab/api/runs/{finished[0]}/events", headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    assert answer.getheader("Content-Type").startswith("text/event-stream")
    assert answer.getheader("X-Accel-Buffering") == "no"
    assert answer.getheader("Cache-Control") == "no-cache"
    assert answer.getheader("Content-Encoding") is None
    connection.close()


def test_the_server_has_not_loaded_torch(server, finished):  # noqa: ARG001 - after it has run a race
    loaded = Path(f"/proc/{server.process.pid}/maps")
    if not loaded.exists():
        pytest.skip("this system does not show a process's libraries")
    assert "numpy" in loaded.read_text()
    assert "libtorch" not in loaded.read_text()


def test_a_killed_server_comes_back_with_what_was_recorded(tmp_path):
    first = Server(tmp_path)
    run = submit(first, config(30_000, seed=2))
    before = []
    for event in first.events(run):
        if event.name == "frame":
            before.append(event)
            if len(before) == 5:
                first.kill()
                break
    second = Server(tmp_path)
    events = list(second.events(run))
    assert frames(events)[:5] == before
    assert events[-1].name == "end"
    assert events[-1].data["state"] == "cut off"
    assert "Train runs it again" in events[-1].data["message"]
    recorded = len(frames(events))
    assert submit(second, config(30_000, seed=2)) == run
    numbers = []
    for event in second.events(run, last=recorded - 1):
        if event.name == "frame":
            numbers.append(event.id)
        if len(numbers) == 3:
            break
    assert numbers == list(range(recorded, recorded + 3))
    second.kill()
