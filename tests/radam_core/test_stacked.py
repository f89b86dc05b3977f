"""The stacked update against the drop-in optimizers, method by method, on the same gradients."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from radam_core import METHODS, make_optimizer
from radam_core.race.lanes import Lanes
from radam_core.race.plan import Lane
from radam_core.race.stacked import StackedOptimizer, angle

STEPS = 40


def quick(method):
    """With phases that all begin and end within the test."""
    shorter = {"frozen_steps": 7} if method.frozen_steps else {}
    return replace(method, **shorter, warmup_steps=20, total_steps=30)


METHODS_TRIED = {name: quick(method) for name, method in METHODS.items()} | {
    "linear decay": replace(quick(METHODS["radam"]), decay="linear"),
    "coupled": replace(METHODS["adam"], decoupled_weight_decay=False),
    "authors": replace(METHODS["radam"], below="skip", threshold=5.0, at_threshold=True),
}


def test_every_method_in_its_lane_equals_the_drop_in_optimizer():
    entries = [
        Lane(label=name, method=method, lr=0.01 * (1 + k), weight_decay=0.05 * (k % 3), clip=0.5 if k % 2 else None)
        for k, (name, method) in enumerate(METHODS_TRIED.items())
    ]
    model = nn.Linear(4, 3).double()
    lanes = Lanes([model], len(entries))
    stacked = StackedOptimizer(lanes, entries)
    plain = [nn.Linear(4, 3).double() for _ in entries]
    for copy in plain:
        copy.load_state_dict(model.state_dict())
    optimizers = [
        make_optimizer(copy.parameters(), lane.method, lane.lr, lane.weight_decay)
        for copy, lane in zip(plain, entries, strict=True)
    ]
    for t in range(STEPS):
        gradient = torch.randn(15, generator=torch.Generator().manual_seed(t), dtype=torch.float64)
        lanes.grad.copy_(gradient.expand(len(entries), -1))
        stacked.step(stacked.grad_norms())
        for copy, optimizer, lane in zip(plain, optimizers, entries, strict=True):
            copy.weight.grad, copy.bias.grad = gradient[:12].view(3, 4).clone(), gradient[12:].clone()
            if lane.clip is not None:
                torch.nn.utils.clip_grad_norm_(copy.parameters(), lane.clip)
            optimizer.step()
    for k, copy in enumerate(plain):
        expected = torch.cat([p.detach().flatten() for p in copy.parameters()])
        torch.testing.assert_close(lanes.buffer[k], expected, rtol=1e-12, atol=1e-12, msg=entries[k].label)


@pytest.mark.parametrize("decay", [0.0, 0.1, 2.0])
def test_sizes_are_those_of_the_update_and_the_parameters_in_every_part(decay):
    lanes = Lanes([nn.Linear(4, 3).double()], 2)
    method = replace(METHODS["adam"], decoupled_weight_decay=True)
    entries = [Lane(label=str(k), method=method, lr=0.1 * (k + 1), weight_decay=decay) for k in range(2)]
    stacked = StackedOptimizer(lanes, entries)
    lanes.grad.normal_(generator=torch.Generator().manual_seed(0))
    before = lanes.buffer.clone().numpy()
    parts = (slice(None), slice(0, 12), slice(12, 15))
    sizes = stacked.step(stacked.grad_norms(), parts)
    after = lanes.buffer.numpy()
    for i, part in enumerate(parts):
        for k, lane in enumerate(entries):
            old, new = before[k, part], after[k, part]
            update = new - (1 - lane.lr * decay) * old  # what decay took is not in it
            cosine = old @ new / np.linalg.norm(old) / np.linalg.norm(new)
            expected = np.linalg.norm(update), np.linalg.norm(old), np.degrees(np.arccos(cosine))
            ours = [values[i, k].item() for values in sizes]
            np.testing.assert_allclose(ours, expected, rtol=1e-9)
    assert stacked.step(stacked.grad_norms(), ()) is None


@pytest.mark.parametrize("degrees", [1e-7, 1e-5, 1e-3, 0.1, 30.0, 90.0, 150.0])
@pytest.mark.parametrize("stretched", [1.0, 0.5])
def test_small_angles_keep_their_digits(degrees, stretched):
    """In float32, where the cosine of 0.01 degrees is 1. Of three lanes, two are turned and one is not."""
    rng = np.random.default_rng(0)
    theta, other = rng.standard_normal((2, 1000))
    other -= theta * (other @ theta) / (theta @ theta)
    other *= np.linalg.norm(theta) / np.linalg.norm(other)
    turned = stretched * (np.cos(np.radians(degrees)) * theta + np.sin(np.radians(degrees)) * other)
    both = torch.tensor(np.stack([theta, -3 * theta, theta]), dtype=torch.float32)
    update = torch.tensor(np.stack([turned - theta, -3 * (turned - theta), 0 * theta]), dtype=torch.float32)
    found = angle(both, update)
    # Half of theta as an update is itself rounded by 6e-8 of its size, some 3e-6 degrees.
    np.testing.assert_allclose(found[:2].numpy(), degrees, rtol=1e-5, atol=0 if stretched == 1 else 1e-5)
    assert found[2] == 0


@pytest.mark.parametrize("eps", [0.0, 1e-8])
def test_a_stopped_lane_rests_at_zero(eps):
    lanes = Lanes([nn.Linear(4, 3)], 2)
    method = replace(METHODS["adam"], eps=eps)
    stacked = StackedOptimizer(lanes, [Lane(label=str(k), method=method, lr=0.1, weight_decay=0.1) for k in range(2)])
    lanes.grad.fill_(float("nan"))
    stacked.stop(0)
    lanes.grad[1] = 1.0
    for _ in range(3):
        stacked.step(stacked.grad_norms())
        lanes.grad.fill_(1.0)
    assert not lanes.buffer[0].any()
    assert torch.isfinite(lanes.buffer).all()
    assert lanes.buffer[1].all()
