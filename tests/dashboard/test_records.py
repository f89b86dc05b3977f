"""A lane's records: the frames' own numbers, in few bytes that the page reads as it should, whatever its pack."""

import base64
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Page

from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS, lane, task_race
from dashboard.browser.race_panels import panel_figures
from dashboard.headless import frames, records
from dashboard.runs import downloads
from dashboard.runs.records import Record, decode, encode, lane_records, plain_number
from demo_models import TASKS
from demo_models.landscapes import SURFACES
from radam_core.race.frames import COUNTED, DIVERGED, Histograms
from radam_core.race.quantities import BY_GROUP, QUANTITIES
from radam_core.race.race import Race

CONFIG = RaceConfig.make(
    {
        "task": "surfaces",
        "steps": 60,
        "steps_per_frame": 20,
        "record_every": 5,
        "evaluate_every": 30,
        "lanes": [lane("adam", 2e-2), lane("radam", 1e-4), lane("sgd", 1e3)],  # the last one diverges at once
    }
)
LOST_AT = 2


@pytest.fixture(scope="module")
def recorded():
    return list(frames(CONFIG))


@pytest.fixture(scope="module")
def told():
    return by_lane(records(CONFIG))


def by_lane(found) -> dict[int, list[Record]]:
    lanes: dict[int, list[Record]] = {}
    for records_ in found:
        for place, record in records_.items():
            lanes.setdefault(place, []).append(record)
    return lanes


def floats(text: str, *shape: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape)


@pytest.mark.parametrize("place", [0, 1])
def test_every_column_is_the_frames_own(recorded, told, place):
    for frame, record in zip(recorded, told[place], strict=True):
        plain, read = json.loads(record.body), decode(record.body)
        assert (plain["number"], plain["last"]) == (record.number, record.last) == (frame.number, frame.last)
        assert record.ends == (frame is recorded[-1])
        assert "diverged_at" not in plain
        np.testing.assert_array_equal(read.steps, frame.steps)
        for name in QUANTITIES:
            np.testing.assert_array_equal(read.columns[name], frame.columns[name][:, place])
        np.testing.assert_array_equal(floats(plain["positions"], -1, 2), frame.positions[:, place])
        assert list(read.metrics) == list(frame.metrics)
        for t, found in read.metrics.items():
            assert {name: np.float32(value) for name, value in found.items()} == {
                name: values[place] for name, values in frame.metrics[t].items()
            }


def test_a_lane_that_was_lost_says_nothing_more(recorded, told):
    assert recorded[1].diverged_at[2] == LOST_AT
    assert [(record.number, record.last, record.ends) for record in told[2]] == [(0, 1, False), (1, LOST_AT, True)]
    plain = json.loads(told[2][-1].body)
    assert plain["diverged_at"] == LOST_AT
    assert not {"metrics", "histograms", "samples"} & set(plain)


def test_a_lane_that_diverged_ends_where_it_was_last(scripts):
    """From the race to the drawing. The lane is lost at step 3, when its loss at the place of step 2 is seen."""
    config = CONFIG.changed(record_every=1, lanes=[lane("adam", 2e-2), lane("sgd", 1e-2)])
    made, start = list(frames(config)), SURFACES["rosenbrock"].start
    assert made[-1].diverged_at == (None, 3)
    positions = np.concatenate([frame.positions for frame in made])
    assert np.isfinite(positions[:2, 1]).all()
    assert np.isnan(positions[2:, 1]).all()
    assert np.isfinite(positions[:, 0]).all()

    history(scripts, by_lane(records(config)))
    (walk,) = (trace for trace in panel_figures(config)["surface"].data if trace.meta and trace.meta["lane"] == 1)
    drawn = scripts.evaluate(
        """async (trace) => {
            const { LiveChart } = await load("live_chart.js")
            const live = { view: { group: "all" }, runs: [{ history: own }], hidden: new Set(), frozen: null }
            return LiveChart.prototype.filled.call({ live }, trace)
        }""",
        {"meta": walk.meta, "line": {"color": "red"}},
    )
    walked = np.vstack([start, positions[:2, 1]])
    np.testing.assert_allclose(np.array([drawn["x"][:3], drawn["y"][:3]], dtype=float).T, walked, rtol=1e-6)
    assert (drawn["x"][3:], drawn["y"][3:]) == ([None], [None])  # what follows the place of step 2 is the line's end
    assert [size > 0 for size in drawn["marker"]["size"]] == [False, False, True, False]


def test_a_lane_says_the_same_whoever_races_beside_it(told):
    for place, lanes in ((0, [0]), (1, [1, 2]), (2, [2])):
        alone = by_lane(records(CONFIG, lanes))
        assert alone[place] == told[place]


def test_lanes_that_nobody_wants_any_more_leave_their_pack(told):
    race, left = Race(TASKS["surfaces"].open(CONFIG.settings), CONFIG.plan()), {1, 2}
    found = by_lane(lane_records(race, wanted=lambda: left))
    assert (len(found[0]), found[1]) == (1, told[1])
    assert race.shown == 1


def test_what_is_not_finite_is_null_and_a_number_is_the_shortest(told):
    assert plain_number(np.float32(0.1)) == 0.1
    assert [str(plain_number(np.float32(value))) for value in (576, 1e30, -0.5)] == ["576", "1e+30", "-0.5"]
    assert [plain_number(np.float32(value)) for value in (math.nan, math.inf, -math.inf)] == [None] * 3
    for lane_ in told.values():
        for record in lane_:
            assert "\n" not in record.body


def history(page: Page, told: dict[int, list[Record]]) -> None:
    """Gives the page these records; what it makes of them is `own` there."""
    page.evaluate(
        """async ([lanes, steps, columns, told]) => {
            const { History } = await load("live_history.js")
            window.own = new History(lanes, steps, columns)
            for (const [place, records] of told) for (const record of records) own.add(place, record)
        }""",
        [
            len(told),
            CONFIG.steps,
            list(QUANTITIES),
            [[place, [json.loads(record.body) for record in found]] for place, found in told.items()],
        ],
    )


def test_the_page_reads_what_was_recorded(scripts, told):
    history(scripts, told)
    for place, found in told.items():
        parts = [decode(record.body) for record in found]
        steps = np.concatenate([part.steps for part in parts])
        assert scripts.evaluate("k => own.lanes[k].steps", place) == steps.tolist()
        for name in QUANTITIES:
            values = np.concatenate([part.columns[name] for part in parts]).astype(float)
            read = scripts.evaluate("([k, name]) => own.lanes[k].columns[name]", [place, name])
            np.testing.assert_array_equal(np.array(read, dtype=float), np.where(np.isfinite(values), values, np.nan))
        packed = [json.loads(record.body).get("positions", "") for record in found]
        places = np.concatenate([floats(text, -1, 2) for text in packed]).astype(float)
        read = np.array(scripts.evaluate("k => own.lanes[k].positions", place), dtype=float)
        np.testing.assert_array_equal(read, np.where(np.isfinite(places), places, np.nan))
    assert scripts.evaluate("own.lanes.map((lane) => lane.divergedAt)") == [None, None, LOST_AT]


def test_the_page_reads_every_bin_of_a_histogram(scripts, recorded):
    """Counts of one byte and of five, a gap between bins, zeros, and groups and quantities that have none at all."""
    groups, lanes = ("first", "second"), 3
    counts = np.zeros((len(COUNTED), lanes, len(groups), 256), dtype=np.uint32)
    counts[0, 0, 0, [0, 1, 100, 130]] = [7, 1, 127, 128]
    counts[0, 0, 1, [101, 255]] = [2**32 - 1, 16_384]
    counts[2, 1, 1, 64] = 5
    counts[1, 2, 0, 0] = 9
    made = Histograms(
        10, groups, counts, {"grad_norm": np.ones((lanes, 2), np.float32)}, groups, np.ones((lanes, 2), np.float32), {}
    )
    frame = replace(recorded[0], histograms=(made,))
    history(scripts, {place: [encode(frame, place)] for place in range(lanes)})
    for quantity, k, name in itertools.product(range(len(COUNTED)), range(lanes), ("all", *groups)):
        chosen = counts[quantity, k] if name == "all" else counts[quantity, k, [groups.index(name)]]
        shares = chosen.sum(axis=0, dtype=float) / max(chosen.sum(dtype=float), 1)
        read = scripts.evaluate(
            "([q, k, g]) => own.lanes[k].distribution(own.lanes[k].histograms[0], q, g)", [quantity, k, name]
        )
        bins = np.round(np.array(read["x"]) / math.log10(2) - 0.5).astype(int) + 127
        again = np.zeros(257)
        again[bins] = read["y"]
        np.testing.assert_allclose(again[1:256], shares[1:], rtol=1e-12)


def test_groups_and_the_spread_of_psi_are_the_frames_own(scripts):
    """In the record, in what the page reads, and in a download; only what was measured is said."""
    config = CONFIG.changed(batch_size=4, half_batch_steps=10, lanes=[lane("adam", 2e-2), lane("sgd", 1e-4)])
    recorded, told = list(frames(config)), by_lane(records(config))
    history(scripts, told)
    found = {one.t: one for frame in recorded for one in frame.histograms}
    assert list(found) == [1, 5, 10, 25, 50]
    for place in (0, 1):
        spread = {t: values for record in told[place] for t, values in decode(record.body).spread.items()}
        read = scripts.evaluate("k => own.lanes[k].histograms", place)
        assert [one["t"] for one in read] == list(found) == list(spread)
        for one in read:
            made = found[one["t"]]
            assert set(one["by_group"]) == set(BY_GROUP)
            for name, values in one["by_group"].items():
                np.testing.assert_array_equal(np.array(values, np.float32), made.by_group[name][place])
            measured = {name: values[place] for name, values in made.spread.items() if np.isfinite(values[place])}
            assert one["spread"] == pytest.approx(measured, rel=1e-6) == spread[one["t"]]
            within = place == 0 and one["t"] <= 10
            assert ("psi_within" in one["spread"], "kurtosis" in one["spread"]) == (within, within)
            assert ("psi_across" in one["spread"]) == (place == 0)
    table = downloads.records(config, [[record.body for record in told[place]] for place in (0, 1)])
    rows = table[(table["lane"] == config.lanes[0].label) & table["psi_across"].notna()]
    assert rows["step"].tolist() == list(found)
    np.testing.assert_allclose(
        rows["psi_within"], [one.spread["psi_within"][0] for one in found.values()], rtol=1e-6, equal_nan=True
    )
    assert table["angle"].notna().any()


# What a step may cost on the wire for 8 KB a second at the steps a second of two cores: figure-1 makes 11 of them
# (docs/RESULTS.md), which would allow 727, and the others are bounded likewise. The sentences of `numbers` are not in:
# five times 5 KB in 500 steps of figure-1, 53 bytes a step. `surfaces` is over in two or three seconds.
@pytest.mark.parametrize(
    ("config", "most"),
    [
        (PRESETS["figure-1"].config, 540),
        (task_race("numbers"), 240),
        (task_race("digits"), 165),
        (task_race("text"), 250),
        (task_race("surfaces"), 20),
    ],
    ids=["figure-1", "numbers", "digits", "text", "surfaces"],
)
def test_a_step_takes_few_bytes(config, most):
    """By the first records of the real race, and as many histograms as the whole one has."""
    begun = []
    for frame in frames(config):
        begun.append(frame)
        if frame.last >= 10:
            break

    def size(*found) -> int:
        return sum(len(encode(frame, k).body) + len('"0":[],') for frame in found for k in range(len(config.lanes)))

    sizes = size(*(replace(frame, histograms=()) for frame in begun))
    histogram = (size(*begun) - sizes) / sum(len(frame.histograms) for frame in begun)
    per_step = sizes / begun[-1].last + histogram * len(config.plan().histogram_steps) / config.steps
    assert per_step <= most


def test_samples_travel_when_there_are_some(recorded):
    samples = [("eins", "one", "one")]
    assert "samples" not in json.loads(encode(recorded[0], 0).body)
    assert json.loads(encode(recorded[0], 0, samples).body)["samples"] == [["eins", "one", "one"]]
    lost = replace(recorded[1], status=(DIVERGED,) * 3)
    assert "samples" not in json.loads(encode(lost, 2, samples).body)
