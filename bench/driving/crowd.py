"""A class that opens a page in the same second: as many real Streamlit websockets, without the browsers."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE = 300.0  # seconds: the machine may have other things to do


@dataclass(frozen=True)
class Visit:
    """How long a visitor waited for the whole page, and what was on it: the kinds of its elements, in their order."""

    seconds: float
    elements: tuple[str, ...]


def visit_at_once(address: str, page: str, visitors: int) -> list[Visit]:
    """All of them open the page, as `http://host:port` or with a base path behind it, and leave when they have it."""
    url = f"{address.replace('http', 'ws', 1)}/_stcore/stream"

    async def all_of_them() -> list[Visit]:
        return await asyncio.wait_for(asyncio.gather(*(_visit(url, page) for _ in range(visitors))), PATIENCE)

    # In a thread of its own: a browser's driver may have an event loop in this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(all_of_them())).result()


async def _visit(url: str, page: str) -> Visit:
    start = time.monotonic()
    elements: list[str] = []
    async with websockets.connect(url, subprotocols=["streamlit"], max_size=None, open_timeout=PATIENCE) as socket:  # type: ignore[list-item]
        request = BackMsg()
        request.rerun_script.page_name = "" if page == "home" else page
        await socket.send(request.SerializeToString())
        while True:
            message = ForwardMsg()
            message.ParseFromString(await socket.recv())
            if message.delta.WhichOneof("type") == "new_element":
                elements.append(str(message.delta.new_element.WhichOneof("type")))
            if message.WhichOneof("type") == "script_finished":
                assert message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
                return Visit(time.monotonic() - start, tuple(elements))
