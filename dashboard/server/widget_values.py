"""A control's value as a visitor sends it may be of any form: one that the control cannot have counts as its default.

Streamlit turns what comes over the websocket into a value without asking whether it is one, and the script of whoever
sends another ends with an error that fills the log. There is no setting for it, so its mapping of values is wrapped;
its version is pinned, and a test says when the next one has another form.
"""

import logging
from typing import Any

from streamlit.runtime.state import session_state
from streamlit.runtime.state.common import WidgetMetadata, unpack_widget_state_value

log = logging.getLogger(__name__)


NUMBERS = {"int_value", "double_value"}  # a number's field is registered as a float, and sends a whole number as one

_unchecked = session_state.WStates.__getitem__


def _checked(states: session_state.WStates, k: str) -> Any:
    state, metadata = states.states.get(k), states.widget_metadata.get(k)
    if isinstance(state, session_state.Serialized) and metadata is not None and not _fits(state, metadata):
        states.states[k] = session_state.Value(metadata.deserializer(None))
    return _unchecked(states, k)


def _fits(state: session_state.Serialized, metadata: WidgetMetadata[Any]) -> bool:
    sent = state.value.WhichOneof("value")
    if sent is None:
        return True
    if sent != metadata.value_type and not {sent, metadata.value_type} <= NUMBERS:
        log.info("A control was sent %s in place of %s.", sent, metadata.value_type)
        return False
    try:
        metadata.deserializer(unpack_widget_state_value(state.value))
    except Exception as error:
        log.info("A control was sent a value that it cannot have: %s", type(error).__name__)
        return False
    return True


def check_values() -> None:
    """From here on, for every visitor."""
    session_state.WStates.__getitem__ = _checked  # type: ignore[method-assign]
