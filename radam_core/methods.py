"""Every optimizer here as one small frozen value: `Method`, whose `coefficients(t)` say what step t does.

Algorithm 1 of the paper is the whole core. Each method updates

    m     <- m_keep m + m_gain g
    v     <- v_keep v + v_gain g^2
    theta <- theta - lr lr_factor weight_decay theta        (decoupled; else weight_decay theta joins g)
    theta <- theta - lr step m / (sqrt(v) + eps)            (adaptive; else theta <- theta - lr step m)

and methods differ only in these scalars, which depend on t and on the settings, never on the data. The optimizers,
the lanes of a race and the curves on the pages all run on them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from radam_core.domains import FloatArray, check_beta2, check_count, check_step
from radam_core.schedules import DECAYS, WARMUPS
from radam_core.theory import LOWEST_THRESHOLD, Variance, bias_correction, rectification, rho

FROZEN, MOMENTUM, ADAPTIVE = 0, 1, 2
BRANCHES = ("no step", "momentum", "adaptive")
"""What a step does to the parameters, by the number in `Coefficients.branch`."""


Number = TypeVar("Number")


class Coefficients(NamedTuple, Generic[Number]):
    """The scalars of one step as floats, or of many steps as arrays."""

    m_keep: Number
    m_gain: Number
    v_keep: Number
    v_gain: Number
    lr_factor: Number  # warmup times decay: alpha_t / lr; 0 when the step moves nothing
    step: Number  # lr_factor, r_t and both bias corrections in one factor of lr
    eps: Number  # as added to sqrt(v) of the stored, biased v
    rectification: Number  # r_t, nan where the method does not rectify
    branch: Number  # FROZEN, MOMENTUM or ADAPTIVE


class Timetable(NamedTuple, Generic[Number]):
    """`Coefficients` before beta1: what stays the same when a scheduler such as OneCycleLR changes that every step."""

    frozen: Any  # whether only v is fed, true or false
    m_count: Number  # steps in m's bias correction
    v_keep: Number
    lr_factor: Number
    adaptive_factor: Number  # r_t and v's bias correction; 1 in a step that does not adapt
    eps: Number
    rectification: Number
    branch: Number


def with_beta1(table: Timetable[Any], beta1: float, heavy_ball: bool) -> Coefficients[Any]:
    correction1 = 1.0 if heavy_ball else bias_correction(table.m_count, beta1)
    return Coefficients(
        m_keep=np.where(table.frozen, 1.0, beta1),
        m_gain=np.where(table.frozen, 0.0, 1.0 if heavy_ball else 1.0 - beta1),
        v_keep=table.v_keep,
        v_gain=1.0 - table.v_keep,
        lr_factor=table.lr_factor,
        step=table.lr_factor / correction1 * table.adaptive_factor,
        eps=table.eps,
        rectification=table.rectification,
        branch=table.branch,
    )


@dataclass(frozen=True, kw_only=True)
class Method:
    """An optimizer's settings, other than lr and weight decay; the defaults are plain Adam as in torch."""

    label: str = "Adam"
    adaptive: bool = True  # False: momentum alone, psi = 1
    first_moment: Literal["average", "heavy-ball"] = "average"  # heavy-ball: m <- beta1 m + g, no v; torch.optim.SGD
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    eps_placement: Literal["before", "after"] = "after"  # bias correction; "before" is the paper's psi-hat
    second_moment_start: Literal["zero", "gradient"] = "zero"  # "gradient": v_1 = g_1^2, GI-Adam
    rectify: Variance | None = None
    threshold: float = 4.0
    at_threshold: bool = False  # rectify when rho_t = threshold, too
    below: Literal["momentum", "skip"] = "momentum"
    decoupled_weight_decay: bool = True
    frozen_steps: int = 0  # steps that only feed v: Adam-2k
    count_frozen_steps: bool = False  # in m's bias correction, as the authors' code does
    warmup: str = "none"
    warmup_steps: float | None = None  # T_w or tau, for warmups that have one
    decay: str = "constant"
    total_steps: float | None = None  # for decays that end
    phases: "tuple[tuple[int, Method], ...]" = ()  # (last step, method): those up to it; this method after them
    by_torch: ClassVar[bool] = False  # True: a class of torch takes the steps (`torch_methods.py`)

    @property
    def theory(self) -> bool:
        """Whether its v, if it has one, is an average by beta2, of which rho_t and the spread of psi are known."""
        return True

    def __post_init__(self) -> None:
        _check(self)

    def coefficients(self, t: ArrayLike) -> Coefficients[FloatArray]:
        """What step t does; t may be an array."""
        t = check_step(t)
        result = self._own_coefficients(t)
        for last_step, method in reversed(self.phases):
            phase = t <= last_step
            if phase.any():
                inner = method.coefficients(t)
                result = Coefficients(*(np.where(phase, a, b) for a, b in zip(inner, result, strict=True)))
        return result

    def _own_coefficients(self, t: FloatArray) -> Coefficients[FloatArray]:
        return with_beta1(self.timetable(t), self.betas[0], self.first_moment == "heavy-ball")

    def timetable(self, t: FloatArray) -> Timetable[FloatArray]:
        """What beta1 does not touch of the method's own steps, without its phases."""
        beta2 = self.betas[1]
        one, frozen = np.ones_like(t), t <= self.frozen_steps
        correction2 = np.sqrt(bias_correction(t, beta2))

        r_t, rectified = np.full(t.shape, np.nan), np.full(t.shape, self.adaptive)
        if self.rectify is not None:
            rho_t = np.asarray(rho(t, beta2))
            rectified = (rho_t >= self.threshold) if self.at_threshold else (rho_t > self.threshold)
            r_t = np.where(rectified, rectification(t, beta2, LOWEST_THRESHOLD[self.rectify], self.rectify), np.nan)
        below = FROZEN if self.rectify is not None and self.below == "skip" else MOMENTUM
        branch = np.where(frozen, FROZEN, np.where(rectified, ADAPTIVE, below))

        schedule = WARMUPS[self.warmup](beta2, self.warmup_steps)(t)
        schedule = schedule * DECAYS[self.decay](self.total_steps, self.warmup_steps)(t)
        adaptive_factor = correction2 * (1.0 if self.rectify is None else np.nan_to_num(r_t))
        first = (t == 1) & (self.second_moment_start == "gradient")
        return Timetable(
            frozen=frozen,
            m_count=t if self.count_frozen_steps else np.where(frozen, 1.0, t - self.frozen_steps),
            v_keep=one if self.first_moment == "heavy-ball" else np.where(first, 0.0, beta2),
            lr_factor=np.where(branch == FROZEN, 0.0, schedule),
            adaptive_factor=np.where(branch == ADAPTIVE, adaptive_factor, 1.0),
            eps=self.eps * (correction2 if self.eps_placement == "after" else one),
            rectification=r_t,
            branch=branch,
        )

    def settings(self) -> dict[str, Any]:
        """Plain values that `from_settings` turns back into this method; they survive pickling without our classes."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        plain["phases"] = tuple((last, tuple(method.settings().items())) for last, method in self.phases)
        return plain

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """The method whose `settings` these are; keys that are not a method's are passed over."""
        values = (settings[field.name] for field in fields(cls))
        return cls._from_values(tuple(tuple(value) if isinstance(value, list) else value for value in values))

    @classmethod
    @lru_cache(maxsize=256)
    def _from_values(cls, values: tuple[Any, ...]) -> Self:
        plain = dict(zip((field.name for field in fields(cls)), values, strict=True))
        plain["phases"] = tuple((last, cls.from_settings(dict(inner))) for last, inner in plain["phases"])
        return cls(**plain)


def check_betas(betas: Any) -> tuple[float, float]:
    """beta1, checked, and beta2, which is checked where the method is made."""
    try:
        beta1, beta2 = betas
    except (TypeError, ValueError):
        raise ValueError(f"betas must be a pair (beta1, beta2), got {betas!r}") from None
    if not 0 <= beta1 < 1:
        raise ValueError(f"beta1 must be at least 0 and below 1, got {beta1!r}")
    return beta1, beta2


def _check(method: Method) -> None:
    _, beta2 = check_betas(method.betas)
    check_beta2(beta2)
    if not 0 <= method.eps < np.inf:
        raise ValueError(f"eps must be finite and at least 0, got {method.eps!r}")
    choices: dict[str, tuple[object, ...]] = {
        "first_moment": ("average", "heavy-ball"),
        "eps_placement": ("before", "after"),
        "second_moment_start": ("zero", "gradient"),
        "rectify": (None, *LOWEST_THRESHOLD),
        "below": ("momentum", "skip"),
        "warmup": tuple(WARMUPS),
        "decay": tuple(DECAYS),
    }
    for name, allowed in choices.items():
        if getattr(method, name) not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, got {getattr(method, name)!r}")
    if method.first_moment == "heavy-ball" and method.adaptive:
        raise ValueError("first_moment='heavy-ball' keeps no second moment, so it needs adaptive=False")
    if method.rectify is not None:
        _check_rectification(method, LOWEST_THRESHOLD[method.rectify])
    check_count("frozen_steps", method.frozen_steps, least=0)
    WARMUPS[method.warmup](beta2, method.warmup_steps)
    DECAYS[method.decay](method.total_steps, method.warmup_steps)
    _check_phases(method)


def _check_rectification(method: Method, least: float) -> None:
    """r_t is 0 at the lowest threshold itself: a step there would move nothing."""
    if not method.adaptive:
        raise ValueError("rectify scales an adaptive step, so it needs adaptive=True")
    too_low = method.threshold <= least if method.at_threshold else method.threshold < least
    if too_low or not method.threshold < np.inf:
        bound = "above" if method.at_threshold else "at least"
        raise ValueError(f"threshold must be {bound} {least:g} for {method.rectify}, got {method.threshold!r}")


def _check_phases(method: Method) -> None:
    last_steps = [last for last, _ in method.phases]
    if any(later <= earlier for earlier, later in zip([0, *last_steps], last_steps, strict=False)):
        raise ValueError(f"the last steps of phases must increase from 1, got {last_steps}")
    if any(
        inner.first_moment != method.first_moment or inner.decoupled_weight_decay != method.decoupled_weight_decay
        for _, inner in method.phases
    ):
        raise ValueError("phases must share the method's first_moment and decoupled_weight_decay: they share its state")


# Where published implementations of RAdam differ, in `Method`'s words. The paper's Algorithm 2 prints no epsilon, with
# which a coordinate that never saw a gradient gives 0/0; ours is the paper's psi-hat with a negligible one, eps=0 is
# as printed. The authors' code and torch's agree with psi-hat's placement.
_KNOBS = ("threshold", "at_threshold", "below", "eps", "eps_placement", "decoupled_weight_decay")
PROFILES: dict[str, dict[str, Any]] = {
    name: dict(zip(_KNOBS, values, strict=True))
    for name, values in {
        "paper": (4.0, False, "momentum", 1e-8, "before", True),
        "authors": (5.0, True, "skip", 1e-8, "before", True),
        "torch": (5.0, False, "momentum", 1e-8, "before", False),
        "optax": (5.0, True, "momentum", 1e-8, "after", True),  # optax.radam has no decay of its own
        "keras": (5.0, True, "momentum", 1e-7, "after", True),
    }.items()
}

_ADAM = Method()
_RADAM = Method(label="RAdam", rectify="first-order", **PROFILES["paper"])
# RAdam's un-adapted branch as a method: bias-corrected momentum, while v goes on gathering.
_MOMENTUM = Method(label="Momentum", adaptive=False)

METHODS: dict[str, Method] = {
    "adam": _ADAM,
    "adam-linear": replace(_ADAM, label="Adam + linear warmup", warmup="linear", warmup_steps=2000),
    "adam-exponential": replace(_ADAM, label="Adam + exponential warmup", warmup="exponential", warmup_steps=1000),
    "adam-untuned-linear": replace(_ADAM, label="Adam + untuned linear warmup", warmup="untuned-linear"),
    "adam-untuned-exponential": replace(_ADAM, label="Adam + untuned exponential warmup", warmup="untuned-exponential"),
    "radam": _RADAM,
    "radam-exact": replace(_RADAM, label="RAdam (exact variance)", rectify="exact"),
    "adam-2k": replace(_ADAM, label="Adam-2k", frozen_steps=2000),
    "adam-2k-authors": replace(_ADAM, label="Adam-2k (authors)", frozen_steps=2000, count_frozen_steps=True),
    "adam-eps": replace(_ADAM, label="Adam-eps", eps=1e-4, eps_placement="before"),
    "sgd": Method(label="SGD", adaptive=False, first_moment="heavy-ball", decoupled_weight_decay=False),
    "gi-adam": replace(_ADAM, label="GI-Adam", second_moment_start="gradient"),
    "momentum": _MOMENTUM,
    # Appendix C, Table 3: the first four updates by Adam; or by momentum, and the next four by Adam.
    "adam-4-radam": replace(_RADAM, label="Adam for steps 1-4, then RAdam", phases=((4, _ADAM),)),
    "sgd-4-adam-8-radam": replace(
        _RADAM, label="SGD for 1-4, Adam for 5-8, then RAdam", phases=((4, _MOMENTUM), (8, _ADAM))
    ),
}
