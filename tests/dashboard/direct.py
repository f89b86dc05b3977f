"""A visitor who speaks to the server without a browser: what they send is theirs to choose, and so is who they are."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dashboard.asked.config import RaceConfig
from dashboard.server.visitor import COOKIE

PATIENCE = 60.0
T = TypeVar("T")


@dataclass
class Answer:
    """What a page said: its sentences, its buttons by their labels, and which page it was."""

    sentences: list[str] = field(default_factory=list)
    buttons: dict[str, str] = field(default_factory=dict)
    page: str = ""

    def says(self, part: str) -> bool:
        return any(part in sentence for sentence in self.sentences)


def press_train(address: str, config: RaceConfig, cookie: str = "", **headers: str) -> Answer:
    """Opens a race by its link and presses *Train*, whether or not the page would let a browser do that."""

    async def visit() -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie:
            sent["Cookie"] = f"{COOKIE}={cookie}"
        url = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
        async with websockets.connect(
            url, subprotocols=["streamlit"], max_size=None, additional_headers=sent
        ) as socket:
            request = BackMsg()
            request.rerun_script.page_name = "race"
            request.rerun_script.query_string = f"config={config.to_link()}"
            opened = await _run(socket, request)
            request = BackMsg()
            request.rerun_script.page_script_hash = opened.page
            request.rerun_script.query_string = f"config={config.to_link()}"
            state = request.rerun_script.widget_states.widgets.add()
            state.id, state.trigger_value = opened.buttons["Train"], True
            return await _run(socket, request)

    return in_a_thread(lambda: asyncio.run(asyncio.wait_for(visit(), PATIENCE)))


async def _run(socket: Any, request: BackMsg) -> Answer:
    await socket.send(request.SerializeToString())
    answer = Answer()
    while True:
        message = ForwardMsg()
        message.ParseFromString(await socket.recv())
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "button":
            answer.buttons[element.button.label] = element.button.id
        elif kind == "alert":
            answer.sentences.append(element.alert.body)
        elif kind == "markdown":
            answer.sentences.append(element.markdown.body)
        if message.WhichOneof("type") == "navigation":
            answer.page = message.navigation.page_script_hash
        finished = message.WhichOneof("type") == "script_finished"
        if finished and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            return answer


def closed_with(address: str, size: int) -> int:
    """How the server closes a websocket on which so many bytes are sent at once."""

    async def visit() -> int:
        url = f"{address.replace('http', 'ws', 1)}/_stcore/stream"
        async with websockets.connect(url, subprotocols=["streamlit"], max_size=None) as socket:
            await socket.send(b"\0" * size)
            try:
                while True:
                    await socket.recv()
            except websockets.ConnectionClosed as closed:
                return int(closed.rcvd.code) if closed.rcvd else 0

    return in_a_thread(lambda: asyncio.run(asyncio.wait_for(visit(), PATIENCE)))


def in_a_thread(work: Callable[[], T]) -> T:
    """A browser's driver may have an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()
