"""The panels of the tour: a class's code and link, and the chart on which predictions meet the outcome."""

import streamlit as st

from dashboard.asked.tour import SKIPPED, TourStep
from dashboard.browser.chart import chart
from dashboard.browser.qr import show_link
from dashboard.forms import tour_class
from dashboard.forms.tour_form import CHART_HEIGHT, class_link, own_link
from dashboard.runs.classes import Pooled
from dashboard.tour import drawings
from dashboard.words import tour_words as words

LOOK_SECONDS = 2.0
_CODE = "tour-code"


def _join() -> None:
    tour_class.tell(tour_class.join(st.session_state[_CODE]))


def class_panel(place: int) -> None:
    """Joining a class, opening one, and the link to it, or to the step that is open."""
    st.markdown(words.CLASS_INTRODUCTION, width=420)
    code = tour_class.class_code()
    if code:
        st.markdown(f"**Class {code}**")
        show_link(class_link())
        teacher = tour_class.is_teacher()
        label = "My own tour" if teacher else "Teacher's view"
        st.button(label, on_click=tour_class.set_view, args=(not teacher,), icon=":material/co_present:")
        st.button("Leave the class", on_click=tour_class.leave)
        return
    known = tour_class.shared_classes() is not None
    st.text_input("Class code", key=_CODE, max_chars=20, disabled=not known, on_change=_join)
    st.button("Start a class", on_click=tour_class.start_class, disabled=not known, icon=":material/groups:")
    st.caption("This page with your predictions:" if known else "A class needs the app's own server.")
    show_link(own_link(place))


def shown(step: TourStep, own: str, pool: Pooled, revealed: bool) -> None:
    """Prediction and outcome on one chart."""
    drawing = drawings.of_step(step, own, pool, revealed)
    title = words.QUESTIONS[step.name]
    chart(drawing, f"tour-{step.name}", alt=words.ALTS[step.name], height=CHART_HEIGHT, title=title)


@st.fragment(run_every=LOOK_SECONDS)
def live_pool(step: TourStep, revealed: bool) -> None:
    found = tour_class.pool(step)
    skipped = sum(count for code, count in found if code == SKIPPED)
    made = sum(count for _, count in found) - skipped
    st.markdown(f"**{made} predicted**" + (f", {skipped} skipped" if skipped else ""))
    shown(step, "", found, revealed)
