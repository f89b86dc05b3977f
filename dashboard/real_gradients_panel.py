"""The panel that waits for a measurement of real gradients and draws it over the theory."""

import streamlit as st

from dashboard.chart import chart
from dashboard.figures.variance import real_gradients_figure
from dashboard.real_gradients import RealGradients, ask
from radam_core.theory import variance_exact


def show_real_gradients(task: str, beta2: float) -> None:
    answer = ask(task, beta2)
    if isinstance(answer, str):
        st.info(answer)
    elif answer is None:
        _wait(task, beta2)
    else:
        _draw(answer, task, beta2)


@st.fragment(run_every=1.0)
def _wait(task: str, beta2: float) -> None:
    """Looks once a second; the page runs again when there is something to draw."""
    if ask(task, beta2) is not None:
        st.rerun()
    st.status(f"A worker is measuring the gradients of {task} ...")


def _draw(measured: RealGradients, task: str, beta2: float) -> None:
    theory = variance_exact(measured.t, beta2)
    with_signal = variance_exact(measured.t, beta2, measured.signal)
    chart(
        real_gradients_figure(measured.t, measured.mean, measured.quartiles, theory, with_signal, task),
        "real-gradients",
        alt="Variance of the adaptive rate of real gradients beside the Gaussian theory",
        height=380,
    )
    st.markdown(
        f"{measured.coordinates:,} parameters. At the median, gradients have a mean of {measured.signal:.2g} times "
        "their noise, where the paper assumes 0; the dashed line is the theory for that mean."
    )
