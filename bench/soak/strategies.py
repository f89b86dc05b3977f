"""What a stranger may send: text that was made to break things, requests to any route, and messages of any form."""

import json
from typing import Any
from urllib.parse import quote

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg

NASTY = (
    *(
        "",
        " ",
        "\0",
        "'",
        '"',
        "`",
        "../../../../etc/passwd",
        "..%2f..%2f",
        "' or 1=1 --",
        "; drop table runs",
        "{{7*7}}",
    ),
    *("${jndi:ldap://127.0.0.1/a}", "<script>alert(1)</script>", "%s%s%n", "None", "null", "true", "[]", "{}", "NaN"),
    *(
        "inf",
        "-inf",
        "1e999",
        "-1",
        "0",
        "0x10",
        "1_000",
        "9" * 400,
        "9" * 5000,
        "²",
        "٣",
        "\u202e",
        "😀" * 50,
        "\ud7ff",
    ),
    *(
        "a" * 10_000,
        "0" * 20,
        "f" * 20,
        "0" * 32,
        "-".join(["c1"] * 200),
        ".".join(["1"] * 300),
        "[" * 2000,
        "eJw" * 500,
    ),
)
text = st.sampled_from(NASTY) | st.text(max_size=60)
numbers = st.integers(-(2**31), 2**31 - 1)

METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW")
ROUTES = (
    *("/", "/{}", "/race", "/sweep", "/tour", "/{}/{}", "/api/runs/{}", "/api/runs/{}/events", "/api/runs/{}/{}"),
    *("/api/figures/pdf", "/api/figures/moving", "/api/figures/{}", "/assets/{}", "/assets/{}/{}", "/static/{}"),
    *("/_stcore/health", "/_stcore/script-health-check", "/_stcore/metrics", "/_stcore/host-config", "/_stcore/stream"),
    *("/_stcore/{}", "/_stcore/upload_file/{}/{}", "/_stcore/bidi-components/{}", "/media/{}", "/component/{}/{}"),
    *("/app/static/{}", "/favicon.png", "/oauth2callback", "/auth/login"),
)
PARAMETERS = ("after", "view", "format", "seconds", "families", "code", "state", "embed")
HEADERS = (
    *("Last-Event-ID", "Content-Length", "Content-Type", "Cookie", "Origin", "X-Forwarded-For", "X-Forwarded-Proto"),
    *("Range", "Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since", "Expect", "Upgrade", "Forwarded"),
    *("Sec-WebSocket-Key", "Sec-WebSocket-Protocol", "X-Xsrftoken", "Transfer-Encoding", "Host"),
)
BODIES = st.binary(max_size=300) | st.sampled_from(
    (
        b"<svg/>",
        b"<svg xmlns='http://www.w3.org/2000/svg' width='1e9' height='-1'/>",
        b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
        b"<!DOCTYPE a [<!ENTITY b 'c'><!ENTITY d '&b;&b;'>]><svg>&d;</svg>",
        b"\x00\x00\x00\x08\x89PNG\r\n\x1a\n",
        b"\xff\xff\xff\xff",
        b"\x89PNG\r\n\x1a\n" + b"\0" * 50,
        b"x" * 70_000,
    )
)


@st.composite
def paths(draw: st.DrawFn) -> str:
    route = draw(st.sampled_from(ROUTES))
    given = [
        quote(draw(text).encode("utf-8", "replace")[:3000], safe=draw(st.sampled_from(("", "/")))) for _ in range(2)
    ]
    path = route.format(*given)
    pairs = draw(st.lists(st.tuples(st.sampled_from(PARAMETERS) | text, text), max_size=3))
    query = "&".join(
        f"{quote(name.encode('utf-8', 'replace')[:200])}={quote(value.encode('utf-8', 'replace')[:3000])}"
        for name, value in pairs
    )
    return f"{path}?{query}" if query else path


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """As bytes on the wire: most of them well-formed, some with headers that are not."""
    method = draw(st.sampled_from(METHODS))
    body = b"" if method in ("GET", "HEAD", "OPTIONS", "TRACE") else draw(BODIES)
    headers = {"Host": "127.0.0.1", "Connection": "close", "X-Forwarded-For": f"10.9.{draw(st.integers(0, 250))}.7"}
    if body:
        headers["Content-Length"] = str(len(body))
    for name, value in draw(st.lists(st.tuples(st.sampled_from(HEADERS), text), max_size=2)):
        headers[name] = "".join(letter for letter in value if letter.isprintable())[:2000]
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"{method} {draw(paths())} HTTP/1.1\r\n{lines}\r\n".encode("utf-8", "replace") + body


@st.composite
def uploads(draw: st.DrawFn) -> bytes:
    """A body for one of the routes that take one, in a request that is well-formed."""
    route = draw(
        st.sampled_from(
            ("POST /api/figures/pdf", "POST /api/figures/moving?format={}&seconds={}", "PUT /_stcore/upload_file/{}/{}")
        )
    )
    given = [quote(draw(text).encode("utf-8", "replace")[:500], safe="") for _ in range(2)]
    body = draw(BODIES)
    client = f"X-Forwarded-For: 10.8.{draw(st.integers(0, 250))}.{draw(st.integers(1, 250))}"
    head = f"{route.format(*given)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{client}\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


def queries(names: list[str]) -> st.SearchStrategy[str]:
    """A page's address with what it asks for, by these names among others."""
    pairs = st.lists(st.tuples(st.sampled_from(names) | text, text), min_size=1, max_size=4)
    return pairs.map(
        lambda given: "&".join(
            f"{quote(name.encode('utf-8', 'replace'))}={quote(value.encode('utf-8', 'replace'))}"
            for name, value in given
        )
    )


_SCALARS: dict[int, st.SearchStrategy[Any]] = {
    FieldDescriptor.TYPE_STRING: text.map(lambda value: value.encode("utf-8", "replace").decode()),
    FieldDescriptor.TYPE_BYTES: st.binary(max_size=100),
    FieldDescriptor.TYPE_BOOL: st.booleans(),
    FieldDescriptor.TYPE_DOUBLE: st.floats(),
    FieldDescriptor.TYPE_FLOAT: st.floats(width=32),
    FieldDescriptor.TYPE_INT32: numbers,
    FieldDescriptor.TYPE_SINT32: numbers,
    FieldDescriptor.TYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_SINT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT32: st.integers(0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: st.integers(0, 2**64 - 1),
}
_MOST_DEEP = 4


@st.composite
def _filled(draw: st.DrawFn, message: Any, deep: int = 0) -> Any:
    """Some of a message's fields, whatever they mean."""
    kind: Descriptor = message.DESCRIPTOR
    for field in draw(st.lists(st.sampled_from(list(kind.fields)), max_size=3)) if kind.fields else ():
        for _ in range(draw(st.integers(1, 3)) if field.is_repeated else 1):
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                if deep < _MOST_DEEP:
                    inner = getattr(message, field.name)
                    if field.is_repeated:
                        if not hasattr(inner, "add"):
                            continue
                        draw(_filled(inner.add(), deep + 1))
                    else:
                        inner.SetInParent()
                        draw(_filled(inner, deep + 1))
            elif field.type in _SCALARS:
                value = draw(_SCALARS[field.type])
                if field.is_repeated:
                    getattr(message, field.name).append(value)
                else:
                    setattr(message, field.name, value)
    return message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=6,
)


@st.composite
def widget_messages(draw: st.DrawFn, controls: dict[str, str], page: str, states: tuple[str, ...]) -> BackMsg:
    """New values for controls that the page has, of any form; for our own components also what they listen to."""
    message = BackMsg()
    message.rerun_script.page_script_hash = page
    for identity in draw(st.lists(st.sampled_from(sorted(controls)), min_size=1, max_size=3)):
        state = message.rerun_script.widget_states.widgets.add()
        if controls[identity] == "bidi_component" and draw(st.booleans()):
            told = draw(st.dictionaries(st.sampled_from(states), JSON, max_size=3))
            state.json_value = json.dumps(told).encode("utf-8", "replace").decode()
        else:
            draw(_filled(state, _MOST_DEEP - 1))
        state.id = identity
    return message


def back_messages() -> st.SearchStrategy[bytes]:
    """Any message at all, or bytes that are none."""
    return st.builds(BackMsg).flatmap(_filled).map(lambda message: message.SerializeToString()) | st.binary(
        max_size=200
    )
