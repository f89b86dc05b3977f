"""What does r_t do? The rectification term beside the warmups it stands in for."""

from dataclasses import replace

import streamlit as st

from dashboard import controls, tables
from dashboard.chart import chart
from dashboard.figures.rectification import (
    beta2_figure,
    learning_rate_figure,
    rho_figure,
    steps_to_draw,
    warmup_figure,
)
from dashboard.formulas import rectification_formula, rho_formula, warmup_lines
from dashboard.words import closest_sentence, never_rectified
from radam_core.comparison import closest_warmup, settled_step, warmup_factors
from radam_core.methods import METHODS
from radam_core.schedules import DECAYS
from radam_core.theory import first_rectified_step

st.title("What does $r_t$ do?")
st.markdown(
    "RAdam multiplies Adam's step by the rectification $r_t$. It starts near 0 and rises to 1: a learning-rate warmup "
    "whose length follows from $\\beta_2$ alone."
)
one, two, three, four, five = st.columns([14, 10, 10, 7, 7], gap="medium")
with four:
    threshold = controls.threshold_control()
with five:
    log_t = controls.log_t_control()
with one:
    beta2 = controls.beta2_control(threshold)
with two:
    warmup_steps = controls.pick("Linear warmup: $T_w$ steps", "warmup", controls.LENGTHS, 500)
with three:
    tau = controls.pick("Exponential: $\\tau$ steps", "tau", controls.LENGTHS, 200)

first = first_rectified_step(beta2, threshold)
if first is None:
    st.warning(never_rectified(beta2, threshold), icon=":material/block:")

t = steps_to_draw(max(settled_step(beta2), warmup_steps), log_t)
factors = warmup_factors(t, beta2, warmup_steps, tau, threshold)
chart(
    warmup_figure(t, factors, first, log_t),
    "rectification",
    alt="The rectification term r_t and the factors of five warmups against the step",
    height=400,
)
with st.expander("What each curve is"):
    st.markdown(warmup_lines())

left, right = st.columns(2, gap="large")
with left:
    st.subheader("How long is that?")
    st.markdown(
        "A warmup with factors $w_t$ is worth $T(w) = \\sum_t (1 - w_t)$ steps at the full rate. Momentum-only steps "
        "count as $w_t = 0$."
    )
    st.dataframe(
        tables.effective_warmup_table(beta2, warmup_steps, tau, threshold), hide_index=True, alt="Effective warmup"
    )
with right:
    st.subheader("Which warmup comes closest to RAdam?")
    for shape in ("linear", "exponential"):
        st.markdown(closest_sentence(shape, closest_warmup(beta2, shape, threshold), beta2))

left, right = st.columns(2, gap="large")
with left:
    st.subheader("Where $r_t$ comes from: $\\rho_t$")
    st.markdown("$\\rho_t$ is how many equally weighted squared gradients the average $v_t$ is likened to.")
    chart(rho_figure(t, beta2, threshold, first, log_t), "rho", alt="rho_t against the step", height=410)
with right:
    st.subheader("The learning rate in force")
    one, two = st.columns(2)
    with one:
        lr = controls.pick("Learning rate $\\alpha$", "lr", controls.LEARNING_RATES, 1e-3)
    with two:
        decay = controls.choose_from_list("Then decay", "decay", tuple(DECAYS), "constant")
    chart(
        learning_rate_figure(t, lr, factors, DECAYS[decay](t[-1], warmup_steps)(t), log_t),
        "learning-rate",
        alt="The learning rate times warmup and decay against the step",
        height=400,
    )

st.subheader("Several $\\beta_2$ at once")
chosen = controls.choose_many("Values of $\\beta_2$", "compare", controls.BETA2S, (0.9, 0.99, 0.999, 0.9999))
if chosen:
    chart(beta2_figure(chosen, threshold), "several-beta2", alt="r_t for several beta2", height=340)

st.subheader("Step by step")
step = controls.pick("Step $t$", "t", controls.STEPS, 5)
st.latex(rho_formula(step, beta2))
st.latex(rectification_formula(step, beta2, threshold))
table = tables.step_table(replace(METHODS["radam"], betas=(0.9, beta2), threshold=threshold), 1000)
st.dataframe(table, hide_index=True, height=250, alt="rho_t, r_t and the branch taken at each step")
st.download_button(
    "Download 1000 steps (CSV)",
    table.to_csv(index=False),
    f"radam-lab-steps-beta2-{beta2:g}.csv",
    icon=":material/download:",
)
