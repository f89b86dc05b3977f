"""The first page: the answer as a moving picture, and the ways in."""

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.forms import controls, drawings
from dashboard.menu import menu_page
from dashboard.navigation import PAGES
from dashboard.paper.drawings import is_recorded, moving_race

RACE = "figure-1"

st.title("RAdam's $r_t$ is a warmup whose length $\\beta_2$ sets")
st.markdown(
    "The optimizer Adam is often given a slow start, a *warmup*. How slow is tuned by hand, or follows a rule of thumb such as the "
    "dashed line below. The paper *On the Variance of the Adaptive Learning Rate and Beyond* (RAdam, 2020) derives a factor "
    "$r_t$ of the learning rate from how uncertain Adam's step sizes are while the average $v$ of its squared gradients holds few of "
    "them. How long $v$ remembers is what $\\beta_2$ says, so that no length is left to choose. Whether that is the length your task "
    "needs is another question. Here you can take its formulas, its approximations and the debate about them into your hands."
)
if is_recorded(RACE):
    chart(
        moving_race(RACE),
        "home-race",
        alt="The losses of eight optimizers on one problem as they grew: Adam stays high, the slow starts learn",
        height=330,
        play=True,
    )
    st.caption(
        "Eight optimizers on one small Transformer at one learning rate, recorded at one seed. Five seeds, what may be "
        "concluded and what not, and the same race live: *Race* and *The paper*."
    )
chart(
    drawings.untuned(tuple(b for b in controls.BETA2S if b >= 0.7)),
    "home",
    alt="r_t and the untuned linear warmup against the step, moving together as beta2 changes",
    height=360,
    play=True,
)
IN_A_ROW = 3
for first in range(1, len(PAGES), IN_A_ROW):
    for column, page in zip(st.columns(IN_A_ROW, gap="small"), PAGES[first : first + IN_A_ROW], strict=False):
        with column, st.container(border=True, height="stretch"):
            st.page_link(menu_page(page.name), label=f"**{page.title}**", icon=page.icon)
            st.caption(f"**{page.question}** {page.promise}")
