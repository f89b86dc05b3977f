"""`python -m dashboard race` and `sweep --problem FILE:NAME`: an own model, trained here and shown as its files are.

A problem is a function in a file of the user's, run as it is: so it is named on the command line alone, never in a
link, and never where the app is hosted for others (`RADAM_LAB_MODE=hosted`).
"""

import argparse
import importlib.util
import inspect
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dashboard.asked.axis_text import axis_values
from dashboard.command_settings import APP, INTERRUPTED
from dashboard.runs.store import Store

HOSTED = "hosted"
STEPS, LR = 300, 1e-3  # of a problem that says nothing else
WARMUP_STEPS = 100
FILE = "run.jsonl"  # in the folder that --out names


def race(options: argparse.Namespace) -> int:
    """Of a problem: trained here, kept in the store, its address printed."""
    return _told("race", lambda: _race(options))


def sweep(options: argparse.Namespace) -> int:
    return _told("sweep", lambda: _sweep(options))


def _told(command: str, run: Callable[[], None]) -> int:
    try:
        run()
    except KeyboardInterrupt:
        print(f"python -m dashboard {command}: interrupted, and nothing was kept", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError, sqlite3.Error) as error:
        print(f"python -m dashboard {command}: {error}", file=sys.stderr)
        return 2
    return 0


def _race(options: argparse.Namespace) -> None:
    _refuse(options, ("--set", "--lane", "--batch-size", "--half-batch-steps", "--dense-steps", "--sharpness-every"))
    given = problem(options.problem)
    from radam_core import race_model

    asked = {"steps": STEPS, "lanes": usual_lanes(), **_fitting(race_model, given), **_changes(options, "seed")}
    recording = race_model(**asked)
    address = _keep(recording, "race", options)
    summary = {"lanes": recording.summary(), "way": recording.way, "why": recording.why, "seconds": recording.seconds}
    print(json.dumps({**summary, "address": address}) if options.json else f"{recording}\n{address or ''}".rstrip())


def _sweep(options: argparse.Namespace) -> None:
    _refuse(options, ("--set", "--batch-size"))
    given = problem(options.problem)
    from radam_core import sweep_model

    axes = {"lr": "lrs", "warmup_steps": "warmups"}
    asked = {"steps": STEPS, **_fitting(sweep_model, given), **_changes(options, "seeds")}
    for text in options.axis:
        name, separator, values = text.partition("=")
        if not separator or name not in axes:
            raise ValueError(f"--axis of a problem must be NAME=VALUES with one of {', '.join(axes)}, got {text!r}")
        numbers = axis_values(name, values)
        asked[axes[name]] = [int(one) for one in numbers] if name == "warmup_steps" else list(numbers)
    found = sweep_model(**asked)
    address = _keep(found.recordings, "sweep", options)
    if options.json:
        print(json.dumps({"cells": found.rows(), "words": found.words, "why": found.why, "address": address}))
    else:
        print("\n".join([str(found), found.words, found.why, address or ""]).rstrip())


def problem(place: str) -> dict[str, Any]:
    """The arguments of `race_model` by name, as the function `FILE:NAME` gives them."""
    if os.environ.get("RADAM_LAB_MODE") == HOSTED:
        raise ValueError(
            "--problem runs a file of this machine, which a hosted copy (RADAM_LAB_MODE=hosted) never does"
        )
    file, separator, name = place.rpartition(":")
    if not separator or not name.isidentifier() or not Path(file).is_file():
        raise ValueError(f"--problem must be FILE:NAME, a Python file and a function in it, got {place!r}")
    make = getattr(_module(Path(file)), name, None)
    found = make() if callable(make) else make
    if not isinstance(found, Mapping) or not {"model", "loss", "batches"} <= set(found):
        raise ValueError(
            f"{name} in {Path(file).name} must give a dict with model, loss and batches, and what else `race_model` "
            f"takes, got {_short(found)}"
        )
    return dict(found)


def _module(file: Path) -> Any:
    """As if it was run, but for `if __name__ == "__main__"`; it may import what lies beside it."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"--problem must name a Python file, got {file.name!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(file.stem, module)
    sys.path.insert(0, str(file.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ValueError(f"{file.name} cannot be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    return module


def usual_lanes() -> dict[str, dict[str, Any]]:
    """Of a problem that names none: does it need a warmup?"""
    return {
        "Adam": {"method": "adam", "lr": LR},
        f"Adam + warmup {WARMUP_STEPS}": {"method": "adam-linear", "lr": LR, "warmup_steps": WARMUP_STEPS},
        "RAdam": {"method": "radam", "lr": LR},
    }


def _fitting(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """What of a problem a function takes: a race has lanes, a sweep has rates."""
    from radam_core import race_model, sweep_model

    known = {name for one in (race_model, sweep_model) for name in inspect.signature(one).parameters}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"a problem may have {', '.join(sorted(known))}, got {', '.join(unknown)}, too")
    own = inspect.signature(function).parameters
    return {name: value for name, value in given.items() if name in own}


def _changes(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ("steps", *names) if getattr(options, name) is not None}


def _keep(recordings: Any, kind: str, options: argparse.Namespace) -> str | None:
    """Into the store, unless --fresh; and into the folder of --out. The address in the app."""
    from dashboard.own_runs import open_file, put
    from radam_core import save_run

    with TemporaryDirectory() as folder:
        name = options.problem.rpartition(":")[2]
        path = options.out / FILE if options.out else Path(folder) / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_run(recordings, path, kind)
        if options.fresh:
            return None
        store = Store()
        run = put(store, [open_file(path)])
        store.close()
    return f"{APP}/race?run={run}"


def _refuse(options: argparse.Namespace, names: Sequence[str]) -> None:
    """What asks something of a task of ours; and a file that is there, before anything is trained."""
    given = [name for name in (*names, "--link", "--device") if getattr(options, name[2:].replace("-", "_"), None)]
    if given:
        raise ValueError(f"{', '.join(given)} cannot be given with --problem: the function itself says all of that")
    if options.out and (options.out / FILE).exists():
        raise ValueError(f"--out must be a folder without a {FILE}, got {options.out}: take another, or remove it")


def _short(value: Any) -> str:
    text = repr(sorted(map(str, value))) if isinstance(value, Mapping) else repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."
