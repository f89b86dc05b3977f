"""Variance or size? The two readings of why warmup helps, on one axis."""

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.figures import results
from dashboard.figures.methods import authors_adam_2k_factors
from dashboard.forms import controls, drawings
from dashboard.words.sentences import bound_sentence, size_sentence

st.title("Variance or size?")
st.markdown(
    "Why does a slow start help Adam? Because its adaptive rate $\\psi_t$ **varies** too much early on, or because its early "
    "updates are simply too **large**? See how soon each settles, by which yardstick, and how far $r_t$ has come by then."
)
one, two, three = st.columns(3, gap="medium")
with one:
    beta2 = controls.beta2_control()
with two:
    beta1 = controls.pick("β₁, memory of the momentum", "beta1", controls.BETA1S, 0.9)
with three:
    mu = controls.mu_control()

with st.spinner("Simulating ...", show_time=True):
    drawing = drawings.variance_or_size(beta2, beta1, mu)
chart(
    drawing,
    "variance-or-size",
    alt="Variance and spread of the adaptive rate, r_t, and the size of Adam's update against the step",
    height=380,
)
size = results.size_settling(results.simulated_size(beta2, beta1, mu))
variance = results.variance_settling(beta2, mu, results.simulated_steps(beta2, beta1))
st.markdown(size_sentence(size, variance, results.rate_known(beta2, mu), beta2))

left, right = st.columns(2, gap="large")
with left, st.container(border=True, height="stretch"):
    st.header("The paper's reading: variance")
    st.markdown(
        "With few gradients in $v_t$, the adaptive rate has a variance that is infinite at first and falls like "
        "$1/\\rho_t$. Warmup shrinks $\\alpha_t^2\\,\\mathrm{Var}[\\psi_t]$; $r_t$ is made to hold it constant.\n\n"
        f"{bound_sentence(beta1, beta2)} So a large variance of $\\psi_t$ is not yet a long step. The argument needs one link "
        "more: that a rate that is wrong by chance does harm, where a parameter whose first gradients happened to be "
        "small moves as far as all others.\n\n"
        "The paper argues that from experiments: Adam-2k and Adam-eps, which reduce the variance without a warmup, also "
        "avoid the failure (Adam-eps then trains much worse than the others). Both make early updates smaller, too, and so "
        "do not tell variance from size: Adam-eps by its $\\epsilon$, and Adam-2k in the authors' code, which multiplies "
        f"the $k$-th real update by $1-\\beta_1^k$: {authors_adam_2k_factors()}.\n\n"
        "*Liu et al., On the Variance of the Adaptive Learning Rate and Beyond, ICLR 2020.*"
    )
with right, st.container(border=True, height="stretch"):
    st.header("The other reading: size")
    st.markdown(
        "At step 1 every coordinate with a gradient moves by exactly $\\alpha$ ($\\epsilon$ aside), however small that "
        "gradient is. Where noise outweighs the mean, momentum then averages it away within some $1/(1-\\beta_1)$ steps: "
        "at the usual $\\beta_1 = 0.9$, $\\beta_2 = 0.999$ long before $r_t$ has risen. RAdam is then four momentum steps "
        "and after them Adam with a fixed warmup, and an untuned linear warmup over $2/(1-\\beta_2)$ steps did about as "
        "well in their experiments. This argument, too, needs a link that no curve here shows: that updates of this size "
        "do harm early and not later.\n\n"
        "*Ma & Yarats, On the Adequacy of Untuned Warmup for Adaptive Optimization, AAAI 2021.*"
    )
st.markdown(
    "**What this page can and cannot show.** The curves are for independent Gaussian gradients of weights that stand "
    "still. They show how soon size and variance settle; which of the two breaks a real training run is a question for "
    "the run itself. The page *Race* has a strict Adam-2k, which leaves the first updates their size."
)
