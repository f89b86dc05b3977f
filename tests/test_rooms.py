"""The plan of the house: imports point one way, and the server's rooms never import torch."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = {"app", "bench", "dashboard", "demo_models", "pages", "radam_core", "tests"}
MAY_IMPORT = {
    "radam_core": {"radam_core"},
    "demo_models": {"demo_models"},
    "dashboard": {"dashboard", "radam_core", "demo_models"},
    "pages": {"dashboard", "radam_core", "demo_models"},
    "app": {"dashboard"},
    "bench": {"app", "bench", "dashboard", "demo_models", "radam_core"},
}
NEVER = {
    "radam_core": {"streamlit", "plotly"},
    "demo_models": {"streamlit", "plotly"},
    "dashboard": {"torch"},
    "pages": {"torch"},
    "app": {"torch"},
}


# The rooms inside dashboard/, from the ground up; the files beside them are of no room, and any room may use `SHARED`.
ROOMS = {
    "asked": set(),
    "evidence": {"asked"},
    "runs": {"asked", "evidence"},
    "engine": {"runs", "asked"},
    "figures": {"asked", "evidence"},
    "words": {"figures", "asked", "evidence"},
    "browser": {"figures", "words", "runs", "asked", "evidence"},
    "recorded": {"asked", "runs", "engine"},
    "paper": {"asked", "evidence", "runs", "recorded", "figures", "browser"},
    "tour": {"asked", "evidence", "runs", "recorded", "paper", "figures", "browser", "words"},
    "export": set(),
    "hosting": {"asked", "runs"},
    "server": {"engine", "runs", "browser", "evidence", "export"},
    "forms": {
        *("asked", "evidence", "runs", "engine", "recorded", "paper", "tour", "figures", "browser", "words"),
        *("hosting", "server"),
    },
}
SHARED = {"remembered", "json_numbers"}


def modules(path: Path) -> set[str]:
    """What a file imports, at its head or inside functions, by full names."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def imports(path: Path) -> set[str]:
    """The top-level packages that a file imports."""
    return {name.split(".")[0] for name in modules(path)}


def rooms_of(path: Path) -> set[str]:
    """The parts of dashboard/ that a file imports: its rooms, and the files beside them."""
    parts = [name.split(".") for name in modules(path)]
    return {part[1] for part in parts if part[0] == "dashboard" and len(part) > 1}


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_point_one_way(room):
    files = [ROOT / "app.py"] if room == "app" else sorted((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        found = imports(path)
        assert (found & OURS) <= MAY_IMPORT[room], path
        assert not found & NEVER.get(room, set()), path


def test_every_folder_of_the_dashboard_is_a_room():
    folders = {path.name for path in (ROOT / "dashboard").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_of_the_dashboard_import_one_way(room):
    for path in sorted((ROOT / "dashboard" / room).glob("*.py")):
        assert rooms_of(path) <= {room, *ROOMS[room], *SHARED}, path


def test_the_theory_needs_no_simulation():
    assert not any("simulation" in name for name in modules(ROOT / "radam_core" / "theory.py"))


def test_only_the_race_in_the_core_imports_the_race():
    for path in (ROOT / "radam_core").glob("*.py"):
        assert not any(name.startswith("radam_core.race") for name in modules(path)), path
