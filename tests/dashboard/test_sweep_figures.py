"""The figures and sentences of a sweep: every cell once, the right numbers, and nothing that they do not carry."""

import math

import numpy as np
import pytest

from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS, contender
from dashboard.evidence.findings import Findings
from dashboard.evidence.outcomes import DIVERGED, FINISHED, UNDER_WAY, Outcome
from dashboard.figures.methods import STYLES
from dashboard.figures.sweep import best_cell, courses_figure, line_styles, maps_figure, rates_figure
from dashboard.words.sweep_words import glossary, sign_sentences, warmup_sentences
from radam_core.methods import METHODS

STEPS, FIRST, BASELINE = 300, 4.0, 2.8207  # the baseline is that of `numbers`: below half of it a lane has learned
LOW, HIGH = 0.1, 2.82
WITH_LENGTH = contender("adam-linear", "Adam + warmup")


def config(contenders=None, axes=None, task="numbers", **changes):
    contenders = contenders or [WITH_LENGTH, contender("radam", "RAdam <b>")]
    axes = axes or {"lr": (0.001, 0.01, 0.1), "warmup_steps": (0, 100, 200, 500)}
    return SweepConfig.make({"task": task, "contenders": contenders, "axes": axes, "steps": STEPS, **changes})


def done(loss, **others):
    return Outcome(status=FINISHED, last=STEPS, first_loss=FIRST, final_loss=loss, **others)


def found_by(rule, made=None):
    made = made or config()
    return Findings.of(made, [rule(cell) for cell in made.cells])


# ---- maps


def maps(figure):
    return [trace for trace in figure.data if trace.type == "heatmap"]


@pytest.mark.parametrize("every_seed", [False, True])
@pytest.mark.parametrize("name", list(SWEEPS))
def test_every_lane_is_in_one_cell_of_one_map(name, every_seed):
    made = SWEEPS[name].config
    found = maps(maps_figure(made, every_seed))
    assert [trace.name for trace in found] == [one.label for one in made.contenders]
    places = []
    for number, trace in enumerate(found):
        rows = trace.meta["cells"]
        assert np.shape(trace.z) == np.shape(rows)[:2] == (len(rows), len(made.axes["lr"]))
        for row in rows:
            for column, cell in enumerate(row):
                lanes = [made.cells[place] for place in cell]
                assert len(lanes) == (1 if every_seed else len(made.seeds))
                assert {(lane.contender, lane.at["lr"]) for lane in lanes} == {(number, column)}
                others = [{name: value for name, value in lane.values.items() if name != "lr"} for lane in lanes]
                assert all(one == others[0] for one in others)
                places += cell
    assert sorted(places) == list(range(made.size))


@pytest.mark.parametrize(
    ("every_seed", "expected"),
    [
        (
            False,
            [
                ["warmup 0, β₂ 0.9", "warmup 0, β₂ 0.99", "warmup 50, β₂ 0.9", "warmup 50, β₂ 0.99"],
                ["β₂ 0.9", "β₂ 0.99"],
                [""],
            ],
        ),
        (
            True,
            [
                [f"warmup {w}, β₂ {b}, seed {s}" for w in (0, 50) for b in (0.9, 0.99) for s in (3, 4)],
                [f"β₂ {b}, seed {s}" for b in (0.9, 0.99) for s in (3, 4)],
                ["seed 3", "seed 4"],
            ],
        ),
    ],
)
def test_rows_are_named_by_where_they_stand_on_the_other_axes(every_seed, expected):
    """An axis of one value, here the decay, and an axis that a contender does not have are in no name."""
    several = [WITH_LENGTH, contender("radam"), contender("sgd", lr_times=10)]
    axes = {"lr": (0.01, 0.1), "warmup_steps": (0, 50), "beta2": (0.9, 0.99), "decay": ("linear",)}
    figure = maps_figure(config(several, axes, seeds=(3, 4)), every_seed)
    rows = [figure.layout[f"yaxis{suffix}"] for suffix in ("", "2", "3")]
    assert [list(axis.ticktext) for axis in rows] == expected
    assert [len(trace.meta["cells"]) for trace in maps(figure)] == [len(names) for names in expected]
    columns = [list(figure.layout[f"xaxis{suffix}"].ticktext) for suffix in ("", "2", "3")]
    assert columns == [["0.01", "0.1"], ["0.01", "0.1"], ["0.1", "1"]]  # SGD's are ten times the others'
    assert [figure.layout[f"xaxis{suffix}"].title.text for suffix in ("", "2", "3")] == ["", "", "learning rate"]


def test_contenders_are_named_above_their_maps_as_text():
    assert [note.text for note in maps_figure(config()).layout.annotations] == [
        "<b>Adam + warmup</b>",
        "<b>RAdam &lt;b&gt;</b>",
    ]


@pytest.mark.parametrize(
    ("axes", "every_seed", "expected"),
    [
        ({"lr": (0.1,), "warmup_steps": (0, 100)}, False, [0]),
        ({"lr": (0.1,), "warmup_steps": (0, 100)}, True, []),
        ({"lr": (0.1,), "warmup_steps": (0, 100), "beta2": (0.99,)}, False, [0]),
        ({"lr": (0.1,), "warmup_steps": (0, 100), "beta2": (0.9, 0.99)}, False, []),  # rows are not lengths alone
        ({"lr": (0.1,), "warmup_steps": (100,)}, False, []),
        ({"lr": (0.1,)}, False, []),
    ],
)
def test_the_line_of_the_shortest_warmup_is_where_rows_are_lengths(axes, every_seed, expected):
    figure = maps_figure(config(axes=axes), every_seed)
    assert [trace.meta["needs"] for trace in figure.data if trace.type == "scatter"] == expected


# ---- the rates


def lines_of(figure):
    return {trace.name: trace for trace in figure.data if trace.fill != "toself"}


def bands_of(figure):
    return {trace.name: trace for trace in figure.data if trace.fill == "toself"}


def by_rate(cell):
    """RAdam ends at lr, lr + 0.2 and lr + 0.4 at its seeds; the others at 1 + warmup / 100 + that. One diverges."""
    loss = cell.lane.lr + 0.2 * cell.seed
    if cell.contender == 1:
        return done(loss)
    if (cell.values["warmup_steps"], cell.lane.lr, cell.seed) == (0, 0.1, 2):
        return Outcome(status=DIVERGED, last=9, first_loss=FIRST, diverged_at=9)
    return done(min(1 + cell.values["warmup_steps"] / 100 + loss, 9.0))


def test_a_line_of_rates_is_the_mean_end_and_its_range():
    figure = rates_figure(found_by(by_rate))
    lengths = (0, 100, 200, 500)
    assert list(lines_of(figure)) == [*(f"Adam + warmup, warmup {length}" for length in lengths), "RAdam &lt;b&gt;"]
    radam = lines_of(figure)["RAdam &lt;b&gt;"]
    assert list(radam.x) == [0.001, 0.01, 0.1]
    assert list(radam.y) == pytest.approx([0.201, 0.21, 0.3])  # lr + 0.2, the middle of three
    band = bands_of(figure)["RAdam <b>"]
    assert list(band.y) == pytest.approx([0.401, 0.41, 0.5, 0.1, 0.01, 0.001])  # the highest, and back the lowest
    plain = lines_of(figure)["Adam + warmup, warmup 0"]
    # At lr 0.1 the seeds end at 1.1, 1.3 and, having diverged, at the first loss of 4.
    assert list(plain.y) == pytest.approx([1.201, 1.21, 6.4 / 3])
    far = lines_of(figure)["Adam + warmup, warmup 500"]
    assert list(far.y) == [FIRST] * 3  # above the first loss it counts as that
    (level,) = figure.layout.shapes
    assert (level.y0, level.y1) == (BASELINE, BASELINE)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("learning rate", "final loss")
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")


def test_a_rate_that_is_open_is_left_out_and_one_seed_has_no_range():
    def rule(cell):
        return Outcome(status=UNDER_WAY, last=5, first_loss=FIRST) if cell.at["lr"] == 1 else done(cell.lane.lr)

    figure = rates_figure(found_by(rule, config(seeds=[0])))
    assert not bands_of(figure)
    assert all(list(trace.x) == [0.001, 0.1] and list(trace.y) == [0.001, 0.1] for trace in figure.data)
    assert len(figure.data) == 5


@pytest.mark.parametrize("draw", [rates_figure, lambda found: courses_figure(found, [1, 2])], ids=["rates", "courses"])
def test_a_sweep_of_which_nothing_is_known_has_axes_only(draw):
    figure = draw(found_by(lambda cell: Outcome()))
    assert (len(figure.data), len(figure.layout.shapes)) == (0, 0)
    assert figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text


@pytest.mark.parametrize(
    "made",
    [
        *(preset.config for preset in SWEEPS.values()),
        config([contender(name, name) for name in METHODS], {"lr": (0.1,)}),
        config([contender("adam", f"Adam {k}", beta1=k / 20) for k in range(6)], {"lr": (0.1,), "beta2": (0.9, 0.99)}),
        config([contender("adam", f"Adam {k}", beta1=k / 20) for k in range(20)], {"lr": (0.1,)}),
    ],
    ids=[*SWEEPS, "every method", "six of one method", "twenty of one method"],
)
def test_no_two_lines_look_alike(made):
    found = found_by(lambda cell: done(LOW), made)
    styles = line_styles(found)
    assert len({(style.color.lower(), style.dash) for style in styles}) == len(found.lines)
    drawn = [(trace.line.color, trace.line.dash) for trace in lines_of(rates_figure(found)).values()]
    assert drawn == [(style.color, style.dash) for style in styles]


@pytest.mark.parametrize("name", ["figure-1", "rates", "map"])
def test_a_method_looks_in_a_sweep_as_it_does_in_a_race(name):
    """Contenders that come before it take no dash of its own."""
    found = Findings.of(SWEEPS[name].config, [Outcome()] * SWEEPS[name].config.size)
    looks = {one.name: style for one, style in zip(found.lines, line_styles(found), strict=True)}
    assert (looks["RAdam"].color.lower(), looks["RAdam"].dash) == (STYLES["radam"].color.lower(), "solid")


def test_the_last_line_of_a_contender_is_in_its_own_colour():
    styles = line_styles(found_by(lambda cell: Outcome()))
    assert [styles[place].color.lower() for place in (3, 4)] == [
        STYLES[method].color.lower() for method in ("adam-linear", "radam")
    ]
    assert len({style.dash for style in styles[:4]}) == 1


# ---- the courses


def test_a_course_is_that_of_the_best_cell_of_each_contender():
    """Best are RAdam at 0.001 and the warmup of 0 steps there. Losses at steps 1 and 2 are 3 and the end, by seed."""

    def rule(cell):
        made = by_rate(cell)
        end = None if math.isnan(made.final_loss) else made.final_loss
        return Outcome(**{**vars(made), "losses": (3.0, end)})

    found = found_by(rule)
    figure = courses_figure(found, [1, 2, 3])
    assert list(lines_of(figure)) == ["Adam + warmup, warmup 0", "RAdam &lt;b&gt;"]
    assert figure.layout.xaxis.title.text == "step, all at lr 0.001"
    plain, radam = lines_of(figure).values()
    assert (list(plain.x), list(plain.y)) == ([1, 2], pytest.approx([3, 1.201]))
    assert (list(radam.x), list(radam.y)) == ([1, 2], pytest.approx([3, 0.201]))
    low, high = 0.001, 0.401
    assert list(bands_of(figure)["RAdam &lt;b&gt;"].y) == pytest.approx([3, high, low, 3])
    line, rate = best_cell(found.lines_of(0))
    assert (line.at, rate.lr) == ({"warmup_steps": 0}, 0.001)
    assert best_cell([]) is None
    rates = lines_of(rates_figure(found))
    assert (plain.line.color, plain.line.dash) == (
        rates["Adam + warmup, warmup 0"].line.color,
        rates["Adam + warmup, warmup 0"].line.dash,
    )
    assert [shape.y0 for shape in figure.layout.shapes] == [BASELINE]


def test_rates_that_differ_are_named_with_each_course():
    made = config([contender("adam"), contender("radam")], {"lr": (0.1, 0.2)})

    def rule(cell):
        return done(LOW if cell.contender == cell.at["lr"] else HIGH, losses=(1.0,))

    figure = courses_figure(found_by(rule, made), [1])
    assert list(lines_of(figure)) == ["Adam, lr 0.1", "RAdam, lr 0.2"]
    assert figure.layout.xaxis.title.text == "step"


def test_a_course_goes_as_far_as_all_its_seeds():
    courses = [(3.0, 2.0, 1.0), (3.0, None), (5.0, 4.0, 3.0)]
    made = config([contender("radam")], {"lr": (0.1,)})
    figure = courses_figure(found_by(lambda cell: done(LOW, losses=courses[cell.seed]), made), [1, 10, 20])
    (course,) = lines_of(figure).values()
    assert (list(course.x), list(course.y)) == ([1, 10], pytest.approx([11 / 3, 3]))  # 3 of 2 and 4: one is unknown


# ---- sentences

# By learning rate: of three seeds, how many learn at each length; 500 steps are beyond the run of 300. And of RAdam.
LEARNED = {
    0.001: ({0: 3, 100: 3, 200: 3, 500: 3}, 3),
    0.01: ({0: 1, 100: 1, 200: 2, 500: 0}, 2),
    0.1: ({0: 0, 100: 0, 200: 0, 500: 3}, 0),
}


def of_map(cell):
    lengths, radam = LEARNED[cell.lane.lr]
    learned = radam if cell.contender else lengths[cell.values["warmup_steps"]]
    return done(LOW if cell.seed < learned else HIGH)


@pytest.mark.parametrize(
    ("lr", "parts"),
    [
        (0.001, ["Adam + warmup learns without any", "RAdam <b> learns without."]),
        (0.01, ["Adam + warmup needs 200 steps", "RAdam <b> learns without at 67% of the seeds"]),
        (0.1, ["Adam + warmup learns with none of the lengths up to 200", "RAdam <b> does not learn"]),
    ],
)
def test_a_sentence_for_each_rate(lr, parts):
    told = warmup_sentences(found_by(of_map))
    assert len(told) == 3
    (sentence,) = [one for one in told if one.startswith(f"At lr {lr:g}: ")]
    for part in parts:
        assert part in sentence


def test_a_few_seeds_that_learn_are_not_called_learning():
    rule = {0: LOW, 1: HIGH, 2: HIGH}
    (told,) = warmup_sentences(
        found_by(lambda cell: done(rule[cell.seed]), config(axes={"lr": (0.1,), "warmup_steps": (0, 5)}))
    )
    assert "RAdam <b> learns at 33% of the seeds" in told
    assert "Adam + warmup learns with none of the lengths up to 5" in told


def test_lengths_that_are_open_are_counted():
    def rule(cell):
        return Outcome() if cell.values.get("warmup_steps") == 200 or cell.contender else of_map(cell)

    for sentence in warmup_sentences(found_by(rule)):
        assert "3 of 4 lengths are known" in sentence
        assert "RAdam" not in sentence


def test_without_lengths_to_choose_from_there_is_nothing_to_say():
    assert warmup_sentences(found_by(lambda cell: done(LOW), config([contender("radam")], {"lr": (0.1,)}))) == []


def test_lengths_that_are_all_beyond_the_run_say_nothing_about_it():
    axes = {"lr": (0.1,), "warmup_steps": (STEPS + 1, 2000)}
    (told,) = warmup_sentences(found_by(lambda cell: done(LOW), config(axes=axes)))
    assert told.startswith("At lr 0.1: ")
    assert "needs" not in told
    assert "learns without any" not in told


def test_a_contender_with_a_warmup_of_its_own_does_not_learn_without():
    several = [WITH_LENGTH, contender("adam-linear", "Always 200", warmup_steps=200)]
    made = config(several, {"lr": (0.1,), "warmup_steps": (0, 100)})
    (told,) = warmup_sentences(found_by(lambda cell: done(LOW), made))
    assert "Always 200 learns" in told
    assert "Always 200 learns without" not in told


def signed(failed, learned, **signs):
    """So many lanes that fail and that learn; of each measure, its value in those that fail and in the others."""
    made = config([contender("adam")], {"lr": (0.1,)}, seeds=range(failed + learned))

    def rule(cell):
        lost = cell.place < failed
        return done(HIGH if lost else LOW, signs={name: {25: pair[not lost]} for name, pair in signs.items()})

    return " ".join(sign_sentences(found_by(rule, made)))


def test_the_measure_that_told_most_of_each_reading():
    told = signed(5, 6, update_rms=(1.0, 1.0), relative_update=(2.0, 1.0), psi_across=(1.0, 2.0), gradient=(-7.0, -3.0))
    assert told.startswith("5 of 11 lanes did not learn.")
    assert "too few" not in told
    assert "size: ‖update‖ / ‖θ‖ at step 25 (1.00)" in told  # 1, against a tie of the update's own size
    assert "variance: spread of ψ, Var[ln ψ] across parameters at step 25 (0.00)" in told  # it told the other way round
    assert "gradients: median log₁₀|g| at step 25 (1.00)" in told


@pytest.mark.parametrize(("failed", "learned"), [(4, 6), (6, 4), (1, 1)])
def test_fewer_than_five_of_a_kind_are_an_anecdote(failed, learned):
    told = signed(failed, learned, update_rms=(2.0, 1.0))
    assert told.startswith(f"{failed} of {failed + learned} lanes did not learn.")
    assert "anecdote" in told


@pytest.mark.parametrize(
    ("failed", "learned", "expected"),
    [(0, 3, "Of 3 lanes that are over, every one learned"), (3, 0, "Of 3 lanes that are over, none learned")],
)
def test_where_all_ended_alike_there_is_nothing_to_foretell(failed, learned, expected):
    told = signed(failed, learned, update_rms=(2.0, 1.0))
    assert told.startswith(expected)
    assert "told most" not in told


def test_signs_that_were_not_measured_are_not_told():
    assert sign_sentences(found_by(lambda cell: Outcome())) == ["No lane is over yet."]
    assert "told most" not in signed(5, 5)


@pytest.mark.parametrize(
    ("task", "reference"), [("numbers", "the task's baseline of 2.82"), ("surfaces", "its own first loss")]
)
def test_the_words_are_explained_with_the_numbers_of_the_task(task, reference):
    told = glossary(config(axes={"lr": (0.1,)}, task=task))
    assert f"is below 50% of {reference}" in told
    assert "at least two thirds of the seeds" in told
    assert "within 5%" in told
