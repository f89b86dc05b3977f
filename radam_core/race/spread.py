"""The spread of the adaptive rate psi_t = sqrt(1 - beta2^t) / sqrt(v_t): the variance of its natural logarithm.

Two questions, which one number would mix:

- *Across* a lane's parameters: how unlike are their rates? That is Var[log psi] over the coordinates.
- *Within* one parameter: how much of its rate is the luck of the batches? That is what the paper's theory is about.
  Two halves of every batch feed an average each, v_a and v_b. Given the weights the halves are alike, so that
  log psi_a - log psi_b has mean 0 and twice the variance of log psi: half its mean square over the coordinates is the
  estimate. Its own mean over them is not taken off: it is 0 but for what the coordinates share, and what moves them
  together is sampling variance like the rest. A half batch has noise larger by sqrt(2) than the batch, the same mean
  gradient, and twice the excess kurtosis.

The logarithm needs no scale: a parameter's sigma cancels in log psi_a - log psi_b, and the bias correction in both.
Epsilon is left out, and so is a coordinate without a gradient, whose rate is none: v = 0, or a gradient that is
rounding and nothing else (`rounding_only`).
"""

import copy

import torch
from torch import Tensor, nn

from radam_core.race.lanes import Lanes
from radam_core.race.problem import Batch, Problem
from radam_core.race.stacked import StackedOptimizer

_TRIES, _EXAMPLES = 2, 3  # batches on which gradients are compared in two precisions, and the examples in each


def rounding_only(problem: Problem, model: nn.Module, seed: int, lanes: Lanes) -> Tensor:
    """[N], as a row of `lanes`: the coordinates whose gradient in float32 has no digit that is right.

    An attention's key bias moves all scores of a query alike, which softmax does not see: its gradient is 0, and in
    float32 some 1e-11. Such a number is found by computing it again in float64, at the weights of the start: there it
    is another one, a millionth of the first or less. A gradient that is real keeps most of its digits: of four million
    in our tasks, four were off by more than a half, by chance near 0, and none in two batches. No size and no list of
    layers comes in, so what is small, but real, is not dropped.
    """
    off, right = (torch.zeros(lanes.buffer.shape[1], dtype=torch.bool) for _ in range(2))
    models = [copy.deepcopy(model).to("cpu", dtype) for dtype in (torch.float32, torch.float64)]
    for t in range(1, _TRIES + 1):
        batch = problem.batch(seed, t, _EXAMPLES)
        single, double = (lanes.row(_gradient(problem, copied, batch)) for copied in models)
        differs = (single - double).abs() > double.abs() / 2
        off |= differs
        right |= ~differs & (double != 0)
    return off & ~right


def _gradient(problem: Problem, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
    """By parameter; in the model's own precision."""
    parameters = dict(model.named_parameters())
    dtype = next(iter(parameters.values())).dtype
    loss = problem.loss(model, tuple(x.to(dtype) if x.is_floating_point() else x for x in batch))
    return dict(zip(parameters, torch.autograd.grad(loss, list(parameters.values())), strict=True))


def spread_across(optimizer: StackedOptimizer, rounding: Tensor) -> dict[str, list[float]]:
    """By lane: Var[log psi] over its coordinates, and how many are left out, for rounding and for want of a gradient.

    `rounding` is [K, N]. A method without v has no psi: nan.
    """
    found: dict[str, list[float]] = {"psi_across": [], "rounding": [], "no_gradient": []}
    for v, noise in zip(optimizer.exp_avg_sq, rounding, strict=True):
        used = (v > 0) & ~noise
        log_psi = -v[used].cpu().double().log() / 2
        found["psi_across"].append(float((log_psi - log_psi.mean()).square().mean()))
        found["rounding"].append(int(noise.sum()))
        found["no_gradient"].append(int((~used & ~noise).sum()))
    return found


class HalfBatches:
    """The two halves' averages of squared gradients, [K, N] each, for as many steps as they are fed.

    They run on a model of their own over the lanes' parameters: nothing that the lanes train on is changed.
    """

    def __init__(self, lanes: Lanes, optimizer: StackedOptimizer) -> None:
        self.lanes, self.optimizer = lanes, optimizer
        self.squares = [torch.zeros_like(lanes.buffer) for _ in range(2)]  # v_a, v_b
        self.grads: list[Tensor] = []
        self.model = lanes.another_model()

    def keep(self, rows: list[int]) -> None:
        self.squares = [v[rows].clone() for v in self.squares]
        self.model = self.lanes.another_model()

    def take(self, problem: Problem, batch: Batch, examples: int) -> None:
        """The gradients of both halves at the weights before the step, as the optimizer takes them: clipped, say."""
        if any(x.dim() < 2 or x.shape[1] != examples for x in batch):
            shapes = ", ".join(str(list(x.shape[1:])) for x in batch)
            raise ValueError(
                f"half_batch_steps must be 0 for a task whose batches cannot be halved: the first axis of every tensor "
                f"must count the {examples} examples, got shapes {shapes}"
            )
        size = examples // 2  # of an odd number one is left over: halves must be alike
        self.grads = []
        for half in (slice(0, size), slice(size, 2 * size)):
            grad = torch.empty_like(self.lanes.buffer)
            self.lanes.backward(problem.loss(self.model, tuple(x[:, half] for x in batch)), grad)
            self.optimizer.prepare(grad, torch.linalg.vector_norm(grad, dim=1))
            self.grads.append(grad)

    @torch.no_grad()
    def average(self) -> None:
        """Takes the gradients into the averages, with the coefficients of the optimizer's latest step."""
        for v, grad in zip(self.squares, self.grads, strict=True):
            self.optimizer.average_squares(v, grad, torch.empty_like(v))

    @torch.no_grad()
    def measure(self, rounding: Tensor) -> dict[str, list[float]]:
        """By lane, over the parameters that had a gradient in both halves: Var[log psi] within one of them, in the
        mean, and the kurtosis E[g^4] / E[g^2]^2 of a half's gradient.

        With x and y the squares in the two halves, E[(x - y)^2] = 2 Var[g^2] and E[2 x y] = 2 E[g^2]^2: the ratio of
        their sums is the kurtosis less 1. Each parameter is taken in units of its own v, or the largest gradients would
        be all that counts. This step is in that v: for Gaussian gradients of mean 0, where x + y says nothing about
        x / y, the answer stays 3, and others are drawn towards it in the first steps.
        """
        found: dict[str, list[float]] = {"psi_within": [], "kurtosis": []}
        for a, b, g, h, noise in zip(*self.squares, *self.grads, rounding, strict=True):
            used = (a > 0) & (b > 0) & ~noise
            va, vb, x, y = (part[used].cpu().double() for part in (a, b, g.square(), h.square()))
            found["psi_within"].append(float(((va.log() - vb.log()) / 2).square().mean() / 2))
            x, y = x / (va + vb), y / (va + vb)
            found["kurtosis"].append(float(1 + (x - y).square().sum() / (2 * x * y).sum()))
        return found
