"""A page's address: what it asks for when the page is entered, and what it says of the page from then on.

A page is entered by the menu, by Back, by a link or by a reload. Only then is its address read: later it is our own
echo, and may come back older than what was set since. Streamlit's own binding of controls to the address
(`bind="query-params"`) does not do for several pages: on Back it takes a control that two pages have for the other
page's, and its value is lost.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import parse_qs

import streamlit as st

from dashboard.browser.assets import importing
from dashboard.browser.session import key_of, of_session

_KEY = "lab-address"
_LONGEST = 1 << 17  # letters of a page's settings

_component = st.components.v2.component("radam_lab_address", html="<span></span>", js=importing("address.js", "span"))


@dataclass
class _Addresses:
    """Of one visitor's pages."""

    page: str | None = None  # that is shown
    asked: dict[str, list[str]] = field(default_factory=dict)  # by its address, when it was entered
    taken: set[str] = field(default_factory=set)  # what of that was told
    refused: list[str] = field(default_factory=list)  # what of that may not be, in sentences
    said: dict[str, list[str]] = field(default_factory=dict)  # of the page, by its controls
    latest: dict[str, Any] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)  # pages
    left: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # by page, before the tab was reloaded
    part: str = ""  # of the page, that its link leads to


class Session(Protocol):
    """A visitor's, or a command's."""

    def __getitem__(self, key: str, /) -> Any: ...


def begin(page: str) -> None:
    """Call it before a page runs."""
    mine = of_session(_Addresses)
    mine.said, mine.part = {}, ""
    if mine.page != page:
        given = {name: st.query_params.get_all(name) for name in st.query_params}
        # By the menu a page's address is empty. After a reload this session has not seen it, but the tab may have.
        mine.asked = given if given or page in mine.seen else mine.left.get(page, {})
        mine.page, mine.taken, mine.refused = page, set(), []
        mine.seen.add(page)


def asked(name: str) -> list[str]:
    """What the address asks for under this name: told once after the page was entered."""
    mine = of_session(_Addresses)
    if mine.page is None:  # a page that runs by itself, as in a test
        begin("")
    if name in mine.taken:
        return []
    mine.taken.add(name)
    return mine.asked.get(name, [])


def refuse(sentence: str, shown: str = "") -> None:
    """Says what of the address may not be; `shown` is what a visitor reads, where that is something else."""
    of_session(_Addresses).refused.append(sentence)
    st.warning(shown or sentence, icon=":material/link_off:")


def check(page: str, session: Session) -> None:
    """For a command, which sees no warning: `ValueError` if a page that has run did not take all of its address."""
    mine: _Addresses = session[key_of(_Addresses)]
    for sentence in mine.refused:
        raise ValueError(sentence)
    for name in mine.asked.keys() - mine.taken:
        known = ", ".join(sorted(mine.taken)) or "nothing"
        raise ValueError(f"the address of the page {page} may say {known}, got {name[:60]!r}")


def say(name: str, values: Sequence[str]) -> None:
    """Puts something into the address; all of it is written by `write`."""
    of_session(_Addresses).said[name] = list(values)


def leads_to(key: str) -> None:
    """The page was entered by a link to this part of it, by the key of a container: it is moved there."""
    of_session(_Addresses).part = key


def write() -> None:
    """Call it after a page has run: one message to the browser, and only if something is new."""
    mine = of_session(_Addresses)
    said = mine.said
    if {name: st.query_params.get_all(name) for name in st.query_params} != said:
        st.query_params.from_dict(said)
    _component(key=_KEY, data=json.dumps({"part": mine.part}).encode(), on_left_change=_remember)


def _remember() -> None:
    """What the tab's pages had set before it was reloaded: from a browser, so whoever reads it checks it."""
    left = st.session_state[_KEY].get("left")
    if isinstance(left, Mapping):
        of_session(_Addresses).left = {
            str(page): parse_qs(str(text)[:_LONGEST].removeprefix("?"), keep_blank_values=True)
            for page, text in list(left.items())[:50]
        }


def key(name: str) -> str:
    """A control's key in the session: a page has its own, so that it is found as it was left."""
    page = of_session(_Addresses).page
    return f"{page}-{name}" if page else name


def latest() -> dict[str, Any]:
    """What was last set under each name, on whichever page: a page that is new to the visitor starts from it."""
    return of_session(_Addresses).latest
