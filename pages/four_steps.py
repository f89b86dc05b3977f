"""Do four steps matter? Appendix C: other methods for the first eight steps, over seeds, and what they did."""

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.browser.four_steps import live_four_steps
from dashboard.engine.engine import running_engine
from dashboard.forms import drawings, starting
from dashboard.forms.cost import sweep_cost
from dashboard.forms.four_steps_form import four_steps_controls, seed_and_step_controls
from dashboard.forms.four_steps_run import attempt, first_eight, known, left_behind, seed_places, shown, start
from dashboard.forms.race_form import plain
from dashboard.forms.sweep_run import obey, race_of_cells
from dashboard.navigation import page_file
from dashboard.recorded.loading import made_by
from dashboard.recorded.loading import told as recorded_told
from dashboard.server.visitor import visitor_id
from dashboard.words import four_steps_words as words


def act() -> None:
    obey(running_engine(), st.session_state.get("four-steps-shown", ""), st.session_state["four-steps"].get("action"))


def open_lanes() -> None:
    st.session_state["four-steps-lanes"] = st.session_state["four-steps"].get("open")


engine = running_engine()
st.title("Do four steps matter?")
st.markdown(words.CLAIM)
config, choice = four_steps_controls()
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    closed = starting.why_not(engine, config)
    if st.button("Train", type="primary", icon=":material/play_arrow:", disabled=bool(closed)) and engine:
        start(engine, config)
    run = shown(engine, config)
    told = f"{sweep_cost(engine, config)}." if engine and not closed else plain(closed)
    st.caption(f"{told} {words.choice_note(config.task, choice)}")
st.session_state["four-steps-shown"] = run.id if run else ""
with st.container():  # always there: a sentence in it moves no chart to another place
    starting.show_limits(config)
    other, as_recorded = ([], False) if run else known(engine, config)
    if run and run.recorded:
        st.caption(recorded_told(run.recorded, "Train" if engine and engine.trains else ""))
    if as_recorded:
        st.caption(words.AS_RECORDED)
    before = left_behind(engine, run)
    if engine and before:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("The run that you started before you moved the controls goes on.")
            st.button("Stop it", on_click=engine.stop, args=(before, visitor_id()))
    lanes = st.session_state.pop("four-steps-lanes", None)
    if lanes and engine and run:
        try:
            st.switch_page(page_file("race"), query_params=race_of_cells(engine, run, lanes))
        except ValueError as refusal:
            st.warning(plain(str(refusal)), icon=":material/block:")
wants = engine.wants(run.id, visitor_id()) if engine and run else None
code = made_by(run.recorded) if run else ""
live_four_steps(config, other, run.id if run else None, attempt(), wants, code, act, open_lanes)
st.caption(words.scale_note(config))

left, right = st.columns(2, gap="large")
left.markdown(f"{words.OBJECTION}\n\n{words.MOMENTUM}")
right.markdown(words.READINGS)

st.header("What the eight steps did to the gradients, step by step")
st.markdown(words.EIGHT_STEPS)
seed, step = seed_and_step_controls(config)
eight = tuple(first_eight(engine, config, seed).items())
if not eight:
    st.info(words.no_first_steps(seed, bool(run and run.recorded), bool(closed)), icon=":material/hourglass_empty:")
else:
    missing = [one.label for one in config.contenders if one.label not in dict(eight)]
    if missing:
        st.caption(f"Not there yet at seed {seed}: {', '.join(missing)}.")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**How large the gradients are**")
        chart(
            drawings.gradient_quartiles(config, eight),
            "four-steps-gradients",
            alt="Median and quartiles of log10 of the gradients at each of the first eight steps",
            partial=bool(missing),
        )
    with right:
        st.markdown("**How far each step moved the weights**")
        chart(
            drawings.first_updates(config, eight),
            "four-steps-updates",
            alt="Update RMS at each of the first steps",
            partial=bool(missing),
        )
    st.markdown(f"**Where in the network: the gradient of each layer at step {step}**")
    chart(
        drawings.gradients_by_layer(config, eight, step),
        "four-steps-layers",
        alt="Gradient norm by layer",
        partial=bool(missing),
    )
    if run and st.button("Open this seed as a race", icon=":material/sprint:"):
        st.session_state["four-steps-lanes"] = seed_places(config, seed)
        st.rerun()

st.markdown(words.PLANNED)
chart(
    drawings.planned_steps(config), "four-steps-planned", alt="The multiplier of the momentum in the first twelve steps"
)
