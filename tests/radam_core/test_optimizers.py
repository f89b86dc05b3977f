"""The drop-in optimizers against torch's own, a naive second implementation, and rough handling."""

import copy
import io
import math
import pickle
from dataclasses import replace

import pytest
import torch

from radam_core import METHODS, SGDM, Adam, Adam2k, AdamEps, GIAdam, RAdam, make_optimizer, methods
from radam_core.methods import Coefficients
from radam_core.theory import rho

SHAPES = [(3, 4), (5,), (), (2, 3, 4, 4)]


def parameters(dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    values = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in SHAPES]
    return [value.to(dtype).requires_grad_() for value in values]


def set_gradients(params, t):
    generator = torch.Generator().manual_seed(t)
    for p in params:
        p.grad = torch.randn(p.shape, generator=generator, dtype=torch.float64).to(p.dtype) * (1 + t % 3)


def trajectory(make, steps=300, dtype=torch.float64):
    """The parameters after every step of an optimizer on the same random gradients."""
    params = parameters(dtype)
    optimizer = make(params)
    states = []
    for t in range(1, steps + 1):
        set_gradients(params, t)
        optimizer.step()
        states.append(torch.cat([p.detach().flatten() for p in params]).clone())
    return torch.stack(states)


def assert_same(ours, theirs, steps=300):
    torch.testing.assert_close(trajectory(ours, steps), trajectory(theirs, steps), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("beta2", [0.5, 0.9, 0.99, 0.999, 0.9999])
def test_torch_profile_equals_torch_radam(beta2, decoupled):
    settings = {"lr": 1e-2, "betas": (0.9, beta2), "weight_decay": 0.1, "decoupled_weight_decay": decoupled}
    assert_same(lambda p: RAdam(p, profile="torch", **settings), lambda p: torch.optim.RAdam(p, **settings))


@pytest.mark.parametrize("beta2", [0.9, 0.999])
def test_adam_equals_torch_adam_and_adamw(beta2):
    settings = {"lr": 1e-2, "betas": (0.8, beta2), "eps": 1e-6, "weight_decay": 0.1}
    assert_same(lambda p: Adam(p, **settings), lambda p: torch.optim.AdamW(p, **settings))
    assert_same(lambda p: Adam(p, decoupled_weight_decay=False, **settings), lambda p: torch.optim.Adam(p, **settings))


def test_sgdm_is_its_definition_and_torch_sgd():
    assert_same(
        lambda p: SGDM(p, lr=0.02, momentum=0.9, weight_decay=0.1),
        lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.1),
    )
    params = parameters()
    theta = [p.detach().clone() for p in params]
    m = [torch.zeros_like(p) for p in theta]
    optimizer = SGDM(params, lr=0.02, momentum=0.7)
    for t in range(1, 20):
        set_gradients(params, t)
        m = [0.7 * a + p.grad for a, p in zip(m, params, strict=True)]
        theta = [x - 0.02 * a for x, a in zip(theta, m, strict=True)]
        optimizer.step()
    for p, expected in zip(params, theta, strict=True):
        torch.testing.assert_close(p.detach(), expected, rtol=1e-14, atol=1e-14)


class Naive:
    """RAdam by the table of published implementations, one branch a row, in plain Python arithmetic."""

    def __init__(self, params, lr, betas, eps, weight_decay, whose):
        self.params, self.lr, self.betas, self.eps, self.decay, self.whose = params, lr, betas, eps, weight_decay, whose
        self.m = [torch.zeros_like(p) for p in params]
        self.v = [torch.zeros_like(p) for p in params]
        self.t = 0

    @torch.no_grad()
    def step(self):
        self.t += 1
        beta1, beta2 = self.betas
        n_max = 2 / (1 - beta2) - 1
        n = n_max - 2 * self.t * beta2**self.t / (1 - beta2**self.t)
        rectify = n > 4 if self.whose == "paper" else n >= 5
        for p, m, v in zip(self.params, self.m, self.v, strict=True):
            m.copy_(beta1 * m + (1 - beta1) * p.grad)
            v.copy_(beta2 * v + (1 - beta2) * p.grad**2)
            if not rectify and self.whose == "authors":
                continue
            update = m / (1 - beta1**self.t)
            if rectify:
                r = math.sqrt((n - 4) / (n_max - 4) * (n - 2) / (n_max - 2) * n_max / n)
                if self.whose in ("paper", "authors"):
                    update = update * r * math.sqrt(1 - beta2**self.t) / (v.sqrt() + self.eps)
                else:
                    update = update * r / ((v / (1 - beta2**self.t)).sqrt() + self.eps)
            p.mul_(1 - self.lr * self.decay)
            p.sub_(self.lr * update)


@pytest.mark.parametrize("whose", ["paper", "authors", "optax", "keras"])
@pytest.mark.parametrize("beta2", [0.5, 0.9, 0.999])
def test_profiles_equal_a_naive_implementation(whose, beta2):
    settings = {"lr": 1e-2, "betas": (0.9, beta2), "eps": 1e-3, "weight_decay": 0.1}
    assert_same(lambda p: RAdam(p, profile=whose, **settings), lambda p: Naive(p, whose=whose, **settings))


def test_knobs_override_the_profile():
    assert_same(
        lambda p: RAdam(p, profile="torch", threshold=4.0, decoupled_weight_decay=True, weight_decay=0.1),
        lambda p: RAdam(p, weight_decay=0.1),
        steps=20,
    )


@pytest.mark.parametrize("name", METHODS)
def test_every_method_equals_its_coefficients_applied_by_hand(name):
    method = METHODS[name]
    if method.frozen_steps:
        method = replace(method, frozen_steps=10)
    params = parameters()
    theta = [p.detach().clone() for p in params]
    m, v = [torch.zeros_like(p) for p in theta], [torch.zeros_like(p) for p in theta]
    optimizer = make_optimizer(params, method, lr=1e-2, weight_decay=0.1)
    columns = method.coefficients(range(1, 41))
    for t in range(1, 41):
        set_gradients(params, t)
        c = Coefficients(*(column[t - 1] for column in columns))
        for i, p in enumerate(params):
            g = p.grad if method.decoupled_weight_decay else p.grad + 0.1 * theta[i]
            m[i] = float(c.m_keep) * m[i] + float(c.m_gain) * g
            v[i] = float(c.v_keep) * v[i] + float(c.v_gain) * g * g
            if method.decoupled_weight_decay:
                theta[i] = theta[i] * (1 - 1e-2 * float(c.lr_factor) * 0.1)
            rate = 1 / (v[i].sqrt() + float(c.eps)) if c.branch == 2 else 1.0
            theta[i] = theta[i] - 1e-2 * float(c.step) * m[i] * rate
        optimizer.step()
    for p, expected in zip(params, theta, strict=True):
        torch.testing.assert_close(p.detach(), expected, rtol=1e-12, atol=1e-12)


def test_named_classes_are_the_methods_of_the_table():
    for cls, name in ((Adam2k, "adam-2k"), (AdamEps, "adam-eps"), (GIAdam, "gi-adam"), (Adam, "adam")):
        assert cls(parameters()).param_groups[0]["label"] == METHODS[name].label
    assert Adam(parameters(), warmup="linear", warmup_steps=5).param_groups[0]["warmup_steps"] == 5
    assert Adam2k(parameters(), frozen_steps=7, count_frozen_steps=True).param_groups[0]["frozen_steps"] == 7


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("at", [3, 30])
def test_state_dict_round_trip_continues_bit_for_bit(name, at):
    settings = {"frozen_steps": 10} if METHODS[name].frozen_steps else {}
    params = parameters()
    optimizer = make_optimizer(params, name, weight_decay=0.01, **settings)
    for t in range(1, at + 1):
        set_gradients(params, t)
        optimizer.step()
    file = io.BytesIO()
    torch.save({"params": params, "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    resumed = [p.detach().clone().requires_grad_() for p in saved["params"]]
    other = make_optimizer(resumed, "adam")
    other.load_state_dict(saved["optimizer"])
    for t in range(at + 1, at + 20):
        for some, each in ((params, optimizer), (resumed, other)):
            set_gradients(some, t)
            each.step()
    for a, b in zip(params, resumed, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda optimizer: pickle.loads(pickle.dumps(optimizer))])
def test_pickled_and_copied_optimizers_go_on(again):
    params = parameters()
    optimizer = RAdam(params)
    set_gradients(params, 1)
    optimizer.step()
    twin = again(optimizer)
    twin_params = twin.param_groups[0]["params"]
    for t in range(2, 12):
        for some, each in ((params, optimizer), (twin_params, twin)):
            set_gradients(some, t)
            each.step()
    assert all(torch.equal(a, b) for a, b in zip(params, twin_params, strict=True))


def test_groups_have_settings_of_their_own():
    params = parameters()
    optimizer = RAdam([{"params": params[:2], "lr": 1e-2, "betas": [0.5, 0.9]}, {"params": params[2:]}], lr=1e-3)
    optimizer.add_param_group({"params": [torch.zeros(3, dtype=torch.float64, requires_grad=True)], "threshold": 5.0})
    alone = parameters()
    separate = [RAdam(alone[:2], lr=1e-2, betas=(0.5, 0.9)), RAdam(alone[2:], lr=1e-3)]
    for t in range(1, 20):
        set_gradients(params, t)
        set_gradients(alone, t)
        optimizer.step()
        for each in separate:
            each.step()
    assert all(torch.equal(a, b) for a, b in zip(params, alone, strict=True))


def test_groups_may_use_a_constructors_own_words():
    params = parameters()
    optimizer = RAdam(
        [{"params": params[:2], "profile": "torch", "eps": 1e-6}, {"params": params[2:]}], variance="exact"
    )
    one, other = optimizer.param_groups
    assert (one["threshold"], one["decoupled_weight_decay"], one["eps"], one["rectify"]) == (5.0, False, 1e-6, "exact")
    assert (other["threshold"], other["decoupled_weight_decay"], other["eps"]) == (4.0, True, 1e-8)
    with pytest.raises(ValueError, match="profile must be one of paper"):
        optimizer.add_param_group({"params": [torch.zeros(2, requires_grad=True)], "profile": "mine"})
    optimizer = SGDM([{"params": params[:2], "momentum": 0.5}, {"params": params[2:]}])
    assert [group["betas"][0] for group in optimizer.param_groups] == [0.5, 0.9]


def test_training_goes_on_from_a_checkpoint_of_torch():
    params, resumed = parameters(), parameters()
    theirs = torch.optim.RAdam(params, lr=1e-2, weight_decay=0.1)
    for t in range(1, 9):
        set_gradients(params, t)
        theirs.step()
    with torch.no_grad():
        for p, q in zip(resumed, params, strict=True):
            p.copy_(q)
    ours = RAdam(resumed, profile="torch")
    ours.load_state_dict(copy.deepcopy(theirs.state_dict()))
    for t in range(9, 30):
        for some, optimizer in ((params, theirs), (resumed, ours)):
            set_gradients(some, t)
            optimizer.step()
    for p, q in zip(resumed, params, strict=True):
        torch.testing.assert_close(p, q, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("size", [3, 8, 4000])
def test_a_checkpoint_of_another_size_is_refused_before_anything_changes(size):
    saved, other = torch.nn.Linear(4, 4), torch.nn.Linear(4, size)
    optimizer = RAdam(saved.parameters())
    for model in (saved, other):
        model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    late = RAdam(other.parameters())
    with pytest.raises(ValueError, match=rf"exp_avg of a parameter of shape \({size}, 4\) must have that shape, got"):
        late.load_state_dict(optimizer.state_dict())
    assert not late.state
    late.step()


def test_a_parameter_that_was_replaced_by_a_larger_one_is_refused_before_anything_changes():
    first, second = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    optimizer = RAdam([first, second])
    first.grad, second.grad = torch.ones(3), torch.ones(3)
    optimizer.step()
    before = first.detach().clone()
    second.data = torch.ones(4000)
    with pytest.raises(RuntimeError, match=r"shape \(4000,\) has a gradient or moment of shape \(3,\)"):
        optimizer.step()
    assert torch.equal(first, before)


def test_a_state_without_the_moments_is_refused():
    params = parameters()
    optimizer = SGDM(params)
    set_gradients(params, 1)
    optimizer.step()
    adam = Adam(params)
    with pytest.raises(ValueError, match="a state for Adam must hold exp_avg_sq, got step, exp_avg"):
        adam.load_state_dict({**adam.state_dict(), "state": optimizer.state_dict()["state"]})


@pytest.mark.parametrize("moved", ["parameter", "moments"])
def test_moments_that_lie_otherwise_than_their_parameter_are_still_its_own(moved):
    base = torch.randn(4, 3, 2, 5, dtype=torch.float64)
    plain, odd = base.clone().requires_grad_(), base.clone().requires_grad_()
    optimizers = RAdam([plain], lr=1e-2), RAdam([odd], lr=1e-2)
    for t in range(1, 20):
        if t == 12 and moved == "parameter":
            odd.data = odd.data.to(memory_format=torch.channels_last)
        elif t == 12:
            for name in ("exp_avg", "exp_avg_sq"):
                state = optimizers[1].state[odd]
                state[name] = state[name].to(memory_format=torch.channels_last)
        for p, optimizer in ((plain, optimizers[0]), (odd, optimizers[1])):
            p.grad = torch.randn(base.shape, generator=torch.Generator().manual_seed(t), dtype=torch.float64)
            optimizer.step()
    torch.testing.assert_close(odd.detach().contiguous(), plain.detach(), rtol=1e-13, atol=1e-13)


def test_a_parameter_that_joins_late_counts_its_own_steps():
    early, late = parameters()[:2]
    optimizer = RAdam([early, late], lr=1e-2)
    reference = late.detach().clone().requires_grad_()
    own = RAdam([reference], lr=1e-2)
    for t in range(1, 30):
        set_gradients([early, late], t)
        if t < 10:
            late.grad = None
        else:
            reference.grad = late.grad.clone()
            own.step()
        optimizer.step()
    assert torch.equal(late, reference)
    assert optimizer.state[early]["step"] == 29
    assert optimizer.state[late]["step"] == 20


def test_no_gradient_at_all_is_no_step():
    params = parameters()
    before = [p.detach().clone() for p in params]
    RAdam(params).step()
    assert all(torch.equal(a, b) for a, b in zip(params, before, strict=True))


def test_closures_are_called_with_gradients_on_and_their_loss_returned():
    p = torch.ones(3, requires_grad=True)
    optimizer = RAdam([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p**2).sum()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(30)]
    assert losses[0] == 3.0
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    "make_scheduler",
    [
        lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 50),
        lambda o: torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.01, total_steps=50),
    ],
)
def test_torch_schedulers_drive_lr_and_betas(make_scheduler):
    ours, theirs = parameters(), parameters()
    a, b = RAdam(ours, lr=1e-2, profile="torch"), torch.optim.RAdam(theirs, lr=1e-2)
    schedulers = [make_scheduler(a), make_scheduler(b)]
    for t in range(1, 50):
        for some, optimizer, scheduler in ((ours, a, schedulers[0]), (theirs, b, schedulers[1])):
            set_gradients(some, t)
            optimizer.step()
            scheduler.step()
    for p, q in zip(ours, theirs, strict=True):
        torch.testing.assert_close(p, q, rtol=1e-12, atol=1e-12)


def test_schedulers_that_cycle_momentum_drive_sgd_and_adam():
    scheduler = torch.optim.lr_scheduler
    pairs = [
        (lambda p: SGDM(p, lr=1e-3), lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9)),
        (lambda p: Adam(p, lr=1e-3), lambda p: torch.optim.AdamW(p, lr=1e-3, weight_decay=0.0)),
    ]
    for pair in pairs:
        ends = []
        for make in pair:
            params = parameters()
            optimizer = make(params)
            cycle = scheduler.CyclicLR(optimizer, 1e-3, 1e-2, step_size_up=7, cycle_momentum=True)
            for t in range(1, 30):
                set_gradients(params, t)
                optimizer.step()
                cycle.step()
            ends.append([p.detach() for p in params])
        torch.testing.assert_close(*ends, rtol=1e-12, atol=1e-12)


def test_what_a_scheduler_of_beta1_does_not_touch_is_computed_once(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return rho(*arguments)

    monkeypatch.setattr(methods, "rho", counted)
    params = parameters()
    optimizer = RAdam(params, betas=(0.9, 0.9987))  # no other test has remembered this method
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.01, total_steps=50)
    for t in range(1, 49):
        set_gradients(params, t)
        optimizer.step()
        scheduler.step()
    assert len(calls) == 3  # 48 steps in blocks of 16; one for each step if beta1 were part of what is remembered


def test_a_learning_rate_in_a_tensor_is_read_at_every_step():
    rate = torch.tensor(1e-2, dtype=torch.float64)
    assert torch.equal(trajectory(lambda p: RAdam(p, lr=rate), 9), trajectory(lambda p: RAdam(p, lr=1e-2), 9))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.bfloat16, 0.05), (torch.float32, 1e-4)])
@pytest.mark.parametrize("name", ["radam", "adam", "sgd"])
def test_lower_precisions_stay_near_float64(name, dtype, tolerance):
    low = trajectory(lambda p: make_optimizer(p, name, 1e-2), 60, dtype)
    high = trajectory(lambda p: make_optimizer(p, name, 1e-2), 60)
    assert low.dtype == dtype
    torch.testing.assert_close(low.double(), high, rtol=tolerance, atol=2 * tolerance)


def test_state_is_two_tensors_a_parameter_of_its_size_and_type():
    params = parameters(torch.bfloat16)
    optimizer = RAdam(params)
    set_gradients(params, 1)
    optimizer.step()
    for p in params:
        tensors = {name: value for name, value in optimizer.state[p].items() if torch.is_tensor(value)}
        assert set(tensors) == {"exp_avg", "exp_avg_sq"}
        assert all(value.shape == p.shape and value.dtype == p.dtype for value in tensors.values())


@pytest.mark.parametrize(
    "layout",
    [
        lambda x: x.to(memory_format=torch.channels_last),
        lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
        lambda x: torch.stack([x, x])[0:1].expand(2, *x.shape)[0],
        lambda x: torch.stack([x, -x], dim=-1)[..., 0],
    ],
)
@pytest.mark.parametrize("of", ["parameter", "gradient", "both"])
def test_memory_layout_does_not_matter(layout, of):
    base = torch.randn(4, 3, 2, 5, dtype=torch.float64)
    plain = base.clone().requires_grad_()
    odd = (layout(base.clone()) if of != "gradient" else base.clone()).detach().requires_grad_()
    optimizers = RAdam([plain], lr=1e-2), RAdam([odd], lr=1e-2)
    for t in range(1, 15):
        grad = torch.randn(base.shape, generator=torch.Generator().manual_seed(t), dtype=torch.float64)
        plain.grad = grad.clone()
        odd.grad = layout(grad.clone()) if of != "parameter" else grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    torch.testing.assert_close(odd.detach().contiguous(), plain.detach(), rtol=1e-13, atol=1e-13)


def test_sparse_gradients_are_refused_before_anything_changes():
    first, second = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    optimizer = RAdam([{"params": [first]}, {"params": [second]}])
    first.grad, second.grad = torch.ones(3), torch.ones(3).to_sparse()
    with pytest.raises(RuntimeError, match="RAdam does not support sparse gradients"):
        optimizer.step()
    assert torch.equal(first, torch.ones(3))
    assert not optimizer.state[first]


def test_complex_gradients_are_refused_before_anything_changes():
    first, second = torch.ones(3, requires_grad=True), torch.ones(3, dtype=torch.complex64, requires_grad=True)
    optimizer = Adam([first, second])
    first.grad, second.grad = torch.ones(3), torch.ones(3, dtype=torch.complex64)
    with pytest.raises(RuntimeError, match="Adam does not support complex parameters"):
        optimizer.step()
    assert torch.equal(first, torch.ones(3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lr": -1.0}, "lr must be finite and at least 0, got -1.0"),
        ({"lr": math.nan}, "lr must be finite"),
        ({"weight_decay": -0.1}, "weight_decay must be finite and at least 0, got -0.1"),
        ({"betas": (0.9, 1.5)}, "beta2 must be strictly between 0 and 1, got 1.5"),
        ({"profile": "keras3"}, "profile must be one of paper, authors, torch, optax, keras, got 'keras3'"),
        ({"threshold": 2.0}, "threshold must be at least 4"),
        ({"below": "stop"}, "below must be one of momentum, skip, got 'stop'"),
        ({"variance": "guess"}, "variance must be one of first-order, analytic, exact, got 'guess'"),
        ({"variance": None}, "variance must be one of first-order, analytic, exact, got None"),
    ],
)
def test_bad_settings_are_refused_when_made(settings, message):
    with pytest.raises(ValueError, match=message):
        RAdam(parameters(), **settings)


def test_bad_settings_of_a_group_leave_the_optimizer_as_it_was():
    optimizer = RAdam(parameters())
    with pytest.raises(ValueError, match="lr must be finite"):
        optimizer.add_param_group({"params": [torch.zeros(2, requires_grad=True)], "lr": -1.0})
    assert len(optimizer.param_groups) == 1


def test_settings_made_bad_later_are_refused_before_a_step():
    params = parameters()
    before = [p.detach().clone() for p in params]
    optimizer = RAdam(params)
    set_gradients(params, 1)
    optimizer.param_groups[0]["betas"] = (0.9, 2.0)
    with pytest.raises(ValueError, match="beta2 must be strictly between 0 and 1, got 2"):
        optimizer.step()
    assert all(torch.equal(a, b) for a, b in zip(params, before, strict=True))


def test_unknown_method_names_are_refused():
    with pytest.raises(ValueError, match="method must be one of adam, adam-linear"):
        make_optimizer(parameters(), "adamx")
