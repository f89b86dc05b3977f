import math

import numpy as np
import pytest
import torch
from torch import nn

from demo_models.descriptions import TEXT
from demo_models.language_model import AdaptiveSoftmax, LanguageModel, default_cutoffs
from radam_core.race.lanes import Lanes
from radam_core.race.threads import one_thread
from tests.demo_models.plain_loops import largest_difference

SMALL = {"vocabulary": 200, "width": 16, "length": 8, "context": 4}


@pytest.mark.parametrize("context", [0, 4])
def test_each_lane_equals_a_plain_loop(context):
    assert largest_difference(TEXT.open({**SMALL, "context": context}), lr=3e-3, batch_size=4) < 1e-9


def as_torchs(ours: AdaptiveSoftmax, width: int, words: int, cutoffs: tuple[int, ...]) -> nn.Module:
    theirs = nn.AdaptiveLogSoftmaxWithLoss(width, words, list(cutoffs), div_value=4.0).double()
    theirs.load_state_dict({name.replace("tails", "tail"): value for name, value in ours.state_dict().items()})
    return theirs


@pytest.mark.parametrize("cutoffs", [(12, 50), (5,), (1, 2, 99)])
def test_adaptive_softmax_and_its_gradient_are_torchs(cutoffs):
    torch.manual_seed(0)
    ours = AdaptiveSoftmax(64, 100, cutoffs).double()
    theirs = as_torchs(ours, 64, 100, cutoffs)
    hidden, target = torch.randn(300, 64, dtype=torch.float64), torch.randint(100, (300,))
    found, expected = ours(hidden, target), theirs(hidden, target)
    torch.testing.assert_close(found, expected.output, rtol=0, atol=1e-13)
    found.mean().backward()
    expected.output.mean().backward()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=0, atol=1e-13)


def test_adaptive_softmax_is_a_distribution():
    softmax, hidden = AdaptiveSoftmax(16, 30, (4, 15)).double(), torch.randn(1, 16, dtype=torch.float64)
    log_p = softmax(hidden.expand(30, -1), torch.arange(30))
    assert log_p.exp().sum().item() == pytest.approx(1.0, abs=1e-12)


def test_a_cluster_that_no_target_needs_has_a_gradient_of_zero():
    softmax = AdaptiveSoftmax(16, 30, (4, 15))
    softmax(torch.randn(5, 16), torch.zeros(5, dtype=torch.int64)).mean().backward()
    for p in softmax.tails.parameters():
        assert p.grad is not None
        assert not p.grad.any()


def test_lanes_with_different_targets_do_not_mix():
    """Lane 0 needs no cluster where lane 1 does; each lane alone is the oracle."""
    torch.manual_seed(0)
    model = LanguageModel(30, 16, (4, 15)).double()
    stacked = Lanes([model], 2).model
    words = torch.randint(30, (2, 3, 5))
    targets = torch.stack((torch.randint(0, 4, (3, 5)), torch.randint(4, 30, (3, 5))))
    found, _ = stacked(words, targets)
    for lane in range(2):
        torch.testing.assert_close(found[lane], model(words[lane], targets[lane])[0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("words", [2, 3, 5, 9, 100, 2000])
def test_default_cutoffs_suit_every_vocabulary(words):
    assert AdaptiveSoftmax(8, words, default_cutoffs(words))(torch.zeros(1, 8), torch.tensor([words - 1])).isfinite()


def test_cutoffs_that_do_not_increase_are_refused():
    with pytest.raises(ValueError, match=r"cutoffs must increase from 1 to below 30, got \(5, 40\)"):
        AdaptiveSoftmax(8, 30, (5, 40))


def test_state_carries_on_where_the_words_stopped():
    torch.manual_seed(0)
    model = LanguageModel(30, 16, (4, 15)).double()
    words = torch.randint(30, (3, 21))
    whole, _ = model(words[:, :-1], words[:, 1:])
    first, state = model(words[:, :8], words[:, 1:9])
    second, _ = model(words[:, 8:-1], words[:, 9:], state)
    torch.testing.assert_close(torch.cat((first, second), -1), whole, rtol=0, atol=1e-13)


def test_targets_are_the_words_that_follow():
    problem = TEXT.open(SMALL)
    words, targets = problem.batch(0, 3, 5)
    assert (words.shape, targets.shape) == ((5, 4 + 8), (5, 8))
    assert torch.equal(words[:, 5:], targets[:, :-1])
    following, _ = problem.batch(0, 4, 5)
    assert torch.equal(following[:, 4], targets[:, -1])


def test_context_is_read_without_gradient_and_changes_the_loss():
    problem = TEXT.open(SMALL)
    model = problem.make_model(0)
    words, targets = problem.batch(0, 1, 2)
    log_p, _ = model(words[:, 4:], targets, model.read(words[:, :4])[1])
    loss = problem.loss(model, (words, targets))
    torch.testing.assert_close(loss, -log_p.mean())
    seen = torch.autograd.grad(loss, model.embedding.weight)[0].any(-1).nonzero().flatten()
    assert set(seen.tolist()) == set(words[:, 4:].flatten().tolist())


def test_perplexity_is_that_of_one_long_reading():
    """exp of the mean -log p over the held-out text, read in 16 streams from start to end without a break."""
    problem = TEXT.open(SMALL)
    model = problem.make_model(0).double()
    text = problem.corpus.held_out
    steps = (len(text) - 1) // 16
    words = torch.from_numpy(np.stack([text[b * steps : (b + 1) * steps + 1] for b in range(16)]))
    with torch.no_grad():
        log_p, _ = model(words[:, :-1], words[:, 1:])
        found = problem.evaluate(model)["perplexity"].item()
    assert found == pytest.approx(math.exp(-log_p.mean().item()), rel=1e-12)


def test_groups_are_few_and_told_by_layer():
    problem = TEXT.open(SMALL)
    names = [name for name, _ in problem.make_model(0).named_parameters()]
    assert list(dict.fromkeys(map(problem.group, names))) == [
        *("embedding", "LSTM layer 1", "LSTM layer 2", "softmax, frequent words", "softmax, rare words")
    ]


@one_thread()
def test_adam_beats_the_frequencies_of_words():
    """A model that knew only how often each training word occurs would have the perplexity of its frequencies.

    Two seconds: the first hundred steps hardly learn more than that.
    """
    problem = TEXT.open({"vocabulary": 500, "width": 48, "context": 10})
    counts = np.bincount(problem.corpus.train, minlength=len(problem.corpus.vocabulary)) + 1.0
    frequencies = math.exp(-np.log(counts / counts.sum())[problem.corpus.held_out].mean())
    model = problem.make_model(0)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for step in range(1, 151):
        loss = problem.loss(model, problem.batch(0, step, 32))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        assert problem.evaluate(model)["perplexity"] < 0.6 * frequencies


def test_a_users_own_text(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("the cat sat on the mat . " * 400, encoding="utf-8")
    problem = TEXT.open({**SMALL, "file": str(path)})
    assert problem.corpus.vocabulary == ("<unk>", "the", "cat", "sat", "on", "mat", ".")
    assert problem.loss(problem.make_model(0), problem.batch(0, 1, 8)).isfinite()
    assert TEXT.settings[-1].local  # a path on this machine: never from a shared link


def test_a_missing_text_is_refused_before_any_training():
    with pytest.raises(ValueError, match=r"file must be a text file, got '/nowhere/own.txt'"):
        TEXT.open({"file": "/nowhere/own.txt"})
