"""What the theory pages claim is what the core computes: docs/SCIENCE.md is run, and holds every number they type.

A command in docs/SCIENCE.md is written `expression` → **value**; every digit of the value is compared. A number that is
typed in a sentence of a page, and not formatted from the core, must stand in a row under the page's heading there.
"""

import ast
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import torch

from bench import reproduce
from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.figures import results
from radam_core import Adam, GIAdam, RAdam, comparison, evidence, methods, schedules, simulation, theory

ROOT = Path(__file__).resolve().parent.parent
SCIENCE = (ROOT / "docs" / "SCIENCE.md").read_text(encoding="utf-8")
IN_SCOPE = {
    **{
        name: value
        for module in (theory, comparison, schedules, simulation, methods)
        for name, value in vars(module).items()
    },
    "results": results,
    "evidence": evidence,
    "losses": reproduce.losses,
    "learned": reproduce.learned,
    "metrics": reproduce.metrics,
    "gradients": reproduce.gradients,
    "np": np,
    "PRESETS": PRESETS,
    "SWEEPS": SWEEPS,
}
COMMANDS = re.findall(r"`([^`]+)` → \*\*([^*]+)\*\*", SCIENCE)
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", SCIENCE, re.MULTILINE | re.DOTALL))
ROWS = [
    (heading, line)
    for heading, text in SECTIONS.items()
    for line in text.splitlines()
    if line.startswith("|") and not line.startswith(("| claim |", "|---"))
]


def agrees(value: object, said: str) -> bool:
    """Whether a value is what is said, to the last digit that is said."""
    if said in ("True", "False", "None"):
        return str(value) == said
    number = float(np.asarray(value))
    if said == "inf":
        return number == np.inf
    half_a_digit = 0.5 * 10.0 ** int(Decimal(said).as_tuple().exponent)
    return abs(number - float(said)) <= half_a_digit * (1 + 1e-9)


def test_values_are_compared_to_the_last_digit_said():
    assert agrees(0.4765, "0.48")
    assert not agrees(0.4765, "0.47")
    assert not agrees(0.4765, "0.480")
    assert agrees(1033.08, "1033")
    assert agrees(1.04e-8, "1e-8")
    assert not agrees(1.6e-8, "1e-8")
    assert agrees(np.inf, "inf")
    assert agrees(None, "None")


@pytest.mark.parametrize(("command", "said"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_gives_what_is_said(command, said):
    value = eval(command, dict(IN_SCOPE))
    values = list(np.ravel(value)) if np.ndim(value) else [value]
    parts = said.split(", ")
    assert len(values) == len(parts), value
    for one, part in zip(values, parts, strict=True):
        assert agrees(one, part), f"{command} gives {one}, said is {part}"


def test_the_document_has_its_commands_and_ends_with_the_objections():
    assert len(COMMANDS) > 40
    assert list(SECTIONS)[-1] == "Objections that remain"


@pytest.mark.parametrize(("heading", "row"), ROWS, ids=[row[:60] for _, row in ROWS])
def test_every_claim_has_a_command_or_a_source(heading, row):
    behind = row.strip("| ").split(" | ")[-1]
    tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
    files = re.findall(r"`((?:pages|dashboard|radam_core)/[\w/]+\.py)`", behind)
    assert "` → **" in behind or "source: " in behind or tests or files or behind.startswith("under *"), heading
    for path, name in tests:
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), name
    for path in files:
        assert (ROOT / path).is_file(), path


# Where a file's typed numbers must stand in docs/SCIENCE.md.
PAGES = ("Home", "Rectification", "Variance", "Real gradients", "Variance or size", "Implementations")
HEADINGS = {
    "pages/home.py": ("Home",),
    "pages/rectification.py": ("Home", "Rectification"),
    "pages/variance.py": ("Variance", "Real gradients"),
    "pages/size.py": ("Variance or size",),
    "pages/implementations.py": ("Implementations",),
    "pages/four_steps.py": ("Four steps",),
    "dashboard/words/four_steps_words.py": ("Four steps",),
    "dashboard/asked/four_steps.py": ("Four steps",),
    "dashboard/navigation.py": ("Home",),
    "dashboard/figures/methods.py": ("Methods and their sources",),
    "dashboard/words/sentences.py": PAGES,
    "dashboard/words/questions.py": ("Implementations",),
    "dashboard/words/formulas.py": ("Rectification",),
    "dashboard/words/tables.py": ("Rectification", "Implementations"),
    "dashboard/words/snippets.py": ("Implementations",),
    "dashboard/asked/presets.py": ("Race",),
    "dashboard/asked/lane_states.py": ("Race",),
    "dashboard/words/race_words.py": ("Race",),
    "dashboard/browser/race_panels.py": ("Race",),
    "dashboard/words/sweep_words.py": ("Sweep",),
    "pages/norms.py": ("Norms",),
    "dashboard/words/norm_words.py": ("Norms",),
    "dashboard/browser/norm_panels.py": ("Norms",),
    "dashboard/asked/sweep_presets.py": ("Sweep", "Four steps"),
    "dashboard/paper/rows.py": ("The paper",),
    "dashboard/paper/claims.py": ("The paper",),
    "dashboard/words/paper_words.py": ("The paper",),
    "dashboard/words/titles.py": (*PAGES, "Four steps"),
    "dashboard/words/captions.py": (),
    "pages/paper.py": ("The paper",),
    "pages/tour.py": ("Tour",),
    "dashboard/words/tour_words.py": ("Tour",),
    "dashboard/asked/tour.py": ("Tour",),
}
IN_WORDS = {"three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twenty": 20}
IN_WORDS |= {"hundred": 100, "thousand": 1000, "half": 0.5, "tenth": 0.1, "fifth": 5, "quarter": 0.25}
FREE = {0.0, 1.0, 2.0}  # of formulas, and of the first steps
# Subscripts, exponents, names and years are no numbers of a claim; nor are the places in the paper.
PLACES = ("Algorithm", "Equation", "Figure", "Table", "Theorem")
NO_NUMBERS = r"\\beta_\d|β₂|[A-Za-z]_\w|\^\w|<sub>\w</sub>|-2k|\bL2|\b20\d\d|Section \d(\.\d)?"
NO_NUMBERS += "".join(rf"|{place} \d" for place in PLACES)


def typed_numbers(text: str) -> set[float]:
    text = re.sub(NO_NUMBERS, " ", text)
    digits = re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?(?![\w])", text)
    words = [IN_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in IN_WORDS]
    return {float(digit.replace(",", "")) for digit in digits} | set(words)


def sentences(path: Path) -> list[str]:
    """The strings of a file that are more than a word, docstrings apart."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)]
    docstrings = {id(node.body[0].value) for node in documented if ast.get_docstring(node)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [node.value for node in texts if " " in node.value and id(node) not in docstrings]


def test_numbers_are_found_in_digits_and_in_words():
    assert typed_numbers("the first four of 2,000 steps at $\\beta_2 = 0.999$, $10^3$, 1e-4") == {
        4,
        2000,
        0.999,
        10,
        1e-4,
    }
    assert typed_numbers("Adam-2k in 2020 (Section 5), $w_1$, $\\beta_2^t$") == set()
    assert typed_numbers("within a tenth") == {0.1}


@pytest.mark.parametrize("file", HEADINGS)
def test_a_number_typed_in_a_sentence_stands_in_the_document(file):
    rows = [row for heading, row in ROWS if heading in HEADINGS[file]]
    stands = {number for row in rows for number in typed_numbers(row)}
    for text in sentences(ROOT / file):
        assert typed_numbers(text) - FREE <= stands, text


def test_every_file_of_words_and_every_theory_page_is_looked_at():
    files = {f"dashboard/words/{path.name}" for path in (ROOT / "dashboard" / "words").glob("*.py")}
    files |= {f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")}
    others = {"dashboard/words/__init__.py", "pages/race.py", "pages/sweep.py"}
    assert files - others <= HEADINGS.keys()


def steps_of(make, gradients: np.ndarray) -> np.ndarray:
    """How far an optimizer moves a weight at 1 by each of these gradients; it is put back there after each."""
    weight = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    optimizer = make([weight])
    moves = []
    for gradient in gradients:
        weight.data.fill_(1.0)
        weight.grad = torch.full_like(weight, float(gradient))
        optimizer.step()
        moves.append(1 - weight.item())
    return np.array(moves)


@pytest.mark.parametrize("size", [0.1, 10.0])
def test_l2_decay_is_divided_by_the_gradients_size_and_multiplied_by_r(size):
    gradients = size * (-1.0) ** np.arange(400)
    decay = 1e-4 * size

    def moves(weight_decay):
        return steps_of(lambda p: RAdam(p, lr=1.0, profile="torch", weight_decay=weight_decay), gradients)

    t = np.array([30, 100, 400])
    by_decay = (moves(decay) - moves(0.0))[t - 1] / decay
    np.testing.assert_allclose(by_decay, theory.rectification(t, 0.999) / size, rtol=0.01)


def test_decoupled_decay_is_scaled_by_a_warmup_and_not_by_r():
    gradients, decay = np.random.default_rng(0).normal(size=50), 0.01

    def by_decay(make):
        return (steps_of(lambda p: make(p, decay), gradients) - steps_of(lambda p: make(p, 0.0), gradients)) / decay

    radam = by_decay(lambda p, weight_decay: RAdam(p, lr=1.0, weight_decay=weight_decay))
    np.testing.assert_allclose(radam, 1.0, rtol=1e-9)
    warmed = by_decay(lambda p, weight_decay: Adam(p, lr=1.0, weight_decay=weight_decay, warmup="untuned-linear"))
    np.testing.assert_allclose(warmed, np.arange(1, 51) / 2000, rtol=1e-9)


def test_gi_adam_scales_adams_step_by_its_general_factor():
    t, beta2 = np.arange(1, 6), 0.999
    g = np.random.default_rng(1).normal(size=(5, 400))

    def ratios(gradients):
        adam, gi = (steps_of(lambda p, made=made: made(p, lr=1.0, eps=0.0), gradients) for made in (Adam, GIAdam))
        return gi / adam

    np.testing.assert_allclose(ratios(np.full(5, -0.3)), schedules.gi_adam_warmup(beta2)(t), rtol=1e-9)
    found = np.array([ratios(gradients) for gradients in g.T]).T
    weights = beta2 ** (t[:, None] - t) * (t <= t[:, None])
    v_hat = weights @ g**2 / weights.sum(axis=1, keepdims=True)
    unseen = (beta2**t / theory.bias_correction(t, beta2))[:, None]
    np.testing.assert_allclose(found, 1 / np.sqrt(1 + unseen * g[0] ** 2 / v_hat), rtol=1e-9)
    # The spread that docs/SCIENCE.md gives at step 5, by the same factor over more draws.
    g = np.random.default_rng(2).normal(size=(5, 100_000))
    factors = 1 / np.sqrt(1 + unseen[-1] * g[0] ** 2 / (weights[-1] @ g**2 / weights[-1].sum()))
    np.testing.assert_allclose(np.quantile(factors, [0.05, 0.95]), [0.04, 0.7], rtol=0.05)
