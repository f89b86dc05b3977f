"""RaceConfig: the same after JSON and a link, bounded, and errors that name field, value and what is allowed."""

import base64
import copy
import json
import pickle
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.asked.config import LaneConfig, RaceConfig
from dashboard.asked.presets import PRESETS
from demo_models import TASKS
from radam_core.methods import METHODS, PROFILES
from radam_core.schedules import DECAYS, WARMUPS

LANE = {"label": "Adam", "method": "adam", "lr": 1e-3}

LANES = [{**LANE, "label": str(k)} for k in range(64)]


def config(**changes):
    return RaceConfig.make({"task": "numbers", "lanes": [LANE], **changes})


def optional(strategy):
    return st.none() | strategy


@st.composite
def lanes(draw, label):
    method = draw(st.sampled_from(list(METHODS)))
    plain = METHODS[method].first_moment != "heavy-ball"
    warmup = draw(optional(st.sampled_from(list(WARMUPS))))
    lengths = st.floats(0, 1e6)
    return {
        "label": label,
        "method": method,
        "lr": draw(st.floats(1e-12, 1e4)),
        "weight_decay": draw(st.floats(0, 1e3)),
        "clip": draw(optional(st.floats(1e-6, 1e9))),
        "seed": draw(st.integers(0, 2**31 - 1)),
        "profile": draw(optional(st.sampled_from(list(PROFILES)))),
        "beta1": draw(optional(st.floats(0, 1, exclude_max=True))),
        "beta2": draw(optional(st.floats(0.61, 0.9999))),
        "eps": draw(optional(st.floats(0, 1e3))) if plain else None,
        "threshold": draw(optional(st.floats(4.01, 100))),
        "frozen_steps": draw(optional(st.integers(0, 1000))),
        "warmup": warmup,
        "warmup_steps": draw(lengths if warmup in ("linear", "exponential") else optional(lengths)),
        "decay": draw(optional(st.sampled_from(list(DECAYS)))),
    }


@st.composite
def task_settings(draw, task):
    chosen = {}
    for setting in task.settings:
        if setting.choices:
            chosen[setting.name] = draw(st.sampled_from(setting.choices))
        elif isinstance(setting.default, bool):
            chosen[setting.name] = draw(st.booleans())
        elif isinstance(setting.default, int):
            chosen[setting.name] = draw(st.integers(int(setting.low), int(setting.high)))
        elif isinstance(setting.default, float):
            chosen[setting.name] = draw(st.floats(setting.low, setting.high))
    return chosen


@st.composite
def configs(draw):
    task = TASKS[draw(st.sampled_from(list(TASKS)))]
    labels = draw(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=4, unique=True))
    return RaceConfig.make(
        {
            "task": task.name,
            "settings": draw(task_settings(task)),
            "lanes": [draw(lanes(label)) for label in labels],
            "seed": draw(st.integers(0, 2**31 - 1)),
            "steps": draw(st.integers(1, 100_000)),
            "batch_size": draw(st.integers(2, 1024)),
            "half_batch_steps": draw(st.integers(0, 1000)),
        }
    )


@settings(max_examples=60, deadline=None)
@given(configs())
def test_json_and_link_round_trip(made):
    assert RaceConfig.make(made.to_json()) == made == copy.deepcopy(made) == pickle.loads(pickle.dumps(made))
    assert hash(RaceConfig.make(made.to_json())) == hash(made)
    link = made.to_link()
    assert RaceConfig.from_link(link) == made
    assert set(link) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert made.plan().lanes == RaceConfig.from_link(link).plan().lanes


@settings(max_examples=60, deadline=None)
@given(st.text() | st.binary().map(lambda b: base64.urlsafe_b64encode(b).decode()))
def test_any_other_link_is_refused_with_a_reason(text):
    with pytest.raises(ValueError, match="must be"):
        RaceConfig.from_link(text)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_other_json_is_refused(value):
    with pytest.raises(ValueError, match="must be"):
        RaceConfig.make(json.dumps(value))


def test_a_link_cannot_be_a_bomb():
    bomb = base64.urlsafe_b64encode(zlib.compress(b"[" * 10**7, 9)).decode()
    with pytest.raises(ValueError, match=r"must have at most|cut off or too long"):
        RaceConfig.from_link(bomb)
    with pytest.raises(ValueError, match="must have at most 65536 characters, got 100000"):
        RaceConfig.from_link("A" * 100_000)


def test_links_fit_in_a_url():
    assert max(len(preset.config.to_link()) for preset in PRESETS.values()) < 1000


def test_what_is_left_out_comes_from_the_task():
    made = config()
    assert (made.steps, made.batch_size, made.evaluate_every) == (500, 32, 100)
    assert made.settings["depth"] == 6
    assert config(settings={"depth": 4}).settings["width"] == 32


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "chess"}, "task must be one of numbers, digits, text, images, surfaces, got 'chess'"),
        ({"settings": {"depth": 40}}, r"numbers\.depth must be a whole number from 1 to 12, got 40"),
        ({"settings": {"depth": 2.5}}, r"numbers\.depth must be a whole number from 1 to 12, got 2\.5"),
        ({"settings": {"depth": True}}, r"numbers\.depth must be a whole number from 1 to 12, got True"),
        ({"settings": {"dept": 4}}, "numbers has no setting 'dept'; it has depth, width"),
        ({"settings": {"norm": "mid"}}, r"numbers\.norm must be one of post, pre, got 'mid'"),
        ({"settings": 3}, "settings must be a mapping from names to values, got 3"),
        (
            {"settings": {"label_smoothing": 10**400}},
            r"numbers\.label_smoothing must be a number from 0 to .*, got 1000",
        ),
        ({"steps": 100_000, "lanes": LANES}, r"lanes times recorded steps may be at most 1,000,000, got 6,400,000"),
        ({"lanes": []}, "lanes must be from 1 to 64, got 0"),
        ({"lanes": [LANE] * 65}, "lanes .*at most 64"),
        ({"lanes": [LANE, LANE]}, "lanes must have labels of their own, got 'Adam' twice"),
        ({"steps": 0}, "steps must be at least 1 and at most 100,000, got 0"),
        ({"steps": 10**9}, "steps must be at least 1 and at most 100,000, got 1000000000"),
        ({"batch_size": 5000}, "batch_size must be at least 1 and at most 1,024, got 5000"),
        ({"half_batch_steps": 1001}, "half_batch_steps must be at least 0 and at most 1,000, got 1001"),
        (
            {"half_batch_steps": 100, "batch_size": 1},
            "half_batch_steps must be 0 where batch_size is 1: there is nothing to halve, got 100",
        ),
        ({"seed": -1}, "seed must be at least 0 and below 2,147,483,648, got -1"),
        ({"device": "tpu"}, "device must be 'auto', 'cpu', 'cuda' or 'mps', got 'tpu'"),
        ({"speed": 3}, "speed .*not permitted, got 3"),
        ({"lanes": [{**LANE, "lr": -1}]}, r"lane 'Adam': lr must be above 0 and at most 10,000, got -1"),
        ({"lanes": [{**LANE, "lr": float("nan")}]}, r"lane 'Adam': lr must be a finite number, got nan"),
        ({"lanes": [{**LANE, "method": "lion"}]}, r"lane 'Adam': method must be 'adam', .*got 'lion'"),
        ({"lanes": [{**LANE, "beta2": 1.0}]}, r"lane 'Adam': beta2 must be above 0 and below 1, got 1"),
        ({"lanes": [{**LANE, "label": ""}]}, r"lane 1: label .*at least 1 character, got ''"),
        (
            {"lanes": [{**LANE, "method": "radam", "threshold": 3}]},
            r"lane 'Adam': threshold must be at least 4 for first-order, got 3",
        ),
    ],
)
def test_errors_name_the_field_the_value_and_what_is_allowed(changes, message):
    with pytest.raises(ValueError, match=message):
        config(**changes)


def test_half_batches_are_off_unless_asked_for_and_make_other_lanes():
    """What is measured is in a lane's records, so they are not those of a lane without it."""
    plain, halved = config(), config(half_batch_steps=100)
    assert (plain.half_batch_steps, plain.plan().half_batch_steps, halved.plan().half_batch_steps) == (0, 0, 100)
    assert plain.lane_json(0) != halved.lane_json(0)
    assert RaceConfig.from_link(halved.to_link()) == halved


def test_configurations_are_frozen_and_change_into_new_ones():
    made = config()
    with pytest.raises(ValueError, match="frozen"):
        made.steps = 3
    with pytest.raises(TypeError, match="settings are frozen"):
        made.settings["depth"] = 3
    changed = made.changed(steps=7, settings={"depth": 2})
    assert (changed.steps, changed.settings["depth"], made.settings["depth"]) == (7, 2, 6)
    with pytest.raises(ValueError, match="steps must be"):
        made.changed(steps=0)


def test_links_name_no_files():
    made = config(settings={"source_file": "a.txt", "target_file": "b.txt"})
    with pytest.raises(ValueError, match=r"numbers\.source_file must be empty in a link"):
        made.to_link()
    forged = base64.urlsafe_b64encode(zlib.compress(made.to_json().encode())).decode()
    with pytest.raises(ValueError, match=r"numbers\.source_file must be empty in a link"):
        RaceConfig.from_link(forged)


def test_lanes_become_methods():
    lane = LaneConfig(label="x", method="adam-linear", lr=0.1, beta2=0.99, warmup_steps=50, decay="cosine", eps=1e-6)
    method = lane.as_lane(300).method
    assert (method.betas, method.warmup_steps, method.decay) == ((0.9, 0.99), 50, "cosine")
    assert (method.total_steps, method.eps) == (300, 1e-6)
    phased = LaneConfig(label="x", method="adam-4-radam", lr=0.1, beta2=0.99).as_lane(10).method
    assert phased.phases[0][1].betas == (0.9, 0.99)
    assert LaneConfig(label="x", method="radam", lr=0.1, profile="torch").as_lane(10).method.threshold == 5
