"""What does r_t do? The rectification term beside the warmups it stands in for."""

from dataclasses import replace

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.figures import results
from dashboard.forms import controls, drawings
from dashboard.words import tables
from dashboard.words.formulas import rectification_formula, rho_formula, warmup_lines
from dashboard.words.sentences import closest_sentence, never_rectified, rise_sentence
from radam_core.comparison import Shape
from radam_core.methods import METHODS
from radam_core.schedules import DECAYS
from radam_core.theory import first_rectified_step

# A heading stands in the text below it: a class that opens the page waits for every element.
st.title("What does $r_t$ do?")
st.markdown(
    "RAdam multiplies Adam's step by the rectification $r_t$, which begins below 1 and rises towards it: a learning-rate "
    "warmup whose length follows from $\\beta_2$ alone."
)
one, two, three, four, five = st.columns([14, 10, 10, 7, 7], gap="medium")
with four:
    threshold = controls.threshold_control()
with five:
    log_t = controls.log_t_control()
with one:
    beta2 = controls.beta2_control(threshold)
with two:
    warmup_steps = controls.pick("Linear warmup, steps", "warmup", controls.LENGTHS, 500)
with three:
    tau = controls.pick("Exponential: τ, steps", "tau", controls.LENGTHS, 200)

if first_rectified_step(beta2, threshold) is None:
    st.warning(never_rectified(beta2, threshold), icon=":material/block:")

chart(
    drawings.warmups(beta2, warmup_steps, tau, threshold, log_t),
    "rectification",
    alt="The rectification term r_t and the factors of five warmups against the step",
    height=400,
)
with st.expander("What each curve is"):
    st.markdown(warmup_lines())

left, right = st.columns(2, gap="large")
with left:
    st.markdown(
        f"## How long is that?\n{rise_sentence(beta2, threshold)} "
        "A warmup with factors $w_t$ costs $T(w) = \\sum_t (1 - w_t)$ steps at the full rate; a linear one "
        "over $T_w$ steps costs $(T_w - 1)/2$. RAdam's momentum-only steps count as $w_t = 0$: none of them is an adaptive step, and "
        "how far it goes depends on the size of the gradients."
    )
    st.dataframe(
        tables.effective_warmup_table(beta2, warmup_steps, tau, threshold), hide_index=True, alt="Effective warmup"
    )
with right:
    shapes: tuple[Shape, ...] = ("linear", "exponential")
    found = {shape: results.closest_warmup(beta2, shape, threshold) for shape in shapes}
    closest = [closest_sentence(shape, warmup, beta2) for shape, warmup in found.items()]
    st.markdown("\n\n".join(["## Which warmup comes closest to RAdam?", *closest]))

left, right = st.columns(2, gap="large")
with left:
    st.markdown(
        "## Where $r_t$ comes from: $\\rho_t$\n$\\rho_t$ is the length of the simple average whose gradients are, in the mean, "
        "as old as those in $v_t$: about how many gradients of equal weight $v_t$ is worth."
    )
    chart(drawings.rho(beta2, warmup_steps, threshold, log_t), "rho", alt="rho_t against the step", height=410)
with right:
    st.header("The learning rate in force")
    one, two = st.columns(2)
    with one:
        lr = controls.pick("Learning rate α", "lr", controls.LEARNING_RATES, 1e-3)
    with two:
        decay = controls.choose_from_list("Then decay", "decay", tuple(DECAYS), "constant")
    chart(
        drawings.learning_rates(beta2, warmup_steps, tau, threshold, log_t, lr, decay),
        "learning-rate",
        alt="The learning rate times warmup and decay against the step",
        height=400,
    )

st.header("Several $\\beta_2$ at once")
chosen = controls.choose_many("Values of β₂", "compare", controls.BETA2S, (0.9, 0.99, 0.999, 0.9999))
if chosen:
    chart(drawings.several_beta2(tuple(chosen), threshold), "several-beta2", alt="r_t for several beta2", height=340)

st.header("Step by step")
step = controls.pick("Step t", "t", controls.STEPS, 5)
st.latex(rho_formula(step, beta2))
st.latex(rectification_formula(step, beta2, threshold))
# 43 kB for each visitor, so it is made for those who open it.
with st.expander(
    "The first 1000 steps as a table", icon=":material/table:", key="rectification-steps", on_change="rerun"
) as steps:
    if steps.open:
        radam = replace(METHODS["radam"], betas=(0.9, beta2), threshold=threshold)
        st.dataframe(
            tables.step_table(radam, 1000), hide_index=True, height=250, alt="rho_t, r_t and the branch of each step"
        )
        st.download_button(
            "Download 1000 steps (CSV)",
            lambda: tables.step_csv(radam, 1000),
            f"radam-lab-steps-beta2-{beta2:g}.csv",
            icon=":material/download:",
        )
