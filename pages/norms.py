"""Who needs warmup? Post-LN and Pre-LN Transformers side by side, live, with what three readings of warmup look at."""

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.browser.live import ShownRun
from dashboard.browser.norms import live_norms
from dashboard.engine.engine import running_engine
from dashboard.evidence.norms import SWEEP
from dashboard.forms import norms_run, starting
from dashboard.forms.norms_run import norm_controls, shown_pair, train
from dashboard.forms.race_form import plain
from dashboard.menu import menu_page
from dashboard.paper.drawings import rates_by_norm
from dashboard.paper.results import recorded_findings
from dashboard.recorded.loading import is_older, made_by, told
from dashboard.server.visitor import visitor_id
from dashboard.words.norm_words import INTRODUCTION, LIMITS, READINGS, over_seeds_words
from dashboard.words.paper_words import made_sentence
from dashboard.words.race_words import glossary

RATES_ALT = (
    "Final loss against the learning rate of each method, mean and range over seeds, Post-LN left and Pre-LN right"
)


def act() -> None:
    norms_run.act(running_engine(), st.session_state["norms"].get("action"), st.session_state.get("norms-shown", ()))


def hide() -> None:
    norms_run.hide_lanes(st.session_state["norms"].get("hidden"))


engine = running_engine()
st.title("Who needs warmup?")
st.markdown(INTRODUCTION)
asked = norm_controls()
with st.container(horizontal=True, vertical_alignment="center", gap="small"):
    closed = starting.why_not(engine, *asked)
    if st.button("Train", type="primary", icon=":material/play_arrow:", disabled=bool(closed)) and engine:
        train(engine, asked)
    st.caption(norms_run.cost(engine, asked) if engine and not closed else plain(closed))
    with st.popover("What is what", icon=":material/help:", key="norms-words", on_change="rerun") as words:
        if words.open:
            st.markdown(glossary(asked[0]), width=620)
pair, runs = shown_pair(engine, asked)
st.session_state["norms-shown"] = tuple(run.id for run in runs if run)
with st.container():  # always there: a sentence in it moves no chart to another place
    starting.show_limits(asked[0])
    recorded = [run.recorded for run in runs if run and run.recorded]
    if recorded:
        st.caption(told(recorded[0], "Train" if engine and engine.trains else ""))
    if pair != asked:
        st.caption("Below are the runs before you moved the controls. *Train* starts those of the settings above.")
shown = [
    ShownRun(
        config,
        run.id if run else None,
        norms_run.attempt(),
        made_by(run.recorded) if run else "",
        engine.wants(run.id, visitor_id()) if engine and run else None,
    )
    for config, run in zip(pair, runs, strict=True)
]
live_norms(shown, norms_run.hidden_lanes(), act, hide)
if swept := recorded_findings(SWEEP):
    found, made = swept
    st.header("Over rates and seeds")
    left, right = st.columns([5, 7], gap="large")
    with left:
        st.markdown(over_seeds_words(found))
        again = f"python -m dashboard record sweep-{SWEEP}"
        st.caption(made_sentence(len(found.config.seeds), made.date, made.code, made.machine, is_older(made), again))
        st.page_link(
            menu_page("sweep"), label="Open the sweep", icon=":material/grid_on:", query_params={"preset": SWEEP}
        )
    with right:
        chart(rates_by_norm(), "norms-rates", alt=RATES_ALT, height=420)
for column, (title, text) in zip(st.columns(len(READINGS), gap="medium"), READINGS.items(), strict=True):
    with column, st.container(border=True, height="stretch"):
        st.header(title)
        st.markdown(text)
st.markdown(LIMITS)
