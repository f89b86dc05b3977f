"""The panel that waits for a measurement of real gradients and draws it over Gaussian ones."""

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.engine.engine import running_engine
from dashboard.engine.real_gradients import BATCH_SIZE, STREAMS, RealGradients, ask, asked_before
from dashboard.forms import drawings
from dashboard.forms.starting import may_measure
from dashboard.words.sentences import left_out_sentence, means_sentence, real_gradients_sentence


def show_real_gradients(task: str, beta2: float) -> None:
    refused = "" if asked_before(task, beta2) else may_measure(running_engine())
    answer = refused or ask(task, beta2)
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
    chart(
        drawings.real_gradients(measured, task),
        "real-gradients",
        alt="Variance of the adaptive rate of real gradients beside that of Gaussian ones",
        height=380,
    )
    st.markdown(
        " ".join(
            [
                real_gradients_sentence(measured.t, measured.quartiles[1] / measured.reference[1]),
                means_sentence(measured.t[-1], measured.mean[-1], measured.theory[-1], measured.signal),
                left_out_sentence(measured.coordinates, measured.left_out, measured.t[0]),
                f"All this is for one network at its initial weights, {STREAMS} streams, batches of {BATCH_SIZE} and "
                f"$\\beta_2$ = {beta2:g}. Other initial weights and batches moved the ratio by up to 0.2 (three seeds "
                "at 0.999, docs/RESULTS.md); nothing is said here of weights that have moved.",
            ]
        )
    )
