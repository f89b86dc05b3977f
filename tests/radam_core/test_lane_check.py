"""Models that lanes would train wrongly are refused before anything is trained; all of ours pass, to the bit."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from dashboard.asked.presets import PRESETS
from demo_models import TASKS
from radam_core import METHODS
from radam_core.race.gradient_variance import measure_gradient_variance
from radam_core.race.lane_check import gradient_differences
from radam_core.race.plan import Lane, RacePlan
from radam_core.race.race import Race, race
from radam_core.race.threads import one_thread
from tests.demo_models.test_images import problem as images
from tests.radam_core.test_race import assert_same_frames

LABELS = ("first", "second", "third")


class Net(nn.Module):
    """Two layers with `between` in the middle."""

    def __init__(self, between):
        super().__init__()
        self.into, self.out, self.between = nn.Linear(4, 5), nn.Linear(5, 1), between

    def forward(self, x):
        return self.out(self.between(torch.tanh(self.into(x))))


class Regression:
    """A made problem whose model and loss a test may spoil."""

    def __init__(self, between=lambda h: h, total=lambda squares: squares.mean(-1)):
        self.between, self.total = between, total

    def make_model(self, seed):
        model = Net(self.between)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(0.3 * torch.randn(p.shape, generator=generator))
        return model

    def batch(self, seed, step, size):
        x = torch.from_numpy(np.random.default_rng((seed, step)).standard_normal((size, 4))).float()
        return x, x.sum(-1)

    def loss(self, model, batch):
        x, y = batch
        return self.total((model(x).squeeze(-1) - y).square())

    def evaluate(self, _):
        return {}

    def group(self, _):
        return "all"


def plan(seeds=(0, 0, 0), **changes):
    lanes = tuple(
        Lane(label=label, method=METHODS["adam"], lr=1e-2, seed=seed)
        for label, seed in zip(LABELS, seeds, strict=False)
    )
    return RacePlan(**{"lanes": lanes, "steps": 3, "batch_size": 6, "device": "cpu"} | changes)


def refused(problem, **changes):
    """The reason, and that nothing was trained or recorded."""
    state = Race(problem, plan(**changes))
    before = state.lanes.buffer.clone()
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - each test looks at the message itself
        next(state.frames())
    assert torch.equal(state.lanes.buffer, before)
    assert state.optimizer.t == 0
    assert not state.optimizer.exp_avg.any()
    assert state._rows == []
    return str(caught.value)


def test_a_mean_over_the_wrong_axis_is_named_with_both_losses():
    # In the plain model axis 0 holds the examples; in lanes that are alike, the mean over axis 0 leaves nothing over.
    problem = Regression(between=lambda h: h - h.mean(0, keepdim=True))
    message = refused(problem)
    assert message.startswith("lane 'first' would not train the model it was given: its first loss is ")
    assert "count axes from the end" in message
    model, (x, y) = problem.make_model(0), problem.batch(0, 1, 6)
    plain, stacked = problem.loss(model, (x, y)).item(), (model.out.bias - y).square().mean().item()
    found = re.search(r"loss is (\S+), and (\S+) when", message)
    assert [float(value) for value in found.groups()] == pytest.approx([stacked, plain], rel=1e-5)


def test_a_loss_over_the_wrong_axis_is_found_even_where_its_shape_fits():
    # With as many examples as lanes, the mean over axis 0 of [lane, example] has one number for each, too.
    assert "first loss is" in refused(Regression(total=lambda squares: squares.mean(0)), batch_size=3)


@pytest.mark.parametrize(
    ("total", "shape"),
    [(lambda s: s, [3, 6]), (lambda s: s.mean(), []), (lambda s: s.mean(0), [6]), (lambda s: s.mean(-1).sum(), [])],
)
def test_a_loss_that_is_not_one_number_a_lane_is_refused(total, shape):
    message = refused(Regression(total=total))
    assert message.startswith(f"the loss must be one number per lane, shape [3], got shape {shape}")


def test_the_plain_loss_must_be_one_number():
    problem = Regression(total=lambda s: s.mean(-1).reshape(-1))
    assert refused(problem) == "the loss of a plain model must be one number, got shape [1]"


@pytest.mark.parametrize("kind", [nn.Dropout, nn.Dropout2d, nn.AlphaDropout, nn.FeatureAlphaDropout])
def test_dropout_is_refused_by_its_path(kind):
    inside = nn.Sequential(nn.ReLU(), kind(0.1))
    with pytest.raises(ValueError, match=rf"^between\.1 is nn\.{kind.__name__} with p=0\.1, .*set its p to 0"):
        Race(Regression(between=inside), plan())


def test_dropout_of_nothing_is_no_dropout():
    assert next(race(Regression(between=nn.Dropout(0.0)), plan())).last == 1


def noisy(h):
    return h + torch.from_numpy(np.random.default_rng().standard_normal(h.shape)).to(h)


@pytest.mark.parametrize(
    "between",
    [
        lambda h: functional.dropout(h, 0.5),
        lambda h: h + 1e-9 * torch.randn_like(h),  # too little to be seen in a loss
        nn.RReLU(),
        noisy,  # not of torch's random numbers: by the loss, which differs each time
    ],
)
def test_random_numbers_are_refused(between):
    message = refused(Regression(between=between))
    assert message.startswith("the model draws random numbers as it trains (on the same weights and batch its loss was")


class FrozenRandomness(nn.Module):
    """Random numbers that are the same every time, and leave those of others as they were."""

    def forward(self, h):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return h + torch.randn(h.shape[-1])


def test_the_same_random_numbers_at_every_step_are_no_randomness():
    assert next(race(Regression(between=FrozenRandomness()), plan())).last == 1


def test_mixing_that_only_the_gradient_shows_names_the_parameter():
    # The largest of all is every lane's own largest, but its gradient goes to the first lane alone.
    problem = Regression(between=lambda h: h * h.flatten().max(0).values)
    message = refused(problem)
    assert re.match(
        r"lane 'first' would not train the model it was given: its first loss is right, but the gradient of \S+ has "
        r"norm \S+, and \S+ when the model runs by itself",
        message,
    )


@pytest.mark.parametrize(
    "spoilt",
    [
        {"total": lambda s: s.mean().expand(s.shape[:-1])},  # the lanes' mean loss, for each
        {"between": lambda h: h / h.abs().mean()},
        {"between": lambda h: h / h.detach().abs().max()},  # no gradient runs through it at all
    ],
)
@pytest.mark.parametrize("lanes", [1, 3])
def test_mixing_that_lanes_of_equal_weights_cannot_show(spoilt, lanes):
    message = refused(Regression(**spoilt), lanes=plan().lanes[:lanes])
    assert message.startswith("lane 'first' would depend on the lanes beside it: next to one with other weights")


@pytest.mark.parametrize("double", [False, True])
def test_lanes_of_several_seeds_are_compared_with_their_own_models(double):
    assert len(list(race(Regression(), plan(seeds=(0, 4, 4), double=double)))) == 2

    def spoils_the_second(squares):
        return squares.mean(-1) + (torch.tensor([0.0, 0.5, 0.0]) if squares.dim() == 2 and len(squares) == 3 else 0)

    assert refused(Regression(total=spoils_the_second), seeds=(0, 4, 4), double=double).startswith("lane 'second'")


def test_a_loss_that_is_lost_from_the_start_is_a_diverged_lane_and_no_error():
    frames = list(race(Regression(total=lambda s: (s * torch.inf).mean(-1)), plan()))
    assert frames[-1].diverged_at == (1, 1, 1)


def test_the_variance_probe_refuses_the_same_models():
    with pytest.raises(ValueError, match=r"^lane 'stream 1' would not train"):
        measure_gradient_variance(Regression(between=lambda h: h - h.mean(0, keepdim=True)), streams=3, device="cpu")


def test_differences_are_shares_of_each_parameters_gradient():
    spans = {"a": slice(0, 2), "b": slice(2, 3), "c": slice(3, 4)}
    theirs = torch.tensor([3.0, 4.0, 0.0, torch.nan])
    # a is off by (0.3, 0.4), a tenth of its norm 5; c tells nothing, since it is lost by itself.
    found = gradient_differences(torch.tensor([3.3, 4.4, 0.0, 1.0]), theirs, spans)
    assert found.tolist() == pytest.approx([0.1, 0.0, 0.0])
    theirs[3] = 0.0
    # b and c have none, and are compared with a hundredth of the whole's root mean square, sqrt(25 / 4) = 2.5.
    found = gradient_differences(torch.tensor([3.0, 4.0, 0.05, torch.nan]), theirs, spans)
    assert found.tolist() == pytest.approx([0.0, 2.0, np.inf])
    assert not gradient_differences(torch.zeros(4), torch.zeros(4), spans).any()


SMALL = {
    "numbers": {"depth": 1, "width": 16, "heads": 2},
    "digits": {"width": 4},
    "text": {"width": 8, "vocabulary": 200, "length": 4, "context": 2},
    "surfaces": {},
}


@one_thread()
@pytest.mark.parametrize(("seeds", "double"), [((0, 0, 0), False), ((0, 1, 1), True)])
@pytest.mark.parametrize("name", SMALL)
def test_a_checked_race_is_the_unchecked_one_to_the_bit(name, seeds, double):
    problem, asked = TASKS[name].open(SMALL[name]), plan(seeds, steps=4, evaluate_every=2, double=double)
    checked, unchecked = Race(problem, asked), Race(problem, asked)
    unchecked._models = {}
    random_numbers = torch.get_rng_state()
    assert_same_frames(list(checked.frames()), list(unchecked.frames()))
    assert torch.equal(torch.get_rng_state(), random_numbers)


# Presets of one task with the same settings train the same model.
MODELS = {(preset.config.task, str(preset.config.settings)): name for name, preset in PRESETS.items()}


@one_thread()
@pytest.mark.parametrize("name", MODELS.values())
def test_every_presets_model_passes(name):
    config = PRESETS[name].config
    if config.task == "images":  # the preset's depth; a narrow network on made images, since there are no files
        problem = images(depth=config.settings["depth"])
    else:
        problem = TASKS[config.task].open(config.settings)
    assert next(race(problem, replace(config.plan(), batch_size=4, device="cpu"))).last == 1
