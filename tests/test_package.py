"""`pip install .`: the wheel holds all that the app reads, and an environment that has nothing else of ours runs it."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
import zipfile
from pathlib import Path

import pytest

from dashboard import launch
from dashboard.browser.assets import script_url
from tests.conftest import _wait_until_healthy, free_port

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("dashboard", "demo_models", "radam_core")
BESIDE = ("app.py", "pyproject.toml", "README.md", "requirements.txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def told(command: list[str | Path], folder: Path, **environment: str) -> str:
    """What a command says, in a folder that has nothing of ours."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False, env={**clean, **environment}
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy, with no download: setuptools, of the same Python, is all it needs."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in (*ROOMS, "pages", ".streamlit"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BESIDE:
        shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--no-index", "-q"]
    told([*build, "--disable-pip-version-check", "-w", folder], source)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The programs of a new environment: the wheel, and by a path the packages that it would download."""
    place = tmp_path_factory.mktemp("environment")
    told([sys.executable, "-m", "venv", "--without-pip", place], place)
    python = place / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "-q"]
    told([*install, "--disable-pip-version-check", wheel], place)
    site = next(place.glob("lib/python*/site-packages"))
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return place / "bin"


def test_the_wheel_has_every_file_of_every_room(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    files = {path for room in ROOMS for path in (ROOT / room).rglob("*") if path.is_file() and path.suffix != ".pyc"}
    expected = {path.relative_to(ROOT).as_posix() for path in files}
    expected |= {f"radam_lab/pages/{path.name}" for path in (ROOT / "pages").glob("*.py")}
    expected |= {"radam_lab/app.py", "radam_lab/.streamlit/config.toml"}
    assert expected <= names, sorted(expected - names)
    ours = {name for name in names if ".dist-info/" not in name}
    assert ours == expected, sorted(ours - expected)


def test_its_version_and_its_requirements_come_from_one_place(wheel):
    (metadata,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    assert f"\nVersion: {PROJECT['version']}\n" in text
    pinned = [line for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if "==" in line]
    for line in pinned:
        package, _, where = line.partition("; ")
        assert f'Requires-Dist: {package}; {where and f"{where} and "}extra == "app"' in text
    alone = re.findall(r"^Requires-Dist: (\w+)[^;\n]*$", text, re.MULTILINE)
    assert set(alone) == {"numpy", "scipy", "torch"}


def test_the_readmes_lines_give_a_result_that_the_installed_app_opens(installed, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = readme.split("## Your own model")[1].split("```python\n")[1].split("```")[0]
    (tmp_path / "ten_lines.py").write_text(lines, encoding="utf-8")
    said = told([installed / "python", "ten_lines.py"], tmp_path, OMP_NUM_THREADS="1")
    assert "final loss" in said
    runs = {"RADAM_LAB_RUNS": str(tmp_path / "runs"), "OMP_NUM_THREADS": "1"}
    address = told([installed / "radam-lab", "open", "run.jsonl", "--no-browser"], tmp_path, **runs)
    assert "/race?run=" in address
    assert told([installed / "radam-lab", "--version"], tmp_path) == f"RAdam Lab {PROJECT['version']}\n"


def test_the_installed_app_answers_with_its_pages_and_scripts(installed, tmp_path):
    port = free_port()
    address, environment = f"http://127.0.0.1:{port}", {"RADAM_LAB_WORKERS": "0", "RADAM_LAB_RUNS": "runs"}
    command = [installed / "radam-lab", "--server.port", str(port), "--server.address", "127.0.0.1"]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**clean, **environment}
    ) as process:
        try:
            _wait_until_healthy(process, address, ())
            with urllib.request.urlopen(f"{address}{script_url('live.js')}", timeout=20) as answer:
                assert answer.read() == (ROOT / "dashboard" / "browser" / "scripts" / "live.js").read_bytes()
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
    pages = "from dashboard.navigation import PAGES; print(*(page.file for page in PAGES), sep='\\n')"
    for line in told([installed / "python", "-c", pages], tmp_path).splitlines():
        assert installed.parent in Path(line).parents
        assert Path(line).is_file()


def test_without_the_extra_the_command_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["radam-lab"])
    monkeypatch.setitem(sys.modules, "streamlit.web", None)
    assert launch.main() == 2
    assert 'the app needs streamlit: pip install "radam-lab[app]"' in capsys.readouterr().err


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_help_is_of_the_lab_and_not_of_streamlit(asked, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["radam-lab", asked])
    with pytest.raises(SystemExit) as ended:
        launch.main()
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert "radam-lab open run.jsonl" in said
    assert "run a race and print how each lane ended" in said
