"""SweepConfig: the grid it stands for, lanes that are a race's own, links, bounds, and axes as people write them."""

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.asked.axis_text import axis_text, axis_values
from dashboard.asked.config import MOST_RECORDED, RaceConfig
from dashboard.asked.kinds import KINDS
from dashboard.asked.sweep_config import AXES, MOST_CELLS, SweepConfig, without_warmup
from dashboard.asked.sweep_presets import SWEEPS, contender
from dashboard.runs.identity import lane_ids
from demo_models import TASKS
from radam_core.methods import METHODS
from radam_core.schedules import DECAYS

GRID = {"lr": (0.01, 0.1), "warmup_steps": (0, 100), "beta2": (0.9, 0.99), "threshold": (4, 5), "decay": ("linear",)}
WITH_LENGTH = contender("adam-linear", "Adam + warmup")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def config(contenders=None, axes=None, task="surfaces", **changes):
    contenders = [contender("adam")] if contenders is None else contenders
    axes = {"lr": (0.01, 0.1)} if axes is None else axes
    return SweepConfig.make({"task": task, "contenders": contenders, "axes": axes, **changes})


def mixed(**changes):
    several = [WITH_LENGTH, contender("radam", lr_times=2, eps=1e-6), contender("sgd", lr_times=0.1)]
    return config(several, GRID, seeds=(3, 7), **changes)


# ---- the grid


@pytest.mark.parametrize(
    ("axis", "having"),
    [
        ("lr", set(METHODS)),
        ("warmup_steps", {"adam-linear", "adam-exponential"}),  # the untuned ones follow from beta2
        ("beta2", set(METHODS) - {"sgd"}),
        ("beta1", set(METHODS)),
        ("eps", set(METHODS) - {"sgd"}),
        ("weight_decay", set(METHODS)),
        ("clip", set(METHODS)),
        ("threshold", {"radam", "radam-exact", "adam-4-radam", "sgd-4-adam-8-radam"}),
        ("frozen_steps", {"adam-2k", "adam-2k-authors"}),
        ("decay", set(METHODS)),
    ],
)
def test_an_axis_is_for_the_methods_that_have_such_a_setting(axis, having):
    contenders = SweepConfig.make(
        {"task": "surfaces", "contenders": [contender(name, name) for name in METHODS][:20], "axes": {"lr": [0.01]}}
    ).contenders
    assert {one.method for one in contenders if one.has(axis)} == having


def test_every_axis_has_a_row_above():
    assert set(AXES) == {
        *("lr", "warmup_steps", "beta2", "beta1", "eps", "weight_decay", "clip", "threshold", "frozen_steps", "decay")
    }


def test_a_grid_is_each_contender_along_its_own_axes_over_the_seeds():
    """By hand: Adam + warmup has lr, warmup and beta2, 2 x 2 x 2; RAdam lr, beta2 and threshold, 2 x 2 x 2; SGD lr, 2;
    the one decay is everybody's. Two seeds each."""
    made = mixed()
    names = {
        0: ["lr", "warmup_steps", "beta2", "decay"],
        1: ["lr", "beta2", "threshold", "decay"],
        2: ["lr", "decay"],
    }
    assert made.size == len(made.cells) == 2 * (8 + 8 + 2)
    assert [cell.place for cell in made.cells] == list(range(made.size))
    assert [[cell.contender for cell in made.cells].count(number) for number in range(3)] == [16, 16, 4]
    assert all(sorted(cell.values) == sorted(names[cell.contender]) for cell in made.cells)
    assert all(GRID[name][i] == cell.values[name] for cell in made.cells for name, i in cell.at.items() if name != "lr")
    rates = {number: {cell.lane.lr for cell in made.cells if cell.contender == number} for number in range(3)}
    assert rates == {0: {0.01, 0.1}, 1: {0.02, 0.2}, 2: {0.001, 0.01}}  # 1, 2 and 0.1 times the axis
    where = {(cell.contender, *sorted(cell.at.items()), cell.seed) for cell in made.cells}
    assert len(where) == made.size


def test_what_a_contender_sets_itself_is_no_axis_of_it():
    made = config([contender("adam", "a", beta2=0.5), contender("adam", "b")], {"lr": [0.1], "beta2": [0.9, 0.99]})
    assert [(cell.contender, cell.lane.beta2) for cell in made.cells if cell.seed == 0] == [
        (0, 0.5),
        (1, 0.9),
        (1, 0.99),
    ]


def test_a_rate_is_as_people_write_it():
    (cell,) = config([contender("sgd", lr_times=0.1)], {"lr": [3]}, seeds=[0]).cells
    assert 3 * 0.1 != 0.3
    assert cell.lane.lr == cell.values["lr"] == 0.3


def as_lane(made, cell):
    """A second way to a cell's lane: what its contender and the axes set; a warmup of no steps is none."""
    own = made.contenders[cell.contender]
    method, chosen = own.method, {**own.lane, **cell.values}
    if chosen.get("warmup_steps") == 0:
        method = "adam"
        del chosen["warmup_steps"]
    return {"label": "another label", "method": method, **chosen}


@pytest.mark.parametrize("asked_by", ["the race", "the lane"])
def test_a_cell_is_the_same_lane_as_in_a_race(asked_by):
    made = mixed(steps=300, record_every=5, settings={"noise": 0.5})
    ids = lane_ids(made)
    assert len(set(ids)) == made.size
    for cell in made.cells:
        lane, seed = as_lane(made, cell), cell.seed
        if asked_by == "the lane":
            lane, seed = {**lane, "seed": cell.seed}, 0
        race = {"task": "surfaces", "steps": 300, "record_every": 5, "settings": {"noise": 0.5}, "seed": seed}
        assert lane_ids(RaceConfig.make({**race, "lanes": [lane]})) == (ids[cell.place],)


@pytest.mark.parametrize(("method", "plain"), [("adam-linear", "adam"), ("adam-exponential", "adam")])
@pytest.mark.parametrize("length", [0, 0.0])
def test_a_warmup_of_no_steps_is_the_plain_method(method, plain, length):
    assert without_warmup(method) == plain
    made = config([contender(method, beta2=0.99)], {"lr": [0.01], "warmup_steps": [length, 5]}, seeds=[4])
    none, some = made.cells
    assert (none.lane.method, none.lane.warmup_steps, some.lane.method) == (plain, None, method)
    race = {"task": "surfaces", "lanes": [{"label": "x", "method": plain, "lr": 0.01, "beta2": 0.99}], "seed": 4}
    assert lane_ids(made)[0] == lane_ids(RaceConfig.make(race))[0] != lane_ids(made)[1]


def test_the_settings_of_a_contender_are_its_own():
    several = [contender("adam", norm, settings={"norm": norm}) for norm in ("post", "pre")]
    made = config(several, {"lr": [0.01]}, "numbers", settings={"width": 16}, seeds=[1])
    for place, norm in enumerate(("post", "pre")):
        race = made.only([place])
        assert (race.settings["norm"], race.settings["width"], race.seed) == (norm, 16, 1)
        lane = {"label": "x", "method": "adam", "lr": 0.01}
        same = {"task": "numbers", "settings": {"norm": norm, "width": 16}, "lanes": [lane], "seed": 1}
        assert lane_ids(race) == lane_ids(RaceConfig.make(same)) == (lane_ids(made)[place],)


# ---- stacks and races


def test_lanes_of_one_seed_and_the_same_settings_make_a_stack():
    several = [contender("adam"), contender("radam"), contender("sgd", settings={"noise": 0.0})]
    made = config(several, {"lr": [0.01]}, seeds=(0, 1))
    keys = [made.stack_key(place) for place in range(made.size)]
    assert [keys.index(key) for key in keys] == [0, 1, 0, 1, 4, 5]  # Adam and RAdam by seed, SGD apart


def test_the_cells_of_a_stack_are_a_race():
    made = config([contender("adam"), contender("radam")], {"lr": [0.01, 0.1]}, seeds=(5, 9))
    places = [place for place in range(made.size) if made.stack_key(place) == made.stack_key(1)]
    race = made.only(places)
    assert (len(places), race.seed, len({lane.label for lane in race.lanes})) == (4, 9, 4)
    assert lane_ids(race) == tuple(lane_ids(made)[place] for place in places)
    assert RaceConfig.make(race.to_json()) == race
    assert [made.lane_json(place) for place in places] == [race.lane_json(k) for k in range(4)]


def test_a_race_of_cells_keeps_their_seeds_and_so_their_lanes():
    made = mixed()
    places = [35, 0, 1, 20, 7]
    race = made.race_of(places)
    assert [race.seed + lane.seed for lane in race.lanes] == [made.cells[place].seed for place in places]
    assert lane_ids(race) == tuple(lane_ids(made)[place] for place in places)
    assert RaceConfig.from_link(race.to_link()) == race


@pytest.mark.parametrize(
    ("contenders", "axes"),
    [
        ([WITH_LENGTH, contender("radam")], {"lr": (0.01, 0.1), "warmup_steps": (0, 100)}),
        ([contender("adam", "a" * 40), contender("adam", "b" * 40, beta1=0.5)], {"lr": (0.01,), "beta2": (0.9, 0.99)}),
        (  # long names that differ at their ends, beside long values
            [contender("adam", "a" * 39 + end, beta1=beta1) for end, beta1 in (("1", 0.8), ("2", 0.9))],
            {"lr": (0.0123,), "beta2": (0.9991,), "eps": (1.5e-8,), "clip": (1.5,)},
        ),
        (  # values that together are longer than a label may be
            [contender("radam")],
            {"lr": (0.0123,), "beta2": (0.9991,), "eps": (1.5e-8,), "clip": (1.5,), "beta1": (0.95,), "threshold": (5,)}
            | {"weight_decay": (0.01,), "decay": ("inverse-sqrt", "linear")},
        ),
        ([contender("adam")], {"lr": (0.0012345678, 0.0012345679)}),  # values that differ in their eighth digit
    ],
)
def test_a_race_of_any_cells_has_labels_of_their_own(contenders, axes):
    made = config(contenders, axes)
    race = made.race_of(range(made.size))
    labels = [lane.label for lane in race.lanes]
    assert len(set(labels)) == made.size == len(set(lane_ids(race)))
    assert max(map(len, labels)) <= 60


def test_a_race_of_cells_has_at_most_as_many_lanes_as_a_race():
    made = config(axes={"lr": [k / 100 for k in range(1, 34)]}, seeds=(0, 1))
    assert made.race_of(range(64)).size == 64
    for places in (range(65), ()):
        with pytest.raises(ValueError, match=f"a race has from 1 to 64 lanes, got {len(places)}"):
            made.race_of(places)


def test_a_race_of_cells_has_one_task():
    several = [contender("adam", "a"), contender("adam", "b", settings={"noise": 0.0})]
    made = config(several, {"lr": [0.01]}, seeds=[0])
    with pytest.raises(ValueError, match="lanes of one race need a task with the same settings"):
        made.race_of([0, 1])
    assert made.race_of([1]).settings["noise"] == 0


def test_a_setting_that_is_written_out_is_the_one_that_is_left_out():
    """The noise is 1 unless it is set: both contenders have the same task, and may race side by side."""
    several = [contender("adam", "a"), contender("radam", "b", settings={"noise": 1.0})]
    made = config(several, {"lr": [0.01]}, seeds=[0])
    assert made.only([0]).settings == made.only([1]).settings
    assert made.stack_key(0) == made.stack_key(1)
    assert made.race_of([0, 1]).size == 2


# ---- JSON and links


@st.composite
def sweeps(draw):
    task = draw(st.sampled_from(["surfaces", "numbers", "digits"]))
    labels = draw(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=3, unique=True))
    methods = st.sampled_from(list(METHODS))
    own = {"surfaces": {"noise": 0.5}, "numbers": {"norm": "pre"}, "digits": {"width": 4}}[task]
    contenders = [
        contender(draw(methods), label, draw(st.floats(1e-3, 1e3)), own if draw(st.booleans()) else {}, clip=2.0)
        for label in labels
    ]
    several = {"min_size": 1, "max_size": 2, "unique": True}
    axes = {"lr": draw(st.lists(st.floats(1e-9, 10), **several))}
    others = {
        "warmup_steps": st.lists(st.integers(0, 10**6), **several),
        "beta2": st.lists(st.floats(0.61, 0.9999), **several),
        "decay": st.lists(st.sampled_from(list(DECAYS)), **several),
        "frozen_steps": st.lists(st.integers(0, 1000), **several),
    }
    axes |= {name: draw(values) for name, values in others.items() if draw(st.booleans())}
    seeds = draw(st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=2, unique=True))
    return config(contenders, axes, task, seeds=seeds, steps=draw(st.integers(1, 1000)))


@settings(max_examples=25)
@given(sweeps())
def test_json_and_link_round_trip(made):
    link = made.to_link()
    assert SweepConfig.make(made.to_json()) == made == SweepConfig.from_link(link)
    assert hash(SweepConfig.from_link(link)) == hash(made)
    assert SweepConfig.from_link(link).cells == made.cells
    assert made.size == len(made.cells) == len(lane_ids(made))
    assert set(link) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def test_equal_configurations_have_equal_texts():
    """And so one run id, however the numbers were written."""
    whole, real = (config(axes={"lr": [one, 0.1]}) for one in (1, 1.0))
    assert whole == real
    assert lane_ids(whole) == lane_ids(real)
    assert whole.to_json() == real.to_json()


def test_a_changed_configuration_is_checked_again_and_has_other_cells():
    made = config()
    assert (len(made.cells), len(made.changed(seeds=[4]).cells)) == (6, 2)
    assert made.changed(settings={"noise": 0.0}).settings["noise"] == 0
    with pytest.raises(ValueError, match="at most 1,000 cells"):
        made.changed(axes={"lr": list(range(1, 400))})


@settings(max_examples=40)
@given(st.text() | st.binary().map(lambda b: base64.urlsafe_b64encode(b).decode()))
def test_any_other_link_is_refused_with_a_reason(text):
    with pytest.raises(ValueError, match="must be"):
        SweepConfig.from_link(text)


@settings(max_examples=80)
@given(JSON, st.sampled_from(["contenders", "axes", "seeds", "contender", "lane", "settings", "method", *AXES]))
def test_whatever_a_field_holds_it_is_a_sweep_or_refused(value, field):
    """Nothing but a ValueError, and a grid that is as large as it says."""
    entry, axes, others = contender("adam-linear"), {"lr": [0.01]}, {}
    if field in ("contenders", "axes", "seeds"):
        others = {field: value}
    elif field in AXES:
        axes = {**axes, field: value}
    else:
        entry = value if field == "contender" else {**entry, field: value}
    plain = {"task": "surfaces", "contenders": [entry], "axes": axes, "seeds": [0], **others}
    try:
        made = SweepConfig.make(json.dumps(plain))
    except ValueError:
        return
    assert made.size == len(made.cells) <= MOST_CELLS


def test_a_link_cannot_be_a_bomb():
    bomb = base64.urlsafe_b64encode(zlib.compress(b"[" * 10**7, 9)).decode()
    with pytest.raises(ValueError, match=r"must have at most|cut off or too long"):
        SweepConfig.from_link(bomb)


FILES = {"source_file": "a.txt", "target_file": "b.txt"}


@pytest.mark.parametrize(
    "made",
    [
        config(task="numbers", settings=FILES),
        config([contender("adam"), contender("radam", settings=FILES)], task="numbers"),
    ],
    ids=["the sweep's", "a contender's"],
)
def test_links_name_no_files_of_this_machine(made):
    with pytest.raises(ValueError, match=r"numbers\.source_file must be empty in a link"):
        made.to_link()
    forged = base64.urlsafe_b64encode(zlib.compress(made.to_json().encode())).decode()
    with pytest.raises(ValueError, match=r"numbers\.source_file must be empty in a link"):
        SweepConfig.from_link(forged)


# ---- bounds and errors


TOO_MANY = {"lr": [k / 1000 for k in range(1, 335)]}  # 334 rates x 3 seeds


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axes": TOO_MANY}, "a sweep may have at most 1,000 cells, got 1,002: take fewer values or fewer seeds"),
        (  # 100 rates x 3 seeds x 100,000 / 20 steps
            {"axes": {"lr": list(range(1, 101))}, "steps": 100_000, "record_every": 20},
            f"record_every must be larger: .*at most {MOST_RECORDED:,}, got 1,500,000",
        ),
        ({"axes": {"lr": []}}, r"axes\.lr must hold at least one entry, got none"),
        ({"axes": {"lr": [0.1], "beta2": []}}, r"axes\.beta2 must hold at least one entry, got none"),
        ({"axes": {"beta2": [0.9]}}, "axes must have lr"),
        ({"axes": [0.1]}, r"axes must be a mapping from settings of a lane to lists of values, got \[0\.1\]"),
        ({"axes": {"lr": "0.1"}}, r"axes\.lr must be a list of values, got '0\.1'"),
        ({"axes": {"lr": 0.1}}, r"axes\.lr must be a list of values, got '0\.1'"),
        ({"axes": {"lr": [0.1], "speed": [1]}}, "axes may be lr, warmup_steps, beta2, .*decay, got 'speed'"),
        ({"axes": {"lr": [0.1, 0.2, 0.1]}}, r"axes\.lr must have different values, got 0\.1 twice"),
        ({"axes": {"lr": [1, 1.0]}}, r"axes\.lr must have different values, got 1.* twice"),
        ({"axes": {"lr": [0.1, -1]}}, r"contender 'Adam': axes\.lr must be greater than 0, got -1"),
        ({"axes": {"lr": [1e5]}}, r"contender 'Adam': axes\.lr must be less than or equal to 10000, got 100000"),
        ({"axes": {"lr": [10**400]}}, r"axes\.lr must be .*, got "),
        ({"axes": {"lr": [float("nan")]}}, r"axes\.lr must be finite numbers, got nan"),
        (
            {"axes": {"lr": [0.1], "warmup_steps": [float("inf")]}},
            r"axes\.warmup_steps must be finite numbers, got inf",
        ),
        ({"axes": {"lr": [0.1], "beta2": [1.0]}}, r"contender 'Adam': axes\.beta2 must be less than 1, got 1"),
        ({"axes": {"lr": [0.1], "decay": ["fast"]}}, r"axes\.decay must be 'constant', .*'inverse-sqrt', got 'fast'"),
        (
            {"axes": {"lr": [0.1], "warmup_steps": [-5]}, "contenders": [WITH_LENGTH]},
            r"contender 'Adam \+ warmup': axes\.warmup_steps must be greater than or equal to 0, got -5",
        ),
        (
            {"axes": {"lr": [0.1], "threshold": [3]}, "contenders": [contender("radam")]},
            "contender 'RAdam': threshold must be at least 4 for first-order, got 3",
        ),
        ({"seeds": []}, "seeds must hold at least one entry, got none"),
        ({"seeds": [1, 2, 1]}, "seeds must have different values, got 1 twice"),
        ({"seeds": [-1]}, r"seeds\[0\] must be at least 0 and below 2,147,483,648, got -1"),
        ({"seeds": list(range(101))}, "seeds .*at most 100"),
        ({"contenders": []}, "contenders must hold at least one entry, got none"),
        ({"contenders": [contender("adam", str(k)) for k in range(21)]}, "contenders .*at most 20"),
        ({"contenders": [contender("adam")] * 2}, "contenders must have labels of their own, got 'Adam' twice"),
        ({"contenders": [contender("adam", "x" * 41)]}, "label .*at most 40 characters"),
        (
            {"contenders": [contender("adam", lr_times=0)]},
            "contender 'Adam': lr_times must be above 0 and at most 10,000",
        ),
        (
            {"contenders": [{"label": "Mine", "method": "lion"}]},
            "contender 'Mine': method must be one of adam, .*got 'lion'",
        ),
        ({"contenders": [contender("adam", speed=3)]}, "contender 'Adam': lane may set weight_decay, .*got 'speed'"),
        ({"contenders": [{"label": "x", "method": "adam", "lane": {"seed": 1}}]}, "lane may set .*got 'seed'"),
        (
            {"contenders": [contender("adam", settings={"nois": 1})]},
            "contender 'Adam': surfaces has no setting 'nois'; it has surface, noise, condition",
        ),
        (
            {"contenders": [contender("adam", settings={"noise": -1})]},
            r"contender 'Adam': surfaces\.noise must be a number from 0 to 1000, got -1",
        ),
        ({"settings": {"nois": 1}}, "surfaces has no setting 'nois'; it has surface, noise, condition"),
        ({"task": "chess"}, "task must be one of numbers, digits, text, images, surfaces, got 'chess'"),
        ({"speed": 3}, "speed .*not permitted, got 3"),
    ],
)
def test_errors_name_the_field_the_value_and_what_is_allowed(changes, message):
    with pytest.raises(ValueError, match=message):
        config(**changes)


def test_an_error_in_what_a_contender_sets_is_not_blamed_on_an_axis():
    with pytest.raises(ValueError, match=r"contender 'Adam': lane\.beta2 must be less than 1, got 2"):
        config([contender("adam", beta2=2)])


@pytest.mark.parametrize("axis", ["lr", "warmup_steps", "threshold"])
@pytest.mark.parametrize("value", ["0.5", None, True, [0.5]], ids=repr)
def test_the_values_of_an_axis_are_numbers(axis, value):
    """Text, nothing or a truth would be taken for a number by the lane, but not by those who draw and count lengths;
    and no axis goes unchecked because no contender has such a setting, as here the threshold."""
    with pytest.raises(ValueError, match=rf"axes\.{axis} must be"):
        config([WITH_LENGTH], {"lr": [0.01], axis: [value]})


def test_the_most_that_is_allowed_is_allowed():
    largest = config(axes={"lr": [k / 1000 for k in range(1, 251)]}, seeds=(0, 1, 2, 3), record_every=20)
    assert largest.size == len(largest.cells) == MOST_CELLS == 250 * 4
    assert config(seeds=range(100)).size == 200
    assert config([contender("adam", str(k)) for k in range(20)]).size == 120


# ---- the sweeps by name, and the kinds


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("rates", 3 * 4 * 5),  # contenders x rates x seeds
        ("warmup-lengths", (4 * 4 + 4) * 5),  # Adam's rates x lengths, RAdam's rates
        ("map", (8 * 8 + 8) * 3),
        ("map-long", (8 * 8 + 8) * 3),
        ("best-against-best", 9 * 5 * 3),
        ("figure-1", 8 * 5),
        ("collapse", 7 * 5),
        ("language-model", 3 * 5),
        ("digits", 4 * 5),
        ("appendix-c", 4 * 5),
        ("appendix-c-numbers", 4 * 5),
        ("beta2", 6 * 6 * 3),
        ("norms", 6 * 6 * 3),
        ("valley-rates", 4 * 7 * 5),
    ],
)
def test_the_sweeps_by_name(name, size):
    made = SWEEPS[name].config
    assert made.size == len(made.cells) == size <= MOST_CELLS
    assert size * (made.steps // made.record_every) <= MOST_RECORDED
    assert SweepConfig.from_link(made.to_link()) == made == SweepConfig.make(made.to_json())
    assert len(made.to_link()) < 1000  # it fits in a URL
    assert SWEEPS[name].story.endswith(".")
    for number in range(len(made.contenders)):
        assert made.baseline(number) == (2.8207 if made.task == "numbers" else None)  # as the task says


def test_no_sweep_by_name_is_without_its_size_above():
    assert set(SWEEPS) == {
        *("rates", "warmup-lengths", "map", "map-long", "best-against-best", "beta2", "norms", "valley-rates"),
        *("figure-1", "collapse", "language-model", "digits", "appendix-c", "appendix-c-numbers"),
    }


def test_a_baseline_holds_for_the_settings_of_the_contender():
    several = [contender("adam", "plain"), contender("adam", "smooth", settings={"label_smoothing": 0.1})]
    made = config(several, task="numbers")
    assert [made.baseline(number) for number in (0, 1)] == [TASKS["numbers"].baseline, None]


def test_the_kinds_of_runs():
    assert dict(KINDS) == {"race": RaceConfig, "sweep": SweepConfig}


# ---- axes as people write them


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.001, 0.003, 0.01", (0.001, 0.003, 0.01)),
        (" 1e-3;2e-3\t5 ", (0.001, 0.002, 5)),
        ("0 25 50", (0, 25, 50)),
        ("1 to 100 in 3", (1, 10, 100)),
        ("0.001 TO 1 in 4", (0.001, 0.01, 0.1, 1)),
        ("0.01..0.04 in 3", (0.01, 0.02, 0.04)),
        ("1 to 10 in 3", (1, 3.16, 10)),  # sqrt(10) to three digits
        ("0.001 to 0.00101 in 50", (0.001, 0.00101)),  # nothing lies between them in three digits
        ("", ()),
        (" , ", ()),
    ],
)
def test_an_axis_is_a_list_or_a_log_range(text, expected):
    found = axis_values("lr", text)
    assert found == expected
    assert all(isinstance(value, int) == float(value).is_integer() for value in found)


@settings(max_examples=40)
@given(st.floats(1e-6, 1), st.floats(2, 1e4), st.integers(2, 40))
def test_a_log_range_has_equal_ratios(low, times, count):
    """To three digits: a part in 200 at most, for a value that begins with 1.00."""
    values = axis_values("lr", f"{low} to {low * times} in {count}")
    exact = [low * times ** (k / (count - 1)) for k in range(count)]
    nearest = [min(values, key=lambda value, x=x: abs(value - x)) for x in exact]
    assert nearest == pytest.approx(exact, rel=1 / 200)
    assert len(values) == len(set(nearest)) <= count
    assert (np.diff(values) > 0).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fast", "lr must be numbers, such as .*, got 'fast'"),
        ("0.1, x", "got 'x'"),
        ("1 to 10", "got 'to'"),
        ("a to b in 3", "got 'a'"),
        ("0 to 1 in 3", "lr must rise from above 0 in a range, got 0 to 1: write 0 into a list"),
        ("2 to 1 in 3", "lr must rise from above 0 in a range, got 2 to 1"),
        ("1 to nan in 3", "lr must"),
        ("1 to inf in 3", "lr must"),
        ("1 to 10 in 1", "lr must have at least 2 values in a range, got 1"),
        ("1 to 10 in 0", "lr must have at least 2 values in a range, got 0"),
        ("1 to 10 in 1000", "lr must be numbers"),
        ("x" * 1000, "got 'x{40}'"),
    ],
)
def test_what_is_no_axis_is_refused_by_name(text, message):
    with pytest.raises(ValueError, match=message):
        axis_values("lr", text)


def test_decays_are_names():
    assert axis_values("decay", "linear, cosine") == ("linear", "cosine")
    with pytest.raises(ValueError, match=r"decay must be .*inverse-sqrt.*, got 'fast'"):
        axis_values("decay", "linear, fast")


@pytest.mark.parametrize("name", list(SWEEPS))
def test_the_axes_of_the_sweeps_by_name_are_the_same_after_they_were_written(name):
    for axis, values in SWEEPS[name].config.axes.items():
        assert axis_values(axis, axis_text(values)) == values


@settings(max_examples=60)
@given(st.lists(st.integers(0, 10**6) | st.floats(1e-12, 1e4), min_size=1, max_size=5))
def test_any_axis_is_the_same_after_it_was_written(values):
    """A sweep that a link brings is shown as text and made from it: it must still be that sweep."""
    assert axis_values("lr", axis_text(tuple(values))) == tuple(values)


def test_names_are_written_as_they_are():
    assert axis_text(("linear", "inverse-sqrt")) == "linear, inverse-sqrt"
    assert axis_text((0, 0.001, 100, 1e-8)) == "0, 0.001, 100, 1e-08"
