"""The tour's predictions: made first, kept in the session and in the address, and pooled where a visitor is in a class.

An address is anybody's: what may not be gets a sentence.
"""

from urllib.parse import urlencode

import streamlit as st

from dashboard.asked.tour import SKIPPED, STEPS, Curve, Number, Picks, Range, TourStep, checked
from dashboard.browser import address
from dashboard.browser.draw_curve import draw_curve
from dashboard.forms import tour_class
from dashboard.forms.controls import compact
from dashboard.forms.tour_class import class_code, is_teacher, join, refused, set_view
from dashboard.tour import drawings
from dashboard.words.tour_words import ALTS, FORMS

_CODES, _DRAW = "tour-codes", "tour-draw"
TEACHER = "teacher"
CHART_HEIGHT = 400


def follow_link() -> None:
    """Takes what the page was entered with: predictions, a class, and the teacher's view."""
    codes = st.session_state.setdefault(_CODES, {})
    for place, step in enumerate(STEPS, 1):
        if given := address.asked(f"p{place}"):
            try:
                codes[step.name] = checked(step, given[0] if len(given) == 1 else "")
            except ValueError as error:
                _warn(refused(f"p{place}", given[0], f"{error}, or {SKIPPED} where it was skipped"))
    asked, view = address.asked("class"), address.asked("view")
    if asked:
        _warn(join(asked[0]))
    if view and (view != [TEACHER] or not (asked or class_code())):
        _warn(refused("view", view[0], f"{TEACHER}, with a class's code"))
    elif view and class_code():
        set_view(teacher=True)


def _warn(sentence: str) -> None:
    if sentence:
        address.refuse(sentence)


def remember() -> None:
    """Puts all of it into the address."""
    for place, step in enumerate(STEPS, 1):
        if own := prediction(step):
            address.say(f"p{place}", [own])
    if code := class_code():
        address.say("class", [code])
        if is_teacher():
            address.say("view", [TEACHER])


def class_link() -> str:
    """To the class alone, with nobody's predictions."""
    return _page({"class": class_code()})


def own_link(place: int) -> str:
    """To this page as it is: a step with all predictions."""
    made = {f"p{number}": prediction(step) for number, step in enumerate(STEPS, 1) if prediction(step)}
    return _page({**({"step": str(place)} if place > 1 else {}), **made})


def _page(given: dict[str, str]) -> str:
    page = str(st.context.url or "/tour").split("?")[0]
    return f"{page}?{urlencode(given)}".rstrip("?")


def prediction(step: TourStep) -> str:
    """Its code; "" before it is made."""
    return str(st.session_state.get(_CODES, {}).get(step.name, ""))


def commit(step: TourStep, code: str) -> None:
    """Makes a prediction, or skips it: the answer is open from here on."""
    st.session_state[_CODES] = {**st.session_state.get(_CODES, {}), step.name: code}
    tour_class.add(step, code)


def predict_again(step: TourStep) -> None:
    st.session_state[_CODES] = {name: code for name, code in st.session_state[_CODES].items() if name != step.name}


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
            tour_class.tell("The curve could not be read: draw it again.")

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
