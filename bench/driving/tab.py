"""A visitor's tab without a browser: a real Streamlit websocket that opens pages, presses buttons and leaves."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dashboard.server.visitor import COOKIE

PATIENCE = 120.0  # seconds: the machine may have other things to do


@dataclass
class Answer:
    """What a page said: its sentences, its buttons and all other controls by id, its errors, and which page it was."""

    sentences: list[str] = field(default_factory=list)
    buttons: dict[str, str] = field(default_factory=dict)
    controls: dict[str, str] = field(default_factory=dict)  # kinds, by id
    errors: int = 0
    page: str = ""
    finished: bool = False

    def says(self, part: str) -> bool:
        return any(part in sentence for sentence in self.sentences)


class Tab:
    def __init__(self, socket: Any) -> None:
        self.socket = socket

    async def open(self, page: str, query: str = "") -> Answer:
        request = BackMsg()
        request.rerun_script.page_name = "" if page == "home" else page
        request.rerun_script.query_string = query
        return await self.run(request)

    async def press(self, answer: Answer, label: str, query: str = "") -> Answer:
        """Whether or not the page would let a browser do that."""
        request = BackMsg()
        request.rerun_script.page_script_hash = answer.page
        request.rerun_script.query_string = query
        state = request.rerun_script.widget_states.widgets.add()
        state.id, state.trigger_value = answer.buttons[label], True
        return await self.run(request)

    async def run(self, request: BackMsg) -> Answer:
        await self.socket.send(request.SerializeToString())
        return await self.answer()

    async def answer(self) -> Answer:
        """Until the script has come to its end."""
        answer = Answer()
        while True:
            message = ForwardMsg()
            message.ParseFromString(await self.socket.recv())
            kind = message.WhichOneof("type")
            if kind == "delta":
                _take(answer, message.delta.new_element)
            elif kind == "navigation":
                answer.page = message.navigation.page_script_hash
            elif kind == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    answer.finished = True
                    return answer
                if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    answer.errors += 1
                    return answer


def _take(answer: Answer, element: Any) -> None:
    kind = element.WhichOneof("type")
    if kind == "exception":
        answer.errors += 1
    elif kind == "button":
        answer.buttons[element.button.label] = element.button.id
    elif kind == "alert":
        answer.sentences.append(element.alert.body)
    elif kind == "markdown":
        answer.sentences.append(element.markdown.body)
    identity = str(getattr(getattr(element, kind), "id", "")) if kind else ""
    if identity:
        answer.controls[identity] = str(kind)


@asynccontextmanager
async def tab(address: str, cookie: str = "", client: str = "", **options: Any) -> AsyncIterator[Tab]:
    """`client` is the visitor's own address, as a proxy that the server trusts would tell it."""
    url = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
    headers: Mapping[str, str] = {
        **({"Cookie": f"{COOKIE}={cookie}"} if cookie else {}),
        **({"X-Forwarded-For": client} if client else {}),
    }
    async with websockets.connect(
        url,
        subprotocols=["streamlit"],  # type: ignore[list-item]
        max_size=None,
        open_timeout=PATIENCE,
        additional_headers=headers,
        **options,
    ) as socket:
        yield Tab(socket)
