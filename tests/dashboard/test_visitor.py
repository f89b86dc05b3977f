"""Who a visitor is: a cookie that comes with the page and with nothing else; and what a newcomer is shown."""

import http.client
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.asked.presets import PRESETS
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.runs.states import CUT_OFF, FAILED, FINISHED, QUEUED, RUNNING, STOPPED
from dashboard.runs.store import Store
from dashboard.server.visitor import COOKIE

PAGE = str(Path(__file__).resolve().parents[2] / "pages" / "race.py")
NAMED = re.compile(rf"{COOKIE}=[0-9a-f]{{32}}; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax(; Secure)?")


def cookies_set(address: str, path: str, **headers: str) -> list[str]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status < 500
    return [value for value in answer.headers.get_all("Set-Cookie") or [] if value.startswith(COOKIE)]


@pytest.mark.parametrize("path", ["/", "/race", "/race?run=x"])
def test_a_page_names_a_visitor_who_has_no_name_yet(address, path):
    (first,), (second,) = cookies_set(address, path), cookies_set(address, path)
    assert NAMED.fullmatch(first)
    assert first != second
    assert "Secure" not in first
    (proxied,) = cookies_set(address, path, X_Forwarded_Proto="https")
    assert proxied.endswith("; Secure")


def test_a_visitor_keeps_their_name(address):
    assert cookies_set(address, "/race", Cookie=f"{COOKIE}={'0a' * 16}") == []
    assert cookies_set(address, "/race", Cookie=f"other=1; {COOKIE}={'0a' * 16}; more=2") == []


@pytest.mark.parametrize(
    "name", ["", "x", "0a" * 15, "0A" * 16, "0a" * 17, "'or'1'='1", "\xff\xfe", "<script>", '"' * 9]
)
def test_what_is_no_name_gets_a_new_one(address, name):
    (cookie,) = cookies_set(address, "/race", Cookie=f"{COOKIE}={name}")
    assert NAMED.fullmatch(cookie)


def test_a_page_that_the_browser_still_has_names_its_visitor_too(address):
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("GET", "/")
    answer = connection.getresponse()
    answer.read()
    connection.request("GET", "/", headers={"If-None-Match": answer.headers["ETag"], "Accept": "text/html,*/*"})
    again = connection.getresponse()
    again.read()
    connection.close()
    assert again.status == 304
    assert NAMED.fullmatch(again.headers["Set-Cookie"])


@pytest.mark.parametrize("path", ["/_stcore/health", "/api/runs/0", "/favicon.png", "/manifest.json"])
def test_nothing_but_a_page_sets_the_cookie(address, path):
    assert cookies_set(address, path, Accept="text/html") == []


def named() -> None:
    import streamlit as st

    from dashboard.server.visitor import visitor_id

    st.text(visitor_id())
    st.button("again")


def test_without_cookies_a_visitor_is_a_session():
    ann, bob = (AppTest.from_function(named, default_timeout=30).run() for _ in range(2))
    name = ann.text[0].value
    assert re.fullmatch("[0-9a-f]{32}", name)
    assert ann.button[0].click().run().text[0].value == name
    assert bob.text[0].value != name


@pytest.fixture
def engine(tmp_path) -> Iterator[Engine]:
    """One that trains nothing."""
    store = Store(tmp_path)
    made = Engine(store)
    set_running_engine(made)
    yield made
    set_running_engine(None)
    store.close()


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(PAGE, default_timeout=30)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def shown(app: AppTest) -> str:
    """The id of the run on the page; empty without one."""
    assert not app.exception
    return app.session_state["race-shown"]


def press_train(app: AppTest) -> AppTest:
    return next(button for button in app.button if button.label == "Train").click().run()


def test_two_visitors_want_one_run_and_a_newcomer_is_not_shown_it_when_they_have_stopped_it(engine):
    ann, bob = press_train(opened()), press_train(opened())
    run = shown(ann)
    assert run
    assert shown(bob) == run
    assert engine.status(run).wanted_by == 2
    assert shown(opened()) == run  # it is under way: a newcomer may watch
    for visitor in (ann, bob):
        engine.stop(run, visitor.session_state["visitor"])
    assert engine.run(run).state == STOPPED
    assert shown(ann.run()) == run  # it was theirs
    assert shown(opened()) == ""
    assert shown(opened(run=run)) == run  # a link asks for it


@pytest.mark.parametrize(
    ("state", "is_shown"),
    [(QUEUED, True), (RUNNING, True), (FINISHED, True), (STOPPED, False), (FAILED, False), (CUT_OFF, False)],
)
def test_a_newcomer_is_shown_what_is_finished_or_under_way(engine, state, is_shown):
    run = engine.store.add(PRESETS["figure-1"].config)
    engine.store.set_state(run.id, state)
    assert shown(opened()) == (run.id if is_shown else "")
