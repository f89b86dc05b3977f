"""A visitor's class: joined by a link or a code, opened and left. A code is anybody's: what is none gets a sentence."""

import sqlite3

import streamlit as st

from dashboard.asked.tour import TourStep
from dashboard.engine.engine import running_engine
from dashboard.runs.classes import CODE, Classes, Pooled
from dashboard.server.visitor import visitor_id

_CLASS, _TEACHER, _SAID = "tour-class", "tour-teacher", "tour-said"
_ALLOWED_CODE = "a class's code of five letters and digits, as its teacher shows it"


def shared_classes() -> Classes | None:
    """In the server's store; None where a page runs without a server."""
    engine = running_engine()
    return Classes(engine.store.path) if engine else None


def class_code() -> str:
    return str(st.session_state.get(_CLASS, ""))


def is_teacher() -> bool:
    return bool(class_code()) and bool(st.session_state.get(_TEACHER))


def set_view(teacher: bool) -> None:
    st.session_state[_TEACHER] = teacher


def refused(name: str, value: str, allowed: str) -> str:
    """What is said of a link's value that may not be."""
    shown = value[:40].replace("`", "'").replace("\n", " ")
    return f"The link asked for `{name} = {shown}`. Allowed: {allowed}."


def join(code: str) -> str:
    """Enters a class, if there is one of this code; what is the matter if not, in words."""
    classes, given = shared_classes(), code.strip().upper()[:20]
    try:
        known = classes is not None and classes.exists(given)
    except sqlite3.Error as error:
        return f"The classes cannot be looked up: {error}."
    if known:
        st.session_state[_CLASS] = given
        return ""
    if CODE.fullmatch(given):
        return f"There is no class {given}, or it is over: a class lasts 24 hours. What you predict stays on this page."
    return refused("class", code, _ALLOWED_CODE)


def leave() -> None:
    st.session_state[_CLASS], st.session_state[_TEACHER] = "", False


def start_class() -> None:
    """Opens a class, and the teacher's view of it."""
    classes = shared_classes()
    assert classes is not None
    try:
        st.session_state[_CLASS] = classes.open(visitor_id())
        st.session_state[_TEACHER] = True
    except (ValueError, sqlite3.Error) as error:
        tell(str(error))


def add(step: TourStep, code: str) -> None:
    """Counts a prediction in the visitor's class, if they are in one."""
    classes = shared_classes()
    if class_code() and classes:
        try:
            classes.add(class_code(), step.name, visitor_id(), code)
        except (ValueError, sqlite3.Error) as error:
            tell(f"Your prediction is here, but not in your class: {error}")


def pool(step: TourStep) -> Pooled:
    """What the visitor's class predicted; nothing without one."""
    classes = shared_classes()
    if not class_code() or classes is None:
        return ()
    try:
        return classes.pooled(class_code(), step.name)
    except sqlite3.Error as error:
        st.caption(f"The class's predictions cannot be read now: {error}.")
        return ()


def trouble() -> str:
    """What could not be done since it was last asked, in words."""
    return str(st.session_state.pop(_SAID, ""))


def tell(text: str) -> None:
    """Says it when the page is drawn next."""
    st.session_state[_SAID] = text
