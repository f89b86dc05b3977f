"""What a hosted copy allows, from one file: `RADAM_LAB_MODE=hosted` and `RADAM_LAB_SETTINGS=hosted.yaml`.

The file is YAML, or lines of NAME=VALUE where its name ends in .env; what it leaves out is as below. It is checked when
the server starts, which it does not do with a value that is not allowed. Without the mode nothing of this holds.
"""

import os
import re
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, field_validator, model_validator

from dashboard.asked.config import MOST_LANES
from dashboard.asked.sweep_config import MOST_CELLS
from dashboard.asked.validated import Validated
from demo_models import TASKS
from demo_models.task import Setting

MODE, FILE = "RADAM_LAB_MODE", "RADAM_LAB_SETTINGS"
LOCAL, HOSTED = "local", "hosted"
_ORIGIN = re.compile(r"https?://(\*\.)?[A-Za-z0-9.-]{1,200}(:([0-9]{1,5}|\*))?")

# How large models may be: TASK.SETTING, and the most it may be.
SIZES: dict[str, float] = {
    "numbers.depth": 6,
    "numbers.width": 64,
    "digits.depth": 14,
    "digits.width": 16,
    "text.vocabulary": 5_000,
    "text.width": 128,
    "text.length": 50,
    "text.context": 50,
    "images.depth": 20,
    "images.width": 16,
}

Count = Annotated[int, Field(ge=1, le=10_000)]


class Hosting(Validated):
    lanes: Annotated[int, Field(ge=1, le=MOST_LANES)] = 12  # of a race
    cells: Annotated[int, Field(ge=1, le=MOST_CELLS)] = 120  # of a sweep
    steps: Annotated[int, Field(ge=1, le=100_000)] = 2_000
    batch_size: Annotated[int, Field(ge=1, le=1024)] = 128
    sizes: dict[str, float] = Field(default_factory=lambda: dict(SIZES))
    runs_per_visitor: Count = 2  # under way at a time
    runs_per_address: Count = 20  # a class behind one router has one address
    runs: Count = 40
    starts_per_visitor: Count = 6  # a minute
    starts_per_address: Count = 60
    figures_per_address: Count = 60  # files that the server makes of figures, a minute
    run_minutes: Annotated[float, Field(gt=0, le=10_080)] = 15.0
    store_megabytes: Annotated[int, Field(ge=1, le=1_000_000)] = 1024
    request_kilobytes: Annotated[int, Field(ge=1, le=1_000_000)] = 64
    figure_megabytes: Annotated[int, Field(ge=1, le=60)] = 30
    message_kilobytes: Annotated[int, Field(ge=64, le=32_000)] = 1024  # of what a page's controls send
    embedders: tuple[str, ...] = ()  # sites that may show a page in a frame
    trusted_proxies: tuple[str, ...] = ()  # addresses or networks whose X-Forwarded-For is believed

    @model_validator(mode="before")
    @classmethod
    def _are_known(cls, given: Any) -> Any:
        unknown = [name for name in given if name not in cls.model_fields]
        if unknown:
            raise ValueError(
                f"the settings of a hosted copy are {', '.join(cls.model_fields)}, got {unknown[0][:40]!r}"
            )
        return given

    @field_validator("embedders")
    @classmethod
    def _are_origins(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for text in given:
            if not _ORIGIN.fullmatch(text):
                raise ValueError(
                    f"embedders must be sites such as https://course.example or https://*.example, got {text[:60]!r}"
                )
        return given

    @field_validator("sizes")
    @classmethod
    def _are_settings_of_tasks(cls, sizes: dict[str, float]) -> dict[str, float]:
        known = bounded_settings()
        for name, most in sizes.items():
            if name not in known:
                raise ValueError(f"sizes may have {', '.join(known)}, got {name[:60]!r}")
            low, high = _ends(known[name])
            if not low <= most <= high:
                raise ValueError(f"sizes.{name} must be from {low:g} to {high:g}, got {most:g}")
        return sizes

    @field_validator("trusted_proxies")
    @classmethod
    def _are_addresses(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for text in given:
            try:
                ip_network(text)
            except ValueError:
                raise ValueError(
                    f"trusted_proxies must be addresses or networks such as 127.0.0.1 or 10.0.0.0/8, got {text[:60]!r}"
                ) from None
        return given


@cache
def bounded_settings() -> dict[str, Setting]:
    """The settings of tasks that are numbers with a largest one, as TASK.SETTING."""
    found = {f"{task.name}.{one.name}": one for task in TASKS.values() for one in task.settings}
    return {name: one for name, one in found.items() if _is_number(one)}


def _is_number(setting: Setting) -> bool:
    return isinstance(setting.default, int | float) and not isinstance(setting.default, bool)


def _ends(setting: Setting) -> tuple[float, float]:
    numbers = [float(choice) for choice in setting.choices] or [setting.low, setting.high]
    return min(numbers), max(numbers)


@cache
def hosting() -> Hosting | None:
    """What this copy allows; None where it is nobody's but its user's. `ValueError` says what is wrong with it."""
    mode = os.environ.get(MODE, "") or LOCAL
    if mode not in (LOCAL, HOSTED):
        raise ValueError(f"{MODE} must be {LOCAL} or {HOSTED}, got {mode[:40]!r}")
    if mode == LOCAL:
        return None
    name = os.environ.get(FILE, "")
    return Hosting.make(read(Path(name)) if name else {})


def hosted() -> bool:
    return hosting() is not None


def read(path: Path) -> dict[str, Any]:
    """What a file sets; a `ValueError` names it."""
    try:
        text = path.read_text(encoding="utf-8")
        found = _lines(text) if path.suffix == ".env" else yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        told = " ".join(str(error).split())
        raise ValueError(f"{FILE} must name a file of settings that can be read, got {path.name!r}: {told}") from None
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise ValueError(f"{path.name} must be names with values, such as `lanes: 8`, got {str(found)[:60]!r}")
    return found


def _lines(text: str) -> dict[str, Any]:
    """NAME=VALUE, in capitals or not; a value is written as in YAML: 8, [127.0.0.1], {numbers.depth: 4}."""
    found = {}
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            name, _, value = line.partition("=")
            found[name.strip().lower()] = yaml.safe_load(value)
    return found
