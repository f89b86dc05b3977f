"""What a visitor's session keeps of a kind, as one object.

Every look into `st.session_state` goes through locks and three layers of state, and a page would take dozens. Streamlit
runs each session's script in a thread of its own, which remembers what it has found.
"""

import threading
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

T = TypeVar("T")
_thread = threading.local()


def key_of(kind: type) -> str:
    """Where the session has it."""
    return f"lab-{kind.__qualname__}"


def of_session(kind: type[T]) -> T:
    """This visitor's object of a kind; made without arguments when it is first asked for."""
    run = get_script_run_ctx(suppress_warning=True)
    if run is None or getattr(_thread, "run", None) is not run:
        _thread.run, _thread.found = run, {}
    found = _thread.found.get(kind)
    if found is None:
        key = key_of(kind)
        if key not in st.session_state:
            st.session_state[key] = kind()
        found = _thread.found[kind] = st.session_state[key]
    return found
