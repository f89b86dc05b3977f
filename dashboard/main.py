"""The script that every visitor's session runs: page settings and navigation over the files in pages/."""

import streamlit as st

from dashboard.browser import address, embed
from dashboard.menu import ICON, menu

st.set_page_config(page_title="RAdam Lab", page_icon=ICON, layout="wide")
page = st.navigation(menu(), position="top")
address.begin(page.url_path)
embed.begin()
page.run()
embed.end()
address.write()
