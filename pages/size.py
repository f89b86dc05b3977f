"""Variance or size? The two readings of why warmup helps, on one axis."""

import numpy as np
import streamlit as st

from dashboard import controls, results
from dashboard.chart import chart
from dashboard.figures.variance import variance_or_size_figure
from dashboard.words import size_sentence
from radam_core.theory import rectification

st.title("Variance or size?")
st.markdown(
    "Why does a slow start help Adam? Because its adaptive rate **varies** too much early on, or because its early "
    "updates are simply too **large**? Look which of the two settles first, and how far $r_t$ has come by then."
)
one, two, three = st.columns(3, gap="medium")
with one:
    beta2 = controls.beta2_control()
with two:
    beta1 = controls.pick("**$\\beta_1$**, memory of the momentum", "beta1", controls.BETA1S, 0.9)
with three:
    mu = controls.mu_control()

with st.spinner("Simulating ...", show_time=True):
    drawn = results.averages(beta2, 2000, beta1, first=1)
size = results.update_size(drawn, mu)
last = results.simulated_steps(beta2, beta1)
t, routes = results.variance_routes(beta2, mu, last)
r_t = np.asarray(rectification(size.t, beta2))
chart(
    variance_or_size_figure(
        {
            "variance": (t, routes["exact"]),
            "median": (size.t, size.median),
            "rms": (size.t, size.rms),
            "rectification": (size.t, r_t),
        }
    ),
    "variance-or-size",
    alt="Variance of the adaptive rate, r_t, and the size of Adam's update against the step",
    height=360,
)
st.markdown(size_sentence(results.size_settling(size), results.variance_settling(beta2, mu, last), beta2))

left, right = st.columns(2, gap="large")
with left, st.container(border=True, height="stretch"):
    st.subheader("The paper's reading: variance")
    st.markdown(
        "With few gradients in $v_t$, the adaptive rate has a variance that is infinite at first and falls like "
        "$1/\\rho_t$. Steps taken with it are gambles, and a few bad ones can lead where training does not recover. Warmup "
        "shrinks $\\alpha_t^2\\,\\mathrm{Var}[\\psi_t]$; $r_t$ holds it constant. Controls that reduce the variance without a "
        "warmup (Adam-2k, Adam-eps) also avoid the failure in the paper, though Adam-2k as published also makes its first real "
        "updates ten times smaller, so it does not tell variance from size.\n\n"
        "*Liu et al., On the Variance of the Adaptive Learning Rate and Beyond, ICLR 2020.*"
    )
with right, st.container(border=True, height="stretch"):
    st.subheader("The other reading: size")
    st.markdown(
        "At step 1 every coordinate moves by exactly $\\alpha$, whatever its gradient. Momentum then averages the noise "
        "away within some $1/(1-\\beta_1)$ steps: at the usual $\\beta_1 = 0.9$, $\\beta_2 = 0.999$ long before $r_t$ has risen. So RAdam is four momentum steps and then "
        "Adam with a fixed warmup, and an untuned linear warmup over $2/(1-\\beta_2)$ steps does as well.\n\n"
        "*Ma & Yarats, On the Adequacy of Untuned Warmup for Adaptive Optimization, AAAI 2021.*"
    )
st.markdown(
    "**What this page can and cannot show.** The curves are for independent Gaussian gradients. They show how soon size "
    "and variance settle; which of the two breaks a real training run is a question for the run itself. The page *Race* "
    "has a strict Adam-2k, which leaves the first updates their size."
)
