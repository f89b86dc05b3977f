"""The map of an own model's sweep: from its file to the sweep page, its sentences, and the lanes behind a cell."""

import json

import pytest

from dashboard.__main__ import main
from dashboard.asked.own_config import OwnConfig
from dashboard.asked.own_map import OwnMapConfig
from dashboard.browser.sweep import drawn_own_map
from dashboard.browser.sweep_findings import findings_json
from dashboard.engine.engine import Engine, set_running_engine
from dashboard.evidence.findings import Findings
from dashboard.own_runs import open_file, own_map, put_maps
from dashboard.runs.feeds import Feeds
from dashboard.runs.store import Store
from radam_core.own import run_file
from tests.dashboard.opening import components, open_page
from tests.dashboard.own_files import lane

STEPS = 40
RATES, LENGTHS = (0.01, 0.1), (0, 20)


def learns(lr, length):
    """Who learns, as the file says: the low rate always, the high one with the warmup; RAdam at the low one."""
    return lr == RATES[0] or length == LENGTHS[1]


def cell(lr, length, seed=0):
    warmup = {"warmup": "linear", "warmup_steps": float(length)} if length else {"warmup": "none"}
    own = {"warmup": "none"} if length is None else warmup
    name = "RAdam" if length is None else "Adam"
    return lane(f"{name}, lr {lr:g}, {length}", name, lr=lr, seed=float(seed), **own)


def map_file(path, seeds=(0, 1), rates=RATES, baseline=None, rename=str):
    """Its lanes in no order, as packs have them."""
    places = [(lr, length, seed) for seed in seeds for length in (20, None, 0) for lr in reversed(rates)]
    lanes = [{**cell(*place), "label": rename(cell(*place)["label"])} for place in places]
    rows = [
        run_file.row(t, {"loss": 2.0 if t == 1 or not learns(lr, length) else 0.1}, k)
        for k, (lr, length, _) in enumerate(places)
        for t in range(1, STEPS + 1)
    ]
    text = [run_file.head("sweep", lanes, 10, why="by hand", baseline=baseline), *rows, run_file.end(STEPS, "finished")]
    path.write_text("".join(text), encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("RADAM_LAB_RUNS", str(tmp_path / "runs"))
    store = Store()
    yield store
    store.close()


def found_in(store, *files):
    (run,) = put_maps(store, [open_file(path) for path in files])
    feed = Feeds(store).open(run)
    return store.run(run), Findings.of(feed.config, feed.outcomes())


def test_cells_stand_where_their_settings_say(store, tmp_path):
    run, found = found_in(store, map_file(tmp_path / "map.jsonl"))
    config = run.config
    assert isinstance(config, OwnMapConfig)
    assert config.axes == {"lr": RATES, "warmup_steps": LENGTHS}
    assert [(one.label, one.method, one.warms) for one in config.contenders] == [
        ("Adam", "adam", True),
        ("RAdam", "radam", False),
    ]
    assert config.seeds == (0, 1)
    drawn = json.loads(drawn_own_map(config.to_json()))
    adam, *_, radam = [trace for trace in drawn["maps"]["mean"]["data"] if trace["type"] == "heatmap"]
    for row, length in enumerate(LENGTHS):
        for column, lr in enumerate(RATES):
            lanes = [config.lanes[place].label for place in adam["meta"]["cells"][row][column]]
            assert lanes == [f"Adam, lr {lr:g}, {length}, seed {seed}" for seed in (0, 1)]
    assert [len(cell) for cell in radam["meta"]["cells"][0]] == [2, 2]
    assert not drawn["early"]
    told = json.loads(findings_json(found))
    assert told["sentences"] == [
        "At lr 0.01: Adam learns without any; RAdam learns without.",
        "At lr 0.1: Adam needs 20 steps; RAdam does not learn.",
    ]
    assert told["needs"][0] == [0, 1]
    assert told["table"]["head"][1] == "LR sensitivity"
    assert {trace["name"] for trace in told["figures"]["rates"]["data"]} >= {"Adam, warmup 20", "RAdam"}


def test_files_of_one_grid_lie_over_each_other_and_others_do_not(store, tmp_path):
    first, second = map_file(tmp_path / "first.jsonl"), map_file(tmp_path / "second.jsonl", seeds=(2,), baseline=0.15)
    run, found = found_in(store, first, second)
    labels = [one.label for one in run.config.contenders]
    assert labels == ["Adam (first)", "RAdam (first)", "Adam (second)", "RAdam (second)"]
    assert [run.config.baseline(k) for k in range(4)] == [None, None, 0.15, 0.15]
    assert sum(bool(one.learns) for one in found.found) == 8  # 0.1 is not below half of 0.15
    other = map_file(tmp_path / "other.jsonl", rates=(0.01, 0.2))
    assert len(put_maps(store, [open_file(path) for path in (first, other)])) == 2


def test_a_cell_opens_as_lanes_whose_records_are_there(store, tmp_path):
    run, _ = found_in(store, map_file(tmp_path / "map.jsonl"))
    chosen = run.config.chosen([3, 1])
    assert type(chosen) is OwnConfig
    opened = store.add(chosen, run.state)
    assert opened.lanes == (run.lanes[3], run.lanes[1])
    assert all(store.records(identity) for identity in opened.lanes)
    assert OwnConfig.make(chosen.to_json()) == chosen
    with pytest.raises(ValueError, match="from 1 to 99 lanes, got 0"):
        run.config.chosen([])


def test_the_sweep_page_shows_it_and_cells_lead_to_the_race_page(store, tmp_path):
    run, _ = found_in(store, map_file(tmp_path / "map.jsonl", rename=lambda label: f"<b>{label}"))
    engine = Engine(store)  # not started: nothing is trained here
    set_running_engine(engine)
    try:
        app = open_page("sweep", run=run.id)
        assert not app.exception
        assert [(one.label, one.disabled) for one in app.button] == [("Run", True), ("Back to the sweeps", False)]
        (live,) = components(app, "radam_lab_sweep")
        assert json.loads(live.proto.bytes)["run"]["id"] == run.id
        next(one for one in app.button if one.label == "Back to the sweeps").click().run()
        assert not app.exception
        assert any(one.label == "Sweep" for one in app.selectbox)
    finally:
        set_running_engine(None)


@pytest.mark.usefixtures("store")
def test_open_names_the_page_of_each_kind(tmp_path, capsys):
    swept = map_file(tmp_path / "map.jsonl")
    watched = tmp_path / "watched.jsonl"
    watched.write_text(run_file.head("watch", [lane()], 1) + run_file.row(1, {"loss": 1.0}) + run_file.end(1, "closed"))
    assert main(["open", str(swept), str(watched), "--no-browser"]) == 0
    first, second = capsys.readouterr().out.split()
    assert "/sweep?run=" in first
    assert "/race?run=" in second


@pytest.mark.parametrize("lr", [0, -1, None, "fast"])
def test_a_sweep_without_rates_gets_a_sentence(tmp_path, lr):
    path = tmp_path / "bad.jsonl"
    text = [run_file.head("sweep", [lane("a", lr=lr)], 1), run_file.row(1, {"loss": 1.0}), run_file.end(1, "finished")]
    path.write_text("".join(text), encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.jsonl: a lane of a sweep must have a learning rate above 0"):
        open_file(path)


def test_a_sweep_may_have_more_lanes_than_a_page_of_lanes(tmp_path):
    lanes = [lane(f"lane {k}", "Adam", lr=0.01, seed=float(k)) for k in range(150)]
    rows = [run_file.row(1, {"loss": 1.0}, k) for k in range(150)]
    path = tmp_path / "many.jsonl"
    path.write_text("".join([run_file.head("sweep", lanes, 1), *rows, run_file.end(1, "finished")]), encoding="utf-8")
    assert own_map([open_file(path)]).size == 150
