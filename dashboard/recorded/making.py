"""`python -m dashboard record`: trains what the catalogue names, and keeps it as files.

What is done stays done: the lanes are in a store of their own, and an interrupted recording goes on where it was.
"""

import argparse
import os
import platform
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dashboard.asked.kinds import RunConfig
from dashboard.engine.engine import Engine
from dashboard.recorded.catalogue import catalogue
from dashboard.recorded.form import FOLDER, Made, RecordedLane, Recording, path_of, read, write
from dashboard.recorded.loading import UNREADABLE, recording
from dashboard.runs.identity import PACKAGES, code_version
from dashboard.runs.outlines import outline_of
from dashboard.runs.states import FINISHED
from dashboard.runs.store import Store

STORE = Path("runs") / "recordings"
LOOK_SECONDS, READY_SECONDS = 0.5, 300.0


def add_parser(commands: Any) -> None:
    record = commands.add_parser("record", help="train what the recordings hold, and keep it; what is done stays done")
    record.add_argument("names", nargs="*", metavar="NAME", help="of recordings; all of them without one")
    record.add_argument("--list", action="store_true", help="print the names, and what there is of them")
    record.add_argument("--out", type=Path, default=FOLDER, metavar="DIR", help="where the files go")
    record.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    wanted = options.names or list(catalogue())
    unknown = [name for name in wanted if name not in catalogue()]
    if unknown:
        print(f"python -m dashboard record: NAME must be one of {', '.join(catalogue())}", file=sys.stderr)
        return 2
    if options.list:
        for name in wanted:
            print(f"{name:28} {_stands(path_of(name, options.out))}")
        return 0
    record(wanted, options.out)
    return 0


def _stands(path: Path) -> str:
    if not path.exists():
        return "not made yet"
    try:
        made = read(path).made
    except UNREADABLE:
        return "cannot be read by this version"
    return f"{made.date}, code {made.code}{'' if made.code == code_version() else ' (older)'}, {made.seconds:.0f} s"


def expected(names: list[str]) -> str:
    """How long they took when they were last made, in words."""
    found = [known.made for name in names if (known := recording(name))]
    if not found:
        return f"{len(names)} recordings"
    minutes = sum(made.seconds for made in found) / 60
    places = " and ".join(sorted({made.machine for made in found}))
    return (
        f"{len(names)} recordings; {len(found)} of them took {minutes:.0f} minutes when they were last made ({places})"
    )


def record(names: list[str], folder: Path = FOLDER, store_folder: Path = STORE) -> None:
    print(f"{expected(names)}. What is done stays done.", flush=True)
    store = Store(store_folder)
    engine = Engine(store)
    engine.start()
    try:
        if not engine.wait_until_ready(READY_SECONDS):
            raise RuntimeError(engine.trouble or "The workers did not start.")
        for number, name in enumerate(names, 1):
            seconds = _train(engine, catalogue()[name], f"{number} of {len(names)}: {name}")
            path = path_of(name, folder)
            made = recorded(store, catalogue()[name], max(seconds, _seconds_before(path)))
            write(path, made)
            size = path.stat().st_size
            print(f"{number} of {len(names)}: {name}: {seconds:.0f} s, {size / 1e3:.0f} kB", flush=True)
    finally:
        engine.close()
        store.close()


def _seconds_before(path: Path) -> float:
    """That its training took, where this code wrote it on this kind of machine before: its lanes are known now."""
    try:
        before = read(path).made
    except UNREADABLE:
        return 0.0
    return before.seconds if (before.code, before.packages, before.machine) == here() else 0.0


def _train(engine: Engine, config: RunConfig, what: str) -> float:
    started = time.perf_counter()
    identity, told = engine.submit(config), 0.0
    while (status := engine.status(identity)) is None or not status.over:
        if time.perf_counter() - told > 20 and status and status.seconds_left:
            told = time.perf_counter()
            print(f"{what}: step {status.step} of {status.steps}, {status.seconds_left:.0f} s left", flush=True)
        time.sleep(LOOK_SECONDS)
    if status.state != FINISHED:
        raise RuntimeError(f"{what} could not be trained: {status.message or status.state}")
    return time.perf_counter() - started


def recorded(store: Store, config: RunConfig, seconds: float) -> Recording:
    """What the store has of a configuration whose lanes are all known."""
    run = store.add(config)
    lanes = []
    for place, identity in enumerate(run.lanes):
        records = store.records(identity)
        outline = outline_of(config, place, records)
        lanes.append(RecordedLane(outline, tuple(records) if config.kind == "race" else ()))
    made = Made(*here(), f"{datetime.now(UTC):%Y-%m-%d}", round(seconds, 1))
    return Recording(config, made, tuple(lanes))


def here() -> tuple[str, str, str]:
    """All that decides a number: it is the same bit for bit where these are."""
    return code_version(), ", ".join(PACKAGES), machine()


def machine() -> str:
    """The kind, not the one: what decides how numbers are rounded."""
    return f"{platform.system()} {platform.machine()}, {processor(_cpuinfo())}, {os.cpu_count()} cores"


def processor(cpuinfo: str) -> str:
    """Its maker, family and model, and which vector instructions the kernels take.

    The instructions alone are not enough: two generations of one maker that both have AVX-512 rounded otherwise.
    """
    lines = (line.partition(":") for line in cpuinfo.splitlines())
    told = {name.strip(): value.strip() for name, _, value in lines}
    kind = " ".join(told[name] for name in ("vendor_id", "cpu family", "model", "CPU part") if name in told)
    instructions = (name for name in ("avx512f", "avx2", "asimd") if name in cpuinfo)
    return f"{kind or 'unknown processor'}, {next(instructions, 'no vector instructions')}"


def _cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
