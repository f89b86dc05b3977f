"""Which RAdam is yours? Where the published implementations differ, and what that does to the first steps."""

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.forms import controls, drawings
from dashboard.words import snippets, tables
from dashboard.words.questions import QUESTIONS
from dashboard.words.sentences import never_rectified_profiles
from radam_core.methods import PROFILES

st.title("Which RAdam is yours?")
st.markdown(
    "Published implementations share one formula and differ in when they use it, in what they do before, and in where "
    "epsilon and weight decay go. The first twenty steps show all but the decay."
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
    chart(
        drawings.implementations(tuple(chosen), beta2, size),
        "implementations",
        alt="The multiplier that each implementation applies to the momentum in the first twenty steps",
        height=380,
    )
    st.caption(
        "Relative to the learning rate. A gap means that no step is taken. A momentum step counts as 1 here, because it "
        "moves the weights by the momentum itself; in the sum of the page *Rectification* it counts as 0, because it is "
        "no adaptive step. The epsilon in the paper's row is ours, the customary one."
    )
    st.dataframe(tables.implementation_table(tuple(chosen)), hide_index=True, alt="How the implementations differ")

st.header("Take it along")
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

st.header("What people ask")
columns = st.columns(2, gap="large", border=True)
for i, question in enumerate(QUESTIONS):
    with columns[i % 2]:
        st.markdown(f"**{question.question}** {question.answer}")
        chart(drawings.answer(question.key, beta2), f"question-{question.key}", alt=question.question, height=260)
