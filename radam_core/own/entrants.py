"""What may race: one of our methods with its settings, or a function from parameters to any optimizer of torch.

    {"RAdam": {"method": "radam", "lr": 1e-3},
     "warmed": {"method": "adam", "lr": 1e-3, "warmup": "linear", "warmup_steps": 100, "clip": 1.0},
     "NAdam": {"method": "torch.NAdam", "lr": 1e-3, "warmup": "linear", "warmup_steps": 100},
     "mine": lambda parameters: MyOptimizer(parameters, lr=1e-3),
     "cosine": {"optimizer": make, "scheduler": lambda optimizer: CosineAnnealingLR(optimizer, 500)}}

A function may also give both, as (optimizer, scheduler). A scheduler steps after every step, without a metric.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import nn, optim
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau

from radam_core.methods import Method
from radam_core.optimizers import make_optimizer
from radam_core.race.plan import Lane
from radam_core.race.torch_lane import make_torch_optimizer
from radam_core.single_steps import coefficients_at
from radam_core.torch_methods import LANE_METHODS, TORCH_METHODS, TorchMethod

Parameters = list[nn.Parameter]
Made = tuple[optim.Optimizer, LRScheduler | None]
LaneLike = str | Lane | Mapping[str, Any] | Callable[[Parameters], Any]

_FORMS = (
    'a method\'s name, {"method": NAME, "lr": ..., its settings}, {"optimizer": FUNCTION, "scheduler": FUNCTION, '
    '"clip": ...}, or a function from parameters to a torch.optim.Optimizer'
)


@dataclass(frozen=True)
class Entrant:
    label: str
    make: Callable[[Parameters], Made]
    clip: float = math.inf  # the largest gradient norm
    by_element: bool = False  # each number by itself, so that all parameters may be one long one: our methods


def entrants(lanes: Mapping[str, LaneLike]) -> tuple[list[Entrant], list[str]]:
    """Those that can be read, and a sentence for each that cannot."""
    if not isinstance(lanes, Mapping) or not lanes:
        return [], [f"lanes must map at least one label to {_FORMS}, got {lanes!r:.80}"]
    found, refused = [], []
    for label, given in lanes.items():
        try:
            found.append(_entrant(str(label), given))
        except (TypeError, ValueError) as error:
            refused.append(f"lane {str(label)!r}: {error}")
    return found, refused


def _entrant(label: str, given: LaneLike) -> Entrant:
    if isinstance(given, str):
        given = {"method": given}
    if isinstance(given, Lane):
        own = {"method": given.method, "lr": given.lr, "weight_decay": given.weight_decay, "clip": given.clip}
        return _of_method(label, own)
    if isinstance(given, Mapping) and "method" in given:
        return _of_method(label, dict(given))
    if isinstance(given, Mapping) and "optimizer" in given:
        return _of_functions(label, dict(given))
    if callable(given):
        return Entrant(label, lambda parameters: _checked(given(parameters)))
    raise ValueError(f"must be {_FORMS}, got {given!r:.80}")


def _of_method(label: str, settings: dict[str, Any]) -> Entrant:
    method, clip = settings.pop("method"), _clip(settings.pop("clip", None))
    if not isinstance(method, Method) and method not in LANE_METHODS:
        raise ValueError(f"method must be one of {', '.join(LANE_METHODS)}, got {method!r}")
    if isinstance(method, TorchMethod) or method in TORCH_METHODS:
        torchs = method if isinstance(method, TorchMethod) else TORCH_METHODS[str(method)]
        return _of_torch(label, torchs, settings, clip)
    known = ["lr", "weight_decay", "clip", *(one.name for one in fields(Method) if one.name != "label")]
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise ValueError(f"a method has no setting {', '.join(unknown)}; it has {', '.join(known)}")
    # Made once for nothing, so that a setting that is not allowed is told before anything is trained.
    make_optimizer([nn.Parameter()], method, **settings)
    return Entrant(label, lambda parameters: (make_optimizer(parameters, method, **settings), None), clip, True)


def _of_torch(label: str, method: TorchMethod, settings: dict[str, Any], clip: float) -> Entrant:
    """torch's class by its name, with checked settings; warmup and decay by a scheduler of torch."""
    lr, weight_decay = float(settings.pop("lr", 1e-3)), float(settings.pop("weight_decay", 0.0))
    Lane(label=label, method=method, lr=lr, weight_decay=weight_decay)  # checks both
    own = {name: settings.pop(name) for name in list(settings) if name in method.row.options}
    total = settings.pop("total_steps", method.total_steps)
    pair = dict(zip(("beta1", "beta2"), settings.pop("betas", ()), strict=False))
    pair |= {name: settings.pop(name) for name in ("beta1", "beta2") if name in settings}
    betas = tuple(pair.get(f"beta{i}", beta) for i, beta in enumerate(method.betas, 1))
    method.refuse({**settings, **pair, **({"weight_decay": weight_decay} if weight_decay else {})})
    method = replace(method, **settings, betas=betas, total_steps=total)
    method = method.with_options({**dict(method.options), **own})

    def make(parameters: Parameters) -> Made:
        optimizer = make_torch_optimizer(method, parameters, lr, weight_decay)
        if method.warmup == "none" and method.decay == "constant":
            return optimizer, None
        for group in optimizer.param_groups:  # for whoever reads its settings; torch's classes do not
            group |= {"warmup": method.warmup, "warmup_steps": method.warmup_steps, "decay": method.decay}
        return optimizer, LambdaLR(optimizer, lambda done: coefficients_at(method, done + 1).lr_factor)

    return Entrant(label, make, clip)


def _of_functions(label: str, settings: dict[str, Any]) -> Entrant:
    make, schedule, clip = settings.pop("optimizer"), settings.pop("scheduler", None), settings.pop("clip", None)
    if settings:
        raise ValueError(f"an optimizer's lane takes optimizer, scheduler and clip, got {', '.join(settings)}, too")
    if not callable(make) or not (schedule is None or callable(schedule)):
        raise ValueError("optimizer and scheduler must be functions: of the parameters, and of the optimizer")

    def both(parameters: Parameters) -> Made:
        optimizer, own = _checked(make(parameters))
        return (optimizer, own) if schedule is None else _checked((optimizer, schedule(optimizer)))

    return Entrant(label, both, _clip(clip))


def _clip(clip: float | None) -> float:
    if clip is not None and not 0 < clip < math.inf:
        raise ValueError(f"clip must be finite and above 0, or None, got {clip!r}")
    return math.inf if clip is None else float(clip)


def _checked(made: Any) -> Made:
    optimizer, scheduler = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    if not isinstance(optimizer, optim.Optimizer):
        raise ValueError(f"its function must give a torch.optim.Optimizer, got {type(optimizer).__name__}")
    if isinstance(optimizer, optim.LBFGS):
        raise ValueError("LBFGS evaluates the loss several times in a step, which lanes cannot: take another optimizer")
    if isinstance(scheduler, ReduceLROnPlateau):
        raise ValueError("ReduceLROnPlateau steps by a metric: take a scheduler that is a function of the step")
    if scheduler is not None and not isinstance(scheduler, LRScheduler):
        raise ValueError(f"its scheduler must be one of torch.optim.lr_scheduler, got {type(scheduler).__name__}")
    return optimizer, scheduler
