"""Lanes by an optimizer of torch: the same as a plain loop with that class, whoever races beside them."""

import inspect
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.optim.lr_scheduler import LambdaLR

from demo_models import TASKS
from radam_core import METHODS
from radam_core.race.plan import Lane, RacePlan
from radam_core.race.race import Race, race
from radam_core.race.threads import one_thread
from radam_core.schedules import cosine_decay, linear_warmup
from radam_core.torch_methods import LANE_METHODS, TORCH, TORCH_METHODS
from tests.demo_models.plain_loops import largest_difference

NUMBERS = TASKS["numbers"].open({"depth": 1, "width": 16, "heads": 2})
STEPS, WARMUP = 12, 5


class Warmed:
    """An optimizer with a warmup and a decay by torch's own scheduler."""

    def __init__(self, optimizer):
        warmup, decay = linear_warmup(WARMUP), cosine_decay(STEPS)
        self.optimizer = optimizer
        self.scheduler = LambdaLR(optimizer, lambda done: float(warmup(done + 1) * decay(done + 1)))
        self.zero_grad = optimizer.zero_grad

    def step(self):
        self.optimizer.step()
        self.scheduler.step()


class Both:
    """Muon for the matrices, AdamW for the rest, as people write it."""

    def __init__(self, parameters, lr):
        given = list(parameters)
        matrices = [p for p in given if p.dim() == 2]
        others = [p for p in given if p.dim() != 2]
        self.parts = [
            torch.optim.Muon(matrices, lr, weight_decay=0.1),
            torch.optim.AdamW(others, lr * 0.5, weight_decay=0.1),
        ]

    def zero_grad(self):
        for part in self.parts:
            part.zero_grad()

    def step(self):
        for part in self.parts:
            part.step()


def by_name(name, **settings):
    """A lane with these settings of the class itself, and torch's class with the same."""
    kind = getattr(torch.optim, TORCH[f"torch.{name}"].name)
    fixed = TORCH[f"torch.{name}"].fixed
    decay = {"weight_decay": 0.01} if "weight_decay" in TORCH[f"torch.{name}"].has else {}
    method = TORCH_METHODS[f"torch.{name}"].with_options(settings)
    lane = Lane(label=name, method=method, lr=1.0, **decay)
    return lane, lambda parameters, lr: kind(parameters, lr, **decay, **fixed, **settings)


def pairs():
    plain = (
        "NAdam",
        "AMSGrad",
        "Adamax",
        "Adafactor",
        "Adam",
        "AdamW",
        "RAdam",
        "Adagrad",
        "Adadelta",
        "Rprop",
        "ASGD",
    )
    found = {name: by_name(name) for name in plain}
    found["RMSprop"] = by_name("RMSprop", momentum=0.5, centered=True)
    found["SGD"] = by_name("SGD", momentum=0.9, nesterov=True)
    muon = TORCH_METHODS["torch.Muon"].with_options({"adamw_lr_times": 0.5})
    found["Muon"] = (Lane(label="Muon", method=muon, lr=1.0, weight_decay=0.1), Both)
    schedule = {"warmup": "linear", "warmup_steps": WARMUP, "decay": "cosine", "total_steps": STEPS}
    nadam = replace(TORCH_METHODS["torch.NAdam"], betas=(0.8, 0.99), eps=1e-6, decoupled_weight_decay=True, **schedule)
    own = {"betas": (0.8, 0.99), "eps": 1e-6, "decoupled_weight_decay": True, "weight_decay": 0.1}
    found["NAdam, warmed"] = (
        Lane(label="NAdam, warmed", method=nadam, lr=1.0, weight_decay=0.1),
        lambda parameters, lr: Warmed(torch.optim.NAdam(parameters, lr, **own)),
    )
    found["ours"] = (Lane(label="ours", method=METHODS["adam"], lr=1.0), torch.optim.Adam)
    return found


@pytest.mark.parametrize("task", ["text", "digits"])
def test_every_lane_is_a_plain_loop_of_torch(task):
    """Not on numbers: an attention's key biases have gradients of rounding only, whose signs Rprop follows."""
    problem = TASKS[task].open({"text": {"width": 8, "vocabulary": 200}, "digits": {"width": 4}}[task])
    assert {lane.method.label for lane, _ in pairs().values()} == {*TORCH, "Adam"}
    assert largest_difference(problem, 1e-2, 4, steps=STEPS, pairs=pairs()) < 1e-9


@pytest.mark.parametrize("name", TORCH)
def test_the_table_has_torchs_own_settings_and_defaults(name):
    row = TORCH[name]
    known = inspect.signature(getattr(torch.optim, row.name)).parameters
    pairs_of = {"eps2": ("eps", 1), "eta_minus": ("etas", 0), "eta_plus": ("etas", 1)}
    pairs_of |= {"step_min": ("step_sizes", 0), "step_max": ("step_sizes", 1)}
    for option, told in row.options.items():
        if option == "adamw_lr_times":
            continue  # ours
        own, place = pairs_of.get(option, (option, None))
        default = known[own].default if place is None else known[own].default[place]
        assert (default or "original") == told.default if option == "adjust_lr_fn" else default == told.default, option
        told.check(option, told.default)
    own_eps = known["eps"].default if "eps" in row.has and row.name != "Muon" else row.eps
    assert own_eps == row.eps
    if "betas" in known:
        assert known["betas"].default == row.betas
    assert ("weight_decay" in known) == ("weight_decay" in row.has)
    assert ("decoupled_weight_decay" in known) == ("decoupled_weight_decay" in row.has)


LANES = tuple(
    Lane(label=name, method=LANE_METHODS[name], lr=1e-2, clip=0.5)
    for name in ("torch.NAdam", "torch.Adafactor", "radam", "torch.Muon", "torch.AMSGrad")
)


def losses(lanes, **settings):
    plan = RacePlan(lanes=tuple(lanes), steps=8, batch_size=4, evaluate_every=8, device="cpu", **settings)
    with one_thread():
        return np.concatenate([frame.loss for frame in race(NUMBERS, plan)])


def test_the_lanes_beside_it_change_no_bit_and_neither_does_measuring():
    together = losses(LANES)
    np.testing.assert_array_equal(losses(LANES, measure=False), together)
    for k, lane in enumerate(LANES):
        np.testing.assert_array_equal(losses([lane])[:, 0], together[:, k], err_msg=lane.label)
    np.testing.assert_array_equal(losses(LANES[::-1])[:, ::-1], together)


def test_a_race_goes_on_with_some_of_its_lanes():
    plan = RacePlan(lanes=LANES, steps=6, batch_size=4, device="cpu")
    with one_thread():
        whole, part = Race(NUMBERS, plan), Race(NUMBERS, plan)
        for t in range(1, 7):
            whole.step(t)
            part.step(t)
            if t == 3:
                part.keep([1, 3])
            if t == 5:
                part.keep([1])  # Muon alone, with a twin beside it
    assert torch.equal(part.lanes.buffer[0], whole.lanes.buffer[3])


def test_what_torch_keeps_is_told_and_what_it_has_not_is_absent():
    lanes = [replace(lane, weight_decay=0.1) for lane in LANES]
    plan = RacePlan(lanes=tuple(lanes), steps=1, batch_size=4, sharpness_every=1, device="cpu")
    with one_thread():
        frame = list(race(NUMBERS, plan))[-1]
    moments = frame.histograms[0].counts[1:].sum((2, 3))[:, [0, 1, 3]]  # [m and v, lane]: every bin is counted
    assert (moments == moments[0, 0]).all()
    below = frame.histograms[0].counts[2, :, :, 1:].sum((1, 2))  # v above 2^-126
    assert below[0] > 0
    assert below[1] == below[3] == 0
    across = frame.histograms[0].spread["psi_across"]
    assert np.isfinite(across[[0, 2, 4]]).all()
    assert np.isnan(across[[1, 3]]).all()
    assert np.isfinite(frame.columns["relative_update"]).all()


def test_what_a_class_of_torch_divides_by_is_not_known():
    plan = RacePlan(lanes=LANES, steps=1, batch_size=4, sharpness_every=1, device="cpu")
    with one_thread():
        plain, preconditioned = list(race(NUMBERS, plan))[-1].sharpness[1]
    assert np.isnan(preconditioned).tolist() == [True, True, False, True, True]
    assert np.isfinite(plain).all()


def test_the_update_is_told_without_decoupled_decay():
    """As of our own methods: at a decay so large that it would be most of the step."""
    own = Lane(label="ours", method=METHODS["adam"], lr=1e-3, weight_decay=100.0)
    torchs = replace(own, label="torch", method=TORCH_METHODS["torch.AdamW"])
    with one_thread():
        one = Race(NUMBERS, RacePlan(lanes=(own, torchs), steps=2, batch_size=4, device="cpu", double=True))
        one.step(1)
    np.testing.assert_allclose(*one._rows[0].T, rtol=1e-6)


def test_muon_without_a_matrix_says_so():
    lanes = (Lane(label="Muon", method=TORCH_METHODS["torch.Muon"], lr=1e-2),)
    with pytest.raises(ValueError, match="Muon takes matrices, of which this model has none"):
        Race(TASKS["surfaces"].open(), RacePlan(lanes=lanes, steps=2, device="cpu"))


def test_a_lane_that_torch_loses_is_stopped():
    lanes = (LANES[2], Lane(label="lost", method=TORCH_METHODS["torch.SGD"], lr=1e4))
    plan = RacePlan(lanes=lanes, steps=30, batch_size=4, device="cpu")
    with one_thread():
        last = list(race(NUMBERS, plan))[-1]
    assert last.diverged_at[0] is None
    assert last.diverged_at[1] is not None


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("torch.NAdam", {"momentum_decay": 2.0}, "momentum_decay must be a number at least 0 and at most 1, got '2.0'"),
        ("torch.NAdam", {"momentum_decay": math.nan}, "momentum_decay must be a number"),
        ("torch.NAdam", {"amsgrad": True}, "torch.NAdam has no option 'amsgrad'; its own are momentum_decay"),
        ("torch.Adamax", {"rho": 1.0}, "torch.Adamax has no option 'rho'$"),
        ("torch.SGD", {"nesterov": 1}, "nesterov must be true or false"),
        ("torch.SGD", {"nesterov": True}, "nesterov needs a momentum above 0 and a dampening of 0"),
        ("torch.Muon", {"ns_steps": 1.5}, "ns_steps must be a whole number"),
        ("torch.Muon", {"adjust_lr_fn": "exec"}, "adjust_lr_fn must be one of original, match_rms_adamw"),
    ],
)
def test_an_option_that_is_not_allowed_is_refused_with_what_is(name, options, says):
    with pytest.raises(ValueError, match=says):
        TORCH_METHODS[name].with_options(options)


def test_the_stacked_step_itself_moves_nothing_of_such_a_lane():
    """What torch's class is given is what the lane stood at: no decay, no step of ours comes before it."""
    c = TORCH_METHODS["torch.RAdam"].coefficients(np.arange(1, 9))
    assert not c.step.any()
    assert not c.m_gain.any()
    assert not c.v_gain.any()
    assert (
        np.isfinite(c.rectification).tolist() == [False] * 5 + [True] * 3
    )  # rho_t > 5 from step 6 on, as torch has it
