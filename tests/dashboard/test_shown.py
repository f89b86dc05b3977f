"""A component without state is the same to the browser as one that Streamlit mounts."""

from collections.abc import Callable
from typing import Any

from streamlit.testing.v1 import AppTest


def by_streamlit() -> None:
    import streamlit as st

    parts = {"html": "<p></p>", "css": "p {}", "js": "export default () => {}"}
    part = st.components.v2.component("lab_part", **parts, isolate_styles=False)
    with st.columns(2)[1]:
        part(key="mine", data=b"{}")


def by_us() -> None:
    import streamlit as st

    from dashboard.browser.shown import Shown

    part = Shown("lab_part", html="<p></p>", css="p {}", js="export default () => {}")
    with st.columns(2)[1]:
        part.show("mine", b"{}")


def sent(script: Callable[[], None]) -> tuple[Any, str]:
    """The message, and its key, which stands after the hash of the script and the key."""
    app = AppTest.from_function(script).run()
    assert not app.exception
    (found,) = app.columns[1].get("bidi_component")
    start, hashed, key = found.proto.id.rsplit("-", 2)
    assert (start, len(hashed)) == ("$$ID", 32)
    found.proto.ClearField("id")
    return found.proto, key


def test_it_is_the_message_that_streamlit_sends():
    assert sent(by_us) == sent(by_streamlit)


def test_two_of_a_key_are_refused():
    def twice() -> None:
        from dashboard.browser.shown import Shown

        for _ in range(2):
            Shown("lab_part", html="", css="", js="").show("mine", b"{}")

    assert len(AppTest.from_function(twice).run().exception) == 1
