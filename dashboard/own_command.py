"""`python -m dashboard race` and `sweep --problem FILE:NAME`: an own model, trained on all cores and kept as a run."""

import argparse
import json
import math
import sqlite3
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dashboard.asked.axis_text import axis_values
from dashboard.command_settings import APP, INTERRUPTED
from dashboard.own_problem import problem, race_arguments, race_pack, sweep_grid, sweep_pack
from dashboard.own_workers import stoppable, trained, workers_for
from dashboard.runs.store import Store
from radam_core.race.plan import LEAST_STACKED

SAME = 1e-4  # of a first loss: ways of computing it differ by rounding
FILE = "run.jsonl"  # in the folder that --out names


def race(options: argparse.Namespace) -> int:
    """Of a problem: trained on this machine's cores, kept in the store, its address printed."""
    return _told("race", lambda: _race(options))


def sweep(options: argparse.Namespace) -> int:
    return _told("sweep", lambda: _sweep(options))


def _told(command: str, run: Callable[[], int]) -> int:
    try:
        return run()
    except KeyboardInterrupt:
        print(f"python -m dashboard {command}: interrupted, and nothing was kept", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError, RuntimeError, sqlite3.Error) as error:
        print(f"python -m dashboard {command}: {error}", file=sys.stderr)
        return 2


def _race(options: argparse.Namespace) -> int:
    _refuse(options, ("--set", "--lane", "--batch-size", "--half-batch-steps", "--dense-steps", "--sharpness-every"))
    place, changes = _absolute(options.problem), _changes(options, "seed")
    lanes = race_arguments(place, changes)["lanes"]
    packs = max(1, workers_for(len(lanes) // LEAST_STACKED))
    found, stopped = _trained(partial(race_pack, place, changes, packs), packs)
    recordings = [found[number] for number in sorted(found)]
    address = _keep(recordings, "race", options)
    rows = [row for one in recordings for row in one.summary()]
    first = recordings[0]
    if options.json:
        told = {"lanes": rows, "way": first.way, "why": first.why, "seconds": max(one.seconds for one in recordings)}
        print(json.dumps({**told, "address": address}))
    else:
        from radam_core.own.recording import summary_table

        notes = dict.fromkeys(note for one in recordings for note in one.notes)
        print("\n".join([summary_table(rows), first.why, *notes, address or ""]).rstrip())
    return INTERRUPTED if stopped else 0


def _sweep(options: argparse.Namespace) -> int:
    _refuse(options, ("--set", "--batch-size"))
    axes = {"lr": "lrs", "warmup_steps": "warmups"}
    place, changes = _absolute(options.problem), _changes(options, "seeds")
    for text in options.axis:
        name, separator, values = text.partition("=")
        if not separator or name not in axes:
            raise ValueError(f"--axis of a problem must be NAME=VALUES with one of {', '.join(axes)}, got {text!r}")
        numbers = axis_values(name, values)
        changes[axes[name]] = [int(one) for one in numbers] if name == "warmup_steps" else list(numbers)
    grid, given = sweep_grid(place, changes)
    if "at_once" not in problem(place):
        changes["at_once"] = _evenly(len(grid.lanes), grid.seeds, grid.at_once)
        grid, given = sweep_grid(place, changes)
    from radam_core.own.warmup_map import gathered

    trained, stopped = _trained(partial(sweep_pack, place, changes), len(grid.packs))
    found = gathered(grid, trained, given.get("baseline"))
    address = _keep(found, "sweep", options)
    left = f"Stopped after {len(trained)} of {len(grid.packs)} packs: the map has gaps." if stopped else ""
    words = left or found.words
    if options.json:
        print(json.dumps({"cells": found.rows(), "words": words, "why": found.why, "address": address}))
    else:
        print("\n".join([str(found), words, found.why, address or ""]).rstrip())
    return INTERRUPTED if stopped else 0


def _evenly(lanes: int, seeds: int, at_once: int) -> int:
    """As many lanes to a pack that all workers have as many packs, and at least two lanes, if that can be."""
    workers, least = max(1, workers_for(lanes // LEAST_STACKED)), math.ceil(lanes / at_once)
    fitting = [count for count in range(least, least + workers) if seeds * count % workers == 0]
    return max(LEAST_STACKED, math.ceil(lanes / fitting[0]))


def _trained(work: Callable[[int], Any], packs: int) -> tuple[dict[int, Any], bool]:
    """By pack, and whether somebody stopped it; `KeyboardInterrupt` if nothing was done by then."""
    where = f"{workers_for(packs)} workers" if workers_for(packs) > 1 else "this process"

    def told(done: int) -> None:
        print(f"{done} of {packs} packs of lanes are trained, in {where}", file=sys.stderr, flush=True)

    with stoppable() as stopped:
        found = trained(work, packs, told, stopped)
    if not found:
        raise KeyboardInterrupt
    _check_same_data(list(found.values()))
    return found, len(found) < packs


def _check_same_data(recordings: Sequence[Any]) -> None:
    """Lanes of one seed begin with the same weights and the same batch, whichever worker trained them."""
    first: dict[int, float] = {}
    for one in recordings:
        loss = float(one.column("loss")[0, 0])
        if abs(first.setdefault(one.seed, loss) - loss) > SAME * abs(loss):
            raise ValueError(
                f"the lanes of seed {one.seed} began with losses of {first[one.seed]:.6g} and {loss:.6g} in two "
                "workers, so that they have other data or weights: every worker opens the file anew, with torch's, "
                "numpy's and Python's random numbers seeded with 0; seed all others, too, or set RADAM_LAB_WORKERS=1"
            )


def _absolute(place: str) -> str:
    """A worker may stand elsewhere."""
    file, separator, name = place.rpartition(":")
    return f"{Path(file).resolve()}{separator}{name}" if separator else place


def _changes(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ("steps", *names) if getattr(options, name) is not None}


def _keep(recordings: Any, kind: str, options: argparse.Namespace) -> str | None:
    """Into the store, unless --fresh; and into the folder of --out. The address in the app."""
    from dashboard.own_runs import open_file, put, put_maps
    from radam_core import save_run

    with TemporaryDirectory() as folder:
        name = options.problem.rpartition(":")[2]
        path = options.out / FILE if options.out else Path(folder) / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_run(recordings, path, kind)
        if options.fresh:
            return None
        store = Store()
        opened = [open_file(path)]
        page = f"sweep?run={put_maps(store, opened)[0]}" if kind == "sweep" else f"race?run={put(store, opened)}"
        store.close()
    return f"{APP}/{page}"


def _refuse(options: argparse.Namespace, names: Sequence[str]) -> None:
    """What asks something of a task of ours; and a file that is there, before anything is trained."""
    given = [name for name in (*names, "--link", "--device") if getattr(options, name[2:].replace("-", "_"), None)]
    if given:
        raise ValueError(f"{', '.join(given)} cannot be given with --problem: the function itself says all of that")
    if options.out and (options.out / FILE).exists():
        raise ValueError(f"--out must be a folder without a {FILE}, got {options.out}: take another, or remove it")
