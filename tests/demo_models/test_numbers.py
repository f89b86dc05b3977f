"""The numbers task: its words, its batches, its Transformer in lanes and plain, and a corpus of the user's."""

import numpy as np
import pytest
import torch
from num2words import num2words
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from demo_models import TASKS
from demo_models.attention import attend, causal_mask
from demo_models.number_words import english, german
from demo_models.numbers import greedy
from demo_models.parallel import END, PAD
from radam_core.race.lanes import Lanes
from radam_core.race.threads import one_thread
from tests.demo_models.plain_loops import largest_difference

NUMBERS = TASKS["numbers"]
SMALL = {"depth": 2, "width": 16, "heads": 2}


def test_words_are_those_of_num2words():
    numbers = {1, 16, 17, 1001, 101_000, 999_999, *np.random.default_rng(0).integers(1, 10**6, 300).tolist()}
    for n in numbers:
        assert "".join(german(n)) == num2words(n, lang="de")
        spoken = num2words(n, lang="en").replace("-", " ").replace(",", "").replace(" and ", " ")
        assert " ".join(english(n)) == spoken
    assert german(345_000) == ["drei", "hundert", "fünf", "und", "vierzig", "tausend"]


@pytest.mark.parametrize("n", [0, 10**6])
def test_words_end_below_a_million(n):
    with pytest.raises(ValueError, match=f"n must be from 1 to 999999, got {n}"):
        german(n)


@pytest.mark.parametrize("settings", [SMALL, {**SMALL, "depth": 1, "norm": "pre", "label_smoothing": 0.1}])
def test_each_lane_equals_a_plain_loop(settings):
    assert largest_difference(NUMBERS.open(settings), lr=1e-3, batch_size=8) < 1e-9


# At 50 the scores are in the thousands, where exp needs what a softmax does: the largest of its row taken off.
@pytest.mark.parametrize("size", [1.0, 50.0])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_torchs(causal, size):
    generator = torch.Generator().manual_seed(0)
    x = (size * torch.randn(2, 3, 5, 24, generator=generator, dtype=torch.float64)).requires_grad_()
    y = (size * torch.randn(2, 3, 7, 16, generator=generator, dtype=torch.float64)).requires_grad_()
    padding = torch.ones(2, 3, 1, 7, dtype=torch.float64)
    padding[..., 5:] = 0

    def heads(z):
        return z.unflatten(-1, (2, 4)).transpose(-2, -3)

    q, k, v = (heads(part) for part in x.chunk(3, -1))
    expected = scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(-2, -3).flatten(-2)
    ours = attend(2, causal_mask(5, x) if causal else None, x)
    torch.testing.assert_close(ours, expected)
    weights = torch.randn(expected.shape, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(*(torch.autograd.grad((z * weights).sum(), x) for z in (ours, expected)))

    k, v = (heads(part) for part in y.chunk(2, -1))
    crossed = scaled_dot_product_attention(heads(x[..., :8]), k, v, attn_mask=padding.unsqueeze(-3).bool())
    ours, expected = attend(2, padding, x[..., :8], y), crossed.transpose(-2, -3).flatten(-2)
    torch.testing.assert_close(ours, expected)
    torch.testing.assert_close(*(torch.autograd.grad((z * weights).sum(), (x, y)) for z in (ours, expected)))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_is_torchs_cross_entropy_without_padding(smoothing):
    problem = NUMBERS.open({**SMALL, "label_smoothing": smoothing})
    model = problem.make_model(0)
    source, target = problem.batch(0, 1, 16)
    logits = model(source, target[:, :-1]).flatten(0, 1)
    expected = cross_entropy(logits, target[:, 1:].flatten(), ignore_index=PAD, label_smoothing=smoothing)
    torch.testing.assert_close(problem.loss(model, (source, target)), expected)


def test_padding_of_the_source_changes_nothing():
    problem = NUMBERS.open(SMALL)
    model = problem.make_model(0)
    source, target = problem.batch(0, 1, 4)
    source = torch.tensor([[7, 8, 9, END, PAD, PAD]])
    torch.testing.assert_close(model(source, target[:1]), model(source[:, :4], target[:1]))


def test_the_decoder_does_not_look_ahead():
    problem = NUMBERS.open(SMALL)
    model = problem.make_model(0)
    source, target = problem.batch(0, 1, 4)
    changed = target.clone()
    changed[:, 4:] = 5
    torch.testing.assert_close(model(source, target)[:, :4], model(source, changed)[:, :4])


def test_greedy_decoding_stops_at_the_end_token_and_is_the_same_in_lanes():
    problem = NUMBERS.open(SMALL)
    models = [problem.make_model(seed) for seed in range(3)]
    with torch.no_grad():
        for model in models:
            model.out.bias[END] += 1.0
        source, _ = problem.batch(0, 1, 8)
        stacked = greedy(Lanes(models, 3).model, source.expand(3, -1, -1), 10)
        for model, ours in zip(models, stacked, strict=True):
            assert torch.equal(greedy(model, source, 10), ours)
            for row in ours.tolist():
                after = row[row.index(END) + 1 :] if END in row else []
                assert set(after) <= {PAD}


@one_thread()
def test_exact_match_is_that_of_greedy_decoding():
    problem = NUMBERS.open({"depth": 1, "norm": "pre"})
    model = problem.make_model(0)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    found = []
    for step in range(1, 121):
        loss = problem.loss(model, problem.batch(0, step, 32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            source, target = (x[: problem.held_out] for x in (problem.source, problem.target))
            expected = target[:, 1:]
            with torch.no_grad():
                right = (greedy(model, source, expected.shape[1]) == expected) | (expected == PAD)
                found.append(problem.evaluate(model)["exact match"].item())
            assert found[-1] == right.all(-1).float().mean().item()
    assert found[0] < 0.1
    assert found[-1] > 0.5


def test_held_out_numbers_never_appear_in_a_batch():
    problem = NUMBERS.open(SMALL)
    held_out = {tuple(row) for row in problem.source[: problem.held_out].tolist()}
    assert len(held_out) == 128
    for step in range(1, 30):
        assert not held_out & {tuple(row) for row in problem.batch(0, step, 64)[0].tolist()}


def test_samples_are_readable_and_one_list_a_lane():
    problem = NUMBERS.open(SMALL)
    with torch.no_grad():
        samples = problem.samples(Lanes([problem.make_model(0)], 2).model, 3)
        (plain,) = problem.samples(problem.make_model(0), 3)
    assert samples == [plain, plain]
    source, _, target = plain[0]
    assert "hundert" in source
    assert "hundred" in target
    assert "<" not in target


@one_thread()
def test_a_small_transformer_learns():
    problem = NUMBERS.open({"depth": 1, "norm": "pre"})
    model = problem.make_model(0)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for step in range(1, 101):
        loss = problem.loss(model, problem.batch(0, step, 32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > 3
    assert np.mean(losses[-10:]) < 0.5


def write(path, lines):
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_a_corpus_of_ones_own(tmp_path):
    source = write(tmp_path / "de", ["", *(f"das ist satz {i}" for i in range(40))])
    target = write(tmp_path / "en", ["left out: its source is empty", *(f"this is sentence {i}" for i in range(40))])
    problem = NUMBERS.open({**SMALL, "source_file": source, "target_file": target})
    assert len(problem.source) == 40
    assert problem.held_out == 4
    loss = problem.loss(problem.make_model(0), problem.batch(0, 1, 8))
    assert torch.isfinite(loss)


def test_bad_corpora_are_refused_by_name(tmp_path):
    good = write(tmp_path / "good", ["a b"] * 40)
    short = write(tmp_path / "short", ["a b"] * 39)
    tiny = write(tmp_path / "tiny", ["a b"] * 5)
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for source, target, message in (
        (good, "", "source_file and target_file must be given together"),
        (good, short, "as many lines each: .*good has 40, .*short has 39"),
        (tiny, tiny, "at least 20 pairs of 1 to 64 words, got 5"),
        (str(binary), good, "source_file must be UTF-8 text, but .*binary is not"),
        (good, str(tmp_path / "none"), "target_file must be a file that can be read, got .*none"),
        (str(tmp_path), good, "source_file must be a file that can be read"),
    ):
        with pytest.raises(ValueError, match=message):
            NUMBERS.open({**SMALL, "source_file": source, "target_file": target})


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match=r"numbers.width must be a multiple of twice numbers.heads, got 20 and 3"):
        NUMBERS.open({"width": 20, "heads": 3})
