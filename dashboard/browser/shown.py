"""A component that sends nothing back: it is shown, and has no state.

Streamlit registers two widgets for each component that is mounted, one for its state and one for its events, and asks
the session for their values: about a sixth of what a visit costs the server on a page with ten charts, which a class
pays a hundred times at once. What is left here is the message itself. It is the same message (a test compares the
two); its sender is not among Streamlit's public names, and its version is pinned.
"""

from dataclasses import dataclass

import streamlit as st
from streamlit.elements.lib.layout_utils import LayoutConfig
from streamlit.elements.lib.utils import compute_and_register_element_id
from streamlit.proto.BidiComponent_pb2 import BidiComponent

_LAYOUT = LayoutConfig(width="stretch", height="content")


@dataclass(frozen=True)
class Shown:
    name: str
    html: str
    css: str
    js: str

    def show(self, key: str, data: bytes) -> None:
        message = BidiComponent(
            component_name=self.name,
            html_content=self.html,
            css_content=self.css,
            css_source_path="",
            js_content=self.js,
            js_source_path="",
            isolate_styles=False,
            bytes=data,
            id=compute_and_register_element_id("bidi_component", user_key=key, dg=None, key_as_main_identity=True),
        )
        st._main._enqueue("bidi_component", message, layout_config=_LAYOUT)
