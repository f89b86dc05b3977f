"""Before anything is trained: every lane must be the plain model, in its first loss and in its first gradient.

A stacked model runs the plain model's code with one more axis in front. Code that counts axes from the front, takes
the mean of everything or draws random numbers often runs on, and trains something else. Three things tell:

- torch's random numbers, which the plain model may not draw;
- the first loss and the first gradient of every lane, against those of the plain model of its seed on its batch;
- two lanes of unlike weights on a few examples. The lanes of a race start alike, and a mean over lanes that are alike
  changes neither their losses nor the gradient of their sum; over unlike ones it does.

All of it is computed on plain models and on lanes of its own: nothing changes in the race that is checked.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from radam_core.domains import FloatArray
from radam_core.race.lanes import Lanes
from radam_core.race.problem import Batch, Problem

FEW = 3  # examples for the two unlike lanes: not two, so that lanes and examples cannot be mistaken for each other
_TRIES = 3  # while a model is watched another thread may draw random numbers, but hardly three times


class Tolerance(NamedTuple):
    """How far rounding may take a lane from the plain model: its loss, and each parameter's gradient by the norm."""

    loss: float
    gradient: float


# What rounding alone does to the models of all tasks, at their smallest and largest settings, in 1 to 40 lanes of one
# seed and of several: the loss is off by 5e-7 at most in float32 and 4e-16 in float64, a gradient by 4e-5 and 1e-14.
# But a ReLU that rounding turns on or off shows in few numbers: 6e-3 of one bias's gradient in a ResNet-20. Lanes that
# are mixed are off by far more: nothing of a gradient, or K times as much.
TOLERANCES = {torch.float32: Tolerance(1e-4, 0.1), torch.float64: Tolerance(1e-8, 0.01)}
_OTHER_DEVICES = 10.0  # times that, not measured: convolutions on a GPU may round to 10 bits (TF32) instead of 23
_LEAST_LOSS = 1e-3  # a smaller loss is compared as if it were this large
_LEAST_SHARE = 1e-2  # a smaller gradient as if it had this share of the whole gradient's root mean square

_ADVICE = (
    "Some operation in the model or its loss takes the lanes' axis, which comes first, for another one, or all axes at "
    "once: count axes from the end, as in x.mean(-2), and leave the first alone (radam_core/race/lanes.py says how)."
)


class Original(NamedTuple):
    """What a lane must equal: the plain model with the weights of the start, on the first batch."""

    model: nn.Module
    batch: Batch


def check_lanes(
    problem: Problem, originals: Sequence[Original], few: Batch, lanes: Lanes, losses: Tensor, labels: Sequence[str]
) -> None:
    """An error if a lane is not its original (one for all lanes, or one each), by its first loss and `lanes.grad`.

    `few` is a batch of at most `FEW` examples. The originals are spent on it: their weights are no longer the start's.
    """
    runs = {id(original): _plain_run(problem, original, lanes) for original in originals}
    plain = [runs[id(original)] for original in originals] * (len(labels) // len(originals))
    tolerance = _tolerance(lanes.buffer)
    for k, (label, loss, (plain_loss, _)) in enumerate(zip(labels, losses.tolist(), plain, strict=True)):
        if differs(loss, plain_loss, tolerance.loss):
            again = problem.loss(*originals[k % len(originals)]).item()
            if again != plain_loss:
                raise _randomness(plain_loss, again)
            raise ValueError(
                f"lane {label!r} would not train the model it was given: its first loss is {loss:.6g}, and "
                f"{plain_loss:.6g} when the model runs by itself on the same weights and batch. {_ADVICE}"
            )
    spans = {name: span for name, span in lanes.spans.items() if span.stop > span.start}
    for label, ours, (_, theirs) in zip(labels, lanes.grad, plain, strict=True):
        _check_gradient(label, ours, theirs, spans, tolerance.gradient)
    _check_unlike_lanes(problem, originals[0].model, few, tolerance.loss, labels[0])


def _plain_run(problem: Problem, original: Original, lanes: Lanes) -> tuple[float, Tensor]:
    """The plain model's loss, and its gradient [N] as a lane's row has it."""
    model, batch = original
    seen: list[float] = []
    for _ in range(_TRIES):
        before = _random_state(lanes.buffer.device)
        loss = problem.loss(model, batch)
        if loss.shape:
            raise ValueError(f"the loss of a plain model must be one number, got shape {list(loss.shape)}")
        seen.append(loss.item())
        if torch.equal(before, _random_state(lanes.buffer.device)):
            break
    else:
        raise _randomness(*seen[:2])
    parameters = dict(model.named_parameters())
    grads = torch.autograd.grad(loss, list(parameters.values()))
    return seen[-1], lanes.row(dict(zip(parameters, grads, strict=True)))


def _randomness(first: float, again: float) -> ValueError:
    return ValueError(
        f"the model draws random numbers as it trains (on the same weights and batch its loss was {first:.6g}, then "
        f"{again:.6g}), and every lane would draw its own: take dropout and noise out, or set their p to 0"
    )


def _tolerance(values: Tensor) -> Tolerance:
    times = 1.0 if values.device.type == "cpu" else _OTHER_DEVICES
    return Tolerance(*(times * least for least in TOLERANCES[values.dtype]))


def _random_state(device: torch.device) -> Tensor:
    """Changes with every random number that torch draws, on the CPU or on that device."""
    states = [torch.get_rng_state()]
    if device.type != "cpu":
        states.append(torch.get_device_module(device).get_rng_state())
    return torch.cat(states)


def differs(loss: float, plain: float, tolerance: float) -> bool:
    """Both lost is no difference: such a lane is marked as diverged at its first step."""
    if not (math.isfinite(loss) or math.isfinite(plain)):
        return False
    return not abs(loss - plain) <= tolerance * max(abs(plain), _LEAST_LOSS)


def _check_gradient(label: str, ours: Tensor, theirs: Tensor, spans: Mapping[str, slice], tolerance: float) -> None:
    shares = gradient_differences(ours, theirs, spans)
    worst = int(shares.argmax())
    if shares[worst] > tolerance:
        name, span = list(spans.items())[worst]
        raise ValueError(
            f"lane {label!r} would not train the model it was given: its first loss is right, but the gradient of "
            f"{name} has norm {ours[span].norm():.6g}, and {theirs[span].norm():.6g} when the model runs by itself "
            f"(they differ by {shares[worst]:.0%}). {_ADVICE}"
        )


def gradient_differences(ours: Tensor, theirs: Tensor, spans: Mapping[str, slice]) -> FloatArray:
    """By parameter: the norm of the difference, as a share of the plain gradient's norm."""
    distance, expected = _norms(ours - theirs, spans), _norms(theirs, spans)
    sizes = np.array([span.stop - span.start for span in spans.values()])
    whole = np.linalg.norm(expected[np.isfinite(expected)])
    scale = np.maximum(expected, _LEAST_SHARE * whole * np.sqrt(sizes / sizes.sum()))
    # 0/0 is no difference. A gradient that is not finite by itself tells nothing; one that is so only in lanes does.
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(distance == 0, 0.0, distance / scale)
    return np.where(np.isfinite(scale), np.nan_to_num(shares, nan=np.inf), 0.0)


def _norms(row: Tensor, spans: Mapping[str, slice]) -> FloatArray:
    """Of each parameter's part of a row; hundreds of small tensors take longer by themselves."""
    return np.sqrt(np.add.reduceat(row.cpu().double().square().numpy(), [span.start for span in spans.values()]))


def _check_unlike_lanes(problem: Problem, model: nn.Module, few: Batch, tolerance: float, label: str) -> None:
    pair = Lanes([model], 2)
    # Weights of the same sizes: each its neighbour's, and a ripple on them in case they are all equal.
    row = pair.buffer[0]
    pair.buffer[1] = row.roll(1) + 0.01 * torch.arange(len(row), dtype=row.dtype, device=row.device).cos()
    alone = [problem.loss(model, few).item()]
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(pair.buffer[1, pair.spans[name]].view_as(p))
    alone.append(problem.loss(model, few).item())
    beside = problem.loss(pair.model, tuple(x.expand(2, *x.shape) for x in few)).tolist()
    for loss, plain in zip(beside, alone, strict=True):
        if differs(loss, plain, tolerance):
            raise ValueError(
                f"lane {label!r} would depend on the lanes beside it: next to one with other weights the loss of a few "
                f"examples is {loss:.6g}, and {plain:.6g} when the model runs by itself. {_ADVICE}"
            )
