"""Drop-in torch optimizers that run on `Method.coefficients`: the same numbers that the pages draw."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal, NamedTuple, overload

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.optimizer import ParamsT

from radam_core.methods import METHODS, PROFILES, Method, coefficients_at
from radam_core.theory import Variance
from radam_core.updates import Tensors, is_small, same_layout, update

Profile = Literal["paper", "authors", "torch", "optax", "keras"]


# What must agree among tensors that are updated in one call: steps taken, dtype, device, the gradient's dtype, and
# whether parameter and gradient lie in memory in the same order, and whether they are small. A plain tuple: one is
# made per tensor and step.
Cohort = tuple[int, torch.dtype, torch.device, torch.dtype, bool, bool]


class Members(NamedTuple):
    params: list[Tensor]
    grads: list[Tensor]
    states: list[dict[str, Any]]


class MethodOptimizer(Optimizer):
    """Runs any `Method`. Every setting of the method is an entry of the parameter group, so that groups may differ,
    schedulers may change lr and betas, and a state_dict holds plain values only.
    """

    def __init__(self, params: ParamsT, method: Method, lr: float | Tensor = 1e-3, weight_decay: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, **method.settings()})

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        _checked_method({**self.defaults, **param_group})
        super().add_param_group(param_group)

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        # All checks come before the first change.
        work = [(group, _checked_method(group), self._cohorts(group["params"])) for group in self.param_groups]
        for group, method, cohorts in work:
            for (steps_taken, dtype, _, grad_dtype, one_layout, small), members in cohorts.items():
                c = coefficients_at(method, steps_taken + 1)
                update(_advance(members, method), c, group, one_layout and dtype == grad_dtype, small)
        return loss

    def _cohorts(self, params: Iterable[Tensor]) -> dict[Cohort, Members]:
        cohorts: dict[Cohort, Members] = {}
        for p in params:
            grad = p.grad
            if grad is None:
                continue
            if grad.layout is not torch.strided:
                raise RuntimeError(f"{type(self).__name__} does not support sparse gradients (layout {grad.layout})")
            state = self.state[p]
            cohort = (state["step"] if state else 0, p.dtype, p.device, grad.dtype, same_layout(p, grad), is_small(p))
            members = cohorts.get(cohort)
            if members is None:
                members = cohorts[cohort] = Members([], [], [])
            members.params.append(p)
            members.grads.append(grad)
            members.states.append(state)
        for _, dtype, _, grad_dtype, _, _ in cohorts:
            if dtype.is_complex or grad_dtype.is_complex:
                raise RuntimeError(f"{type(self).__name__} does not support complex parameters or gradients")
        return cohorts


def _checked_method(group: dict[str, Any]) -> Method:
    for name in ("lr", "weight_decay"):
        if not 0 <= float(group[name]) < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {group[name]!r}")
    return Method.from_settings(group)


def _advance(members: Members, method: Method) -> Tensors:
    """Counts the step and gives the tensors to update, with moments made where they are missing."""
    keeps_second = method.momentum == "ema"
    for p, state in zip(members.params, members.states, strict=True):
        if not state:
            state["step"] = 0
            state["exp_avg"] = torch.zeros_like(p)
            if keeps_second:
                state["exp_avg_sq"] = torch.zeros_like(p)
        state["step"] += 1
    first = [state["exp_avg"] for state in members.states]
    second = [state["exp_avg_sq"] for state in members.states] if keeps_second else []
    return Tensors(members.params, members.grads, first, second)


def make_optimizer(
    params: ParamsT, method: Method | str, lr: float | Tensor = 1e-3, weight_decay: float = 0.0, **settings: Any
) -> MethodOptimizer:
    """An optimizer for a method or the name of one in `METHODS`, with any of its settings replaced."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        method = METHODS[method]
    return MethodOptimizer(params, replace(method, **settings), lr, weight_decay)


class RAdam(MethodOptimizer):
    """Rectified Adam (Algorithm 2). `profile` chooses whose RAdam; a knob that is given overrides the profile's."""

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float | None = None,
        weight_decay: float = 0.0,
        *,
        profile: Profile = "paper",
        threshold: float | None = None,
        at_threshold: bool | None = None,
        below: Literal["momentum", "skip"] | None = None,
        eps_placement: Literal["before", "after"] | None = None,
        decoupled_weight_decay: bool | None = None,
        variance: Variance = "first-order",
    ) -> None:
        if profile not in PROFILES:
            raise ValueError(f"profile must be one of {', '.join(PROFILES)}, got {profile!r}")
        knobs = {
            "eps": eps,
            "threshold": threshold,
            "at_threshold": at_threshold,
            "below": below,
            "eps_placement": eps_placement,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        given = {name: value for name, value in knobs.items() if value is not None}
        method = replace(METHODS["radam"], betas=betas, rectify=variance, **PROFILES[profile] | given)
        super().__init__(params, method, lr, weight_decay)


class Adam(MethodOptimizer):
    """Adam with any warmup of `schedules.WARMUPS`; without one, torch's AdamW, or Adam if decay is not decoupled.

    Decay is decoupled unless told otherwise, as in the paper's experiments; epsilon stands where torch has it.
    """

    name = "adam"

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float | None = None,
        weight_decay: float = 0.0,
        **settings: Any,
    ) -> None:
        if eps is not None:
            settings["eps"] = eps
        super().__init__(params, replace(METHODS[self.name], betas=betas, **settings), lr, weight_decay)


class AdamEps(Adam):
    """Adam with an epsilon of 1e-4 that is added before bias correction (Section 3.1)."""

    name = "adam-eps"


class GIAdam(Adam):
    """Adam whose second moment starts at the first gradient's square (Kalra & Barkeshli 2024)."""

    name = "gi-adam"


class Adam2k(Adam):
    """Adam that spends its first `frozen_steps` on the second moment alone (Section 3.1).

    Strict by default: m's bias correction counts real steps. `count_frozen_steps=True` counts as the authors' code
    does, which makes the first real updates about ten times smaller.
    """

    name = "adam-2k"


class SGDM(MethodOptimizer):
    """SGD with momentum: m <- momentum m + g, theta <- theta - lr m, with L2 decay, as torch.optim.SGD."""

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        **settings: Any,
    ) -> None:
        method = METHODS["sgd"]
        super().__init__(params, replace(method, betas=(momentum, method.betas[1]), **settings), lr, weight_decay)
