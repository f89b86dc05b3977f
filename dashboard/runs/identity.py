"""What a run and a lane are known by: a hash of all that decides their numbers, and of the code that computes them.

So the same question is answered once, whoever asks it and whichever lanes race beside it. The version of that code is a
hash over its source files, not a constant that somebody has to remember to raise; an id is of that and of the packages.
It promises the same records, and a stale promise would go unnoticed.
"""

import hashlib
import platform
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path

from dashboard.asked.kinds import KeptConfig


def package_version(package: str) -> str:
    """A package that is not there stops the task that needs it, and no other."""
    try:
        return version(package)
    except ModuleNotFoundError:
        return "missing"


# Asked once, here: of many threads that ask at a time one may be told that there is no such package.
_NAMES = ("torch", "numpy", "scipy", "scikit-learn", "num2words")
PACKAGES = (f"Python {platform.python_version()}", *(f"{name} {package_version(name)}" for name in _NAMES))


# Modules of `radam_core` and its room `own` that no record of the app's comes from: a change there leaves recordings as
# they are.
BESIDE = (
    "comparison",
    "evidence",
    "optimizers",
    "own",
    "race/gradient_variance",
    "simulation",
    "torch_switches",
    "updates",
)


@cache
def code_version() -> str:
    """A hash over all of our own code that decides a record: of a recording with other packages it is the same."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    rooms = [root / room for room in ("radam_core", "demo_models")]
    beside = [root / "radam_core" / name for name in BESIDE]
    modules = [path for room in rooms for path in room.rglob("*.py")]
    sources = [path for path in modules if not any(path.with_suffix("").is_relative_to(one) for one in beside)]
    # It turns a lane's settings into a method; and a record's form.
    sources += [root / "dashboard" / "asked" / "config.py", root / "dashboard" / "runs" / "records.py"]
    for path in sorted(sources):
        digest.update(str(path.relative_to(root)).encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def run_id(config: KeptConfig) -> str:
    return _hash(config.to_json())


def recorded_id(text: str) -> str:
    """Of a recorded run or lane, by its configuration alone: the code that made it may be another."""
    return hashlib.sha256(f"recorded\n{text}".encode()).hexdigest()[:20]


@lru_cache(512)
def lane_ids(config: KeptConfig) -> tuple[str, ...]:
    """By place. Two lanes of a race that differ in their label alone are one."""
    return tuple(_hash(config.lane_json(place)) for place in range(config.size))


@lru_cache(512)
def recorded_lane_ids(config: KeptConfig) -> tuple[str, ...]:
    """The same of its recording's lanes."""
    return tuple(recorded_id(config.lane_json(place)) for place in range(config.size))


def _hash(text: str) -> str:
    decisive = "\n".join([*PACKAGES, code_version(), text])
    return hashlib.sha256(decisive.encode()).hexdigest()[:20]
