"""Which RAdam is yours? Where the published implementations differ, and what that does to the first steps."""

from dataclasses import replace

import numpy as np
import streamlit as st

from dashboard import controls, snippets, tables
from dashboard.chart import chart
from dashboard.figures.implementations import multiplier_figure
from dashboard.look import PROFILE_STYLES
from dashboard.questions import QUESTIONS
from dashboard.words import never_rectified_profiles
from radam_core.comparison import momentum_multiplier
from radam_core.methods import METHODS, PROFILES

st.title("Which RAdam is yours?")
st.markdown(
    "Published implementations share one formula and differ in when they use it, in what they do before, and in where "
    "epsilon and weight decay go. The first twenty steps show it."
)
wide, narrow = st.columns(2, gap="medium")
with narrow:
    size = controls.pick(
        "Size of the gradients",
        "gradient",
        controls.GRADIENT_SIZES,
        0.01,
        help="A momentum step multiplies the momentum by 1, an adaptive one by r_t divided by this.",
    )
chosen = controls.choose_many(
    "Implementations",
    "which",
    tuple(PROFILES),
    tuple(PROFILES),
    show=tables.PROFILE_NAMES.__getitem__,
)
with wide:
    beta2 = controls.beta2_control(*sorted({PROFILES[name]["threshold"] for name in chosen}))
silent = never_rectified_profiles(beta2, chosen)
if silent:
    st.warning(silent, icon=":material/block:")
if chosen:
    t = np.arange(1, 21)
    methods = {name: replace(METHODS["radam"], betas=(0.9, beta2), **PROFILES[name]) for name in chosen}
    multipliers = {tables.PROFILE_NAMES[name]: momentum_multiplier(m, t, size) for name, m in methods.items()}
    styles = {tables.PROFILE_NAMES[name]: style for name, style in PROFILE_STYLES.items()}
    chart(
        multiplier_figure(t, multipliers, styles),
        "implementations",
        alt="The multiplier that each implementation applies to the momentum in the first twenty steps",
        height=380,
    )
    st.caption("Relative to the learning rate. A gap means that no step is taken.")
    st.dataframe(tables.implementation_table(chosen), hide_index=True, alt="How the implementations differ")

st.subheader("Take it along")
one, two, three = st.columns(3, gap="medium")
with one:
    profile = controls.choose("Implementation", "profile", tuple(PROFILES), "paper")
with two:
    lr = controls.pick("Learning rate", "lr", controls.LEARNING_RATES, 1e-3)
with three:
    decay = controls.pick("Weight decay", "wd", controls.WEIGHT_DECAYS, 0.0)
left, right = st.columns(2, gap="large")
settings = (profile, lr, (0.9, beta2), decay)
with left:
    st.markdown("With `radam_core`")
    st.code(snippets.radam_core_snippet(*settings), language="python", wrap_lines=True)
with right:
    torch_code = snippets.torch_snippet(*settings)
    st.markdown("With `torch.optim`" if torch_code else snippets.why_not_torch(profile))
    if torch_code:
        st.code(torch_code, language="python", wrap_lines=True)

st.subheader("What people ask")
for pair in (QUESTIONS[i : i + 2] for i in range(0, len(QUESTIONS), 2)):
    for column, question in zip(st.columns(2, gap="large"), pair, strict=False):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{question.question}** {question.answer}")
            chart(question.figure(beta2), f"question-{question.key}", alt=question.question, height=260)
