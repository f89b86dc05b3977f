"""What do you expect? One lesson in eight steps: a prediction first, then the run that answers it, and why."""

import streamlit as st

from dashboard.asked.tour import SKIPPED, STEPS, Curve, TourStep
from dashboard.browser.chart import chart
from dashboard.browser.qr import show_link
from dashboard.forms import tour_class, tour_form
from dashboard.forms.controls import choose
from dashboard.forms.tour_panels import class_panel, live_pool, shown
from dashboard.menu import menu_page
from dashboard.tour import drawings
from dashboard.tour.answers import answer, sharp_answer
from dashboard.tour.outcomes import missing
from dashboard.words import tour_words as words


def step_to(place: int) -> None:
    st.session_state["tour-step"] = place


def ways_on(place: int) -> None:
    step = STEPS[place - 1]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if place > 1:
            st.button("Back", on_click=step_to, args=(place - 1,), icon=":material/arrow_back:")
        if place < len(STEPS):
            st.button("Next question", on_click=step_to, args=(place + 1,), icon=":material/arrow_forward:")
        st.page_link(
            menu_page(step.page), label="Run it live", icon=":material/open_in_new:", query_params=dict(step.query)
        )


def more(step: TourStep) -> None:
    """What belongs to an answer below its chart."""
    if step.name == "lanes":
        chart(drawings.four_lanes("figure-1"), "tour-race", alt="The losses of the four lanes", height=330, play=True)
    if step.name == "cause":
        st.markdown(sharp_answer())
        alt = "The final loss of Adam, Adam with warmup and RAdam over the mean learning rate in force"
        chart(drawings.in_force("map"), "tour-in-force", alt=alt, height=360)


def own_tour(place: int, step: TourStep) -> None:
    own = tour_form.prediction(step)
    left, right = st.columns([5, 7], gap="large")
    with left:
        st.markdown(words.ASKED[step.name])
        if own:
            if own == SKIPPED:
                st.caption(words.SKIPPED)
            kept = "Your class keeps your first one." if tour_class.class_code() else None
            again = tour_form.predict_again
            st.markdown(answer(step.name, own))
            st.button("Predict again", on_click=again, args=(step,), icon=":material/replay:", help=kept)
        else:
            code = tour_form.prediction_control(step)
            with st.container(horizontal=True, gap="small"):
                st.button(
                    "This is my prediction",
                    type="primary",
                    disabled=not code,
                    on_click=tour_form.commit,
                    args=(step, code),
                    icon=":material/check:",
                )
                st.button("Skip", on_click=tour_form.commit, args=(step, SKIPPED))
    with right:
        if isinstance(step.form, Curve) and not own:
            tour_form.drawing_board(step)
        else:
            # What others say is shown after one's own prediction, not before.
            shown(step, own, tour_class.pool(step) if own else (), revealed=bool(own))
        if own:
            if tour_class.class_code():
                st.button("See what the class says now", icon=":material/refresh:")
            more(step)
    ways_on(place)


def teachers_view(place: int, step: TourStep) -> None:
    left, right = st.columns([3, 9], gap="large")
    with left:
        st.markdown(f"**Class {tour_class.class_code()}**")
        show_link(tour_form.class_link())
        revealed = st.toggle("Show the answer", key=f"tour-answer-{step.name}", persist_state="session")
        st.caption(f"About {step.minutes} minutes. The lesson plan is in docs/LESSON.md.")
    with right:
        st.markdown(words.ASKED[step.name])
        live_pool(step, revealed)
        if revealed:
            st.markdown(answer(step.name, ""))
            more(step)
    ways_on(place)


st.title("What do you expect?")
tour_form.follow_link()
with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    place = choose("Step", "step", range(1, len(STEPS) + 1), 1)
    with st.popover("Class and link", icon=":material/qr_code_2:", key="tour-door", on_change="rerun") as door:
        if door.open:
            class_panel(place)
if place == 1:
    st.markdown(words.INTRODUCTION)
step = STEPS[place - 1]
if said := tour_class.trouble():
    st.warning(said, icon=":material/info:")
st.header(f"{place}. {words.QUESTIONS[step.name]}")
if absent := missing(step):
    st.info(f"What answers this is not recorded here: `python -m dashboard record {' '.join(absent)}` makes it.")
    ways_on(place)
elif tour_class.is_teacher():
    teachers_view(place, step)
else:
    own_tour(place, step)
tour_form.remember()
