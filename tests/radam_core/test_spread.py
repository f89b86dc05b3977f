"""The spread of psi where the answer is known: gradients that are drawn, Gaussian and heavy-tailed, and plain loops."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from demo_models import TASKS
from radam_core import METHODS, theory
from radam_core.race.lanes import Lanes
from radam_core.race.plan import Lane, RacePlan
from radam_core.race.race import Race, race
from radam_core.race.spread import rounding_only
from radam_core.race.threads import one_thread

N, DEAD = 20_000, 40
STEPS = (1, 5, 10, 25, 50)
# By name: how a gradient of one example is drawn, and its kurtosis E[g^4] / E[g^2]^2.
DRAWS = {
    "Gaussian": (lambda rng, shape: rng.standard_normal(shape), 3.0),
    "Gaussian with a mean": (lambda rng, shape: 1 + rng.standard_normal(shape), 2.5),  # (1 + 6 + 3) / 2^2
    "Laplace": (lambda rng, shape: rng.laplace(size=shape), 6.0),
    "Student, 12 degrees": (lambda rng, shape: rng.standard_t(12, shape), 3.75),  # 3 + 6 / (12 - 4)
}
SCALES = np.exp(2 * np.random.default_rng(7).standard_normal(N))  # from parameter to parameter


class Weights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.live, self.dead = nn.Parameter(torch.ones(N)), nn.Parameter(torch.ones(DEAD))


class Drawn:
    """The gradient of an example is drawn: a half batch of one example has the draw itself.

    That of `dead` is what two orders of summation leave: 0 but for rounding, whatever it is multiplied by.
    """

    def __init__(self, draw: str = "Gaussian", dead: float = 1.0) -> None:
        self.draw, self.dead = DRAWS[draw][0], dead

    def make_model(self, seed):  # noqa: ARG002 - a task's form
        return Weights()

    def batch(self, seed, step, size):
        rng = np.random.default_rng((seed, step))
        return (torch.from_numpy(SCALES * self.draw(rng, (size, N))).float(),)

    def loss(self, model, batch):
        noise = batch[0].mean(-2)
        rounding = noise.cumsum(-1)[..., -1:] - noise.sum(-1, keepdim=True)
        rounding = self.dead * rounding * torch.arange(1, DEAD + 1, dtype=noise.dtype)
        live, dead = ((p - p.detach()) * g for p, g in ((model.live, noise), (model.dead, rounding)))
        return live.sum(-1) + dead.sum(-1)

    def evaluate(self, model):  # noqa: ARG002
        return {}

    def group(self, parameter):
        return parameter


def lane(beta2=0.999, **method):
    return Lane(label="lane", method=replace(METHODS["adam"], betas=(0.9, beta2), **method), lr=0.0)


@cache
def measured(problem, *lanes):
    """By histogram step: the spread of psi in each lane."""
    plan = RacePlan(lanes=lanes, steps=STEPS[-1], batch_size=2, half_batch_steps=STEPS[-1], device="cpu")
    with one_thread():
        frames = list(race(problem, replace(plan, evaluate_every=10**6)))
    return {found.t: found.spread for frame in frames for found in frame.histograms}


BETA2S = (0.9, 0.99, 0.999)


@cache
def drawn(draw):
    return measured(Drawn(draw), *(lane(beta2) for beta2 in BETA2S))


def simulated(draw, beta2, examples=1, samples=100_000):
    """Var[log psi_t] over many independent averages, by step; a gradient is the mean of so many draws."""
    rng, v, found = np.random.default_rng(3), np.zeros(samples), {}
    for t in range(1, STEPS[-1] + 1):
        v = beta2 * v + (1 - beta2) * DRAWS[draw][0](rng, (examples, samples)).mean(0) ** 2
        if t in STEPS:
            found[t] = (np.log(v) / -2).var()
    return found


@pytest.mark.parametrize("mu", [0, 1])
def test_within_one_parameter_it_is_the_theory_for_gaussian_gradients(mu):
    """At every step and beta2, whatever the size of each parameter's gradients. 20,000 of them: 1 to 1.6% by chance."""
    found = drawn("Gaussian with a mean" if mu else "Gaussian")
    for t, k in ((t, k) for t in STEPS for k in range(len(BETA2S))):
        expected = theory.variance_log_psi_exact(t, BETA2S[k], mu)
        assert found[t]["psi_within"][k] == pytest.approx(expected, rel=0.06), (t, BETA2S[k])
    if not mu:  # and close to the paper's, whose rho_t stands for the average
        expected = [theory.variance_log_psi(theory.rho(t, 0.999)) for t in STEPS]
        np.testing.assert_allclose([found[t]["psi_within"][2] for t in STEPS], expected, rtol=0.06)


@pytest.mark.parametrize("draw", ["Laplace", "Student, 12 degrees"])
def test_heavy_tails_show_as_they_should(draw):
    found, kurtosis = drawn(draw), DRAWS[draw][1]
    for k, beta2 in enumerate(BETA2S):
        expected = simulated(draw, beta2)
        for t in STEPS:
            assert found[t]["psi_within"][k] == pytest.approx(expected[t], rel=0.06), (t, beta2)
    # To first order in the weights w of the average, (kurtosis - 1) / 4 sum w^2; at beta2 = 0.999 they are all 1/t.
    assert found[50]["psi_within"][2] == pytest.approx((kurtosis - 1) / 4 / 50, rel=0.12)
    assert found[50]["psi_within"][2] > 1.2 * theory.variance_log_psi_exact(50, 0.999)


@pytest.mark.parametrize("draw", DRAWS)
def test_the_kurtosis_is_that_of_the_gradients(draw):
    """For Gaussian ones at every step; others are drawn towards 3 while v has few of them."""
    found, expected = drawn(draw), DRAWS[draw][1]
    assert found[50]["kurtosis"][2] == pytest.approx(expected, rel=0.1)
    if draw == "Gaussian":
        np.testing.assert_allclose([found[t]["kurtosis"][2] for t in STEPS], 3, rtol=0.06)


@pytest.mark.parametrize("draw", ["Gaussian", "Laplace"])
def test_across_parameters_it_is_the_variance_of_their_scales_and_the_luck_of_the_draw(draw):
    """Independent, so they add up: log psi is -log scale and what it is at scale 1. A batch is the mean of two draws.

    By chance: the sample covariance of the two, 2 * 2 * 1.1 / sqrt(20,000) = 0.03 of 5 at the first step.
    """
    found = drawn(draw)
    for k, beta2 in enumerate(BETA2S):
        luck = simulated(draw, beta2, examples=2)
        for t in STEPS:
            assert found[t]["psi_across"][k] == pytest.approx(np.log(SCALES).var() + luck[t], rel=0.02), (t, beta2)


def test_neither_epsilon_nor_a_dead_bias_moves_it():
    """To the bit: epsilon is not in it, and a gradient of rounding is left out at any size, or where there is none."""
    lanes = lane(), lane(eps=1e-2), lane(eps=1e-4, eps_placement="before"), lane(eps=1e-15)
    found = {dead: measured(Drawn(dead=dead), *lanes) for dead in (0.0, 1.0, 30.0)}
    for t in STEPS:
        for name in ("psi_within", "psi_across", "kurtosis"):
            values = np.stack([spread[t][name] for spread in found.values()])
            assert np.isfinite(values).all()
            assert (values == values[0, 0]).all(), (t, name)
        assert [spread[t]["rounding"].tolist() for spread in found.values()] == [[0.0] * 4, [DEAD] * 4, [DEAD] * 4]
        assert [spread[t]["no_gradient"].tolist() for spread in found.values()] == [[DEAD] * 4, [0.0] * 4, [0.0] * 4]


def test_a_method_without_v_has_no_psi():
    sgd = Lane(label="sgd", method=METHODS["sgd"], lr=0.0)
    found = measured(Drawn(), sgd, lane())
    for t in STEPS:
        assert all(np.isnan(found[t][name][0]) for name in ("psi_within", "psi_across", "kurtosis"))
        assert np.isfinite(found[t]["psi_within"][1])


@pytest.mark.parametrize("settings", [{"depth": 2, "width": 16, "heads": 2}, {"depth": 1, "norm": "pre"}])
def test_what_is_rounding_in_a_transformer_is_its_key_biases(settings):
    """Softmax does not see what is added to all scores of a query alike, which is all that a key's bias does."""
    problem = TASKS["numbers"].open(settings)
    for seed in range(3):
        model = problem.make_model(seed)
        lanes = Lanes([model], 1, problem.group)
        keys = torch.zeros(lanes.buffer.shape[1], dtype=torch.bool)
        for name, span in lanes.spans.items():
            for end, parts, place in (("attention.inner.project.bias", 3, 1), ("cross.inner.memory.bias", 2, 0)):
                if name.endswith(end):
                    width = (span.stop - span.start) // parts
                    keys[span.start + place * width : span.start + (place + 1) * width] = True
        assert keys.any()
        assert torch.equal(rounding_only(problem, model, seed, lanes), keys)


@pytest.mark.parametrize("task", ["digits", "text", "surfaces"])
def test_other_tasks_have_no_such_parameters(task):
    problem = TASKS[task].open()
    model = problem.make_model(0)
    assert not rounding_only(problem, model, 0, Lanes([model], 1, problem.group)).any()


def test_gradients_that_collapse_are_not_left_out():
    """Adam at this learning rate loses its gradients within ten steps: by three orders of magnitude here."""
    problem = TASKS["numbers"].open()
    plan = RacePlan(
        lanes=(Lane(label="Adam", method=METHODS["adam"], lr=6e-3),), steps=10, evaluate_every=99, device="cpu"
    )
    state = Race(problem, plan)
    sizes, left_out = [], []
    with one_thread():
        for t in range(1, 11):
            state.step(t)
            sizes.append(state.lanes.grad[0].abs().median().item())
    for found in state._histograms:
        left_out.append(found.spread["rounding"][0])
        assert found.spread["psi_across"][0] > 1
    assert sizes[-1] < 1e-3 * sizes[0]
    assert left_out == [18 * 32] * 3  # 6 + 2 * 6 attentions of width 32
    (last,) = (found for found in state._histograms if found.t == 10)
    v = state.optimizer.exp_avg_sq[0].numpy()
    log_psi = -np.log(v[(v > 0) & ~state.rounding[0].numpy()].astype(float)) / 2
    assert last.spread["no_gradient"][0] == (v == 0).sum()
    assert last.spread["psi_across"][0] == pytest.approx(log_psi.var(), rel=1e-6)


@pytest.mark.parametrize("clip", [None, 0.1])
def test_halves_are_those_of_a_plain_loop(clip):
    """Batch norm included: each half by itself, on a copy of the model at the weights before the step."""
    problem = TASKS["digits"].open({"width": 4})
    own = Lane(label="Adam", method=METHODS["adam"], lr=1e-2, clip=clip)
    other = Lane(label="RAdam", method=METHODS["radam"], lr=3e-2)
    plan = RacePlan(lanes=(other, own), steps=5, batch_size=9, half_batch_steps=5, device="cpu", double=True)
    frames = list(race(problem, plan))
    model = problem.make_model(0).double()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    squares = [0.0, 0.0]
    for t in range(1, 6):
        images, labels = problem.batch(0, t, 9)
        for half, part in enumerate((slice(0, 4), slice(4, 8))):
            twin = copy.deepcopy(model)
            problem.loss(twin, (images[part].double(), labels[part])).backward()
            if clip is not None:
                torch.nn.utils.clip_grad_norm_(twin.parameters(), clip)
            grad = torch.cat([p.grad.flatten() for p in twin.parameters()]).numpy()
            squares[half] = 0.999 * squares[half] + 0.001 * grad**2
        optimizer.zero_grad()
        problem.loss(model, (images.double(), labels)).backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        for found in (found for frame in frames for found in frame.histograms if found.t == t):
            a, b = (v[(squares[0] > 0) & (squares[1] > 0)] for v in squares)
            expected = ((np.log(a) - np.log(b)) ** 2).mean() / 8
            assert found.spread["psi_within"][1] == pytest.approx(expected, rel=1e-5), t
    assert [found.t for frame in frames for found in frame.histograms] == [1, 5]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("digits", {"width": 4}),  # batch norm's running averages decide what is evaluated
        ("numbers", {"depth": 1, "width": 16, "heads": 2}),
        ("text", {"width": 8, "vocabulary": 200}),
        ("surfaces", {}),
    ],
)
def test_half_batches_change_no_bit_of_the_training(name, settings):
    problem, task = TASKS[name].open(settings), TASKS[name]
    lanes = tuple(
        Lane(label=method, method=METHODS[method], lr=task.lr, weight_decay=0.1, clip=0.5)
        for method in ("adam", "radam", "sgd")
    )
    plan = RacePlan(lanes=lanes, steps=12, batch_size=6, evaluate_every=4, device="cpu")
    with one_thread():
        without, halved = (list(race(problem, replace(plan, half_batch_steps=n))) for n in (0, 8))
    for one, other in zip(without, halved, strict=True):
        for column, values in one.columns.items():
            assert values.tobytes() == other.columns[column].tobytes(), column
        for t, metrics in one.metrics.items():
            assert all(values.tobytes() == other.metrics[t][metric].tobytes() for metric, values in metrics.items())
        for found, again in zip(one.histograms, other.histograms, strict=True):
            assert (found.counts == again.counts).all()
            assert found.spread["psi_across"].tobytes() == again.spread["psi_across"].tobytes()
            assert np.isnan(found.spread["psi_within"]).all()
            measured_ = np.isfinite(again.spread["psi_within"])
            assert measured_.tolist() == [found.t <= 8] * 2 + [False]  # SGD has no psi


def test_a_batch_that_cannot_be_halved_is_refused():
    message = "half_batch_steps must be 0 where batch_size is 1: there is nothing to halve, got 5"
    with pytest.raises(ValueError, match=message):
        RacePlan(lanes=(lane(),), steps=5, batch_size=1, half_batch_steps=5)
    with pytest.raises(ValueError, match="half_batch_steps must be a whole number, at least 0, got -1"):
        RacePlan(lanes=(lane(),), steps=5, half_batch_steps=-1)

    class Flat(Drawn):
        def batch(self, seed, step, size):
            return (super().batch(seed, step, size)[0].mean(0),)

        def loss(self, model, batch):
            return super().loss(model, (batch[0].unsqueeze(-2),))

    plan = RacePlan(lanes=(lane(),), steps=2, batch_size=4, half_batch_steps=2, device="cpu")
    with pytest.raises(ValueError, match=rf"count the 4 examples, got shapes \[{N}\]"):
        list(race(Flat(), plan))
