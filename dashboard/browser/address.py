"""A page's address: what it asks for when the page is entered, and what it says of the page from then on.

A page is entered by the menu, by Back, by a link or by a reload. Only then is its address read: later it is our own
echo, and may come back older than what was set since. Streamlit's own binding of controls to the address
(`bind="query-params"`) does not do for several pages: on Back it takes a control that two pages have for the other
page's, and its value is lost.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

import streamlit as st

from dashboard.browser.assets import importing

_PAGE, _ASKED, _TAKEN, _SAID, _LATEST = "lab-page", "lab-asked", "lab-taken", "lab-said", "lab-latest"
_SEEN, _LEFT, _KEY = "lab-seen", "lab-left", "lab-address"
_LONGEST = 1 << 17  # letters of a page's settings

_component = st.components.v2.component("radam_lab_address", html="<span></span>", js=importing("address.js", "span"))


def begin(page: str) -> None:
    """Call it before a page runs."""
    state = st.session_state
    state[_SAID] = {}
    if state.get(_PAGE) != page:
        state[_PAGE], state[_TAKEN] = page, set()
        given = {name: st.query_params.get_all(name) for name in st.query_params}
        seen = state.setdefault(_SEEN, set())
        # By the menu a page's address is empty. After a reload this session has not seen it, but the tab may have.
        state[_ASKED] = given if given or page in seen else state.get(_LEFT, {}).get(page, {})
        seen.add(page)


def asked(name: str) -> list[str]:
    """What the address asks for under this name: told once after the page was entered."""
    state = st.session_state
    if _PAGE not in state:  # a page that runs by itself, as in a test
        begin("")
    if name in state[_TAKEN]:
        return []
    state[_TAKEN].add(name)
    return state[_ASKED].get(name, [])


def say(name: str, values: Sequence[str]) -> None:
    """Puts something into the address; all of it is written by `write`."""
    st.session_state.setdefault(_SAID, {})[name] = list(values)


def write() -> None:
    """Call it after a page has run: one message to the browser, and only if something is new."""
    said: dict[str, list[str]] = st.session_state[_SAID]
    if {name: st.query_params.get_all(name) for name in st.query_params} != said:
        st.query_params.from_dict(said)
    _component(key=_KEY, on_left_change=_remember)


def _remember() -> None:
    """What the tab's pages had set before it was reloaded: from a browser, so whoever reads it checks it."""
    left = st.session_state[_KEY].get("left")
    if isinstance(left, Mapping):
        st.session_state[_LEFT] = {
            str(page): parse_qs(str(text)[:_LONGEST].removeprefix("?"), keep_blank_values=True)
            for page, text in list(left.items())[:50]
        }


def key(name: str) -> str:
    """A control's key in the session: a page has its own, so that it is found as it was left."""
    page = st.session_state.get(_PAGE, "")
    return f"{page}-{name}" if page else name


def latest() -> dict[str, Any]:
    """What was last set under each name, on whichever page: a page that is new to the visitor starts from it."""
    found: dict[str, Any] = st.session_state.setdefault(_LATEST, {})
    return found
