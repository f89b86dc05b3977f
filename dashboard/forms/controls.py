"""The shared controls. Each is in the page's address, so that a link carries the whole state of a page.

Values in an address are anybody's: for what is not allowed the control takes its default, and a sentence says so. A
control keeps its value when its page is left. What the formulas of several pages have in common starts, on a page that
is new to the visitor, from the value that it was last given elsewhere: who has tuned beta2 goes on with it.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np
import streamlit as st

from dashboard.browser import address
from dashboard.remembered import shared
from radam_core.comparison import effective_warmups, linear_of_equal_cost
from radam_core.theory import first_rectified_step, rho_inf

T = TypeVar("T")
_KEPT: Literal["session"] = "session"
IN_COMMON = ("beta2", "mu")  # others share a name at most: one page's rate or seed is not another's

# Evenly spaced on a log scale of 1 - beta2, by round numbers; 2/3 is where threshold 5 stops rectifying.
BETA2S: tuple[float, ...] = (
    0.5,
    0.55,
    0.6,
    0.65,
    0.7,
    0.75,
    0.8,
    0.85,
    0.9,
    0.93,
    0.95,
    0.97,
    0.98,
    0.985,
    0.99,
    0.993,
    0.995,
    0.997,
    0.998,
    0.9985,
    0.999,
    0.9993,
    0.9995,
    0.9997,
    0.9998,
    0.99985,
    0.9999,
)
BETA1S: tuple[float, ...] = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
LENGTHS: tuple[int, ...] = (0, 10, 20, 50, 100, 200, 500, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 10_000, 20_000)
STEPS: tuple[int, ...] = (*range(1, 11), 15, 20, 30, 50, 70, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 100_000)
LEARNING_RATES: tuple[float, ...] = (*(float(f"{m}e{e}") for e in range(-5, 0) for m in (1, 2, 3, 6)), 1.0)
WEIGHT_DECAYS: tuple[float, ...] = (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
MUS: tuple[float, ...] = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 3.0, 5.0, 10.0)
TRAJECTORIES: tuple[int, ...] = (500, 1_000, 2_000, 3_000, 5_000)
GRADIENT_SIZES: tuple[float, ...] = (*(float(f"{m}e{e}") for e in range(-4, 2) for m in (1, 3)), 100.0)


@lru_cache(1024, typed=True)  # a slider asks for every notch at every run of a page
def compact(value: object) -> str:
    """Numbers as short as they can be written: 0.999, 2000, 0.0003."""
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)


def pick(
    label: str,
    name: str,
    options: Sequence[T],
    default: T,
    help: str | None = None,  # noqa: A002
    show: Callable[[T], str] = compact,
) -> T:
    """A slider over listed values; `name` is its name in the address."""
    key = _placed(name, options, default, show)
    value = st.select_slider(label, options, format_func=show, key=key, help=help, persist_state=_KEPT)
    return _kept(name, value, default, show)


def choose(label: str, name: str, options: Sequence[T], default: T, show: Callable[[T], str] = str) -> T:
    """One of a few values, all in sight."""
    key = _placed(name, options, default, show)
    chosen = st.segmented_control(label, options, format_func=show, key=key, required=True, persist_state=_KEPT)
    return _kept(name, default if chosen is None else chosen, default, show)


def choose_from_list(
    label: str, name: str, options: Sequence[str], default: str, show: Callable[[str], str] = str
) -> str:
    """One of more values than fit side by side; the address has them as they are, the list as `show` says them."""
    key = _placed(name, options, default, str)
    chosen = st.selectbox(label, options, key=key, format_func=show, persist_state=_KEPT)
    return _kept(name, chosen, default, str)


def choose_many(
    label: str, name: str, options: Sequence[T], default: Sequence[T], show: Callable[[T], str] = compact, most: int = 6
) -> list[T]:
    key = _placed(name, options, list(default), show, most)
    chosen = st.multiselect(label, options, format_func=show, key=key, max_selections=most, persist_state=_KEPT)
    if chosen != list(default):
        address.say(name, [show(value) for value in chosen] or [""])  # how a link says that nothing is chosen
    return chosen


def switch(label: str, name: str) -> bool:
    """On or off; off to begin with."""
    key = _placed(name, (True, False), False, _yes_or_no, read=str.lower)
    return _kept(name, st.toggle(label, key=key, persist_state=_KEPT), False, _yes_or_no)


def _yes_or_no(value: object) -> str:
    return str(value).lower()


def _placed(
    name: str,
    options: Sequence[Any],
    default: Any,
    show: Callable[[Any], str],
    most: int = 1,
    read: Callable[[str], str] = str,
) -> str:
    """The control's key, with a value in its place: the address's, or else what it was here, or elsewhere."""
    key, asked, state = address.key(name), [read(text) for text in address.asked(name)], st.session_state
    if asked:
        state[key] = _from_link(name, asked, {show(option): option for option in options}, default, most)
    elif key not in state:
        latest = address.latest().get(name, default)
        state[key] = latest if latest in options else default
    return key


def _kept(name: str, value: T, default: T, show: Callable[[T], str]) -> T:
    """The value, which the address says unless it is the default."""
    if value != default:
        address.say(name, [show(value)])
    if name in IN_COMMON:
        address.latest()[name] = value
    return value


def _from_link(name: str, values: list[str], allowed: dict[str, Any], default: Any, most: int) -> Any:
    """What a link asks for; a sentence says so if a value is not allowed, or comes twice, or there are too many."""
    if most > 1 and values == [""]:
        return []
    refused = [value for value in values if value not in allowed]
    if refused or len(set(values)) < len(values) or len(values) > most:
        shown = ", ".join(refused[:1] or values)[:40].replace("`", "'").replace("\n", " ")
        amount = "one of" if most == 1 else f"at most {most}, each once, of"
        texts = list(allowed)
        between = len(texts) > 8 and not isinstance(allowed[texts[0]], str)  # numbers; of names each must be told
        listed = f"{len(texts)} values from {texts[0]} to {texts[-1]}" if between else ", ".join(texts)
        address.refuse(
            f"{name} must be {amount} {listed}, got {shown!r}",
            f"The link asked for `{name} = {shown}`. Allowed: {amount} {listed}. The control shows what is used.",
        )
    usable = [allowed[value] for value in dict.fromkeys(values) if value in allowed][:most]
    return (usable or default) if most > 1 else usable[0] if usable else default


def beta2_control(*thresholds: float) -> float:
    """beta2 on a log scale of 1 - beta2, with what follows from it at these thresholds; the paper's is 4."""
    beta2 = pick(
        "β₂, memory of the squared gradients",
        "beta2",
        BETA2S,
        0.999,
        help="Evenly spaced in log(1 − β₂): each notch lengthens the memory 1/(1 − β₂) by about the same factor.",
    )
    st.caption(beta2_facts(beta2, thresholds or (4.0,)))
    return beta2


@shared(200)
def beta2_facts(beta2: float, thresholds: tuple[float, ...]) -> str:
    """rho_inf, and for each threshold the first rectified step and the warmup that beta2 implies, in a line."""
    facts = [f"$\\rho_\\infty$ = {float(rho_inf(beta2)):,.4g}"]
    for threshold in thresholds:
        where = f"threshold {threshold:g}: " if len(thresholds) > 1 else ""
        first = first_rectified_step(beta2, threshold)
        if first is None:
            facts.append(f"{where or f'at or below the threshold {threshold:g}: '}**$r_t$ never starts**")
        else:
            cost = effective_warmups(beta2, 0, 0, threshold)["radam"]
            facts.append(
                f"{where}$r_t$ starts at step {first} and costs **{cost:,.0f} full-rate steps**, "
                f"as a linear warmup over {linear_of_equal_cost(cost):,.0f}"
            )
    return " · ".join(facts)


def threshold_control() -> float:
    return choose("Rectify: ρₜ >", "threshold", (4.0, 5.0), 4.0, show=compact)


def log_t_control() -> bool:
    return choose("Step axis", "axis", ("log", "linear"), "log") == "log"


def mu_control() -> float:
    return pick(
        "μ, mean of the gradient (noise has size 1)",
        "mu",
        MUS,
        0.0,
        help="Gradients are μ plus standard normal noise. Moving μ draws no new samples.",
    )
