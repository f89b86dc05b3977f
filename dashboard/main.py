"""The script that every visitor's session runs: page settings and navigation over the files in pages/."""

import streamlit as st

from dashboard.browser import address, embed
from dashboard.menu import ICON, menu

page = st.navigation(menu(), position="top")
# An own one for each page: tabs, bookmarks and the browser's history are told apart by it.
title = f"{page.title} · RAdam Lab" if page.url_path else "RAdam Lab"
st.set_page_config(page_title=title, page_icon=ICON, layout="wide")
address.begin(page.url_path)
embed.begin()
page.run()
embed.end()
address.write()
