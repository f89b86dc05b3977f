"""What stands between the network and the app, and what must hold before a hosted copy starts."""

import streamlit as st
from starlette.middleware import Middleware

from dashboard.hosting.addresses import KnownAddresses
from dashboard.hosting.headers import OWN_MACHINE, SecurityHeaders
from dashboard.hosting.requests import BoundedRequests
from dashboard.hosting.settings import Hosting, hosting
from dashboard.hosting.starts import starts

# Streamlit's own settings: visitors see no details of errors, and there is no other door than the page.
REQUIRED: dict[str, object] = {
    "client.showErrorDetails": "none",
    "global.developmentMode": False,
    "server.enableAgentApi": False,
    "server.enableCORS": True,
    "server.enableXsrfProtection": True,
    "server.headless": True,
}


def checked() -> Hosting | None:
    """What this copy allows; ends the program with a sentence if that, or Streamlit's settings, are not allowed."""
    try:
        limits = hosting()
        for option, wanted in REQUIRED.items() if limits else ():
            if st.get_option(option) != wanted:
                raise ValueError(f"{option} must be {wanted} in hosted mode, got {st.get_option(option)!r}")
    except ValueError as problem:
        raise SystemExit(f"RAdam Lab does not start.\n{problem}") from None
    return limits


def middleware(limits: Hosting | None) -> list[Middleware]:
    """The first is the first to see a request."""
    counted = starts()
    if limits is None or counted is None:
        return [Middleware(SecurityHeaders, embedders=OWN_MACHINE)]
    return [
        Middleware(SecurityHeaders, embedders=limits.embedders),
        Middleware(KnownAddresses, trusted=limits.trusted_proxies),
        Middleware(BoundedRequests, limits=limits, starts=counted),
    ]
