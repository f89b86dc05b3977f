"""What a stranger may send over a websocket, or as a control's value, before Streamlit has to make sense of it."""

import asyncio

import pytest
from streamlit.elements.widgets.number_input import NumberInputSerde
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state import session_state
from streamlit.runtime.state.common import WidgetMetadata

from dashboard.hosting.requests import NO_MESSAGE, NOT_BINARY, TOO_LARGE, BoundedRequests
from dashboard.hosting.settings import Hosting
from dashboard.hosting.starts import Starts
from dashboard.server.widget_values import check_values
from tests.dashboard.direct import in_a_thread

ASKS = BackMsg(rerun_script={"page_name": "race"}).SerializeToString()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"bytes": ASKS}, None),
        ({"bytes": b""}, None),
        ({"text": "hello"}, NOT_BINARY),
        ({"bytes": None, "text": ""}, NOT_BINARY),
        ({"bytes": b"\xff" * 20}, NO_MESSAGE),
        ({"bytes": ASKS + b"\0" * 70_000}, TOO_LARGE),
    ],
)
def test_what_is_no_message_closes_the_websocket_and_goes_no_further(message, code):
    seen, sent = [], []

    async def app(scope, receive, send):  # noqa: ARG001 - the form of an app
        seen.append(await receive())

    async def receive():
        return {"type": "websocket.receive", **message}

    async def send(told):
        sent.append(told)

    limits = Hosting(message_kilobytes=64)
    bounded = BoundedRequests(app, limits, Starts(limits))
    in_a_thread(lambda: asyncio.run(bounded({"type": "websocket"}, receive, send)))
    if code is None:
        assert seen == [{"type": "websocket.receive", **message}]
        assert sent == []
    else:
        assert seen == [{"type": "websocket.disconnect", "code": code}]
        assert sent == [{"type": "websocket.close", "code": code}]


def slider(value) -> float:
    return 0.5 if value is None else [0.1, 0.2][int(value[0])]


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        ({"double_array_value": {"data": [1.0]}}, 0.2),
        ({"double_array_value": {"data": [9.0]}}, 0.5),
        ({"double_array_value": {"data": []}}, 0.5),
        ({"string_value": "1"}, 0.5),
        ({"json_value": "["}, 0.5),
        ({"bool_value": True}, 0.5),
        ({}, 0.5),
    ],
)
def test_a_value_that_a_control_cannot_have_counts_as_its_default(monkeypatch, sent, value):
    monkeypatch.setattr(session_state.WStates, "__getitem__", session_state.WStates.__getitem__)  # put back afterwards
    check_values()
    states = session_state.WStates()
    states.set_widget_from_proto(WidgetState(id="a", **sent))
    states.set_widget_metadata(WidgetMetadata("a", slider, lambda one: [one], "double_array_value"))
    assert states["a"] == value
    assert states["a"] == value
    with pytest.raises(KeyError):
        states["b"]


@pytest.mark.parametrize(
    ("sent", "value"), [({"int_value": 60}, 60), ({"double_value": 0.5}, 0), ({"bool_value": True}, 7)]
)
def test_a_number_is_taken_in_either_form(monkeypatch, sent, value):
    """As Streamlit's browser sends it: fields of whole numbers were put back to their defaults."""
    monkeypatch.setattr(session_state.WStates, "__getitem__", session_state.WStates.__getitem__)
    check_values()
    states = session_state.WStates()
    states.set_widget_from_proto(WidgetState(id="a", **sent))
    field = NumberInputSerde(7, NumberInput.INT, 0, 100)
    states.set_widget_metadata(WidgetMetadata("a", field.deserialize, field.serialize, "double_value"))
    assert states["a"] == value
