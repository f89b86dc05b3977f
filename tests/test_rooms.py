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
}
NEVER = {
    "radam_core": {"streamlit", "plotly"},
    "demo_models": {"streamlit", "plotly"},
    "dashboard": {"torch"},
    "pages": {"torch"},
    "app": {"torch"},
}


def imports(path: Path) -> set[str]:
    """The top-level packages that a file imports, at its head or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_point_one_way(room):
    files = [ROOT / "app.py"] if room == "app" else sorted((ROOT / room).rglob("*.py"))
    assert files
    for path in files:
        found = imports(path)
        assert (found & OURS) <= MAY_IMPORT[room], path
        assert not found & NEVER[room], path
