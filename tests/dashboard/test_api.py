"""The routes of the real server in a process of its own: whole histories, live frames, resumption, hard kills."""

import http.client
import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from bench.driving.visiting import mark, press, visitor, wait
from bench.driving.watching import Event, Server
from dashboard.asked.config import RaceConfig
from dashboard.asked.four_steps import four_steps
from dashboard.asked.presets import PRESETS, lane
from dashboard.asked.sweep_config import SweepConfig
from dashboard.runs.store import Store
from dashboard.server.visitor import COOKIE


def config(steps: int = 500, seed: int = 0) -> RaceConfig:
    lanes = [lane("adam", 1e-2), lane("radam", 1e-2), lane("sgd", 1e-4)]
    return RaceConfig.make({"task": "surfaces", "lanes": lanes, "steps": steps, "steps_per_frame": 50, "seed": seed})


def submit(server: Server, config: RaceConfig, **visitor: str) -> str:
    return server.tell(submit=json.loads(config.to_json()), **visitor)


def records(events: Iterable[Event], lanes: int = 3) -> list[list[Any]]:
    """What a viewer was told of each lane."""
    told: list[list[Any]] = [[] for _ in range(lanes)]
    for event in events:
        for place, found in event.data.items() if event.name == "records" else ():
            told[int(place)] += found
    return told


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def killed(runs):
    """A run whose server was killed, and the first records that its viewer saw."""
    server, before = Server(runs, workers=1), []
    try:
        run = submit(server, config(100_000, seed=2))
        for event in server.events(run):
            before.append(event)
            if min(map(len, records(before))) >= 5:
                break
    finally:
        server.kill()
    return run, records(before)


@pytest.fixture(scope="module")
def server(runs, killed):  # noqa: ARG001 - one server the fewer to start: this one comes after that which was killed
    made = Server(runs, workers=1)
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


def test_a_killed_server_comes_back_with_what_was_recorded_and_goes_on(server, killed):
    """Slow, by the start of the server before this one. It buys that a crash loses nothing that a viewer has seen."""
    run, before = killed
    server.tell(pause=run)  # whose visitor's wish was kept, too
    for event in server.events(run):
        if event.name == "status" and event.data["state"] == "paused":
            break
    recorded = server.get(run)[1]["records"]
    assert min(recorded) >= min(map(len, before))
    server.tell(resume=run)
    events: list[Event] = []
    for event in server.events(run):
        events.append(event)
        if min(map(len, records(events))) >= max(recorded) + 3:
            break
    for found, seen in zip(records(events), before, strict=True):
        assert found[: len(seen)] == seen
        assert [record["number"] for record in found] == list(range(len(found)))
    assert "end" not in [event.name for event in events]
    server.tell(stop=run)


def test_a_viewer_sees_every_record_once_in_order_and_then_the_end(runs, finished):
    run, events = finished
    assert [[record["number"] for record in lane] for lane in records(events)] == [list(range(11))] * 3
    assert [event.id for event in events if event.id][-1] == "11.11.11"
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
        "wanted_by",
    }
    store = Store(runs)
    stored = [[json.loads(record.body) for record in store.records(lane)] for lane in store.run(run).lanes]
    store.close()
    assert records(events) == stored


def test_a_late_viewer_gets_the_same_records(server, finished):
    run, events = finished
    assert records(server.events(run)) == records(events)


def test_a_stream_resumes_where_it_was_cut(server, finished):
    run, events = finished
    whole = records(events)
    for places in ((1, 5, 9), (11, 0, 3), (4, 4, 4)):
        rest = [lane[place:] for lane, place in zip(whole, places, strict=True)]
        text = ".".join(map(str, places))
        assert records(server.events(run, last=text)) == rest
        assert records(server.events(run, f"?after={text}")) == rest
        assert records(server.events(run, "?after=0.0.0", last=text)) == rest  # the browser's own word is the newer
    for beyond in ("11.11.11", "999999999.11.11"):
        assert [event.name for event in server.events(run, last=beyond)] == ["status", "end"]
    for nonsense in ("-1", "x", "1e3", "9" * 50, "%00", "3", "1.1", "1.1.1.1", "1..1", ".".join("1" * 5000)):
        assert records(server.events(run, f"?after={nonsense}")) == whole


def test_many_watch_one_live_run_and_a_lost_connection_misses_nothing(server):
    run = submit(server, config(3000, seed=1))
    seen: list[list[Event]] = [[] for _ in range(8)]

    def watch(events: list[Event]) -> None:
        for event in server.events(run):
            if event.name == "records":
                events.append(event)
                if len(events) == 7:
                    break  # the connection is lost, and the browser comes back
        events += list(server.events(run, last=events[-1].id))

    viewers = [threading.Thread(target=watch, args=(events,)) for events in seen]
    for viewer in viewers:
        viewer.start()
    for viewer in viewers:
        viewer.join(120)
    assert [[record["number"] for record in lane] for lane in records(seen[0])] == [list(range(61))] * 3
    assert all(records(events) == records(seen[0]) for events in seen)


def test_status_and_configuration(server, finished):
    run, _ = finished
    code, answer = server.get(run)
    assert code == 200
    assert RaceConfig.make(answer["config"]) == config()
    assert (answer["id"], answer["records"], answer["status"]["state"]) == (run, [11, 11, 11], "finished")
    assert submit(server, config()) == run


def test_the_status_of_a_sweep(server, runs):
    asked = four_steps("digits", 0.1)
    store = Store(runs)
    run = store.add(asked).id
    store.close()
    code, answer = server.get(run)
    assert code == 200
    assert SweepConfig.make(answer["config"]) == asked
    assert (answer["id"], len(answer["lanes"]), answer["status"]["state"]) == (run, asked.size, "queued")


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


def test_viewers_see_how_many_want_the_run(server):
    run = submit(server, config(100_000, seed=3), visitor="ann")
    told = (event.data for event in server.events(run) if event.name in ("status", "end"))

    def wanted_by(number: int) -> dict[str, Any]:
        return next(status for status in told if status["wanted_by"] == number)

    wanted_by(1)
    submit(server, config(100_000, seed=3), visitor="bob")
    wanted_by(2)
    server.tell(stop=run, visitor="eve")  # who only looks on
    server.tell(stop=run, visitor="bob")
    assert wanted_by(1)["state"] in ("queued", "running")
    assert server.tell(wants=run, visitor="ann") == "go"
    assert server.tell(wants=run, visitor="bob") is None
    server.tell(stop=run, visitor="ann")
    assert next(status for status in told if status["state"] == "stopped")["wanted_by"] == 0


def test_a_stop_is_a_visitors_own_and_a_visitor_is_a_browser(server, browser):
    endless = PRESETS["digits"].config.changed(steps=100_000)  # half an hour, however slow the browser is
    link = f"http://127.0.0.1:{server.port}/lab/race?config={endless.to_link()}"
    with visitor(browser, link) as ann, visitor(browser, link) as bob:
        press(ann, "Train")
        wait(ann, "d.state === 'running' && Number(d.step) > 0")
        run = mark(ann, "run")
        (cookie,) = (one for one in ann.context.cookies() if one["name"] == COOKIE)
        assert (cookie["path"], cookie["httpOnly"], cookie["sameSite"]) == ("/lab", True, "Lax")
        assert server.tell(wants=run, visitor=cookie["value"]) == "go"  # known on the very first visit
        press(bob, "Train")
        wait(bob, "d.run === a && Number(d.step) > 0", run)
        press(bob, "Stop")
        told = (event.data for event in server.events(run) if event.name == "status")
        assert next(status for status in told if status["wanted_by"] == 1)["state"] == "running"
        wait(ann, "d.state === 'running' && Number(d.step) > a", int(mark(ann, "step")) + 50)
        tab = ann.context.new_page()  # of the same browser
        tab.goto(f"http://127.0.0.1:{server.port}/lab/race?run={run}")
        tab.wait_for_selector(".lab-race[data-run]")
        wait(tab, "d.state === 'running'")
        press(tab, "Stop")
        wait(ann, "d.state === 'stopped'")
