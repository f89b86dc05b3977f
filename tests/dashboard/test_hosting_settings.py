"""The file of a hosted copy: what it sets, and the sentence for what it may not set."""

import os
import subprocess
import sys

import pytest

from dashboard.asked.config import MOST_LANES
from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.hosting import bounds
from dashboard.hosting.settings import FILE, MODE, SIZES, Hosting, hosted, hosting
from dashboard.hosting.starts import starts
from tests.conftest import ROOT
from tests.dashboard.engines import config


@pytest.fixture(autouse=True)
def forgotten():
    yield
    hosting.cache_clear()
    starts.cache_clear()


def host(monkeypatch, path, text: str) -> Hosting:
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv(MODE, "hosted")
    monkeypatch.setenv(FILE, str(path))
    hosting.cache_clear()
    found = hosting()
    assert found is not None
    return found


def test_without_the_mode_nothing_is_limited(monkeypatch, tmp_path):
    monkeypatch.delenv(MODE, raising=False)
    monkeypatch.setenv(FILE, str(tmp_path / "not-there.yaml"))
    hosting.cache_clear()
    assert not hosted()
    assert starts() is None
    assert bounds.allowed("race", "numbers") == bounds.kept() == ""
    assert bounds.helped("Steps of it.", "steps") == "Steps of it."


def test_a_file_sets_what_it_names_and_the_rest_stays(monkeypatch, tmp_path):
    text = "lanes: 4\nsizes: {numbers.depth: 2}\nembedders: [https://course.example]\n"
    found = host(monkeypatch, tmp_path / "hosted.yaml", text)
    assert (found.lanes, found.sizes, found.embedders) == (4, {"numbers.depth": 2}, ("https://course.example",))
    assert found.steps == Hosting().steps
    assert Hosting().sizes == SIZES
    lines = "# comment\nLANES=4\nsizes={numbers.depth: 2}\nEMBEDDERS=[https://course.example]\n"
    assert host(monkeypatch, tmp_path / "hosted.env", lines) == found
    assert host(monkeypatch, tmp_path / "empty.yaml", "") == Hosting()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lanes: 0", f"lanes must be at least 1 and at most {MOST_LANES}, got 0"),
        ("lanes: many", "lanes must be a valid integer, unable to parse string as an integer, got 'many'"),
        ("run_minutes: .nan", "run_minutes must be a finite number, got nan"),
        ("lane: 4", "the settings of a hosted copy are lanes, cells, .*, got 'lane'"),
        ("sizes: {numbers.heigth: 4}", "sizes may have .*numbers.depth.*, got 'numbers.heigth'"),
        ("sizes: {numbers.depth: 99}", "sizes.numbers.depth must be from 1 to 12, got 99"),
        ("sizes: {digits.depth: 99}", "sizes.digits.depth must be from 8 to 20, got 99"),
        ("trusted_proxies: [proxy]", "trusted_proxies must be addresses or networks such as .*, got 'proxy'"),
        (
            "embedders: ['https://a.example; script-src *']",
            "embedders must be sites such as .*, got 'https://a.example; script-src",
        ),
        ("- lanes", "hosted.yaml must be names with values, such as `lanes: 8`, got"),
        ("lanes: [", "RADAM_LAB_SETTINGS must name a file of settings that can be read, got 'hosted.yaml'"),
    ],
)
def test_what_is_not_allowed_gets_a_sentence(monkeypatch, tmp_path, text, sentence):
    with pytest.raises(ValueError, match=sentence):
        host(monkeypatch, tmp_path / "hosted.yaml", text)


def test_a_file_that_is_not_there_and_a_mode_that_is_none_get_one_too(monkeypatch, tmp_path):
    monkeypatch.setenv(MODE, "hosted")
    monkeypatch.setenv(FILE, str(tmp_path / "none.yaml"))
    hosting.cache_clear()
    with pytest.raises(ValueError, match=r"RADAM_LAB_SETTINGS must name a file .* got 'none\.yaml'"):
        hosting()
    monkeypatch.setenv(MODE, "public")
    with pytest.raises(ValueError, match="RADAM_LAB_MODE must be local or hosted, got 'public'"):
        hosting()


def test_the_server_does_not_start_with_a_wrong_file(tmp_path):
    path = tmp_path / "hosted.yaml"
    path.write_text("steps: 0", encoding="utf-8")
    made = subprocess.run(
        [sys.executable, "-c", "import app"],
        cwd=ROOT,
        env={**os.environ, MODE: "hosted", FILE: str(path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert made.returncode == 1
    assert made.stderr.endswith("RAdam Lab does not start.\nsteps must be at least 1 and at most 100,000, got 0\n")


def test_a_run_is_refused_by_the_first_thing_that_is_too_large():
    limits = Hosting(lanes=3, cells=36, steps=300)
    assert bounds.refusal(limits, config()) == ""
    assert bounds.refusal(limits, config(301)) == "steps must be at most 300 on this hosted copy, got 301."
    many = config(lanes=[{"label": str(k), "method": "adam", "lr": 0.1} for k in range(4)])
    assert bounds.refusal(limits, many) == "lanes must be at most 3 on this hosted copy, got 4."
    assert "batch_size must be at most 128" in bounds.refusal(limits, config(batch_size=129))
    wide = PRESETS["digits"].config.changed(lanes=LANES, steps=100, settings={"width": 17})
    assert bounds.refusal(limits, wide) == "digits.width must be at most 16 on this hosted copy, got 17."
    named = PRESETS["language-model"].config.changed(steps=100, settings={"file": "/etc/passwd"})
    assert bounds.refusal(limits, named).startswith("A hosted copy reads no files of its visitors: text.file must be")
    sweep = SWEEPS["rates"].config.changed(steps=300, seeds=(0, 1, 2))
    assert (sweep.size, bounds.refusal(limits, sweep)) == (36, "")
    assert "cells must be at most 35" in bounds.refusal(Hosting(cells=35), sweep)
    assert "numbers.depth must be at most 5" in bounds.refusal(
        Hosting(sizes={"numbers.depth": 5}), SWEEPS["norms"].config
    )


LANES = [{"label": name, "method": name, "lr": 0.01} for name in ("adam", "radam")]


def test_what_the_app_offers_first_is_allowed_by_default():
    races = {name for name, preset in PRESETS.items() if bounds.refusal(Hosting(), preset.config)}
    assert races == {"resnet-20", "resnet-18"}
    sweeps = {name for name, preset in SWEEPS.items() if bounds.refusal(Hosting(), preset.config)}
    assert sweeps == {"map", "map-long", "best-against-best", "valley-rates"}


def test_the_limits_are_told_where_they_apply(monkeypatch, tmp_path):
    host(monkeypatch, tmp_path / "hosted.yaml", "lanes: 4\nstore_megabytes: 500\nrun_minutes: 1\n")
    told = bounds.allowed("race", "digits")
    assert "up to 4 lanes, 2,000 steps, batches of 128, depth 14, width 16; 1 minute a run, 2 runs at a time" in told
    assert "cells" not in told
    assert "120 cells" in bounds.allowed("sweep", "digits")
    assert "500 MB" in bounds.kept()
    assert bounds.helped(None, "steps") == "At most 2,000 on this hosted copy."
    assert bounds.helped("Layers.", "digits.depth") == "Layers. At most 14 on this hosted copy."
    assert bounds.helped("Noise.", "surfaces.noise") == "Noise."
