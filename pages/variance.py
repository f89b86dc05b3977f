"""Is the variance really that large? Var[psi_t] by four routes, and what rectification makes of it."""

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.engine.real_gradients import MEASURED_TASKS, STREAMS
from dashboard.figures import results
from dashboard.forms import controls, drawings
from dashboard.forms.real_gradients_panel import show_real_gradients
from dashboard.words.sentences import rectified_sentence, variance_sentence

st.title("Is the variance really that large?")
st.markdown(
    "Adam divides by the root of an average of squared gradients. Early on that average holds few gradients, so the "
    "adaptive rate $\\psi_t = 1/\\sqrt{\\hat v_t}$ is left to chance, the more so the smaller the mean of the gradients is "
    "beside their noise. As in the paper, the gradients of a parameter are independent draws $g \\sim N(\\mu, 1)$, as if "
    "its weights stood still. What follows for the *update* is asked on the page *Variance or size*."
)
wide, middle, narrow = st.columns([4, 4, 3], gap="medium")
with wide:
    beta2 = controls.beta2_control()
with middle:
    mu = controls.mu_control()
with narrow:
    trajectories = controls.pick("Simulated runs", "runs", controls.TRAJECTORIES, 2000)

with st.spinner("Simulating ...", show_time=True):
    drawing = drawings.variance(beta2, mu, trajectories)
chart(
    drawing,
    "variance",
    alt="The variance of the adaptive rate against the step, exactly, by two approximations and simulated",
    height=400,
)
t, routes = results.variance_routes(beta2, mu, results.simulated_steps(beta2))
st.markdown(variance_sentence(t, routes["exact"]))

left, right = st.columns(2, gap="large")
with left:
    st.header("After rectification")
    st.markdown(
        "$r_t$ is chosen so that $r_t^2\\,\\mathrm{Var}[\\psi_t]$ is the same at every step: its limit. With the exact "
        f"variance it is, at $\\mu = 0$, for which $r_t$ is made. {rectified_sentence(beta2)}"
    )
    chart(
        drawings.rectified_variance(beta2, mu),
        "rectified-variance",
        alt="The rectified variance against the step for three choices of r_t",
        height=350,
    )
with right:
    st.header("How good are the approximations?")
    st.markdown(
        "Both liken the exponential average to a simple one of $\\rho_t$ gradients with $\\mu = 0$; the first-order form "
        "also replaces the root by its tangent."
    )
    chart(
        drawings.approximation_errors(beta2, mu),
        "approximation-error",
        alt="Relative error of the analytic and first-order variance",
        height=350,
    )

st.header("Do real gradients behave like that?")
one, two = st.columns([2, 3], gap="large", vertical_alignment="bottom")
with one:
    task = controls.choose("Network", "network", MEASURED_TASKS, "digits")
with two:
    measuring = controls.switch("Measure its gradients in a worker, up to a minute", "real")
st.markdown(
    f"The weights stay as they were initialised; {STREAMS} streams of independent batches each feed an average $v_t$. The "
    "variance of $\\psi_t$ over the streams, parameter by parameter, is set in units of that parameter's own noise $\\sigma$. "
    f"An estimate from {STREAMS} streams is noisy and mostly too low, so the same is done with Gaussian gradients of each "
    "parameter's own mean and noise: what differs between the two is due to the gradients. The bands hold the middle half "
    f"of the parameters; they are wide because parameters differ, and because {STREAMS} streams are few."
)
if measuring:
    show_real_gradients(task, beta2)

st.header("The paper's two figures")
left, right = st.columns([2, 3], gap="large")
with left:
    st.markdown("**Approximation**: both forms for $\\rho$ from 5 to 500, and their difference.")
    chart(drawings.paper_approximation(), "paper-approximation", alt="The paper's approximation figure", height=430)
with right:
    st.markdown(
        "**Simulation**: $\\beta_2 = 0.999$, 5000 runs of 6000 steps, six means $\\mu$, from step 5; of "
        "$\\psi_t = 1/\\sqrt{\\hat v_t}$, where the paper's caption prints $1/v_t$."
    )
    if controls.switch("Simulate at the paper's settings", "paper"):
        bar = st.progress(0.0, "Simulating 30 million gradients")
        results.paper_simulation(bar.progress)
        bar.empty()
        chart(
            drawings.paper_simulation(),
            "paper-simulation",
            alt="The paper's simulation: variance with and without rectification for six means",
            height=430,
        )
