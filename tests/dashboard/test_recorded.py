"""Recordings: their form, what the store makes of them, and a slice of each trained again."""

import gzip
import json
import logging
from dataclasses import replace

import numpy as np
import pytest

from dashboard.__main__ import main
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.engine.estimate import estimate
from dashboard.evidence.steps import grid_steps
from dashboard.recorded.catalogue import HOURS, LONG_SWEEPS, catalogue
from dashboard.recorded.form import (
    ENDING,
    FOLDER,
    MADE_ENDING,
    Made,
    RecordedLane,
    Recording,
    made_path,
    path_of,
    read,
    write,
)
from dashboard.recorded.loading import folder, is_older, load, made, told
from dashboard.recorded.making import expected, here, machine, processor, recorded
from dashboard.runs import identity
from dashboard.runs.identity import code_version, lane_ids, recorded_id, run_id
from dashboard.runs.outlines import Outline, from_json
from dashboard.runs.records import Record, decode, lane_records
from dashboard.runs.states import FINISHED
from dashboard.runs.store import Store
from demo_models import TASKS
from radam_core.race.race import Race
from radam_core.race.threads import one_thread
from tests.dashboard.engines import config as short_config
from tests.dashboard.engines import plain

MADE = Made("abc", "torch 1", "somewhere", "2026-11-17", 12.5)
# Another processor or release rounds otherwise, and training makes more of it with every step: compared are the first
# losses of a race, and of every lane its outline, as far as it was trained again. There all of them without vector
# instructions, and an Intel's on an AMD, differed by 1e-4 at most; two lanes of one recording do by 6e-3 at least.
TOLERANCE, COMPARED = 1e-3, 5


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A short race in a store, and what would be recorded of it."""
    config = short_config(100)
    store = Store(tmp_path_factory.mktemp("trained"))
    store.add(config)
    records = []
    for lane, bodies in zip(lane_ids(config), plain(config), strict=True):
        for number, body in enumerate(bodies):
            records.append((lane, Record(number, decode(body).last, number == len(bodies) - 1, body)))
    store.add_records(records)
    found = recorded(store, config, 1.5)
    store.close()
    return found


def test_a_recording_comes_back_as_it_was_and_its_file_is_the_same_each_time(trained, tmp_path):
    paths = [path_of(name, tmp_path) for name in ("one", "two")]
    for path in paths:
        write(path, trained)
    assert read(paths[0]) == trained
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert trained.made.code == code_version()
    assert trained.made.machine == machine()


def test_made_again_with_the_same_outcome_it_is_the_same_file(trained, tmp_path):
    path = path_of("one", tmp_path)
    write(path, trained)
    before, beside = path.read_bytes(), made_path(path).read_bytes()
    write(path, replace(trained, made=replace(trained.made, code="later", date="2027-01-01")))
    assert path.read_bytes() == before
    assert made_path(path).read_bytes() != beside
    assert read(path).made.code == "later"


def test_code_is_older_by_its_sources_and_not_by_the_packages_of_a_machine(monkeypatch):
    """A regression: with another Python every recording was called older, by the very code that had made it."""
    own = Made(*here(), "2026-11-19", 1.0)
    other = replace(own, packages="Python 3.13.0, torch 2.13.0+cu130")
    before = lane_ids(short_config(10))
    assert [is_older(one) for one in (own, other, replace(own, code="then"))] == [False, False, True]
    monkeypatch.setattr(identity, "PACKAGES", ("Python 3.13.0",))
    lane_ids.cache_clear()
    after = lane_ids(short_config(10))
    lane_ids.cache_clear()
    assert code_version() == own.code
    assert not set(before) & set(after), "what was trained with other packages is trained again"


def test_a_kind_of_machine_is_its_processor_too():
    """Recordings of an older EPYC with AVX-512 were taken for this one's, and differed in the last bit."""
    older, newer = (
        f"processor : 0\nvendor_id : AuthenticAMD\ncpu family : {family}\nmodel : {model}\nflags : fpu avx2 avx512f\n"
        for family, model in ((25, 17), (26, 2))
    )
    assert processor(older) == "AuthenticAMD 25 17, avx512f"
    assert processor(newer) == "AuthenticAMD 26 2, avx512f"
    assert processor("CPU part : 0xd0c\nFeatures : fp asimd\n") == "0xd0c, asimd"
    assert processor("") == "unknown processor, no vector instructions"


def test_the_store_shows_it_by_its_configuration_and_keeps_it(trained, tmp_path):
    write(path_of("race-short", tmp_path), trained)
    store = Store(tmp_path / "runs", most_bytes=1)
    assert load(store, tmp_path) == 1
    assert load(store, tmp_path) == 0, "it is there already"
    run = store.run(recorded_id(trained.config.to_json()))
    assert run.config == trained.config
    assert (run.state, run.step) == (FINISHED, trained.config.steps)
    assert made(run.recorded) == trained.made
    assert [store.records(lane) for lane in run.lanes] == [list(lane.records) for lane in trained.lanes]
    assert store.outlines(run.lanes) == dict(zip(run.lanes, (lane.outline for lane in trained.lanes), strict=True))
    assert store.recent() == [], "nobody trained it here"
    assert store.trim() == [], "a full store drops what was trained, not what was recorded"
    store.close()


def test_nothing_that_is_trained_here_takes_a_lane_from_a_recording(trained, tmp_path):
    """Train runs it here: the recording may be by other code, and its ids promise nothing."""
    write(path_of("race-short", tmp_path), trained)
    store = Store(tmp_path / "runs")
    load(store, tmp_path)
    assert store.run(run_id(trained.config)) is None
    assert estimate(trained.config, store, workers=2).new == trained.config.size
    store.close()


def test_a_newer_recording_takes_the_place_of_an_older_one(trained, tmp_path):
    store = Store(tmp_path / "runs")
    for code in ("first", "second"):
        again = Recording(trained.config, Made(code, *list(vars(trained.made).values())[1:]), trained.lanes)
        write(path_of("race-short", tmp_path), again)
        assert load(store, tmp_path) == 1
    (text,) = store.recordings().values()
    assert made(text).code == "second"
    assert is_older(made(text))
    assert told(text, "Train").startswith("**Recorded** on ")
    assert "code second, which is older than this one: press *Train*" in told(text, "Train")
    store.close()


def test_files_that_are_no_recordings_are_passed_over_and_said(trained, tmp_path, caplog):
    write(path_of("good", tmp_path), trained)
    good = path_of("good", tmp_path).read_bytes()
    (tmp_path / f"cut{ENDING}").write_bytes(good[: len(good) // 2])
    (tmp_path / f"text{ENDING}").write_bytes(b"no gzip")
    other = [{"form": 99, "kind": "race", "config": "{}"}]
    (tmp_path / f"other{ENDING}").write_bytes(gzip.compress(json.dumps(other[0]).encode()))
    store = Store(tmp_path / "runs")
    with caplog.at_level(logging.WARNING):
        assert load(store, tmp_path) == 1
    assert sorted(record.args[0] for record in caplog.records) == [
        f"{name}{ENDING}" for name in ("cut", "other", "text")
    ]
    store.close()


def test_one_that_cannot_be_read_is_listed_and_stands_in_nobodys_way(tmp_path, capsys):
    """A regression: `make recordings` ended with a traceback where it would have made it again."""
    path_of("race-valley", tmp_path).write_bytes(path_of("race-valley").read_bytes()[:100])
    assert main(["record", "race-valley", "race-digits", "--list", "--out", str(tmp_path)]) == 0
    valley, digits = capsys.readouterr().out.splitlines()
    assert valley.endswith("cannot be read by this version")
    assert digits.endswith("not made yet")


def test_cut_off_while_it_is_written_it_is_no_recording(trained, tmp_path, monkeypatch):
    path = path_of("race-short", tmp_path)
    write(path, trained)
    monkeypatch.setattr("dashboard.recorded.form.gzip.compress", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write(path, trained)
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError):
        read(path)


def test_recordings_can_be_left_out_or_taken_from_elsewhere(monkeypatch, tmp_path):
    assert folder() == FOLDER
    monkeypatch.setenv("RADAM_LAB_RECORDINGS", str(tmp_path))
    assert folder() == tmp_path
    monkeypatch.setenv("RADAM_LAB_RECORDINGS", "none")
    assert folder() is None


def test_a_recording_of_a_sweep_is_its_outlines(tmp_path):
    config = SWEEPS["digits"].config
    outlines = tuple(RecordedLane(lane.outline) for lane in read(path_of("sweep-digits")).lanes)
    write(path_of("sweep", tmp_path), Recording(config, MADE, outlines))
    store = Store(tmp_path / "runs")
    load(store, tmp_path)
    run = store.run(recorded_id(config.to_json()))
    assert run.state == FINISHED
    assert len(store.outlines(run.lanes)) == config.size
    store.close()


def test_every_preset_is_recorded_but_those_that_take_hours():
    assert {f"race-{name}" for name in PRESETS if name not in HOURS} <= set(catalogue())
    assert {f"sweep-{name}" for name in SWEEPS if name not in LONG_SWEEPS} <= set(catalogue())
    for ending in (ENDING, MADE_ENDING):
        assert {path.name.removesuffix(ending) for path in FOLDER.glob(f"*{ending}")} == set(catalogue())
    for name, config in catalogue().items():
        assert read(path_of(name)).config == config, name


def test_it_says_how_long_they_take():
    said = expected(["race-figure-1", "sweep-figure-1"])
    seconds = sum(read(path_of(name)).made.seconds for name in ("race-figure-1", "sweep-figure-1"))
    assert said.startswith(f"2 recordings; 2 of them took {seconds / 60:.0f} minutes")


def test_the_recordings_are_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 10e6


@pytest.mark.parametrize("name", catalogue())
def test_a_slice_of_it_trains_to_the_same_again(name):
    """The first two lanes that can be stacked, as far as the second point of an outline at most."""
    found = read(path_of(name))
    config = found.config
    places = [place for place in range(config.size) if config.stack_key(place) == config.stack_key(0)][:2]
    race = config.only(places)
    made_here = (found.made.code, found.made.packages, found.made.machine)
    exact = made_here == here()
    until = min(grid_steps(config.steps)[1], 60)
    for k, (body, outline) in enumerate(_trained_again(race, until)):
        lane = found.lanes[places[k]]
        if config.kind == "race":
            _compare_records(body, lane, exact)
        before = from_json(lane.outline)
        points = min(len(outline.losses), len(before.losses))
        assert points >= 2
        assert outline.first_loss == pytest.approx(before.first_loss, rel=1e-6 if exact else TOLERANCE)
        again, recorded_then = outline.losses[:points], before.losses[:points]
        np.testing.assert_allclose(again, recorded_then, rtol=0 if exact else TOLERANCE)
        neighbour = from_json(found.lanes[places[1 - k]].outline).losses[:points]
        assert not np.allclose(again, neighbour, rtol=TOLERANCE), "the comparison tells lanes apart"


def _trained_again(race: RaceConfig, until: int):
    """By lane: the records of the first steps, and their outline."""
    bodies = [[] for _ in race.lanes]
    with one_thread():
        for records in lane_records(Race(TASKS[race.task].open(race.settings), race.plan())):
            for place, record in records.items():
                bodies[place].append(record)
            if max(record.last for record in records.values()) >= until:
                break
    for k, own in enumerate(bodies):
        outline = Outline.of_task(race.lanes[k].as_lane(race.steps), race.task, race.steps)
        for record in own:
            outline.add(record.body)
        yield own, outline.outcome


def _compare_records(again, lane: RecordedLane, exact: bool) -> None:
    assert again
    if exact:
        assert [record.body for record in again] == [record.body for record in lane.records[: len(again)]]
        return
    losses = [
        np.concatenate([decode(record.body).columns["loss"] for record in records])[:COMPARED]
        for records in (again, lane.records)
    ]
    np.testing.assert_allclose(*losses, rtol=TOLERANCE)
