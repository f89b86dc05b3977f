"""The first page: the answer as a moving picture, and the ways in."""

import streamlit as st

from dashboard import controls
from dashboard.chart import chart
from dashboard.figures.rectification import untuned_figure
from dashboard.navigation import PAGES

st.title("RAdam's $r_t$ is a warmup you did not have to tune")
st.markdown(
    "Adam often needs a slow start, and nobody can say how long. The paper *On the Variance of the Adaptive Learning Rate "
    "and Beyond* (RAdam, 2020) derives one from the variance of Adam's own step size. Here you can take its formulas, its "
    "approximations and the debate about them into your hands."
)
chart(
    untuned_figure([b for b in controls.BETA2S if b >= 0.7]),
    "home",
    alt="r_t and the untuned linear warmup against the step, moving together as beta2 changes",
    height=360,
    play=True,
)
for column, page in zip(st.columns(len(PAGES) - 1, gap="small"), PAGES[1:], strict=True):
    with column, st.container(border=True, height="stretch"):
        st.page_link(page.file, label=f"**{page.title}**", icon=page.icon)
        st.caption(f"**{page.question}** {page.promise}")
