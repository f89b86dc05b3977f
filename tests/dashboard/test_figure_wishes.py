"""What may be asked of a figure: a step, a size, a theme, several charts, a moving one; each seen in the file."""

import argparse
import csv
import io
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pypdf
import pytest
from PIL import Image

from dashboard import figure_studio
from dashboard.__main__ import main
from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.export.forms import SIZES
from dashboard.export.pdf import pdf
from dashboard.export.svg import checked
from dashboard.figure_command import asked, figure_options
from dashboard.figure_names import FIGURES, TALK
from dashboard.figure_studio import Query, Studio
from tests.dashboard.sheets import texts

PAGES: dict[str, Query] = {"race": {"preset": "figure-1"}, "sweep": {"preset": "map"}}


def made(studio: Studio, page: str, name: str, form: str, **options: Any) -> bytes:
    return studio.figure(page, PAGES.get(page, {}), (name,), figure_options(form, link=f"lab/{page}", **options))[1]


def rows(table: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.decode())))


def test_a_picture_has_its_pixels_and_the_theme_its_paper(studio):
    with Image.open(io.BytesIO(made(studio, "race", "ridges", "png", pixels=1))) as picture:
        assert picture.size == (1280, 720)
        assert picture.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    with Image.open(io.BytesIO(made(studio, "race", "ridges", "png", pixels=2, transparent=True))) as picture:
        assert picture.size == (2560, 1440)
        assert picture.convert("RGBA").getpixel((1, 1))[3] == 0
    document = made(studio, "race", "ridges", "pdf", theme="dark")  # by the server, as a visitor gets it
    assert document == pdf(checked(made(studio, "race", "ridges", "svg", theme="dark")))


def test_the_numbers_of_a_csv_are_the_recorded_ones(studio):
    """As the store has them; what the figure shows is held to its table for every chart."""
    losses = [row for row in rows(made(studio, "race", "loss", "csv")) if row["kind"] == "raw"]
    found = {row["curve"]: float(row["y"]) for row in losses if row["x"] == "1"}
    assert len(found) == 8
    assert len(set(found.values())) == 1  # all lanes start from the same weights on the same batch
    radam = [row for row in losses if row["curve"] == "RAdam"]
    assert [float(row["x"]) for row in radam][-1] == 1000


@pytest.mark.parametrize(
    ("page", "name", "panels", "kinds"),
    [
        ("race", "loss", {"training loss"}, {"raw", "smoothed"}),
        ("norms", "loss", {"Post-LN, training loss", "Pre-LN, training loss"}, {"raw", "smoothed"}),
        ("norms", "preconditioned", {f"{norm}, preconditioned, sharpness" for norm in ("Post-LN", "Pre-LN")}, {""}),
        ("sweep", "courses", {"loss, mean of 20 steps"}, {"", "highest", "lowest"}),
        ("race", "schedule", {"multiplier w_t r_t", "learning rate α_t"}, {"", "so far"}),
    ],
)
def test_a_csv_has_every_step_of_a_curve_once(studio, page, name, panels, kinds):
    """By its panel and its kind: before, the curves of both norms, raw and smoothed, had one name."""
    found = rows(made(studio, page, name, "csv"))
    assert ({row["panel"] for row in found}, {row["kind"] for row in found}) == (panels, kinds)
    keys = [(row["panel"], row["curve"], row["kind"], row["x"]) for row in found]
    assert len(keys) == len(set(keys))


def test_the_csv_of_a_map_has_rates_lengths_and_losses(studio):
    found = rows(made(studio, "sweep", "maps", "csv"))
    axes = SWEEPS["map"].config.axes
    assert {float(row["x"]) for row in found} == set(axes["lr"])
    assert {row["y"] for row in found if row["y"]} == {f"warmup {length}" for length in axes["warmup_steps"]}
    assert {row["kind"] for row in found} == {"loss"}
    assert all(row["panel"] == row["curve"] for row in found)  # a map a method, under its name
    assert min(float(row["z"]) for row in found if row["z"]) > 0  # and no logarithm


def test_a_race_frozen_at_a_step_has_nothing_after_it(studio):
    assert max(float(row["x"]) for row in rows(made(studio, "race", "loss", "csv", step=200))) == 200
    name, svg = studio.figure("race", PAGES["race"], ("loss",), figure_options("svg", step=200))
    assert name == "radam-lab-loss-figure-1-seed-0-step-200-16x9-light.svg"
    assert b"at step 200" in svg


def test_one_legend_entry_a_lane(studio):
    svg = made(studio, "race", "schedule", "svg").decode()
    for lane in ("Adam + warmup 50", "RAdam", "GI-Adam", "Adam-2k"):
        assert svg.count(f">{lane}</tspan>") == 1


def test_title_legend_caption_and_background_can_be_left_out(studio):
    whole = made(studio, "race", "loss", "svg").decode()
    assert "Training loss" in whole
    assert "seed 0" in whole
    assert ">RAdam</tspan>" in whole
    assert 'fill="#ffffff"/>' in whole
    bare = made(studio, "race", "loss", "svg", titled=False, legend=False, caption=False, transparent=True).decode()
    assert ">Training loss</tspan>" not in bare
    assert "seed 0" not in bare
    assert "RAdam" not in bare
    assert 'fill="#ffffff"/>' not in bare


def test_four_charts_side_by_side_have_letters_and_one_legend(studio):
    names = ("loss", "schedule", "metric", "norms")
    _, svg = studio.figure("race", PAGES["race"], names, figure_options("svg"))
    ((*found,),) = texts(studio, svg)
    assert all(one.edge > -3 for one in found)
    said = [text.words for text in found]
    assert [words[0] for words in said if re.match(r"[abcd]  ", words)] == ["a", "b", "c", "d"]
    assert said.count("RAdam") == 1
    assert b'id="p3-' in svg


def test_a_moving_race_grows_and_is_small_enough_for_a_slide(studio):
    film = made(studio, "race", "loss", "gif", frames=3, seconds=2, caption=False)
    with Image.open(io.BytesIO(film)) as file:
        assert (file.n_frames, file.size) == (3, (1280, 720))
        ink = []
        for k in range(file.n_frames):
            file.seek(k)
            grey = file.convert("L").crop((100, 150, 630, 600))
            ink.append(sum(count for level, count in enumerate(grey.histogram()) if level < 200))
    assert ink[0] < ink[1] < ink[2]
    # Most of it is the first picture and what is drawn anew: 48 pictures have 1.5 MB, the most, 120, have 2.9 MB
    # (python -m dashboard figure race-loss --out race.gif --frames 120).
    assert len(film) < 500_000


def test_a_chart_that_moves_alone_has_its_own_title(studio):
    said = [one.words for one in texts(studio, *first_picture(studio, "metric"))[0]]
    assert "On held-out data" in said


def first_picture(studio: Studio, name: str) -> list[bytes]:
    """The drawing behind a moving figure's first picture."""
    svg = studio._run(
        """async ({ name, options, scripts }) => {
          const { svgOf } = await import(scripts + "figure_files.js")
          const { shownCharts, sourceOf } = await import(scripts + "figure_source.js")
          const box = shownCharts().find((one) => sourceOf(one).name === name)
          const [moment] = sourceOf(box).moments(2)
          return svgOf([box], { ...options, title: sourceOf(box).title }, moment)
        }""",
        name=name,
        options=figure_options("gif"),
    )
    return [svg.encode()]


@pytest.mark.parametrize(("size", "own"), SIZES.items())
def test_every_size_is_exact(studio, size, own):
    (sheet,) = pypdf.PdfReader(io.BytesIO(made(studio, "rectification", "rho", "pdf", size=size))).pages
    assert [float(side) for side in sheet.mediabox[2:]] == pytest.approx([own.width, own.height], abs=0.01)
    with Image.open(io.BytesIO(made(studio, "rectification", "rho", "png", size=size, pixels=3))) as picture:
        assert picture.size == (round(own.width * 4), round(own.height * 4))


def test_what_cannot_be_made_gets_a_sentence(studio):
    with pytest.raises(ValueError, match="nothing that moves"):
        made(studio, "rectification", "rho", "gif")
    with pytest.raises(ValueError, match="size must be one of 16:9"):
        made(studio, "rectification", "rho", "svg", size="<b>")
    with pytest.raises(ValueError, match="letters are too large"):
        made(studio, "rectification", "rho", "svg", scale=40)
    with pytest.raises(ValueError, match="shows rectification"):
        made(studio, "rectification", "loss", "svg")


def test_a_talks_figures_are_named():
    assert {name for name, _ in TALK} <= set(FIGURES)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["race-loss", "--out", "x.exe"], "ending of --out must be one of"),
        (["race-loss", "--out", "x"], "ending of --out must be one of"),
        (["<script>", "--out", "x.svg"], "must be one that `python -m dashboard figures` lists"),
        (["../../etc/passwd", "--out", "x.svg"], "must be one that"),
        (["a" * 5000, "--out", "x.svg"], "must be one that"),
        (["race-loss+home", "--out", "x.svg"], "of one page"),
        (["tour-lanes+tour-curve", "--out", "x.svg"], "never on the page tour at the same time"),
        (["real-gradients", "--out", "x.svg"], "measured by a worker"),
        (["race-loss", "--out", "x.svg", "--size", "9e9"], "--size must be one of"),
        (["race-loss", "--out", "x.svg", "--scale", "40"], "--scale must be between"),
        (["race-loss", "--out", "x.svg", "--scale", "nan"], "--scale must be between"),
        (["race-loss", "--out", "x.svg", "--theme", "url(x)"], "--theme must be one of"),
        (["race-loss", "--out", "x.png", "--pixels", "999"], "--pixels must be one of"),
        (["race-loss", "--out", "x.svg", "--step", "-3"], "--step must be at least 1"),
        (["race-loss", "--out", "x.svg", "--preset", "nonsense"], "--preset must be one of"),
        (["race-loss", "--out", "x.svg", "--sweep", "map"], "--sweep is for figures of the page sweep"),
        (["rho", "--out", "x.svg", "--run", "abc"], "--run is for figures of races and sweeps"),
        (["paper", "--out", "x.svg", "--row", "nonsense"], "--row must be one of"),
        (["rho", "--out", "x.svg", "--set", "beta2"], "--set must be NAME=VALUE"),
        (["race-loss", "--out", "x.gif", "--frames", "1000000"], "--frames must be between"),
        (["race-loss", "--out", "x.gif", "--seconds", "0"], "--seconds must be between"),
    ],
)
def test_what_the_command_line_cannot_make_gets_a_sentence(given, told, capsys, tmp_path, monkeypatch):
    """Before a browser is started."""
    monkeypatch.chdir(tmp_path)
    assert main(["figure", *given]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert told in sentence
    assert len(sentence) < 500
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "told"), [(["--scale", "40"], "--scale must be between"), (["--size", "5:1"], "--size must be one of")]
)
def test_a_set_for_a_talk_that_cannot_be_made_gets_a_sentence(given, told, capsys, tmp_path):
    assert main(["figures", "--into", str(tmp_path / "talk"), *given]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert told in sentence
    assert not list(tmp_path.iterdir())


@pytest.fixture
def figure(studio, monkeypatch, tmp_path):
    """`figure NAME ...` on the command line, drawn by the open studio: its code, and where the file would be."""
    monkeypatch.setattr(figure_studio, "Studio", lambda: nullcontext(studio))

    def run(name: str, *given: str) -> tuple[int, Path]:
        file = tmp_path / f"{name}.csv"
        return main(["figure", name, "--out", str(file), *given]), file

    return run


@pytest.mark.parametrize(
    ("name", "setting", "told"),
    [
        ("four-steps", "first=nope", "first must be one of adam, adam-linear, "),
        ("four-steps", "foo=1", "may say first, lr-digits, second, seed, seeds, step, task, then, got"),
        ("norms-loss", "depth=99", "depth must be one of 12 values from 1 to 12, got '99'"),
        ("norms-loss", "hide=x", "hide must be numbers of lanes"),
        ("rectification", "beta2=7", "beta2 must be one of 27 values from 0.5 to 0.9999, got '7'"),
        ("rectification", "foo=1", "may say axis, beta2, compare, decay, lr, t, tau, threshold, warmup, got 'foo'"),
        ("rectification", f"{'a' * 5000}=1", "got 'aaa"),
        ("variance", "paper=maybe", "paper must be one of true, false"),
        ("race-loss", "preset=nope", "preset must be one of figure-1, "),
        ("race-loss", "run=nope", "does not have the run nope"),
        ("race-loss", "lr=0.1", "may say compare, config, hide, preset, run, task, got 'lr'"),
        ("sweep-maps", "preset=nope", "preset must be one of rates, "),
        ("paper", "row=nope", "row must be one of figure-1, "),
        ("tour-lanes", "p1=zz", "`p1 = zz`. Allowed: rising letters from a to d"),
        ("home", "foo=1", "the page home may say nothing, got 'foo'"),
    ],
    ids=lambda text: text[:20],
)
def test_a_setting_that_the_page_does_not_take_gets_a_sentence(figure, capsys, name, setting, told):
    """A regression: the page took its own value, and its figure was made."""
    code, file = figure(name, "--set", setting)
    (sentence,) = capsys.readouterr().err.splitlines()
    assert told in sentence
    assert len(sentence) < 400
    assert (code, file.exists()) == (2, False)


@pytest.mark.parametrize(
    ("name", "page", "setting"),
    [
        ("four-steps", "four-steps", "seeds=3"),
        ("four-steps-gradients", "four-steps", "lr-digits=0.06"),
        ("four-steps-layers", "four-steps", "first=gi-adam"),
        ("norms-loss", "norms", "lr=0.002"),
        ("race-schedule", "race", "preset=resnet-20"),
        ("sweep-maps", "sweep", "preset=map-long"),
    ],
)
def test_what_is_not_trained_gets_a_sentence_at_once(figure, capsys, name, page, setting):
    """A regression: it was waited for until the charts were late."""
    code, file = figure(name, "--set", setting)
    (sentence,) = capsys.readouterr().err.splitlines()
    assert f"of the page {page} is not trained at these settings: open " in sentence
    assert f"/{page}?{setting} and train it to its end" in sentence
    assert (code, file.exists()) == (2, False)


def test_what_is_being_trained_gets_a_sentence_at_once(studio, figure, capsys):
    run = studio.store.add(PRESETS["resnet-18"].config)
    code, file = figure("race-loss", "--run", run.id)
    assert "the chart loss of the page race is still queued at these settings" in capsys.readouterr().err
    assert (code, file.exists()) == (2, False)


def test_what_needs_no_training_is_drawn_where_the_rest_is_not_trained(figure):
    code, file = figure("four-steps-planned", "--set", "first=gi-adam")
    assert code == 0
    assert len({row["curve"] for row in rows(file.read_bytes())}) == 5


def test_every_name_leads_to_its_page():
    for name, figure in FIGURES.items():
        if not figure.missing:
            options = argparse.Namespace(name=name, preset=None, sweep=None, row=None, run_id=None, set=[])
            charts, page, query = asked(options)
            assert (charts, page) == ((figure.chart.format(row="figure-1"),), figure.page)
            assert figure.address.items() <= query.items()
