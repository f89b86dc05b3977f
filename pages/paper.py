"""What holds up? Every figure and table of the paper beside its counterpart here, recorded, and judged by one rule."""

import streamlit as st

from dashboard.browser.chart import chart
from dashboard.forms.paper_rows import door, open_rows, remember_rows
from dashboard.menu import menu_page
from dashboard.paper import drawings
from dashboard.paper.claims import AGREES, CAUTION, DIFFERS, NOT_HERE, NOT_RECORDED, PARTLY, RULE
from dashboard.paper.results import Result, shared_results
from dashboard.words.paper_words import counted, made_sentence

BADGES = {AGREES: "green", PARTLY: "orange", DIFFERS: "red", NOT_HERE: "gray", NOT_RECORDED: "gray"}

SEEDS_HEIGHT = 190  # pixels


def badge(verdict: str) -> str:
    return f":{BADGES[verdict]}-badge[{verdict}]"


def heading(result: Result) -> str:
    """With where each of its claims holds, which tells a near thing from a clear one."""
    counts = " · ".join(judged.held for judged in result.judged) if result.made else ""
    return f"{badge(result.verdict)} **{result.row.title}**" + (f" :gray[in {counts} seeds]" if counts else "")


def source(result: Result) -> str:
    made = result.made
    about = (made.date, made.code, made.machine) if made else ("", "", "")
    return made_sentence(result.seeds, *about, result.by_older_code, result.command)


def words(result: Result) -> None:
    row = result.row
    st.markdown(f"**The paper claims:** {row.claim}\n\n**Its own numbers:** {row.paper}")
    for judged in result.judged:
        st.markdown(f"{badge(judged.verdict)} {judged.text}")
    st.markdown("\n\n".join([f"**At our scale:** {row.scale}", *([row.reading] if row.reading else [])]))
    if result.judged:
        st.caption(source(result))
    if row.opens:
        page, _, query = row.opens.partition("?")
        asked = dict(part.split("=") for part in query.split("&") if part)
        st.page_link(menu_page(page), label="Open it live", icon=":material/open_in_new:", query_params=asked)


def pictures(result: Result) -> None:
    row = result.row
    if not result.judged:
        st.caption(result.ours)
        return
    chart(drawings.drawing(row), f"paper-{row.name}", alt=drawings.ALTS[row.figure], height=400, title=row.title)
    if result.made:
        st.markdown("What the verdict rests on, seed by seed:")
        for number, (claim, judged) in enumerate(zip(row.claims, result.judged, strict=True)):
            told = f"{claim.one_name} {claim.claimed} {claim.other_name}: in {judged.held} seeds"
            st.caption(f"{badge(judged.verdict)} {told}")
            drawn, name = drawings.seed_by_seed(row.name, number), f"paper-{row.name}-seeds-{number + 1}"
            chart(drawn, name, alt=drawings.SEEDS_ALT, height=SEEDS_HEIGHT, title=told)
    if row.figure == "gradients" and drawings.is_recorded(row.sweep):
        st.markdown("The histograms behind it, at one seed, step 1 at the back:")
        alt = "Ridges of gradient histograms, a panel for each contender"
        chart(drawings.ridges(row.sweep), f"paper-{row.name}-ridges", alt=alt, height=560, title=row.title)


found = shared_results()
st.title("What holds up?")
st.markdown(
    f"Every figure and table of the paper beside its counterpart, which trains here in minutes or is computed (ImageNet has none). {counted([one.verdict for one in found])} "
    f"One rule for all of them: {RULE} Settings were chosen once and kept, and a row that differs stays; three measures were corrected after their results were seen, and their rows say so. A miniature that differs "
    "does not refute the paper, nor does one that agrees prove it: each row says what is different here."
)
st.caption(CAUTION)
names = [one.row.name for one in found]
open_rows(names)
opened = []
for result in found:
    with st.expander(heading(result), key=door(result.row.name), on_change="rerun") as row_door:
        if row_door.open:
            opened.append(result.row.name)
            left, right = st.columns([5, 7], gap="large")
            with left:
                words(result)
            with right:
                pictures(result)
remember_rows(opened, names[0])
