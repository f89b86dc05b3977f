"""A link as a QR code, black on white in both themes, for the telephones of a class."""

from html import escape

import segno
import streamlit as st

from dashboard.remembered import shared


def show_link(link: str) -> None:
    """The link in words, to be copied, and as a picture."""
    st.code(link, language=None, wrap_lines=True)
    st.html(_picture(link))


@shared(200)
def _picture(link: str) -> str:
    # A picture by its address: Streamlit takes an svg out of what it is given as HTML.
    source = segno.make(link, micro=False, error="m").svg_data_uri(scale=4, border=2, light="white", dark="black")
    return f'<img class="lab-qr" alt="QR code of {escape(link)}" src="{escape(source)}">'
