"""Drop-in torch optimizers that run on `Method.coefficients`: the same numbers that the pages draw."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal, NamedTuple, overload

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.optimizer import ParamsT

from radam_core.methods import METHODS, PROFILES, Method, check_betas
from radam_core.single_steps import coefficients_at
from radam_core.theory import LOWEST_THRESHOLD, Variance
from radam_core.torch_switches import without_switches
from radam_core.updates import Tensors, is_small, same_layout, update

Profile = Literal["paper", "authors", "torch", "optax", "keras"]


# What must agree among tensors that are updated in one call: steps taken, dtype, device, whether gradient and moments
# have the parameter's dtype and lie in memory as it does, and whether it is small. A plain tuple: one is made for every
# tensor at every step.
Cohort = tuple[int, torch.dtype, torch.device, bool, bool]


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
        group = self._as_settings(without_switches(param_group))
        _checked_method({**self.defaults, **group})
        super().add_param_group(group)

    @classmethod
    def _as_settings(cls, given: dict[str, Any]) -> dict[str, Any]:
        """What a constructor or a group was given, in `Method`'s words; subclasses have more words."""
        return dict(given)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Also of an optimizer of torch with the same moments: its count of steps is a tensor, its groups know less."""
        groups = [{**self.__dict__.get("defaults", {}), **without_switches(group)} for group in state["param_groups"]]
        for group in groups:
            _check_moments(group, state["state"])
        super().__setstate__({**state, "param_groups": groups})
        for moments in self.state.values():
            if "step" in moments:
                moments["step"] = int(moments["step"])

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
        for group, (method, beta1), cohorts in work:
            for (steps_taken, _, _, alike, small), members in cohorts.items():
                c = coefficients_at(method, steps_taken + 1, beta1)
                update(_advance(members, _MOMENTS[method.first_moment]), c, group, alike, small)
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
            steps_taken = 0
            alike = _alike(p, grad)
            if state:  # its second moment is made and loaded with the first, and lies as that does
                steps_taken = state["step"]
                alike = _alike(p, state["exp_avg"]) and alike
            cohort = (steps_taken, p.dtype, p.device, alike, is_small(p))
            members = cohorts.get(cohort)
            if members is None:
                members = cohorts[cohort] = Members([], [], [])
            members.params.append(p)
            members.grads.append(grad)
            members.states.append(state)
        if any(dtype.is_complex for _, dtype, *_ in cohorts):
            raise RuntimeError(f"{type(self).__name__} does not support complex parameters or gradients")
        return cohorts


_MOMENTS = {"average": ("exp_avg", "exp_avg_sq"), "heavy-ball": ("exp_avg",)}


def _check_moments(group: dict[str, Any], states: dict[Tensor, dict[str, Any]]) -> None:
    """A state that is loaded must hold the moments of this method, and of parameters of these shapes."""
    for p in group["params"]:
        state = states.get(p, {})
        for name in _MOMENTS[group["first_moment"]] if state else ():
            if name not in state:
                raise ValueError(f"a state for {group['label']} must hold {name}, got {', '.join(state)}")
            if state[name].shape != p.shape:
                raise ValueError(
                    f"{name} of a parameter of shape {tuple(p.shape)} must have that shape, "
                    f"got {tuple(state[name].shape)}: the state is another model's"
                )


def _alike(p: Tensor, other: Tensor) -> bool:
    """Whether one kernel may run over a parameter and its gradient or moment. Asked for every tensor at every step, so
    it takes the shortest way; another size is refused here, since the kernel would trust it."""
    if p.numel() != other.numel():
        raise RuntimeError(
            f"a parameter of shape {tuple(p.shape)} has a gradient or moment of shape {tuple(other.shape)}: "
            "was it replaced by a larger or smaller one?"
        )
    return p.dtype is other.dtype and same_layout(p, other)


def _checked_method(group: dict[str, Any]) -> tuple[Method, float]:
    """The group's method apart from beta1, and beta1: so it stays the same method while a scheduler changes that."""
    for name in ("lr", "weight_decay"):
        if not 0 <= float(group[name]) < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {group[name]!r}")
    beta1, beta2 = check_betas(group["betas"])
    return Method.from_settings({**group, "betas": (0.0, beta2)}), beta1


def _advance(members: Members, moments: tuple[str, ...]) -> Tensors:
    """Counts the step and gives the tensors to update, with moments made where they are missing."""
    for p, state in zip(members.params, members.states, strict=True):
        if not state:
            state["step"] = 0
            state.update({name: torch.zeros_like(p) for name in moments})
        state["step"] += 1
    first, second = ([state[name] for state in members.states if name in moments] for name in _MOMENTS["average"])
    return Tensors(members.params, members.grads, first, second)


def make_optimizer(
    params: ParamsT, method: Method | str, lr: float | Tensor = 1e-3, weight_decay: float = 0.0, **settings: Any
) -> MethodOptimizer:
    """An optimizer for a method or the name of one in `METHODS`, with any of its settings replaced."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        method = METHODS[method]
    return MethodOptimizer(params, replace(method, **without_switches(settings)), lr, weight_decay)


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
        **switches: Any,
    ) -> None:
        knobs = {
            "eps": eps,
            "threshold": threshold,
            "at_threshold": at_threshold,
            "below": below,
            "eps_placement": eps_placement,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        for name in without_switches(switches):
            raise TypeError(
                f"{type(self).__name__} has no setting {name}; it has {', '.join(knobs)}, profile, variance"
            )
        given = {name: value for name, value in knobs.items() if value is not None}
        settings = self._as_settings({"profile": profile, "variance": variance, "betas": betas, **given})
        super().__init__(params, replace(METHODS["radam"], **settings), lr, weight_decay)

    @classmethod
    def _as_settings(cls, given: dict[str, Any]) -> dict[str, Any]:
        settings = dict(given)
        for name, allowed in (("profile", PROFILES), ("variance", LOWEST_THRESHOLD)):
            if name in given and given[name] not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {given[name]!r}")
        if "variance" in given:
            settings["rectify"] = settings.pop("variance")
        return PROFILES[settings.pop("profile")] | settings if "profile" in given else settings


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
        method = replace(METHODS[self.name], betas=betas, **without_switches(settings))
        super().__init__(params, method, lr, weight_decay)


class AdamEps(Adam):
    """Adam with an epsilon of 1e-4 that is added before bias correction (Section 3.1)."""

    name = "adam-eps"


class GIAdam(Adam):
    """Adam whose second moment starts at the first gradient's square (Kalra & Barkeshli 2024)."""

    name = "gi-adam"


class Adam2k(Adam):
    """Adam that spends its first `frozen_steps` on the second moment alone (Section 3.1).

    Strict by default: m's bias correction counts real steps. `count_frozen_steps=True` counts as the authors' code
    does, which multiplies the k-th real update by about 1 - beta1^k: 0.1, 0.19, 0.27, ... at beta1 = 0.9.
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
        settings = self._as_settings({"momentum": momentum, **without_switches(settings)})
        super().__init__(params, replace(METHODS["sgd"], **settings), lr, weight_decay)

    @classmethod
    def _as_settings(cls, given: dict[str, Any]) -> dict[str, Any]:
        settings = dict(given)
        if "momentum" in given:
            settings["betas"] = (settings.pop("momentum"), METHODS["sgd"].betas[1])
        return settings
