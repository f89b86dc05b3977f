"""The optimizers of `torch.optim` that a lane may name: a table of ours with their settings and bounds. No torch here.

They do not fit the core's form (`methods.py`): torch's own class takes the step (`race/torch_lane.py`), and the core
adds what it has for every lane: warmup and decay of the learning rate, and clipping. LBFGS is none of them, since it
evaluates the loss several times in a step, nor is SparseAdam, since our gradients are dense.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from radam_core.domains import FloatArray
from radam_core.methods import METHODS, PROFILES, Coefficients, Method

PREFIX = "torch."
Value = bool | int | float | str


@dataclass(frozen=True)
class Option:
    """A setting that our methods do not have: its default, which is torch's, and what is allowed."""

    default: Value
    least: float = 0.0
    most: float = 1e6
    above: bool = False  # the least itself is not allowed
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if isinstance(self.default, bool):
            return "true or false"
        kind = "a whole number" if isinstance(self.default, int) else "a number"
        return f"{kind} {'above' if self.above else 'at least'} {self.least:g} and at most {self.most:g}"

    def check(self, name: str, value: Any) -> Value:
        """The value as the default has its type; `ValueError` says what is allowed."""
        if self._fits(value):
            return value if isinstance(self.default, bool | str) else type(self.default)(value)
        raise ValueError(f"{name} must be {self.allowed}, got {str(value)[:40]!r}")

    def _fits(self, value: Any) -> bool:
        if isinstance(self.default, bool):
            return isinstance(value, bool)
        if self.choices:
            return isinstance(value, str) and value in self.choices
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        whole = not isinstance(self.default, int) or float(value).is_integer()
        return whole and self.least <= value <= self.most and not (self.above and value == self.least)


@dataclass(frozen=True)
class TorchRow:
    """What we know of a class of torch. `has` names the lane's settings that it takes; lr is every one's."""

    name: str  # of the class in torch.optim
    has: tuple[str, ...] = ("weight_decay", "warmup", "decay")
    options: Mapping[str, Option] = field(default_factory=dict)
    fixed: Mapping[str, Value] = field(default_factory=dict)  # what makes it this row: Adam with amsgrad
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    decoupled: bool = False  # its weight decay
    first: str | None = "exp_avg"  # its averages in torch's state, by parameter
    second: str | None = "exp_avg_sq"
    by_element: bool = True  # each number by itself, so that all parameters may be one long one
    adaptive: bool = True  # False: a step along the gradient or its average
    theory: bool = False  # its v is Adam's average, of which rho_t and the spread of psi are known
    method: Mapping[str, Any] = field(default_factory=dict)  # further settings of `Method`: RAdam's


_PLAIN = ("weight_decay", "warmup", "decay")
_ADAM = (*_PLAIN, "beta1", "beta2", "eps")
_EITHER = (*_ADAM, "decoupled_weight_decay")
_MOMENTUM = Option(0.0, 0.0, 0.9999)

TORCH: dict[str, TorchRow] = {
    f"{PREFIX}{name}": row
    for name, row in {
        "NAdam": TorchRow("NAdam", _EITHER, {"momentum_decay": Option(4e-3, 0.0, 1.0)}, theory=True),
        "AMSGrad": TorchRow("Adam", _EITHER, fixed={"amsgrad": True}, second="max_exp_avg_sq"),
        "Adamax": TorchRow("Adamax", _ADAM, second=None),
        "Adafactor": TorchRow(
            "Adafactor",
            _PLAIN,
            {"beta2_decay": Option(-0.8, -10.0, 0.0), "eps2": Option(1e-3, 0.0, 1e3), "d": Option(1.0, 1.0, 1e3)},
            decoupled=True,
            first=None,
            second=None,
            by_element=False,
        ),
        "Muon": TorchRow(
            "Muon",
            _ADAM,
            {
                "momentum": Option(0.95, 0.0, 0.9999),
                "nesterov": Option(True),
                "ns_steps": Option(5, 1, 20),
                "adjust_lr_fn": Option("original", choices=("original", "match_rms_adamw")),
                "adamw_lr_times": Option(1.0, 0.0, 1e4),
            },
            decoupled=True,
            first=None,
            second=None,
            by_element=False,
        ),
        "Adam": TorchRow("Adam", _EITHER, theory=True),
        "AdamW": TorchRow("AdamW", _ADAM, decoupled=True, theory=True),
        "RAdam": TorchRow(
            "RAdam", _EITHER, theory=True, method={"rectify": "first-order", **PROFILES["torch"], "eps": 1e-8}
        ),
        "RMSprop": TorchRow(
            "RMSprop",
            (*_PLAIN, "eps"),
            {"alpha": Option(0.99, 0.0, 1.0), "momentum": _MOMENTUM, "centered": Option(False)},
            first="momentum_buffer",
            second="square_avg",
        ),
        "Adagrad": TorchRow(
            "Adagrad",
            (*_PLAIN, "eps"),
            {"lr_decay": Option(0.0, 0.0, 1e3), "initial_accumulator_value": Option(0.0, 0.0, 1e3)},
            eps=1e-10,
            first=None,
            second="sum",
        ),
        "Adadelta": TorchRow(
            "Adadelta", (*_PLAIN, "eps"), {"rho": Option(0.9, 0.0, 1.0)}, eps=1e-6, first=None, second="square_avg"
        ),
        "Rprop": TorchRow(
            "Rprop",
            (),  # its learning rate is the size of the first step alone: a schedule would do nothing
            {
                "eta_minus": Option(0.5, 1e-3, 0.999),
                "eta_plus": Option(1.2, 1.001, 1e3),
                "step_min": Option(1e-6, 0.0, 1e3),
                "step_max": Option(50.0, 0.0, 1e6),
            },
            first=None,
            second=None,
        ),
        "SGD": TorchRow(
            "SGD",
            _PLAIN,
            {"momentum": _MOMENTUM, "dampening": Option(0.0, 0.0, 1.0), "nesterov": Option(False)},
            first="momentum_buffer",
            second=None,
            adaptive=False,
        ),
        "ASGD": TorchRow(
            "ASGD",
            _PLAIN,
            {"lambd": Option(1e-4, 0.0, 1.0), "alpha": Option(0.75, 0.0, 10.0), "t0": Option(1e6, 0.0, 1e9)},
            first=None,
            second=None,
            adaptive=False,
        ),
    }.items()
}


@dataclass(frozen=True, kw_only=True)
class TorchMethod(Method):
    """A row of `TORCH` with its settings, in the form in which a lane has its method."""

    name: str
    options: tuple[tuple[str, Value], ...] = ()  # all of its own, in the table's order
    by_torch: ClassVar[bool] = True

    @property
    def row(self) -> TorchRow:
        return TORCH[self.name]

    @property
    def theory(self) -> bool:
        return self.row.theory

    def coefficients(self, t: ArrayLike) -> Coefficients[FloatArray]:
        """The schedule, r_t and the branch; nothing that would feed an average or move a parameter: torch does."""
        c = super().coefficients(t)
        one, none = np.ones_like(c.step), np.zeros_like(c.step)
        return c._replace(m_keep=one, m_gain=none, v_keep=one, v_gain=none, step=none)

    def with_options(self, given: Mapping[str, Any]) -> "TorchMethod":
        known = self.row.options
        for name in given:
            if name not in known:
                own = f"; its own are {', '.join(known)}" if known else ""
                raise ValueError(f"{self.name} has no option {str(name)[:40]!r}{own}")
        checked = {name: option.check(name, given.get(name, option.default)) for name, option in known.items()}
        if checked.get("nesterov") and not (checked["momentum"] and not checked.get("dampening")):
            raise ValueError("nesterov needs a momentum above 0 and a dampening of 0")
        return replace(self, options=tuple(checked.items()))

    def refuse(self, given: Mapping[str, Any]) -> None:
        """`ValueError` for settings of a lane that torch's class does not have."""
        has = self.row.has
        lacking = [name for name in given if name not in has and not (name == "warmup_steps" and "warmup" in has)]
        if lacking:
            known = ", ".join(["lr", "clip", *has, *self.row.options])
            raise ValueError(f"{self.name} has no {', '.join(lacking)}; it has {known}")


def _method(name: str, row: TorchRow) -> TorchMethod:
    settings = {
        "betas": row.betas,
        "eps": row.eps,
        "decoupled_weight_decay": row.decoupled,
        "adaptive": row.adaptive,
        **row.method,
    }
    return TorchMethod(label=name, name=name, **settings).with_options({})


TORCH_METHODS: dict[str, TorchMethod] = {name: _method(name, row) for name, row in TORCH.items()}
LANE_METHODS: dict[str, Method] = {**METHODS, **TORCH_METHODS}
"""What a lane may name: our methods, and torch's."""
