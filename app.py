"""The server: `streamlit run app.py` finds this ASGI wrapper and runs `dashboard/main.py` for every visitor.

Its lifespan holds what all visitors share: the run store, with the recordings in it, and the engine that trains.
"""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from dashboard.browser import assets
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.hosting import stack
from dashboard.navigation import MAIN
from dashboard.recorded.loading import load
from dashboard.runs.store import MOST_BYTES, Store
from dashboard.server import api, figures
from dashboard.server.preload import Preload
from dashboard.server.visitor import NameVisitors
from dashboard.server.widget_values import check_values

# A page makes thousands of objects that live as long as its visitor: Python looks through them for cycles less often
# than by its own setting, which takes about a tenth of what a visit costs the server.
gc.set_threshold(50_000, 20, 100)
check_values()
limits = stack.checked()  # of a hosted copy; None on one's own machine


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """The workers become warm while the first visitor reads the first page."""
    store = await asyncio.to_thread(Store, None, limits.store_megabytes << 20 if limits else MOST_BYTES)
    await asyncio.to_thread(load, store)
    engine = Engine(store, most_seconds=60 * limits.run_minutes if limits else None)
    await asyncio.gather(asyncio.to_thread(engine.start), asyncio.to_thread(assets.prepare))
    set_running_engine(engine)
    try:
        with api.streams_end_with_the_server(engine):
            yield
    finally:
        set_running_engine(None)
        await asyncio.to_thread(engine.close)
        store.close()


app = st.App(
    MAIN,
    lifespan=lifespan,
    routes=[*assets.routes(), *api.routes(), *figures.routes()],
    middleware=[*stack.middleware(limits), Middleware(NameVisitors), Middleware(Preload)],
)

if __name__ == "__main__":
    app.run()
