"""Who may start a run: bounds a minute and at a time, for visitors, addresses and all; and whose address it is."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from dashboard.engine.cluster import Layout
from dashboard.engine.engine import NO_TRAINING, Engine, set_running_engine
from dashboard.forms.race_form import plain
from dashboard.hosting.addresses import KnownAddresses
from dashboard.hosting.counts import Counts
from dashboard.hosting.settings import Hosting
from dashboard.hosting.starts import Starts, network, who
from dashboard.runs.store import Store
from tests.dashboard.engines import config
from tests.dashboard.opening import open_page

ANN, BOB = "a" * 32, "b" * 32


def always(_: str) -> bool:
    return True


def never(_: str) -> bool:
    return False


def test_a_visitor_has_so_many_starts_a_minute_in_all_tabs():
    starts, ann = Starts(Hosting(starts_per_visitor=2)), who(ANN, "192.0.2.1")
    for run in ("1", "2"):
        assert starts.refusal(ann, never) == ""
        starts.began(ann, run)
    refused = starts.refusal(ann, never)
    assert refused.startswith("You can start 2 runs a minute on this hosted copy: try again in ")
    assert 1 <= int(refused.split()[-2]) <= 60
    assert starts.refusal(who(BOB, "192.0.2.1"), never) == ""


def test_cleared_cookies_leave_the_address():
    starts = Starts(Hosting(starts_per_visitor=2, starts_per_address=3))
    for k in range(3):
        one = who(f"{k:032x}", "192.0.2.1")
        assert starts.refusal(one, never) == ""
        starts.began(one, str(k))
    assert starts.refusal(who("f" * 32, "192.0.2.1"), never).startswith("Your network can start 3 runs a minute")
    assert starts.refusal(who("f" * 32, "192.0.2.2"), never) == ""


def test_those_without_a_cookie_are_one_visitor():
    starts = Starts(Hosting(starts_per_visitor=1))
    starts.began(who("", "192.0.2.1"), "1")
    assert starts.refusal(who("", "192.0.2.1"), never).startswith("You can start 1 runs")
    assert starts.refusal(who("", "192.0.2.2"), never) == ""


@pytest.mark.parametrize(
    ("limits", "whose"),
    [
        ({"runs_per_visitor": 1}, "You have 1 run under way, and this hosted copy allows 1 at a time"),
        ({"runs_per_visitor": 9, "runs_per_address": 1}, "Your network has 1 run under way"),
        ({"runs_per_visitor": 9, "runs": 1}, "All visitors together have 1 run under way"),
    ],
)
def test_runs_at_a_time_are_counted_until_they_are_over(limits, whose):
    starts, ann = Starts(Hosting(**limits)), who(ANN, "192.0.2.1")
    starts.began(ann, "1")
    assert starts.refusal(ann, always).startswith(whose)
    assert starts.refusal(ann, never) == ""


def test_two_runs_of_one_click_are_two():
    starts, ann = Starts(Hosting(runs_per_visitor=1)), who(ANN, "192.0.2.1")
    assert starts.refusal(ann, never, 2).startswith("You have 0 runs under way, and this hosted copy allows 1")


@pytest.fixture
def two_processes(tmp_path):
    """What each of two has of one file."""
    limits = Hosting(runs_per_visitor=9, runs=2, starts_per_visitor=3, starts_per_address=4, figures_per_address=2)
    made = [Starts(limits, Counts(tmp_path / "counts.sqlite")) for _ in range(2)]
    yield made
    for starts in made:
        starts.counts.close()


def test_what_one_process_counted_counts_in_the_others(two_processes):
    first, second = two_processes
    ann = who(ANN, "192.0.2.1")
    first.began(ann, "1")
    second.began(ann, "2")
    for starts in two_processes:
        assert starts.refusal(ann, always).startswith("All visitors together have 2 runs under way")
    for starts in two_processes:
        assert starts.refusal(ann, lambda run: run == "2") == ""
    first.count(ann)
    for starts in two_processes:
        assert starts.refusal(ann, never).startswith("You can start 3 runs a minute")
    second.count(who(BOB, "192.0.2.1"))
    assert first.refusal(who(BOB, "192.0.2.1"), never).startswith("Your network can start 4 runs a minute")
    assert [starts.figure("192.0.2.1") for starts in two_processes] == [0, 0]
    assert all(starts.figure("192.0.2.1") > 50 for starts in two_processes)


def test_between_two_processes_only_one_decides_at_a_time(two_processes):
    first, second = two_processes
    with ThreadPoolExecutor(1) as thread:
        with first.lock:
            waiting = thread.submit(second.began, who(BOB, "192.0.2.1"), "2")
            assert first.refusal(who(ANN, "192.0.2.1"), always) == ""
            first.began(who(ANN, "192.0.2.1"), "1")
            assert not waiting.done()
        waiting.result(10)
    assert first.refusal(who(ANN, "192.0.2.1"), always).startswith("All visitors together have 2 runs")


@pytest.mark.parametrize("jump", [-1e6, 1e6])
def test_a_clock_that_jumps_opens_no_door(two_processes, jump, monkeypatch):
    first, second = two_processes
    for _ in range(3):
        first.count(who(ANN, "192.0.2.1"))
    monkeypatch.setattr("time.time", lambda: 1.8e9 + jump)
    assert second.refusal(who(ANN, "192.0.2.1"), never).endswith(("in 60 s.", "in 59 s."))


def test_what_is_a_minute_old_is_forgotten_and_so_is_what_a_machine_counted_before_it_started_again(two_processes):
    first, second = two_processes
    ann = who(ANN, "192.0.2.1")
    for shift in (-61, 1e6):
        for _ in range(3):
            first.count(ann)
        assert second.refusal(ann, never)
        with first.lock as db:
            db.execute("update hits set at = at + ?", (shift,))
        assert second.refusal(ann, never) == ""


def test_a_household_is_one_address():
    assert network("2001:db8:1:2:3:4:5:6") == network("2001:db8:1:2::9") == "2001:db8:1:2::/64"
    assert network("2001:db8:1:3::9") != network("2001:db8:1:2::9")
    assert network("::ffff:192.0.2.1") == network("192.0.2.1") == "192.0.2.1"
    assert network("fe80::1%eth0") == "fe80::/64"
    assert network("nonsense") == "nonsense"


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "address"),
    [
        ("192.0.2.1", "", (), "192.0.2.1"),
        ("192.0.2.1", "198.51.100.9", (), "192.0.2.1"),  # nobody trusts them
        ("192.0.2.1", "198.51.100.9", ("10.0.0.0/8",), "192.0.2.1"),
        ("10.0.0.5", "198.51.100.9", ("10.0.0.0/8",), "198.51.100.9"),
        ("10.0.0.5", "203.0.113.7, 198.51.100.9", ("10.0.0.5",), "198.51.100.9"),  # the first is the visitor's own word
        ("10.0.0.5", "198.51.100.9, 10.0.0.6", ("10.0.0.0/8",), "198.51.100.9"),  # two proxies in a row
        ("10.0.0.5", "198.51.100.9:4711", ("10.0.0.5",), "198.51.100.9"),
        ("10.0.0.5", "[2001:db8::1]:4711", ("10.0.0.5",), "2001:db8::1"),
        # Uvicorn has put the header's word in the place of this machine's address.
        ("198.51.100.9", "198.51.100.9", (), "127.0.0.1"),
        ("198.51.100.9", "198.51.100.9", ("127.0.0.1",), "198.51.100.9"),
        ("203.0.113.7", "203.0.113.7, 198.51.100.9", ("127.0.0.1",), "198.51.100.9"),
    ],
)
def test_an_address_is_believed_from_trusted_proxies_alone(peer, forwarded, trusted, address):
    headers = [(b"x-forwarded-for", forwarded.encode())] if forwarded else []
    scope = {"type": "http", "client": (peer, 50_000), "headers": headers}
    assert KnownAddresses(None, trusted).address(scope) == address


@pytest.fixture
def idle(monkeypatch, tmp_path):
    """An engine without workers."""
    monkeypatch.setenv("RADAM_LAB_WORKERS", "0")
    store = Store(tmp_path)
    engine = Engine(store)
    engine.start()
    set_running_engine(engine)
    yield engine
    set_running_engine(None)
    engine.close()
    store.close()


def test_without_workers_nothing_is_trained(idle):
    engine = idle
    assert not engine.trains
    assert engine.trouble == NO_TRAINING
    assert not engine.wait_until_ready(60)
    with pytest.raises(ValueError, match="This copy trains nothing"):
        engine.submit(config())


@pytest.mark.parametrize(
    ("name", "button"), [("race", "Train"), ("sweep", "Run"), ("norms", "Train"), ("four-steps", "Train")]
)
def test_without_workers_a_page_says_that_it_trains_nothing(idle, name, button):  # noqa: ARG001
    app = open_page(name)
    assert not app.exception
    assert any(plain(NO_TRAINING) in caption.value for caption in app.caption)
    (train,) = (one for one in app.button if one.label == button)
    assert train.disabled


def test_without_workers_no_gradients_are_measured(idle):  # noqa: ARG001
    assert [info.value for info in open_page("variance", real="true").info] == [NO_TRAINING]


def test_a_run_ends_when_its_time_is_over(tmp_path):
    """Without workers: a run in the queue has all its time before it, and a pause takes of it."""
    store = Store(tmp_path)
    engine = Engine(store, Layout(workers=1, threads=1), most_seconds=90)
    under_way = engine.dispatcher.under_way
    waiting, paused = engine.submit(config(seed=1), "ann"), engine.submit(config(seed=2), "ann")
    engine.pause(paused, "ann")
    under_way.end_overdue(90)
    assert engine.status(paused).state == "paused"
    under_way.races[paused].begun -= 91
    under_way.end_overdue(90)
    assert engine.status(paused).state == "stopped"
    assert engine.status(paused).message.startswith("Stopped after 1.5 minutes, the most that a run has here.")
    assert not engine.under_way(paused)
    assert engine.status(waiting).state == "queued"
    store.close()
