"""One step's update of a list of tensors, by a method's coefficients: with the fused kernel, or written out.

An adaptive step is one call of PyTorch's fused AdamW kernel, because r_t only scales the step: lr becomes lr times
`step`, the decay is divided by the same, and the kernel's own bias correction is switched off by a step count at which
beta^t is zero. A momentum-only or frozen step, and tensors whose memory layouts differ, take the same update written
out with foreach operations.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from radam_core.methods import ADAPTIVE, FROZEN, Coefficients

_FUSED_DEVICES = {"cpu", "cuda", "mps", "xpu"}
_GRAIN = 32768
_NO_BIAS_CORRECTION = float(2**62)  # beta^t underflows to 0 for every beta below 1


class Tensors(NamedTuple):
    """What is updated together: of one dtype, on one device, with one number of steps behind them."""

    params: list[Tensor]
    grads: list[Tensor]
    exp_avgs: list[Tensor]
    exp_avg_sqs: list[Tensor]  # empty for a method without second moments


def same_layout(p: Tensor, other: Tensor) -> bool:
    """Whether a parameter and its gradient or moment, of one size, lie in memory in the same order without gaps."""
    if p.is_contiguous():
        return other.is_contiguous()
    channels_last = p.dim() == 4 and p.is_contiguous(memory_format=torch.channels_last)
    return channels_last and p.stride() == other.stride()


def is_small(p: Tensor) -> bool:
    """Whether starting a second thread would take longer than the update itself: below torch's own grain size."""
    return p.is_cpu and p.numel() < _GRAIN


def update(tensors: Tensors, c: Coefficients[float], group: dict[str, Any], alike: bool, small: bool) -> None:
    """Moves parameters and moments by one step; `group` holds lr and weight decay. `alike`: one kernel may run over
    them, as they have one dtype and lie in memory in the same order."""
    fused = alike and tensors.params[0].device.type in _FUSED_DEVICES and c.branch == ADAPTIVE and c.step > 0
    if not fused:
        _foreach_update(tensors, c, group)
    elif small:
        _on_one_thread(_fused_update, tensors, c, group)
    else:
        _fused_update(tensors, c, group)


def _on_one_thread(run: Callable[..., None], *arguments: Any) -> None:
    # The kernel wakes all threads for each tensor, however small: 0.1 ms each where they sleep between
    # (OMP_WAIT_POLICY=passive, or other programs on the cores). torch has no setting for one call alone.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        run(*arguments)
    finally:
        torch.set_num_threads(threads)


def _fused_update(tensors: Tensors, c: Coefficients[float], group: dict[str, Any]) -> None:
    # The kernels behind torch.optim.AdamW(fused=True) and Adam(fused=True), called without that wrapper's checks of
    # every tensor, which cost more than the kernel when tensors are small.
    decoupled = group["decoupled_weight_decay"]
    kernel = torch._fused_adamw_ if decoupled else torch._fused_adam_
    kernel(
        *tensors,
        [],
        [_no_bias_correction(tensors.params[0].device)] * len(tensors.params),
        lr=float(group["lr"]) * c.step,
        beta1=c.m_keep,
        beta2=c.v_keep,
        weight_decay=group["weight_decay"] * (c.lr_factor / c.step if decoupled else 1.0),
        eps=c.eps,
        amsgrad=False,
        maximize=False,
    )


@lru_cache
def _no_bias_correction(device: torch.device) -> Tensor:
    return torch.tensor(_NO_BIAS_CORRECTION, dtype=torch.float32, device=device)


def _foreach_update(tensors: Tensors, c: Coefficients[float], group: dict[str, Any]) -> None:
    params, grads, exp_avgs, exp_avg_sqs = tensors
    lr, weight_decay = float(group["lr"]), group["weight_decay"]
    if weight_decay and group["decoupled_weight_decay"]:
        torch._foreach_mul_(params, 1 - lr * c.lr_factor * weight_decay)
    elif weight_decay:
        grads = list(torch._foreach_add(grads, params, alpha=weight_decay))
    torch._foreach_mul_(exp_avgs, c.m_keep)
    torch._foreach_add_(exp_avgs, grads, alpha=c.m_gain)
    if exp_avg_sqs:
        torch._foreach_mul_(exp_avg_sqs, c.v_keep)
        torch._foreach_addcmul_(exp_avg_sqs, grads, grads, c.v_gain)
    if c.branch == FROZEN:
        return
    if c.branch == ADAPTIVE:
        denominators = torch._foreach_sqrt(exp_avg_sqs)
        torch._foreach_add_(denominators, c.eps)
        torch._foreach_addcdiv_(params, exp_avgs, denominators, -lr * c.step)
    else:
        torch._foreach_add_(params, exp_avgs, alpha=-lr * c.step)
