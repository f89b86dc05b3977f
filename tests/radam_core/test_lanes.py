"""Each lane layer against its torch namesake, and the stacked model's buffer, groups and refusals."""

import pytest
import torch
from torch import nn

from radam_core.race.lanes import Lanes

LANES = 3


def indices(*shape):
    return torch.randint(0, 7, shape, generator=torch.Generator().manual_seed(5))


def values(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(5), dtype=torch.float64)


LEAVES = {
    "linear": (lambda: nn.Linear(4, 5), values(LANES, 2, 3, 4)),
    "linear without bias": (lambda: nn.Linear(4, 5, bias=False), values(LANES, 6, 4)),
    "layer norm": (lambda: nn.LayerNorm(4), values(LANES, 2, 3, 4)),
    "layer norm without bias": (lambda: nn.LayerNorm(4, bias=False), values(LANES, 3, 4)),
    "plain layer norm": (lambda: nn.LayerNorm(4, elementwise_affine=False), values(LANES, 3, 4)),
    "embedding": (lambda: nn.Embedding(7, 4), indices(LANES, 5, 3)),
    "convolution": (lambda: nn.Conv2d(2, 4, 3, padding=1), values(LANES, 5, 2, 6, 6)),
    "strided convolution": (lambda: nn.Conv2d(2, 4, 1, stride=2, bias=False), values(LANES, 5, 2, 6, 6)),
    "batch norm": (lambda: nn.BatchNorm2d(2), values(LANES, 5, 2, 3, 3)),
    "batch norm of small planes": (lambda: nn.BatchNorm2d(16), values(LANES, 5, 16, 2, 2)),
    "LSTM": (lambda: nn.LSTM(4, 6, 2, batch_first=True), values(LANES, 5, 7, 4)),
    "LSTM without bias": (lambda: nn.LSTM(4, 6, bias=False, batch_first=True), values(LANES, 5, 7, 4)),
}


def randomised(make, seed):
    model = nn.Sequential(make()).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=generator, dtype=p.dtype))
    return model


def output(result):
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("name", LEAVES)
def test_a_lane_layer_is_its_namesake_in_every_lane(name):
    make, x = LEAVES[name]
    models = [randomised(make, seed) for seed in range(LANES)]
    if not list(models[0].parameters()):
        torch.testing.assert_close(Lanes([nn.Sequential(make(), nn.Linear(4, 1))], LANES).model[0](x), make()(x))
        return
    lanes = Lanes(models, LANES)
    for training in (True, False):
        lanes.model.train(training)
        stacked = output(lanes.model(x))
        lanes.backward(stacked.square().flatten(1).sum(1))
        for k, model in enumerate(models):
            model.train(training).zero_grad()
            plain = output(model(x[k]))
            plain.square().sum().backward()
            torch.testing.assert_close(stacked[k], plain, rtol=1e-12, atol=1e-12)
            for key, p in model.named_parameters():
                ours = lanes.grad[k, lanes.spans[key]].view(p.shape)
                torch.testing.assert_close(ours, p.grad, rtol=1e-10, atol=1e-10)


def test_lstm_takes_and_gives_its_state():
    make, x = LEAVES["LSTM"]
    model = randomised(make, 0)
    lanes = Lanes([model], LANES).model[0]
    _, state = lanes(x[:, :, :3])
    continued, (h, c) = lanes(x[:, :, 3:], state)
    whole, (h_plain, c_plain) = model[0](x[1])
    torch.testing.assert_close(continued[1], whole[:, 3:])
    torch.testing.assert_close((h[1], c[1]), (h_plain, c_plain))


class Offset(nn.Module):
    """A module with a parameter of its own beside its children."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 2), nn.Linear(2, 2)
        self.offset = nn.Parameter(torch.ones(2))

    def forward(self, x):
        return self.last(self.first(x) + self.offset.unsqueeze(-2))


def test_groups_are_slices_in_the_order_of_appearance():
    lanes = Lanes([Offset()], 2, lambda name: "ends" if name.startswith(("first", "last")) else "middle")
    assert list(lanes.groups) == ["middle", "ends"]
    assert [(span.start, span.stop) for span in lanes.groups.values()] == [(0, 2), (2, 16)]
    assert lanes.buffer.shape == (2, 16)


def test_parameters_are_views_of_the_buffer():
    lanes = Lanes([Offset()], 2)
    x = torch.randn(2, 4, 3)
    before = lanes.model(x).detach()
    lanes.buffer[1] = 0
    after = lanes.model(x).detach()
    assert torch.equal(before[0], after[0])
    assert not after[1].any()


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
        self.b.weight = self.a.weight


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (nn.Sequential(nn.GRU(2, 2)), r"0 must be one of nn\.Linear.*, got GRU"),
        (nn.Sequential(Doubled(2, 2)), r"0 must be one of nn\.Linear.*, got Doubled"),
        (nn.Sequential(nn.BatchNorm2d(2, affine=False), nn.Linear(2, 2)), "must be affine"),
        (nn.ReLU(), "must have parameters to be raced, got a ReLU with none"),
        (Tied(), "must not be shared between layers in lanes, but b.weight is"),
        (
            nn.Sequential(nn.Linear(2, 2).requires_grad_(False)),
            "trained in lanes, but 0.weight has requires_grad=False",
        ),
        (nn.Conv2d(4, 4, 1, groups=2), "one group and zero padding in lanes, got 2 groups"),
        (nn.LSTM(2, 2), "must be batch_first"),
        (nn.LayerNorm((2, 2)), "must be over the last axis"),
        (nn.Embedding(3, 2, padding_idx=0), "must have no max_norm"),
    ],
)
def test_what_lanes_cannot_do_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        Lanes([model], 2)


def test_models_are_one_or_one_for_each_lane():
    with pytest.raises(ValueError, match="models must be 1 or one for each of the 3 lanes, got 2"):
        Lanes([Offset(), Offset()], 3)
