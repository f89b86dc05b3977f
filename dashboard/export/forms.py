"""Which sizes and forms an exported figure can have: one table for the browser and the command line."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parents[1] / "browser" / "scripts" / "figure_forms.json"
_FORMS: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
MOVING = ("gif", "apng", "mp4")
FORMATS: tuple[str, ...] = tuple(_FORMS["formats"])
LEAST_SCALE, MOST_SCALE = float(_FORMS["scales"]["least"]), float(_FORMS["scales"]["most"])
LEAST_FRAMES, MOST_FRAMES = int(_FORMS["frames"]["least"]), int(_FORMS["frames"]["most"])
LEAST_SECONDS, MOST_SECONDS = float(_FORMS["seconds"]["least"]), float(_FORMS["seconds"]["most"])
PIXELS: tuple[int, ...] = tuple(_FORMS["pixels"])


@dataclass(frozen=True)
class Size:
    """In points."""

    width: float
    height: float
    letters: float
    told: str


SIZES = {name: Size(**size) for name, size in _FORMS["sizes"].items()}


def media_type(form: str) -> str:
    return str(_FORMS["formats"][form]["type"])
