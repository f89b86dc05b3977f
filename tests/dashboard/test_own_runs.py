"""Runs of own models in the store, on the race page and by `python -m dashboard open`, with no browser."""

import json

import numpy as np
import pytest

from dashboard import own_runs
from dashboard.__main__ import main
from dashboard.asked.config import RaceConfig
from dashboard.asked.own_config import MOST_OWN_LANES, OwnConfig
from dashboard.browser.own import drawn_own
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.figures.methods import STYLES
from dashboard.figures.own import own_styles
from dashboard.own_runs import labels, open_file, put
from dashboard.runs.downloads import own_records
from dashboard.runs.records import decode, unpack
from dashboard.runs.states import CUT_OFF, FINISHED
from dashboard.runs.store import Store
from radam_core.own import run_file
from radam_core.race.quantities import QUANTITIES
from tests.dashboard.opening import components, go_to, open_page
from tests.dashboard.own_files import histogram, lane, steps, written


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("RADAM_LAB_RUNS", str(tmp_path / "runs"))
    store = Store()
    yield store
    store.close()


@pytest.fixture
def watched(tmp_path):
    return written(tmp_path / "watched.jsonl", [*steps(30), histogram(1), histogram(25)])


def kept(store, *files):
    found = store.run(put(store, [open_file(path) for path in files]))
    assert found is not None
    return found


def bodies(store, run, place=0):
    return [record.body for record in store.records(run.lanes[place])]


def test_a_watched_run_is_a_run_like_any_other_with_what_its_file_says(store, watched):
    run = kept(store, watched)
    assert (run.state, run.step, run.message) == (FINISHED, 30, "")
    assert isinstance(run.config, OwnConfig)
    assert run.config.columns == ("loss", "grad_norm", "lr", "rho", "r")
    (body,) = bodies(store, run)
    told = decode(body)
    np.testing.assert_allclose(told.columns["loss"], 2 / np.arange(1, 31), rtol=1e-6)
    assert np.isnan(told.columns["angle"]).all()
    assert [found.t for found in told.histograms] == [1, 25]
    own = {name: unpack(text) for name, text in json.loads(body)["told"].items()}
    assert set(own) == {"lr", "rho", "r"}
    np.testing.assert_allclose(own["rho"], np.arange(1, 31))
    assert np.isnan(own["r"][:4]).all()
    assert (own["r"][4:] == np.float32(0.1)).all()


def test_its_records_can_be_taken_along(store, watched):
    run = kept(store, watched)
    table = own_records(run.config, [bodies(store, run)])
    assert list(table) == ["step", "lane", *QUANTITIES, "lr", "multiplier", "rho", "r"]
    assert table["step"].tolist() == list(range(1, 31))
    assert table["r"].isna().sum() == 4
    assert (table["rho"] == table["step"]).all()


def test_the_same_file_is_the_same_run_and_another_one_is_not(store, watched, tmp_path):
    again = written(tmp_path / "renamed.jsonl", [*steps(30), histogram(1), histogram(25)])
    longer = written(tmp_path / "longer.jsonl", steps(31))
    assert kept(store, watched).lanes == kept(store, watched).lanes == kept(store, again).lanes
    assert kept(store, longer).lanes != kept(store, watched).lanes


def test_several_files_lie_over_each_other(store, watched, tmp_path):
    raced = written(
        tmp_path / "raced.jsonl",
        [*steps(50), *steps(40, 1), run_file.row(41, {"loss": np.nan}, 1), '{"lane":1,"t":41,"lost":true}\n'],
        [lane(), lane("Adam", "Adam")],
        "race",
        "finished",
    )
    run = kept(store, watched, raced)
    assert [one.label for one in run.config.lanes] == ["RAdam (watched)", "RAdam (raced)", "Adam (raced)"]
    assert [one.last for one in run.config.lanes] == [30, 50, 41]
    assert (run.config.steps, run.state) == (50, FINISHED)
    assert decode(bodies(store, run, 2)[0]).diverged_at == 41
    first, second, third = own_styles(run.config)
    assert first.color == second.color == STYLES["radam"].color
    assert first.dash != second.dash
    assert third.color == STYLES["adam"].color


def test_lanes_have_labels_of_their_own(tmp_path):
    cells = [lane("lr 0.01", seed=seed) for seed in (0.0, 1.0)]
    swept = open_file(written(tmp_path / "sweep.jsonl", [*steps(2), *steps(2, 1)], cells, "sweep"))
    assert labels([swept]) == ["lr 0.01, seed 0", "lr 0.01, seed 1"]
    long = [lane("a" * 90), lane("a" * 90), lane("")]
    found = labels([open_file(written(tmp_path / "long.jsonl", steps(2), long, "race"))])
    assert len(set(found)) == 3
    assert max(map(len, found)) == 60


def test_a_run_that_was_cut_off_says_so(store, tmp_path):
    killed = written(tmp_path / "killed.jsonl", steps(30), ended="")
    run = kept(store, killed)
    assert (run.state, run.step) == (CUT_OFF, 30)
    assert "killed.jsonl has no end" in run.message
    crashed = kept(store, written(tmp_path / "crashed.jsonl", steps(3), ended="ValueError in the loop, after step 3"))
    assert crashed.state == FINISHED
    assert "crashed.jsonl ended: ValueError in the loop, after step 3." in crashed.config.notes


def test_a_long_lane_comes_in_parts_that_fit_together(store, tmp_path, monkeypatch):
    monkeypatch.setattr(own_runs, "ROWS_PER_RECORD", 7)
    long = written(tmp_path / "long.jsonl", [*steps(30), *(histogram(t) for t in (1, 7, 8, 30))])
    run = kept(store, long)
    records = store.records(run.lanes[0])
    assert [record.number for record in records] == list(range(5))
    assert [record.ends for record in records] == [False] * 4 + [True]
    told = [decode(record.body) for record in records]
    assert np.concatenate([part.steps for part in told]).tolist() == list(range(1, 31))
    assert [found.t for part in told for found in part.histograms] == [1, 7, 8, 30]
    assert sum(len(unpack(json.loads(record.body)["told"]["lr"])) for record in records) == 30


def test_panels_without_data_are_not_there(store, watched, tmp_path):
    page = json.loads(drawn_own(kept(store, watched).config.to_json()))
    assert [panel["name"] for panel in page["panels"]] == ["loss", "schedule", "ridges", "overlay", "rho", "norms"]
    columns = [trace["meta"]["column"] for trace in page["figures"]["rho"]["data"]]
    assert columns == ["rho", "r"]
    losses = written(tmp_path / "losses.jsonl", [run_file.row(1, {"loss": 1.0})])
    page = json.loads(drawn_own(kept(store, losses).config.to_json()))
    assert [panel["name"] for panel in page["panels"]] == ["loss"]


def test_a_strangers_words_stay_words(store, tmp_path):
    tag = "<a href='javascript:alert(1)'>x</a>"
    metrics = ['{"t":1,"metrics":{"__proto__":1,"<b>loud</b>":2,"constructor":3}}\n']
    hostile = written(
        tmp_path / "hostile.jsonl",
        [*steps(3, loss=1e299), *metrics, histogram(1, groups=("\u00e9", tag))],
        [lane(tag)],
    )
    run = kept(store, hostile)
    assert set(run.config.metrics) == {"__proto__", "<b>loud</b>", "constructor"}
    page = drawn_own(run.config.to_json()).decode()
    figures = json.loads(page)["figures"]
    names = {trace["name"] for figure in figures.values() for trace in figure["data"]}
    assert names == {"&lt;a href='javascript:alert(1)'&gt;x&lt;/a&gt;"}
    axes = {part["title"]["text"] for name, part in figures["metric"]["layout"].items() if name.startswith("yaxis")}
    assert axes == {"__proto__", "constructor", "&lt;b&gt;loud&lt;/b&gt;"}
    assert not np.isfinite(decode(bodies(store, run)[0]).columns["loss"]).any()


BAD = {
    "missing": (None, "cannot be read: No such file"),
    "empty": (b"", "is empty"),
    "pickle": (b"\x80\x04\x95\x10\x00.\n", "must be a JSON object"),
    "not ours": (b'{"kind": "run"}\n', "is no run of RAdam Lab"),
    "head alone": (run_file.head("watch", [lane()], 10).encode(), "has no step in it"),
    "surrogate": (
        run_file.head("watch", [lane("ok")], 10).replace('"ok"', '"\\ud800"').encode() + b'{"t":1,"loss":1}\n',
        "label",
    ),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.usefixtures("store")
def test_every_bad_file_gets_a_sentence_and_the_others_are_opened(name, watched, tmp_path, capsys):
    content, sentence = BAD[name]
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert main(["open", str(path), "--no-browser"]) == 2
    out, err = capsys.readouterr()
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert not out
    assert main(["open", str(watched), str(path), "--no-browser"]) == 2
    out, err = capsys.readouterr()
    assert sentence in err
    assert "/race?run=" in out


def test_too_many_lanes_are_refused(tmp_path):
    many = [lane(f"lane {k}") for k in range(MOST_OWN_LANES + 1)]
    with pytest.raises(ValueError, match=r"many\.jsonl must have at most 99 lanes in all, got 100"):
        open_file(written(tmp_path / "many.jsonl", steps(1), many, "race"))


def test_no_link_holds_an_own_run_and_no_config_of_a_race_names_a_file(store, watched):
    config = kept(store, watched).config
    with pytest.raises(ValueError, match="must be opened from its file"):
        config.to_link()
    with pytest.raises(ValueError, match="task must be one of"):
        RaceConfig.make(config.to_json())
    with pytest.raises(ValueError, match="problem"):
        RaceConfig.make({"task": "digits", "lanes": [{"label": "a", "method": "adam", "lr": 1}], "problem": "a.py:b"})


def test_open_prints_the_address_and_opens_it(store, watched, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    assert main(["open", str(watched), "--app", "http://localhost:9000/"]) == 0
    address = capsys.readouterr().out.strip()
    assert seen == [address]
    assert address.startswith("http://localhost:9000/race?run=")
    assert store.run(address.split("=")[1]).config.title == "watched.jsonl"


@pytest.fixture
def engine(store):
    engine = Engine(store)  # not started: nothing is trained here
    set_running_engine(engine)
    yield engine
    set_running_engine(None)


@pytest.mark.usefixtures("engine")
def test_the_race_page_shows_it_and_offers_no_training(store, watched):
    run = kept(store, watched)
    app = open_page("race", run=run.id)
    assert not app.exception
    assert [(one.label, one.disabled) for one in app.button] == [("Train", True), ("Back to the races", False)]
    assert any("*Train* is off" in caption.value for caption in app.caption)
    assert any("watched" in text.value for text in app.markdown)
    assert not app.selectbox
    (live,) = components(app, "radam_lab_race")
    assert json.loads(live.proto.bytes)["runs"][0]["id"] == run.id
    app = go_to(go_to(app, "size"), "race")
    assert not app.selectbox, "by the menu one finds the page as it was"
    next(one for one in app.button if one.label == "Back to the races").click().run()
    assert not app.exception
    assert any(one.label == "Race" for one in app.selectbox)
    runs = next(one for one in app.selectbox if one.label == "Open a run")
    assert any("own model, watched.jsonl" in option for option in runs.options)


@pytest.mark.usefixtures("engine")
def test_a_run_that_is_gone_gets_a_sentence():
    app = open_page("race", run="0" * 20)
    assert not app.exception
    assert any("does not have the run" in warning.value for warning in app.warning)
