"""Is the variance really that large? Var[psi_t] by four routes, and what rectification makes of it."""

import streamlit as st

from dashboard import controls, results
from dashboard.chart import chart
from dashboard.figures.variance import (
    error_figure,
    paper_approximation_figure,
    paper_simulation_figure,
    rectified_figure,
    variance_figure,
)
from dashboard.real_gradients import MEASURED_TASKS, STREAMS
from dashboard.real_gradients_panel import show_real_gradients
from dashboard.words import variance_sentence

st.title("Is the variance really that large?")
st.markdown(
    "Adam divides by the root of an average of squared gradients. Early on that average holds few gradients, so the "
    "adaptive rate $\\psi_t = 1/\\sqrt{\\hat v_t}$ varies widely from one run to the next. Here $g \\sim N(\\mu, 1)$."
)
wide, middle, narrow = st.columns([4, 4, 3], gap="medium")
with wide:
    beta2 = controls.beta2_control()
with middle:
    mu = controls.mu_control()
with narrow:
    trajectories = controls.pick("Simulated runs", "runs", controls.TRAJECTORIES, 2000)

last = results.simulated_steps(beta2)
t, routes = results.variance_routes(beta2, mu, last)
with st.spinner("Simulating ...", show_time=True):
    drawn = results.averages(beta2, trajectories)
simulated, error = results.simulated_variance(drawn, mu)
chart(
    variance_figure(t, routes, drawn.t, simulated, error),
    "variance",
    alt="The variance of the adaptive rate against the step, exactly, by two approximations and simulated",
    height=400,
)
st.markdown(variance_sentence(t, routes["exact"]))

left, right = st.columns(2, gap="large")
with left:
    st.subheader("After rectification")
    st.markdown(
        "$r_t$ is chosen so that $r_t^2\\,\\mathrm{Var}[\\psi_t]$ is the same at every step. With the exact variance "
        "(of $\\mu = 0$) it is; RAdam's first-order choice overdoes it in the first steps."
    )
    chart(
        rectified_figure(t, routes["exact"], results.rectified_variances(beta2, mu, last)),
        "rectified-variance",
        alt="The rectified variance against the step for three choices of r_t",
        height=350,
    )
with right:
    st.subheader("How good are the approximations?")
    st.markdown(
        "Both liken the exponential average to a simple one of $\\rho_t$ gradients with $\\mu = 0$; the first-order form "
        "also replaces the root by its tangent."
    )
    chart(
        error_figure(t, results.approximation_errors(routes)),
        "approximation-error",
        alt="Relative error of the analytic and first-order variance",
        height=350,
    )

st.subheader("Do real gradients behave like that?")
one, two = st.columns([2, 3], gap="large", vertical_alignment="bottom")
with one:
    task = controls.choose("Network", "network", MEASURED_TASKS, "digits")
with two:
    measuring = controls.switch("Measure its gradients in a worker, some seconds", "real")
st.markdown(
    f"The weights stay as they were initialised; {STREAMS} streams of independent batches each feed an average $v_t$. The "
    "variance of $\\psi_t$ over the streams, parameter by parameter, is set in units of that parameter's own noise $\\sigma$."
)
if measuring:
    show_real_gradients(task, beta2)

st.subheader("The paper's two figures")
left, right = st.columns([2, 3], gap="large")
with left:
    st.markdown("**Approximation**: both forms for $\\rho$ from 5 to 500, and their difference.")
    chart(paper_approximation_figure(), "paper-approximation", alt="The paper's approximation figure", height=430)
with right:
    st.markdown("**Simulation**: $\\beta_2 = 0.999$, 5000 runs of 6000 steps, six means $\\mu$, from step 5.")
    if controls.switch("Simulate at the paper's settings", "paper"):
        bar = st.progress(0.0, "Simulating 30 million gradients")
        simulation = results.paper_simulation(bar.progress)
        bar.empty()
        chart(
            paper_simulation_figure(simulation),
            "paper-simulation",
            alt="The paper's simulation: variance with and without rectification for six means",
            height=430,
        )
