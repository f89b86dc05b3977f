"""The script that every visitor's session runs: page settings and navigation over the files in pages/."""

from pathlib import Path

import streamlit as st

from dashboard.browser import address, embed
from dashboard.navigation import PAGES

st.set_page_config(page_title="RAdam Lab", page_icon=str(Path(__file__).with_name("icon.png")), layout="wide")
page = st.navigation(
    [
        # Without icons, for which a menu of this many pages has no room at 1280 pixels: the last would be put away.
        st.Page(page.file, title=page.title, url_path=page.name, default=page is PAGES[0])
        for page in PAGES
    ],
    position="top",
)
address.begin(page.url_path)
embed.begin()
page.run()
embed.end()
address.write()
