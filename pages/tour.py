"""What do you expect? One lesson in eight steps: a prediction first, then the run that answers it, and why."""

import streamlit as st

from dashboard.asked.tour import SKIPPED, STEPS, Curve, TourStep
from dashboard.browser.chart import chart
from dashboard.browser.qr import show_link
from dashboard.forms import tour_form
from dashboard.forms.controls import choose
from dashboard.navigation import page_file
from dashboard.runs.classes import Pooled
from dashboard.tour import drawings
from dashboard.tour.answers import answer, sharp_answer
from dashboard.tour.outcomes import missing
from dashboard.words import tour_words as words

LOOK_SECONDS = 2.0


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
            page_file(step.page), label="Run it live", icon=":material/open_in_new:", query_params=dict(step.query)
        )


def class_panel() -> None:
    """Joining a class, opening one, and the link to it."""
    st.markdown(words.CLASS_INTRODUCTION, width=420)
    code = tour_form.class_code()
    if code:
        st.markdown(f"**Class {code}**")
        show_link(tour_form.link(own=False))
        teacher = tour_form.is_teacher()
        label = "My own tour" if teacher else "Teacher's view"
        st.button(label, on_click=tour_form.set_view, args=(not teacher,), icon=":material/co_present:")
        st.button("Leave the class", on_click=tour_form.leave)
        return
    known = tour_form.shared_classes() is not None
    if given := st.text_input("Class code", max_chars=20, disabled=not known):
        tour_form.join(given)
    st.button("Start a class", on_click=tour_form.start_class, disabled=not known, icon=":material/groups:")
    st.caption("This page with your predictions:" if known else "A class needs the app's own server.")
    show_link(tour_form.link(own=True))


def shown(step: TourStep, own: str, pool: Pooled, revealed: bool) -> None:
    """Prediction and outcome on one chart."""
    drawing = drawings.of_step(step, own, pool, revealed)
    title = words.QUESTIONS[step.name]
    chart(drawing, f"tour-{step.name}", alt=words.ALTS[step.name], height=tour_form.CHART_HEIGHT, title=title)


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
            st.button("Predict again", on_click=tour_form.predict_again, args=(step,), icon=":material/replay:")
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
            shown(step, own, tour_form.pool(step) if own else (), revealed=bool(own))
        if own:
            st.markdown(answer(step.name, own))
            if tour_form.class_code():
                st.button("See what the class says now", icon=":material/refresh:")
            more(step)
    ways_on(place)


@st.fragment(run_every=LOOK_SECONDS)
def live_pool(step: TourStep, revealed: bool) -> None:
    found = tour_form.pool(step)
    skipped = sum(count for code, count in found if code == SKIPPED)
    made = sum(count for _, count in found) - skipped
    st.markdown(f"**{made} predicted**" + (f", {skipped} skipped" if skipped else ""))
    shown(step, "", found, revealed)


def teachers_view(place: int, step: TourStep) -> None:
    left, right = st.columns([3, 9], gap="large")
    with left:
        st.markdown(f"**Class {tour_form.class_code()}**")
        show_link(tour_form.link(own=False))
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
            class_panel()
if place == 1:
    st.markdown(words.INTRODUCTION)
step = STEPS[place - 1]
if said := tour_form.trouble():
    st.warning(said, icon=":material/info:")
st.subheader(f"{place}. {words.QUESTIONS[step.name]}")
if absent := missing(step):
    st.info(f"What answers this is not recorded here: `python -m dashboard record {' '.join(absent)}` makes it.")
    ways_on(place)
elif tour_form.is_teacher():
    teachers_view(place, step)
else:
    own_tour(place, step)
tour_form.remember()
