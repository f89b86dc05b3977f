"""The tour's predictions: made first, kept in the session and in the address, and pooled where a visitor is in a class.

An address is anybody's, and so is a class's code: what may not be gets a sentence.
"""

import sqlite3
from urllib.parse import urlencode

import streamlit as st

from dashboard.asked.tour import SKIPPED, STEPS, Curve, Number, Picks, Range, TourStep, checked
from dashboard.browser import address
from dashboard.browser.draw_curve import draw_curve
from dashboard.engine.engine import running_engine
from dashboard.forms.controls import compact
from dashboard.runs.classes import CODE, Classes, Pooled
from dashboard.server.visitor import visitor_id
from dashboard.tour import drawings
from dashboard.words.tour_words import ALTS, FORMS

_CODES, _CLASS, _TEACHER, _SAID = "tour-codes", "tour-class", "tour-teacher", "tour-said"
_DRAW = "tour-draw"
TEACHER = "teacher"
CHART_HEIGHT = 400
_ALLOWED_CODE = "a class's code of five letters and digits, as its teacher shows it"


def follow_link() -> None:
    """Takes what the page was entered with: predictions, a class, and the teacher's view."""
    codes = st.session_state.setdefault(_CODES, {})
    for place, step in enumerate(STEPS, 1):
        asked = address.asked(f"p{place}")
        if asked:
            try:
                codes[step.name] = checked(step, asked[0] if len(asked) == 1 else "")
            except ValueError as error:
                _refuse(f"p{place}", asked[0], f"{error}, or {SKIPPED} where it was skipped")
    code, view = address.asked("class"), address.asked("view")
    if code:
        join(code[0])
    if view and view != [TEACHER]:
        _refuse("view", view[0], TEACHER)
    elif view:
        st.session_state[_TEACHER] = True


def _refuse(name: str, value: str, allowed: str) -> None:
    shown = value[:40].replace("`", "'").replace("\n", " ")
    st.warning(f"The link asked for `{name} = {shown}`. Allowed: {allowed}.", icon=":material/link_off:")


def remember() -> None:
    """Puts all of it into the address."""
    for place, step in enumerate(STEPS, 1):
        if own := prediction(step):
            address.say(f"p{place}", [own])
    if code := class_code():
        address.say("class", [code])
        if is_teacher():
            address.say("view", [TEACHER])


def link(own: bool) -> str:
    """To the class alone, or to this page as it is."""
    page = str(st.context.url or "/tour").split("?")[0]
    given = {"class": class_code()} if class_code() else {}
    if own:
        given |= {f"p{place}": prediction(step) for place, step in enumerate(STEPS, 1) if prediction(step)}
    return f"{page}?{urlencode(given)}".rstrip("?")


def prediction(step: TourStep) -> str:
    """Its code; "" before it is made."""
    return str(st.session_state.get(_CODES, {}).get(step.name, ""))


def commit(step: TourStep, code: str) -> None:
    """Makes a prediction, or skips it: the answer is open from here on."""
    st.session_state[_CODES] = {**st.session_state.get(_CODES, {}), step.name: code}
    classes = shared_classes()
    if class_code() and classes:
        try:
            classes.add(class_code(), step.name, visitor_id(), code)
        except (ValueError, sqlite3.Error) as error:
            st.session_state[_SAID] = f"Your prediction is here, but not in your class: {error}"


def predict_again(step: TourStep) -> None:
    st.session_state[_CODES] = {name: code for name, code in st.session_state[_CODES].items() if name != step.name}


def trouble() -> str:
    """What could not be done since it was last asked, in words."""
    return str(st.session_state.pop(_SAID, ""))


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


def join(code: str) -> None:
    """Enters a class, if there is one of this code."""
    classes, given = shared_classes(), code.strip().upper()[:20]
    try:
        known = classes is not None and classes.exists(given)
    except sqlite3.Error as error:
        st.warning(f"The classes cannot be looked up: {error}.", icon=":material/group_off:")
        return
    if known:
        st.session_state[_CLASS] = given
    elif CODE.fullmatch(given):
        st.warning(
            f"There is no class {given}, or it is over: a class lasts 24 hours. What you predict stays on this page.",
            icon=":material/group_off:",
        )
    else:
        _refuse("class", code, _ALLOWED_CODE)


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
        st.session_state[_SAID] = str(error)


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


def prediction_control(step: TourStep) -> str:
    """The control of a step: the code of what it says, "" while it says nothing."""
    form, label, key = step.form, FORMS[step.name], f"tour-draft-{step.name}"
    if isinstance(form, Picks) and form.one:
        chosen = st.radio(label, form.options, key=key, index=None, persist_state="session")
        return form.encode((form.options.index(chosen),)) if chosen else ""
    if isinstance(form, Picks):
        picked = st.pills(label, form.options, key=key, selection_mode="multi", persist_state="session")
        return form.encode(tuple(form.options.index(one) for one in picked))
    if isinstance(form, Number):
        if key not in st.session_state:
            st.session_state[key] = form.values[0]
        return form.encode(st.select_slider(label, form.values, format_func=_told, key=key, persist_state="session"))
    if isinstance(form, Range):
        if key not in st.session_state:
            st.session_state[key] = (form.values[3], form.values[-2])
        ends = st.select_slider(label, form.values, format_func=compact, key=key, persist_state="session")
        assert isinstance(ends, tuple)
        return form.encode(ends)
    return str(st.session_state.get(key, ""))


def _told(value: float) -> str:
    return f"{value:,g}"


def drawing_board(step: TourStep) -> None:
    """The chart on which a curve is drawn."""
    form, key = step.form, f"tour-draft-{step.name}"
    assert isinstance(form, Curve)

    def drawn() -> None:
        code = str(st.session_state[_DRAW].get("drawn") or "")
        try:
            st.session_state[key] = checked(step, code)
        except ValueError:
            st.session_state[_SAID] = "The curve could not be read: draw it again."

    draw_curve(
        drawings.of_step(step, "", (), revealed=False),
        _DRAW,
        ALTS[step.name],
        form.steps,
        (form.low, form.high),
        st.session_state.get(key) or drawings.start_of_curve(form),
        drawn,
        CHART_HEIGHT,
    )
