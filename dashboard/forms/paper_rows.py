"""Which rows of the paper's page stand open: kept when the page is left, and in its address."""

from collections.abc import Sequence

import streamlit as st

from dashboard.browser import address

_OPEN = "paper-open"


def door(name: str) -> str:
    """The key of a row's door."""
    return f"paper-row-{name}"


def open_rows(names: Sequence[str]) -> None:
    """Opens what the address asks for, and leads there, or what was open when the page was left; to begin with, the
    first row. A name that is none gets a sentence."""
    asked = address.asked("row")
    known = [name for name in asked if name in names]
    for name in asked:
        if name and name not in names:
            address.refuse(f"row must be one of {', '.join(names)}, got {name[:40]!r}.")
    none = asked == [""]  # how a link says that all are closed
    wanted = known if known or none else st.session_state.get(_OPEN, list(names[:1]))
    if known:
        address.leads_to(door(known[0]))
    for name in names:
        if asked or door(name) not in st.session_state:
            st.session_state[door(name)] = name in wanted


def remember_rows(opened: Sequence[str], first: str) -> None:
    """The first row alone is how the page opens, and needs no word in the address."""
    st.session_state[_OPEN] = list(opened)
    if list(opened) != [first]:
        address.say("row", list(opened) or [""])
