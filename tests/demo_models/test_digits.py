import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from demo_models.descriptions import DIGITS
from demo_models.shuffled import shuffled_indices
from radam_core.race.threads import one_thread
from tests.demo_models.plain_loops import largest_difference


@pytest.mark.parametrize("settings", [{"depth": 8, "width": 8}, {"depth": 14, "width": 4}])
def test_each_lane_equals_a_plain_loop(settings):
    assert largest_difference(DIGITS.open(settings), lr=3e-3, batch_size=8) < 1e-9


def test_a_batch_is_a_function_of_seed_and_step():
    problem = DIGITS.open()
    later, first = problem.batch(1, 7, 16), problem.batch(1, 1, 16)
    assert all(torch.equal(a, b) for a, b in zip(later, DIGITS.open().batch(1, 7, 16), strict=True))
    assert not torch.equal(later[0], first[0])
    assert not torch.equal(first[0], problem.batch(2, 1, 16)[0])


@pytest.mark.parametrize("size", [1, 4, 7, 25])
def test_every_epoch_shows_each_example_once(size):
    count, epochs = 10, 14
    shown = np.concatenate([shuffled_indices(count, 3, step, size) for step in range(1, count * epochs // size + 2)])
    by_epoch = shown[: count * (epochs - 1)].reshape(-1, count)
    assert (np.sort(by_epoch) == np.arange(count)).all()
    assert len({tuple(epoch) for epoch in by_epoch}) > 1


def test_held_out_digits_are_fixed_and_apart_from_the_training_ones():
    problem = DIGITS.open()
    (train, labels), (held_out, held_out_labels) = problem.train, problem.held_out
    assert (len(train), len(held_out)) == (1437, 360)
    assert train.mean().abs() < 1e-5
    assert train.std() == pytest.approx(1.0)
    bundled = load_digits()
    assert torch.bincount(torch.cat((labels, held_out_labels))).tolist() == np.bincount(bundled.target).tolist()
    seen = {image.numpy().tobytes() for image in train}
    assert not any(image.numpy().tobytes() in seen for image in held_out)  # the set has no image twice


def test_groups_are_the_stem_the_stages_and_the_head():
    problem = DIGITS.open()
    names = [name for name, _ in problem.make_model(0).named_parameters()]
    assert list(dict.fromkeys(map(problem.group, names))) == ["stem", "stage 1", "stage 2", "stage 3", "head"]


@one_thread()
def test_adam_learns_to_read():
    """Two seconds: from step to step accuracy still varies by a few percent at half the steps."""
    problem = DIGITS.open()
    model = problem.make_model(0)
    optimizer = torch.optim.Adam(model.parameters(), DIGITS.lr)
    for step in range(1, 201):
        loss = problem.loss(model, problem.batch(0, step, DIGITS.batch_size))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        assert problem.evaluate(model)["accuracy"] > 0.95


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 9}, "digits.depth must be one of 8, 14, 20, got 9"),
        ({"width": 1000}, "digits.width must be a whole number from 2 to 32, got 1000"),
    ],
)
def test_settings_are_bounded(settings, message):
    with pytest.raises(ValueError, match=message):
        DIGITS.open(settings)
