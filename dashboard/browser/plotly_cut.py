"""plotly.js with the kinds of charts that the lab draws, and no others.

The package's file has maps and three dimensions in it: 4.8 MB, which a browser reads on its main thread for more than a
second before the first chart is drawn. What is cut here is a quarter of it and is read in a tenth of the time
(`python -m bench plotly`); a chart saved as a page of its own is as much smaller.

The file is a bundle of modules, `var NAME=MAKER((exports,module)=>{...});`, each run when another calls `NAME()`. Its
last one registers the kinds of traces. It is given ours only, and the modules that nothing can call any more go. A file
of another form is served whole.
"""

import hashlib
import re
from collections import defaultdict
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

KINDS = ("bar", "contour", "heatmap")  # besides scatter, which is in its core
PLOTLY_VERSION = version("plotly")  # asked once: of many threads at a time one may be told there is none
HOW_IT_IS_CUT = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]  # for its address, which is kept for a year
PLOTLY_JS = Path(str(files("plotly"))) / "package_data" / "plotly.min.js"

_START, _END = '"use strict";var Plotly=(()=>{', "window.Plotly = Plotly;"
_NAME = r"[\w$]+"
_ENTRY = re.compile(
    rf";var {_NAME}=(?P<maker>{_NAME})\(\([\w$,]*\)=>\{{var (?P<core>{_NAME})={_NAME}\(\);"
    rf"(?P=core)\.register\(\[(?P<traces>[\w$(),]+)\]\)"
)
_CALL = re.compile(rf"(?<![\w$])({_NAME})\(\)")
_LAZY = re.compile(rf"(?<![\w$])({_NAME})={_NAME}\(\(\)=>\{{")  # a part of a module that was written in the newer form


@cache
def plotly_js() -> str:
    return cut(PLOTLY_JS.read_text(encoding="utf-8"))


def cut(library: str, kinds: tuple[str, ...] = KINDS) -> str:
    """The library with these kinds of traces, or the whole of it if it is not of the form that is known."""
    head, start, rest = library.partition(_START)
    body, end, _ = rest.rpartition(_END)
    entry = _ENTRY.search(body)
    if not (start and end and entry):
        return library
    begins = [found.start() + 1 for found in re.finditer(rf";var {_NAME}={re.escape(entry['maker'])}\(", body)]
    modules = [body[begin:after] for begin, after in zip(begins, [*begins[1:], len(body)], strict=True)]
    named = {module[len("var ") : module.index("=")]: module for module in modules}
    traces = {_kind(call.removesuffix("()"), named): call for call in entry["traces"].split(",")}
    if not traces.keys() >= set(kinds):
        return library
    modules[-1] = modules[-1].replace(entry["traces"], ",".join(traces[kind] for kind in kinds))
    called = _called_from_the_last(modules)
    licence = head[: head.find("*/") + 2]
    kept = "".join(module for place, module in enumerate(modules) if place in called)
    return f"{licence}\n{start}{body[: begins[0]]}{kept}window.Plotly=Plotly;"


def _kind(name: str, modules: dict[str, str]) -> str:
    """Of the traces that a module is for, as "bar". It only hands on another, which says so."""
    handed_on = re.search(rf"\.exports=({_NAME})\(\)", modules.get(name, ""))
    said = re.search(r'moduleType:"trace",name:"(\w+)"', modules.get(handed_on[1], "")) if handed_on else None
    return said[1] if said else name


def _called_from_the_last(modules: list[str]) -> set[int]:
    """Places of the modules that it may need, itself among them; too many where a local name is the same."""
    places = defaultdict(set)
    for place, module in enumerate(modules):
        places[module[len("var ") : module.index("=")]].add(place)
        for name in _LAZY.findall(module):
            places[name].add(place)
    last = len(modules) - 1
    called, waiting = {last}, [last]
    while waiting:
        more = set().union(*(places[name] for name in _CALL.findall(modules[waiting.pop()]) if name in places)) - called
        called |= more
        waiting += more
    return called
