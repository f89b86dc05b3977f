"""The paper's rows: the rule on invented tables, measures by hand, and each verdict again from recorded numbers."""

import gzip
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.__main__ import main
from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS, contender
from dashboard.evidence.findings import Findings
from dashboard.evidence.outcomes import CellOutcome, Outcome, metric
from dashboard.navigation import PAGES
from dashboard.paper import drawings
from dashboard.paper.claims import AGREES, DIFFERS, NOT_HERE, NOT_RECORDED, PARTLY, Judged, alike, below, row_verdict
from dashboard.paper.command import BEGIN, END, markdown
from dashboard.paper.measures import (
    ACCURACY_RANGE,
    FAILED_RATES,
    FINAL_LOSS,
    by_seed,
    gradient_at,
    spoken,
)
from dashboard.paper.results import judge, recorded_findings, result, results
from dashboard.paper.rows import ALIKE, BELOW, LEARNS, ROWS, Claim
from dashboard.recorded.catalogue import catalogue
from dashboard.recorded.form import made_path, path_of, read
from dashboard.runs.outlines import from_json
from dashboard.words.paper_words import counted
from tests.dashboard.opening import open_page

ROOT = Path(__file__).resolve().parents[2]
TRAINED = [row for row in ROWS if row.sweep]


def table(*values: float) -> dict[object, float]:
    return dict(enumerate(values))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (table(1, 2, 3), table(2, 3, 4), AGREES),  # in the mean and in every case
        (table(1, 2, 5), table(2, 3, 4), PARTLY),  # means 2.67 and 3, but 5 above 4
        (table(1, 2, 9), table(2, 3, 4), DIFFERS),  # two of three cases, but the mean 4 above 3
        (table(1, 1), table(1, 1), DIFFERS),  # equal is not below
        (table(1, math.nan), table(2, 2), DIFFERS),  # what is not known supports nothing
        (table(1.0), table(2.0), AGREES),
        (table(), table(), DIFFERS),
    ],
)
def test_an_order_is_judged_by_the_mean_and_by_every_case(low, high, verdict):
    assert below(low, high).verdict == verdict


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        (table(0.90, 0.92), table(0.91, 0.91), AGREES),
        (table(0.90, 0.92), table(0.92, 0.90), AGREES),  # at the tolerance itself
        (table(0.80, 1.00), table(0.90, 0.90), PARTLY),  # the means are the same
        (table(0.80, 0.82), table(0.90, 0.90), DIFFERS),
    ],
)
def test_a_likeness_is_judged_by_the_same_rule(one, other, verdict):
    assert alike(one, other, tolerance=0.0201).verdict == verdict


def test_it_is_counted_in_how_many_cases_a_claim_holds():
    assert below(table(1, 2, 5), table(2, 3, 4)).count == "2 of 3"
    assert below(table(1, math.nan), table(2, 2)).count == "1 of 2"
    assert alike(table(0.80, 0.90, 0.91), table(0.90, 0.90, 0.90), tolerance=0.0201).count == "2 of 3"


def test_a_row_is_judged_by_its_least_favourable_claim():
    verdicts = {(AGREES, AGREES): AGREES, (AGREES, PARTLY): PARTLY, (PARTLY, DIFFERS): DIFFERS, (): NOT_HERE}
    for given, expected in verdicts.items():
        assert row_verdict([Judged("", verdict, "") for verdict in given]) == expected


def findings(ends: dict[tuple[str, float, int], Outcome]) -> Findings:
    """A sweep over two rates and two seeds with these outcomes, by label, rate and seed."""
    config = SweepConfig.make(
        {
            "task": "digits",
            "contenders": [contender("adam"), contender("radam")],
            "axes": {"lr": (0.01, 0.1)},
            "seeds": (0, 1),
            "steps": 50,
        }
    )
    found = [ends[config.contenders[cell.contender].label, cell.values["lr"], cell.seed] for cell in config.cells]
    return Findings.of(config, found)


def outcome(loss: float, accuracy: float, diverged_at: int | None = None) -> Outcome:
    return Outcome(
        status="finished",
        first_loss=2.3,
        final_loss=math.nan if diverged_at else loss,
        latest={"accuracy": accuracy},
        diverged_at=diverged_at,
        gradients={10: -3.0},
    )


INVENTED = {
    ("Adam", 0.01, 0): outcome(0.1, 0.95),
    ("Adam", 0.01, 1): outcome(0.2, 0.90),
    ("Adam", 0.1, 0): outcome(1.0, 0.75),
    ("Adam", 0.1, 1): outcome(9.9, 0.99, diverged_at=7),
    ("RAdam", 0.01, 0): outcome(0.2, 0.94),
    ("RAdam", 0.01, 1): outcome(0.1, 0.93),
    ("RAdam", 0.1, 0): outcome(0.4, 0.90),
    ("RAdam", 0.1, 1): outcome(0.4, 0.91),
}


def test_measures_of_an_invented_sweep_by_hand():
    found = findings(INVENTED)
    assert by_seed(found, "Adam", FINAL_LOSS, {"lr": 0.1}) == {
        0: 1.0,
        1: 2.3,
    }  # a lane that diverged ends where it began
    assert by_seed(found, "Adam", FINAL_LOSS, {}) == {0: 0.1, 1: 0.2}  # the best of its rates
    ranges = by_seed(found, "RAdam", ACCURACY_RANGE, {})
    assert ranges == pytest.approx({0: 0.04, 1: 0.02})
    assert by_seed(found, "Adam", ACCURACY_RANGE, {})[1] == pytest.approx(0.90)  # what diverged has lost all it had
    assert by_seed(found, "Adam", FAILED_RATES, {}) == {0: 0, 1: 1}  # learns: below half of its first loss, 1.15
    assert by_seed(found, "RAdam", gradient_at(10), {"lr": 0.1}) == {0: -3.0, 1: -3.0}
    assert spoken({0: 1.0, 1: 2.0}, FINAL_LOSS) == "1.5 (1 to 2)"
    assert spoken({0: 0.91, 1: 0.93}, ACCURACY_RANGE) == "92.0% (91.0% to 93.0%)"
    with pytest.raises(ValueError, match="must name cells of the sweep, got 'SGD'"):
        by_seed(found, "SGD", FINAL_LOSS, {})


def test_claims_about_an_invented_sweep():
    found = findings(INVENTED)
    at = {"lr": 0.1}
    lower = judge(found, Claim(FINAL_LOSS, "RAdam", BELOW, "Adam", one_at=at, other_at=at))
    assert lower == Judged(
        "final loss: RAdam (lr 0.1): 0.4 (0.4 to 0.4), claimed below Adam (lr 0.1): 1.65 (1 to 2.3)"
        ": so in 2 of 2 seeds",
        AGREES,
        "2 of 2",
        {0: (0.4, 1.0), 1: (0.4, 2.3)},
    )
    best = judge(found, Claim(FINAL_LOSS, "RAdam", ALIKE, "Adam", 0.05))
    assert best.verdict == PARTLY  # 0.15 and 0.15 in the mean, a tenth apart at each seed
    assert "claimed within 0.05 of Adam:" in best.text
    assert best.text.endswith(": so in 0 of 2 seeds")


def test_a_lane_is_claimed_to_learn_by_half_of_the_baseline():
    """Of `numbers` it is 2.8207."""
    found = recorded_findings("figure-1")[0]
    told = judge(found, Claim(FINAL_LOSS, "RAdam", LEARNS))
    assert "claimed below half of what it costs to ignore the input: 1.41: so in 5 of 5 seeds" in told.text
    assert told.verdict == AGREES
    assert {sides[1] for sides in told.by_seed.values()} == {2.8207 / 2}
    assert judge(found, Claim(FINAL_LOSS, "Adam", LEARNS)).verdict == DIFFERS


def test_rows_have_names_of_their_own_and_pages_that_open_them():
    assert len({row.name for row in ROWS}) == len(ROWS)
    pages = {page.name for page in PAGES}
    for row in ROWS:
        page, _, query = row.opens.partition("?")
        assert not page or page in pages, row.name
        for part in query.split("&") if query else ():
            name, value = part.split("=")
            assert name != "preset" or value in (PRESETS if page == "race" else SWEEPS), row.name
        assert row.sweep or row.theory or not row.claims


@pytest.mark.parametrize("row", TRAINED, ids=lambda row: row.name)
def test_every_trained_row_has_a_recording_by_the_one_command(row):
    name = f"sweep-{row.sweep}"
    assert name in catalogue()
    recorded = read(path_of(name))
    assert recorded.config == catalogue()[name], "found by its configuration"
    assert recorded.made.date
    assert recorded.made.code
    assert recorded.made.machine
    assert len(recorded.lanes) == recorded.config.size


@pytest.mark.parametrize("row", TRAINED, ids=lambda row: row.name)
def test_a_second_reading_of_the_recorded_numbers_gives_the_same_verdict(row):
    """Straight from the files, by loops of its own."""
    recorded = read(path_of(f"sweep-{row.sweep}"))
    config = recorded.config
    lanes = [(cell, from_json(lane.outline)) for cell, lane in zip(config.cells, recorded.lanes, strict=True)]
    name = next(iter({"numbers": ["exact match"], "digits": ["accuracy"], "text": ["perplexity"]}[config.task]))

    def values(label, measure, at):
        found = {}
        for seed in config.seeds:
            own = [
                outcome
                for cell, outcome in lanes
                if cell.seed == seed
                and config.contenders[cell.contender].label == label
                and all(cell.values[axis] == value for axis, value in at.items())
            ]
            ends = [one.first_loss if one.diverged_at else min(one.final_loss, one.first_loss) for one in own]
            lost = math.inf if name == "perplexity" else 0.0
            metrics = [lost if one.diverged_at else one.latest[name] for one in own]
            by_name = {
                "final loss": min(ends),
                "accuracy": max(metrics),
                "exact match": max(metrics),
                "perplexity": min(metrics),
                "range of the accuracy over the learning rates": max(metrics) - min(metrics),
                "learning rates at which it does not learn": sum(
                    bool(one.diverged_at) or one.final_loss >= 2.8207 / 2 for one in own
                ),
                "median log10|g| at step 10": own[0].gradients.get(10),
                "median log10|g| at step 100": own[0].gradients.get(100),
            }
            found[seed] = by_name[measure.name]
        return found

    worst = 2
    for claim, judged in zip(row.claims, result(row).judged, strict=True):
        one = values(claim.one, claim.measure, claim.one_at)
        if claim.kind == LEARNS:
            other = dict.fromkeys(config.seeds, 2.8207 / 2)
        else:
            other = values(claim.other, claim.measure, claim.other_at)
        gaps = [other[seed] - one[seed] for seed in config.seeds]
        gap = statistics.mean(other.values()) - statistics.mean(one.values())
        if claim.kind == ALIKE:
            mean, held = abs(gap) <= claim.tolerance, [own for own in gaps if abs(own) <= claim.tolerance]
        else:
            mean, held = gap > 0, [own for own in gaps if own > 0]
        assert judged.text.endswith(f": so in {len(held)} of {len(gaps)} seeds")
        assert judged.held == f"{len(held)} of {len(gaps)}"
        assert judged.by_seed == {seed: (one[seed], other[seed]) for seed in config.seeds}
        worst = min(worst, 0 if not mean else 1 if len(held) < len(gaps) else 2)
    assert result(row).verdict == (DIFFERS, PARTLY, AGREES)[worst]
    assert result(row).seeds == len(config.seeds)


def test_the_command_prints_the_rows_and_the_document_holds_them():
    done = subprocess.run(
        [sys.executable, "-m", "dashboard", "paper", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    printed = json.loads(done.stdout)
    assert [row["row"] for row in printed] == [row.name for row in ROWS]
    for row in printed:
        assert {"claim", "paper", "ours", "seeds", "verdict", "command"} <= set(row)
        assert row["verdict"] in (AGREES, PARTLY, DIFFERS, NOT_HERE)
        assert [len(claim.get("by_seed", ())) for claim in row["claims"]] == [row["seeds"]] * len(row["claims"])
    document = (ROOT / "docs" / "RESULTS.md").read_text(encoding="utf-8")
    generated = document[document.index(BEGIN) : document.index(END) + len(END) + 1]
    assert generated == markdown(results()), "run `make results`"


def test_the_rows_are_written_only_where_a_document_has_them(tmp_path, capsys):
    document = tmp_path / "results.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    assert main(["paper", "--into", str(document)]) == 0
    assert document.read_text(encoding="utf-8") == f"before\n{markdown(results())}after\n"
    document.write_text("no rows", encoding="utf-8")
    assert main(["paper", "--into", str(document)]) == 2
    assert "--into must name a document that has the lines" in capsys.readouterr().err
    assert document.read_text(encoding="utf-8") == "no rows"
    assert main(["paper", "--into", str(tmp_path / "none.md")]) == 2
    assert "none.md" in capsys.readouterr().err


def test_a_row_without_its_recording_says_so(tmp_path):
    found = result(TRAINED[0], tmp_path)
    assert (found.verdict, found.judged, found.seeds) == (NOT_RECORDED, (), 0)
    assert found.ours == "there is no recording of it here that this version can read"


@pytest.mark.parametrize("spoil", ["cut", "unknown setting", "nobody says who made it"])
def test_a_recording_that_cannot_be_read_spoils_no_other_row(spoil, tmp_path):
    for name in ("sweep-collapse", "sweep-digits"):
        path = path_of(name)
        for file in (path, made_path(path)):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    spoilt = path_of("sweep-digits", tmp_path)
    if spoil == "cut":
        spoilt.write_bytes(spoilt.read_bytes()[:500])
    elif spoil == "unknown setting":
        text = gzip.decompress(spoilt.read_bytes()).decode()
        spoilt.write_bytes(gzip.compress(text.replace("steps_per_frame", "a_setting_of_then", 1).encode()))
    else:
        made_path(spoilt).unlink()
    verdicts = {one.row.name: one.verdict for one in results(tmp_path)}
    assert verdicts["cifar-10"] == NOT_RECORDED
    assert {verdicts["figure-2"], verdicts["figure-3"]} <= {AGREES, PARTLY, DIFFERS}
    assert verdicts["theorem-1"] == AGREES


def test_rows_without_a_recording_are_counted_apart():
    assert counted([AGREES, NOT_RECORDED, NOT_RECORDED]) == "Of 3 rows 1 agrees, 2 have no recording here."


def test_a_recording_of_another_configuration_is_not_taken_for_it(tmp_path):
    path = path_of("sweep-figure-1")
    path_of("sweep-digits", tmp_path).write_bytes(path.read_bytes())
    made_path(path_of("sweep-digits", tmp_path)).write_bytes(made_path(path).read_bytes())
    assert recorded_findings("digits", tmp_path) is None


@pytest.mark.parametrize("row", [row for row in ROWS if row.sweep or row.theory], ids=lambda row: row.name)
def test_every_row_is_drawn(row):
    figure = json.loads(drawings.drawing(row))
    lines = [trace for trace in figure["data"] if trace.get("name")]
    assert lines
    assert row.figure == "simulation" or figure["layout"]["xaxis"]["title"]["text"]


def test_a_lane_that_diverged_has_lost_its_metric_and_one_that_was_not_measured_has_none():
    lost, whole = (CellOutcome(None, outcome(1.0, 0.9, diverged_at=at), None) for at in (3, None))
    assert metric(lost, "accuracy") == 0
    assert metric(lost, "perplexity", "lower") == math.inf
    assert math.isnan(metric(whole, "perplexity"))


def test_the_page_opens_the_rows_that_its_address_names():
    app = open_page("paper", row=["figure-2", "nmt"])
    assert not app.exception
    opened = [row.name for row in ROWS if app.session_state[f"paper-row-{row.name}"]]
    assert opened == ["figure-2", "nmt"]
    said = " ".join(one.value for one in app.markdown)
    assert "Without warmup the distribution" in said
    assert "BLEU 34.76" in said


def test_a_row_that_there_is_not_gets_a_sentence():
    app = open_page("paper", row="<script>")
    assert not app.exception
    assert "row must be one of figure-1," in app.warning[0].value
