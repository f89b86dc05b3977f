"""An own model's file, `FILE:NAME`: opened, checked, and run pack by pack, in whichever process asks for one.

A problem is a function in a file of the user's, run as it is: so it is named on the command line alone, never in a
link, and never where the app is hosted for others (`RADAM_LAB_MODE=hosted`).
"""

import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

HOSTED = "hosted"
STEPS, LR = 300, 1e-3  # of a problem that says nothing else
WARMUP_STEPS = 100


def race_pack(place: str, changes: Mapping[str, Any], packs: int, number: int) -> Any:
    """Some lanes of a race, in any process."""
    from radam_core import race_model

    asked = race_arguments(place, changes)
    lanes = list(asked["lanes"].items())
    ends = [round(len(lanes) * k / packs) for k in (number, number + 1)]
    with _in_its_words(place):
        return replace(race_model(**{**asked, "lanes": dict(lanes[slice(*ends)])}), models={})


def sweep_pack(place: str, changes: Mapping[str, Any], number: int) -> Any:
    from radam_core.own.map_packs import train

    grid, given = sweep_grid(place, changes)
    with _in_its_words(place):
        found = train(grid, number, given["model"], given["loss"], given["batches"], given.get("way"))
    return replace(found, models={})


def race_arguments(place: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    from radam_core import race_model

    asked = {"steps": STEPS, "lanes": usual_lanes(), **_fitting(race_model, problem(place)), **changes}
    if not isinstance(asked["lanes"], Mapping) or not asked["lanes"]:
        raise ValueError(f"lanes must map at least one label to a lane, got {_short(asked['lanes'])}")
    return asked


def sweep_grid(place: str, changes: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Which packs there are, checked, and all that the problem and the command say."""
    from radam_core import sweep_model
    from radam_core.own.map_packs import Grid, refuse

    usual = {name: one.default for name, one in inspect.signature(sweep_model).parameters.items()}
    given = {**usual, "steps": STEPS, **_fitting(sweep_model, problem(place)), **changes}
    own: dict[str, Any] = {name: given[name] for name in ("steps", "seeds", "method", "radam", "at_once")}
    grid = Grid(lrs=tuple(given["lrs"]), warmups=tuple(given["warmups"]), settings=dict(given["settings"] or {}), **own)
    refuse(grid, given["model"], given["batches"])
    return grid, given


@contextmanager
def _in_its_words(place: str) -> Iterator[None]:
    """What a problem's own code raises, as a sentence with its line."""
    file = place.rpartition(":")[0]
    try:
        yield
    except ValueError as error:  # in our words, most often; what it was raised for may be the file's
        where = _line_of(error, file) or _line_of(error.__cause__ or error.__context__ or error, file)
        raise ValueError(f"{where}{error}") from error
    except Exception as error:
        raise ValueError(f"{_line_of(error, file)}{type(error).__name__}: {error}") from error


def _line_of(error: BaseException, file: str) -> str:
    """Where in a file it happened, as far as it did there."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{Path(file).name}, line {error.lineno}: "
    frames = [one for one in traceback.extract_tb(error.__traceback__) if Path(one.filename) == Path(file)]
    return f"{Path(file).name}, line {frames[-1].lineno}, in {frames[-1].name}: " if frames else ""


@cache
def problem(place: str) -> dict[str, Any]:
    """The arguments of `race_model` by name, as the function `FILE:NAME` gives them; once in a process."""
    if os.environ.get("RADAM_LAB_MODE") == HOSTED:
        raise ValueError(
            "--problem runs a file of this machine, which a hosted copy (RADAM_LAB_MODE=hosted) never does"
        )
    file, separator, name = place.rpartition(":")
    if not separator or not name.isidentifier() or not Path(file).is_file():
        raise ValueError(f"--problem must be FILE:NAME, a Python file and a function in it, got {place!r}")
    from radam_core.own.seeding import seed_all

    seed_all(0)  # every process that opens it draws the same numbers in it
    make = getattr(_module(Path(file)), name, None)
    with _in_its_words(place):
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
        where = _line_of(error, str(file)).removeprefix(f"{file.name}, ").removesuffix(": ")
        raise ValueError(
            f"{file.name} cannot be run{f' ({where})' if where else ''}: {type(error).__name__}: {error}"
        ) from error
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


def _short(value: Any) -> str:
    text = repr(sorted(map(str, value))) if isinstance(value, Mapping) else repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."
