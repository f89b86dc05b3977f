"""What the README says of adding a quantity, a method, a task and a page: a row in one table, and the app has it. The
last three are its own examples, as they stand there.

Each is added to a copy of the project, where a Python of its own opens the real pages.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("app.py", "dashboard", "demo_models", "pages", "radam_core", ".streamlit")

QUANTITY = """        Quantity("log_loss", "log of the loss", lambda step: step.loss.log()),
"""
PANEL = """    Panel("log_loss", "Its logarithm", "A note.", "The logarithm of the loss", columns=("log_loss",)),
"""
EXTEND = (ROOT / "README.md").read_text(encoding="utf-8").split("## Extend it")[1]
TASK_FILE, TASK, METHOD, PAGE_FILE, PAGE = (block.split("```")[0] for block in EXTEND.split("```python\n")[1:])

# What a page's live charts are told, as JSON in the message to the browser.
OPENED = """
import json
from streamlit.testing.v1 import AppTest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

def told(query, page="race.py"):
    app = AppTest.from_file(f"pages/{page}", default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app

def drawn(config):
    from dashboard.browser.live import _drawn
    return json.loads(_drawn(config.to_json(), None))
"""


@pytest.fixture
def copy(tmp_path):
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / part)
    return tmp_path


def insert(path: Path, row: str, before: str = "") -> None:
    """Puts a row before a line, or at the end of the file."""
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, row + before, 1) if before else f"{text}\n{row}", encoding="utf-8")


def in_the_copy(folder: Path, code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPENED + code], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_quantity_is_recorded_sent_downloaded_and_drawn(copy):
    insert(copy / "radam_core/race/quantities.py", QUANTITY, before='        Quantity("grad_norm"')
    insert(copy / "dashboard/browser/race_panels.py", PANEL, before='    Panel(\n        "norms"')
    in_the_copy(
        copy,
        """
import numpy as np
from dashboard.asked.presets import PRESETS
from dashboard.headless import records, run
from dashboard.runs import downloads

config = PRESETS["valley"].config.changed(steps=40)
recording = run(config)
np.testing.assert_allclose(recording.column("log_loss"), np.log(recording.column("loss")), rtol=1e-5)
told_of = [[] for _ in config.lanes]
for found in records(config):
    for place, record in found.items():
        told_of[place].append(record.body)
assert "log_loss" in downloads.records(config, told_of)
page = drawn(config)
assert page["columns"][:2] == ["loss", "log_loss"]
assert "log_loss" in [panel["name"] for panel in page["panels"]]
assert {trace["meta"]["column"] for trace in page["figures"]["log_loss"]["data"]} == {"log_loss"}
told({})
""",
    )


def test_a_method_can_be_raced_and_is_drawn_and_explained(copy):
    insert(copy / "radam_core/methods.py", METHOD)
    in_the_copy(
        copy,
        """
from dashboard.asked.presets import PRESETS, lane
from dashboard.headless import run
from dashboard.words.race_words import glossary

config = PRESETS["valley"].config.changed(steps=40, lanes=[lane("slow-adam", 1e-2)])
assert run(config).summary()["lanes"][0]["status"] == "finished"
assert drawn(config)["specs"][0]["lanes"][0]["label"] == "Slow Adam"
assert "Slow Adam" in glossary(config)
told({"config": config.to_link()})
""",
    )


def test_a_task_can_be_chosen_and_raced(copy):
    (copy / "demo_models/line.py").write_text(TASK_FILE, encoding="utf-8")
    insert(copy / "demo_models/__init__.py", TASK)
    in_the_copy(
        copy,
        """
from dashboard.asked.presets import task_race
from dashboard.forms.race_form import choices
from dashboard.headless import run

assert run(task_race("line"), steps=40).done == 40
assert any(config.task == "line" for config in choices().values())
app = told({"task": "line"})
assert any("A line." in text.value for text in [*app.markdown, *app.caption])
""",
    )


def test_a_page_is_in_the_menu_and_on_the_first_page(copy):
    insert(copy / "dashboard/navigation.py", PAGE)
    (copy / "pages/extra.py").write_text(PAGE_FILE, encoding="utf-8")
    in_the_copy(
        copy,
        """
app = AppTest.from_file("dashboard/main.py", default_timeout=60).run()
assert not app.exception, app.exception
links = [element.proto for element in app.get("page_link")]
assert any("extra" in str(link) for link in links), links
assert [title.value for title in told({}, "extra.py").title] == ["What else?"]
""",
    )
