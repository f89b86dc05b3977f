"""`python -m dashboard open FILE...`: runs of own models, as `watch` and `save_run` write them, onto the page."""

import argparse
import sqlite3
import sys
import webbrowser
from pathlib import Path
from typing import Any

from dashboard.command_settings import APP
from dashboard.runs.store import Store


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("open", help="show runs of own models, which `watch` or `save_run` wrote, in the app")
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="several lie over each other; sweeps are opened as maps"
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--app", default=APP, metavar="ADDRESS", help=f"where the app runs ({APP})")
    parser.set_defaults(run=_open)


def _open(options: argparse.Namespace) -> int:
    from dashboard.own_runs import open_file, put, put_maps

    opened, bad = [], 0
    for path in options.files:
        try:
            opened.append(open_file(path))
        except (ValueError, OSError) as error:
            bad += 1
            print(f"python -m dashboard open: {_sentence(error, path)}", file=sys.stderr)
    if not opened:
        return 2
    sweeps, others = ([one for one in opened if (one.run.kind == "sweep") is wanted] for wanted in (True, False))
    try:
        store = Store()
        pages = [f"sweep?run={run}" for run in put_maps(store, sweeps)]
        pages += [f"race?run={put(store, others)}"] if others else []
        store.close()
    except (ValueError, OSError, sqlite3.Error) as error:
        print(f"python -m dashboard open: {error}", file=sys.stderr)
        return 2
    for page in pages:
        address = f"{options.app.rstrip('/')}/{page}"
        print(address)
        if not options.no_browser:
            webbrowser.open(address)
    return 2 if bad else 0


def _sentence(error: ValueError | OSError, path: Path) -> str:
    if isinstance(error, OSError):
        return f"{path} cannot be read: {error.strerror or error}"
    return str(error).splitlines()[0]
