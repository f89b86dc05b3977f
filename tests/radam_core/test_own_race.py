"""Own models: every lane is the loop that its user would have written, whichever way it is run; the rest is refused."""

import math
import random
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from bench.own_models import OWN_MODELS, Encoder, Translator
from radam_core import METHODS, RAdam, race_model
from radam_core.own import fastest_way
from radam_core.race.plan import Lane
from radam_core.theory import rectification

STEPS = 30
# Each lane as `race_model` takes it, and as a loop has it: optimizer, scheduler, clipping.
LANES = {
    "Adam": ({"method": "adam", "lr": 2e-3}, lambda p: torch.optim.Adam(p, 2e-3), None, None),
    "decay and clip": (
        {"method": "adam", "lr": 2e-3, "weight_decay": 0.1, "clip": 0.5},
        lambda p: torch.optim.AdamW(p, 2e-3, weight_decay=0.1),
        None,
        0.5,
    ),
    "RAdam": (lambda p: torch.optim.RAdam(p, 1e-2), lambda p: torch.optim.RAdam(p, 1e-2), None, None),
    "scheduled": (
        {"optimizer": lambda p: torch.optim.NAdam(p, 1e-3), "scheduler": lambda o: _cosine(o)},
        lambda p: torch.optim.NAdam(p, 1e-3),
        lambda o: _cosine(o),
        None,
    ),
}
NO_VMAP = {"LSTM"}  # packed sequences
SMALL = {"TransformerEncoderLayer": partial(Encoder, layers=1), "nn.Transformer": partial(Translator, layers=1)}


def _cosine(optimizer):
    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)


@pytest.fixture
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def plain_loop(make, loss, batches, lane, steps=STEPS, seed=0):
    """The losses, and the model, of a loop as anyone writes it."""
    _, optimize, schedule, clip = LANES[lane]
    torch.manual_seed(seed)
    model = make()
    optimizer = optimize(model.parameters())
    scheduler = schedule(optimizer) if schedule else None
    losses = []
    for t in range(1, steps + 1):
        value = loss(model, batches(t))
        optimizer.zero_grad()
        value.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        if scheduler:
            scheduler.step()
        losses.append(value.item())
    return losses, model


@pytest.mark.parametrize("name", OWN_MODELS)
@pytest.mark.usefixtures("double")
def test_a_lane_is_its_plain_loop(name):
    one = replace(OWN_MODELS[name], make=SMALL.get(name, OWN_MODELS[name].make))
    lanes = {label: given for label, (given, *_) in LANES.items() if label != "Adam"}
    loops = {label: plain_loop(one.make, one.loss, one.batch, label) for label in lanes}
    for way in ("plain", "vectorised"):
        if way == "vectorised" and name in NO_VMAP:
            with pytest.raises(ValueError, match="way must be another one than 'vectorised' for this model: it does"):
                race_model(one.make, one.loss, one.batch, lanes, steps=1, way=way)
            continue
        recording = race_model(one.make, one.loss, one.batch, lanes, steps=STEPS, way=way)
        assert recording.way == way
        for k, (label, (losses, model)) in enumerate(loops.items()):
            np.testing.assert_allclose(recording.column("loss")[:, k], losses, rtol=1e-6)
            theirs = model.state_dict()
            for path, ours in recording.models[label].state_dict().items():
                # Of a key's bias the gradient is rounding and nothing else: it has no right value to compare.
                if "in_proj_bias" not in path:
                    torch.testing.assert_close(ours, theirs[path], rtol=1e-5, atol=1e-8)


def test_in_float32_a_plain_lane_is_its_loop_to_the_bit():
    one = OWN_MODELS["CNN"]
    recording = race_model(one.make, one.loss, one.batch, {"RAdam": LANES["RAdam"][0]}, steps=10)
    losses, model = plain_loop(one.make, one.loss, one.batch, "RAdam", 10)
    assert recording.column("loss")[:, 0].tolist() == np.array(losses, np.float32).tolist()
    for ours, theirs in zip(recording.models["RAdam"].parameters(), model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert "as there is one lane" in recording.why


class Net(nn.Module):
    def __init__(self, between=lambda h: h):
        super().__init__()
        self.into, self.out, self.between = nn.Linear(4, 5), nn.Linear(5, 1), between

    def forward(self, x):
        return self.out(self.between(torch.tanh(self.into(x))))


def batch_of(t):
    x = torch.from_numpy(np.random.default_rng(t).standard_normal((6, 4))).to(torch.get_default_dtype())
    return x, x.sum(-1)


def mean_last(model, batch):
    """As lanes want it: axes counted from the end."""
    return (model(batch[0]).squeeze(-1) - batch[1]).square().mean(-1)


def mean_all(model, batch):
    return functional.mse_loss(model(batch[0]).squeeze(-1), batch[1])


TWO = {"Adam": {"method": "adam", "lr": 1e-2}, "SGD": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)}


def race(model=Net, loss=mean_all, batches=batch_of, lanes=TWO, steps=5, **rest):
    return race_model(model, loss, batches, lanes, steps=steps, **rest)


def test_a_model_written_for_lanes_may_be_stacked_and_all_ways_agree():
    found = {way: race(loss=mean_last, way=way) for way in ("stacked", "vectorised", "plain")}
    for way, recording in found.items():
        assert recording.way == way
        assert recording.why.endswith("; as asked.")
        for name in ("loss", "grad_norm", "update_rms", "relative_update", "angle"):
            np.testing.assert_allclose(recording.column(name), found["plain"].column(name), rtol=1e-4, atol=1e-6)


def test_a_model_that_takes_the_wrong_axis_is_run_another_way():
    """Centring over axis 0 is over the batch for the plain model, and over the lanes for stacked layers."""
    recording = race(lambda: Net(lambda h: h - h.mean(0)), mean_last)
    plain = race(lambda: Net(lambda h: h - h.mean(0)), mean_last, way="plain")
    assert recording.way in ("vectorised", "plain")
    assert re.search(
        r"not stacked layers: a lane's (first loss|loss on other weights) would be [\d.]+, and is [\d.]+", recording.why
    )
    np.testing.assert_allclose(recording.column("loss"), plain.column("loss"), rtol=1e-5)


def test_the_clock_chooses_the_way(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(fastest_way.time, "perf_counter", lambda: now[0])
    for slow, chosen in (("stacked", {"vectorised", "plain"}), ("plain", {"stacked", "vectorised"})):
        run = fastest_way.FastestWay._run

        def timed(self, way, batch, run=run, slow=slow):
            now[0] += 5 if way.name == slow else 1
            return run(self, way, batch)

        with monkeypatch.context() as patch:
            patch.setattr(fastest_way.FastestWay, "_run", timed)
            recording = race(loss=mean_last, steps=10)
        assert recording.way in chosen
        assert f"{slow} 5e+03 ms" in recording.why


def test_equal_lanes_with_dropout_stay_equal():
    def make():
        return Net(nn.Dropout(0.5))

    for way in ("vectorised", "plain"):
        recording = race(make, lanes={"one": TWO["Adam"], "other": TWO["Adam"]}, steps=20, way=way)
        losses = recording.column("loss")
        assert (losses[:, 0] == losses[:, 1]).all()


def test_a_way_that_comes_to_its_end_leaves_the_rest_to_plain_models():
    def loss(model, batch):
        value = mean_all(model, batch[:2])
        return value if batch[2] < 4 else value * (1.0 if value.item() > 0 else 2.0)  # vmap has no .item()

    def batches(t):
        return *batch_of(t), t

    recording = race(loss=loss, batches=batches, steps=8)
    assert recording.way == "plain"
    if "came to a step" in recording.why:  # where the clock had chosen it
        assert ".item()" in recording.why
    np.testing.assert_allclose(
        recording.column("loss"), race(loss=loss, batches=batches, steps=8, way="plain").column("loss"), rtol=1e-5
    )


def test_a_shuffled_loader_gives_every_lane_the_batches_of_its_loop():
    x, y = batch_of(1)
    for generator in (None, torch.Generator().manual_seed(7)):
        loader = DataLoader(TensorDataset(x, y), batch_size=4, shuffle=True, generator=generator)
        state = None if generator is None else generator.get_state()
        recording = race(batches=loader, lanes={"Adam": LANES["Adam"][0]}, steps=7)
        if generator is not None:
            generator.set_state(state)

        def endless(loader=loader):
            while True:
                yield from loader

        batches = endless()
        losses, _ = plain_loop(Net, mean_all, lambda _, batches=batches: next(batches), "Adam", 7)
        np.testing.assert_allclose(recording.column("loss")[:, 0], losses, rtol=1e-6)


def test_what_the_settings_decide_is_a_column_for_any_optimizer():
    lanes = {
        "torch": lambda p: torch.optim.RAdam(p, 1e-3, betas=(0.9, 0.99)),
        "ours": lambda p: RAdam(p, 1e-3, betas=(0.9, 0.99), profile="torch"),
        "lane": Lane(label="-", method=METHODS["adam-linear"], lr=1.0),
        "scheduled": LANES["scheduled"][0],
        "SGD": TWO["SGD"],
    }
    recording = race(lanes=lanes, steps=12)
    t = recording.steps
    r = rectification(t, 0.99, threshold=5.0)  # as torch has it
    for lane in (0, 1):
        np.testing.assert_allclose(recording.column("r")[:, lane], r)
    np.testing.assert_allclose(recording.column("lr")[:, 2], t / 2000)  # linear warmup over 2000 steps
    np.testing.assert_allclose(recording.column("lr")[:, 3], 1e-3 * (1 + np.cos(np.pi * (t - 1) / STEPS)) / 2)
    assert np.isnan(recording.column("rho")[:, 4]).all()
    with pytest.raises(ValueError, match="name must be one of loss, grad_norm"):
        recording.column("lost")


def test_metrics_are_those_of_each_lane_in_eval_mode():
    one = OWN_MODELS["CNN"]
    batch = one.batch(99)

    def evaluate(model):
        assert not model.training
        assert not torch.is_grad_enabled()
        return {"loss": one.loss(model, batch)}

    recording = race_model(
        one.make, one.loss, one.batch, TWO, steps=6, evaluate=evaluate, evaluate_every=3, way="vectorised"
    )
    assert list(recording.metrics) == [3, 6]
    for k, model in enumerate(recording.models.values()):
        assert model.training
        with torch.no_grad():
            expected = one.loss(model.eval(), batch).item()
        assert recording.metrics[6]["loss"][k] == pytest.approx(expected, rel=1e-6)


def test_neither_the_model_nor_the_random_numbers_of_its_user_change():
    model = Net(nn.Dropout(0.5))
    before, state = [p.detach().clone() for p in model.parameters()], torch.get_rng_state()
    race(model)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    assert all(p.grad is None for p in model.parameters())


def test_what_is_frozen_or_unused_stays():
    def make():
        model = Net()
        model.spare = nn.Linear(3, 3)  # no part in the loss: torch's optimizers pass over it, weight decay and all
        model.into.bias.requires_grad_(False)
        return model

    torch.manual_seed(0)
    original = make()
    for way in ("vectorised", "plain"):
        decayed = {"a": {**TWO["Adam"], "weight_decay": 0.5}, "b": lambda p: torch.optim.AdamW(p, 0.01)}
        for trained in race(make, lanes=decayed, way=way).models.values():
            for name in ("spare.weight", "spare.bias", "into.bias"):
                assert torch.equal(trained.get_parameter(name), original.get_parameter(name))
            assert not torch.equal(trained.out.weight, original.out.weight)


def test_a_parameter_without_a_gradient_in_some_steps_is_passed_over_in_them():
    """As a loop has it: neither decay nor momentum moves it there."""

    def loss(model, batch):
        value = mean_all(model, batch[:2])
        return value + model.into.bias.square().sum() * 0 + (model.spare.weight.sum() ** 2 if batch[2] % 3 else 0)

    def make():
        model = Net()
        model.spare = nn.Linear(2, 2)
        return model

    def batches(t):
        return *batch_of(t), t

    losses, model = plain_loop(make, loss, batches, "decay and clip", 12)
    for way in ("vectorised", "plain"):
        lanes = dict.fromkeys(("a", "b"), LANES["decay and clip"][0])
        recording = race(make, loss, batches, lanes, steps=12, way=way)
        np.testing.assert_allclose(recording.column("loss")[:, 1], losses, rtol=1e-5)
        torch.testing.assert_close(recording.models["b"].spare.weight, model.spare.weight)
        torch.testing.assert_close(recording.models["b"].spare.bias, model.spare.bias, rtol=0, atol=0)


def test_a_lane_that_is_lost_says_so_and_leaves_the_others():
    recording = race(lanes={"calm": TWO["Adam"], "wild": lambda p: torch.optim.SGD(p, 1e6)}, steps=8)
    assert recording.diverged_at[0] is None
    lost = recording.diverged_at[1]
    assert lost is not None
    assert np.isnan(recording.column("loss")[lost:, 1]).all()
    assert recording.notes[0].startswith(f"'wild' was lost at step {lost}: loss ")
    assert "a lower learning rate, a warmup or clipping is what to try" in recording.notes[0]
    assert recording.summary()[1]["final_loss"] is None
    assert f"lost at step {lost}" in str(recording)
    alone = race(lanes={"calm": TWO["Adam"]}, steps=8)
    np.testing.assert_allclose(recording.column("loss")[:, 0], alone.column("loss")[:, 0], rtol=1e-5)


def test_a_nan_in_the_data_is_told_with_its_place():
    def batches(t):
        x, y = batch_of(t)
        return (x, y) if t < 3 else (x, y.fill_(math.nan))

    recording = race(batches=batches)
    assert recording.diverged_at == (3, 3)
    assert recording.notes == [
        "Every lane was lost at step 3: loss nan, gradient norm nan. The batch of this step holds nan or inf in its "
        "tensor 2: look at the data, not at the optimizer."
    ]


kept = []


def keeps_something(model, batch):
    kept.append(1)
    return mean_all(model, batch) * len(kept)


def writes(model, batch):
    batch[0].mul_(2)
    return mean_all(model, batch)


SENTENCES = {
    "not scalar": (
        {"loss": lambda m, b: m(b[0]).squeeze(-1)},
        r"loss must return one number, got shape \[6\]: take its mean",
    ),
    "a number": (
        {"loss": lambda m, b: mean_all(m, b).item()},
        "loss must return a tensor with one number, got float: do not",
    ),
    "detached": (
        {"loss": lambda m, b: mean_all(m, b).detach()},
        "loss must depend on the model's parameters, but has no",
    ),
    "bug": (
        {"loss": lambda m, b: mean_all(m, (b[0].T, b[1]))},
        "the model fails by itself on the first batch.*RuntimeError: mat1",
    ),
    "numpy's dice": (
        {"loss": lambda m, b: mean_all(m, b) * random.random()},
        "the model must do the same twice.*but its loss was .*draws from numpy or random",
    ),
    "writes into its batch": ({"loss": writes}, "must do the same twice"),
    "keeps": ({"loss": keeps_something}, "must do the same twice"),
    "ends early": (
        {"batches": iter([batch_of(1), batch_of(2)])},
        "batches ended after 2 of 5 steps.*a DataLoader or a list, which start over.*or set steps=2",
    ),
    "empty": ({"batches": []}, "batches must hold at least one batch, got none"),
    "no parameters": ({"model": nn.ReLU()}, "model must have parameters to train, got none"),
    "half": ({"model": Net().half()}, "must all be float32, or all float64, on one device, got float16 on cpu"),
    "no module": ({"model": lambda: 3}, "model must be a module, or a function that gives one, got int"),
    "evaluate": (
        {"evaluate": lambda m: 3.0},
        r'evaluate must return metrics by name, such as \{"accuracy": 0.9\}, got float',
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_that_helps(name):
    changes, sentence = SENTENCES[name]
    with pytest.raises(ValueError, match=re.compile(sentence, re.DOTALL)):
        race(**changes)


def test_a_bug_that_comes_late_says_at_which_step():
    def loss(model, batch):
        if batch[2] == 4:
            raise KeyError("a word that is not in the dictionary")
        return mean_all(model, batch[:2])

    with pytest.raises(KeyError) as caught:
        race(loss=loss, batches=lambda t: (*batch_of(t), t))
    assert caught.value.__notes__ == ["at step 4 of 5; the steps before it went well"]


def test_refusals_come_all_at_once():
    lanes = {
        "unknown": "adamax",
        "negative": {"method": "adam", "lr": -1},
        "strange": {"method": "adam", "beta3": 1},
        "clip": {"method": "adam", "clip": 0},
        "number": 3,
        "too much": {"optimizer": torch.optim.Adam, "lr": 1},
    }
    with pytest.raises(ValueError, match="11 things to change:") as caught:
        race_model(3, None, 5, lanes, steps=0, way="fast")
    text = str(caught.value)
    for told in (
        "lane 'unknown': method must be one of adam,",
        "lane 'negative': lr must be finite and at least 0, got -1",
        "lane 'strange': a method has no setting beta3; it has lr, weight_decay, clip, adaptive,",
        "lane 'clip': clip must be finite and above 0, or None, got 0",
        "lane 'number': must be a method's name",
        "lane 'too much': an optimizer's lane takes optimizer, scheduler and clip, got lr, too",
        "model must be a module, or a function that gives one, got int",
        "loss must be a function loss(model, batch), got NoneType",
        "way must be one of plain, vectorised, stacked, or None, got 'fast'",
        "batches must be a DataLoader, another iterable, or a function of the step, got int",
        "steps must be a whole number, at least 1, got 0",
    ):
        assert told in text


OTHERS = {
    "LBFGS": (torch.optim.LBFGS, "LBFGS evaluates the loss several times in a step"),
    "nothing": (lambda p: None, "its function must give a torch.optim.Optimizer, got NoneType"),
    "plateau": (
        lambda p: _with(p, torch.optim.lr_scheduler.ReduceLROnPlateau),
        "ReduceLROnPlateau steps by a metric",
    ),
    "others' parameters": (
        lambda p: torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1),
        "must move the parameters that it is",
    ),
    "Muon": (lambda p: torch.optim.Muon(p), "its optimizer could not be made: Muon only supports 2D"),
}


def _with(parameters, scheduler):
    optimizer = torch.optim.SGD(parameters, 0.1)
    return optimizer, scheduler(optimizer)


def test_optimizers_that_cannot_race_say_why_together():
    with pytest.raises(ValueError, match=f"{len(OTHERS)} things to change:") as caught:
        race(lanes={name: make for name, (make, _) in OTHERS.items()})
    for name, (_, sentence) in OTHERS.items():
        assert f"lane {name!r}: " in str(caught.value)
        assert sentence in str(caught.value)


def test_histograms_count_every_parameter_by_its_part_of_the_model():
    recording = race(steps=6)
    assert [one.t for one in recording.histograms] == [1, 5]
    for one in recording.histograms:
        assert one.groups == ("into", "out")
        assert one.counts.sum(-1).tolist() == [[[25, 6], [25, 6]]] * 3


def test_an_optimizer_of_torch_by_its_name_is_that_class():
    lanes = {
        "named": {
            "method": "torch.NAdam",
            "lr": 1e-2,
            "betas": (0.9, 0.999),
            "momentum_decay": 0.1,
            "warmup": "linear",
            "warmup_steps": 4,
        },
        "made": {
            "optimizer": lambda p: torch.optim.NAdam(p, lr=1e-2, momentum_decay=0.1),
            "scheduler": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda done: min(1.0, (done + 1) / 4)),
        },
        "muon": {"method": "torch.Muon", "lr": 1e-2, "adamw_lr_times": 0.1},
    }
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    x = torch.randn(8, 3).expand(6, 8, 3)  # one batch, whose loss falls
    found = race_model(model, lambda m, b: m(b).square().mean(), x, lanes, steps=6, way="plain")
    losses = found.column("loss")
    np.testing.assert_array_equal(losses[:, 0], losses[:, 1])
    assert losses[-1, 2] < losses[0, 2]
    for settings, says in (
        ({"threshold": 5}, "torch.NAdam has no threshold"),
        ({"momentum_decay": 9}, "momentum_decay must be"),
    ):
        with pytest.raises(ValueError, match=says):
            race_model(model, lambda m, b: m(b).mean(), x, {"a": {"method": "torch.NAdam", **settings}}, steps=2)
