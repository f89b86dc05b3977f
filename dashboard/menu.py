"""The menu and the icon as Streamlit wants them, looked up on the disk once: for every visitor anew that were 380 looks
in a quarter of a first page's time."""

import base64
from copy import copy
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from dashboard.navigation import PAGES

ICON = f"data:image/png;base64,{base64.b64encode(Path(__file__).with_name('icon.png').read_bytes()).decode()}"


@cache
def _pages() -> dict[str, Page]:
    # Without icons, for which a menu of this many pages has no room at 1280 pixels: the last would be put away.
    return {
        page.name: st.Page(page.file, title=page.title, url_path=page.name, default=page is PAGES[0]) for page in PAGES
    }


def menu() -> list[Page]:
    """For one run of one visitor: Streamlit marks which of them it shows."""
    return [copy(page) for page in _pages().values()]


def menu_page(name: str) -> Page:
    """To link to."""
    return _pages()[name]
