"""The shared controls. Each is bound to the URL, so that a link carries the whole state of a page.

Values in a URL are anybody's: Streamlit uses another value in place of what is not allowed, and `_check_link` says so
in a sentence.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import streamlit as st

from radam_core.comparison import effective_warmups
from radam_core.theory import first_rectified_step, rho_inf

T = TypeVar("T")

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


def compact(value: object) -> str:
    """Numbers as short as they can be written: 0.999, 2000, 0.0003."""
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)


def pick(
    label: str,
    key: str,
    options: Sequence[T],
    default: T,
    help: str | None = None,  # noqa: A002
    show: Callable[[T], str] = compact,
) -> T:
    """A slider over listed values; `key` is also its name in the URL."""
    _check_link(key, [show(option) for option in options])
    return st.select_slider(label, options, default, format_func=show, key=key, help=help, bind="query-params")


def choose(label: str, key: str, options: Sequence[T], default: T, show: Callable[[T], str] = str) -> T:
    """One of a few values, all in sight."""
    _check_link(key, [show(option) for option in options])
    chosen = st.segmented_control(
        label, options, default=default, format_func=show, key=key, bind="query-params", required=True
    )
    return default if chosen is None else chosen


def choose_from_list(label: str, key: str, options: Sequence[str], default: str) -> str:
    """One of more values than fit side by side."""
    _check_link(key, list(options))
    return st.selectbox(label, options, options.index(default), key=key, bind="query-params")


def choose_many(
    label: str, key: str, options: Sequence[T], default: Sequence[T], show: Callable[[T], str] = compact, most: int = 6
) -> list[T]:
    _check_link(key, [show(option) for option in options], most)
    return st.multiselect(label, options, default, format_func=show, key=key, bind="query-params", max_selections=most)


def switch(label: str, key: str) -> bool:
    """On or off; off to begin with."""
    _check_link(key, ["true", "false"], read=str.lower)
    return st.toggle(label, key=key, bind="query-params")


def _check_link(key: str, allowed: list[str], most: int = 1, read: Callable[[str], str] = str) -> None:
    """Say so when the link has for this key a value that is not allowed, one twice, or more than `most`."""
    values = [read(value) for value in st.query_params.get_all(key)]
    if most > 1 and values == [""]:  # how a link says that nothing is chosen
        return
    refused = [value for value in values if value not in allowed]
    if refused or len(set(values)) < len(values) or len(values) > most:
        shown = ", ".join(refused[:1] or values)[:40].replace("`", "'").replace("\n", " ")
        amount = "one of" if most == 1 else f"at most {most}, each once, of"
        listed = f"{len(allowed)} values from {allowed[0]} to {allowed[-1]}" if len(allowed) > 8 else ", ".join(allowed)
        st.warning(f"The link asked for `{key} = {shown}`. Allowed: {amount} {listed}. The control shows what is used.")


def beta2_control(*thresholds: float) -> float:
    """beta2 on a log scale of 1 - beta2, with what follows from it at these thresholds; the paper's is 4."""
    beta2 = pick(
        "**$\\beta_2$**, memory of the squared gradients",
        "beta2",
        BETA2S,
        0.999,
        help="Evenly spaced in log(1 − β₂): each notch lengthens the memory 1/(1 − β₂) by about the same factor.",
    )
    st.caption(beta2_facts(beta2, thresholds or (4.0,)))
    return beta2


def beta2_facts(beta2: float, thresholds: Sequence[float]) -> str:
    """rho_inf, and for each threshold the first rectified step and the warmup that beta2 implies, in a line."""
    facts = [f"$\\rho_\\infty$ = {float(rho_inf(beta2)):,.4g}"]
    for threshold in thresholds:
        where = f"threshold {threshold:g}: " if len(thresholds) > 1 else ""
        first = first_rectified_step(beta2, threshold)
        if first is None:
            facts.append(f"{where or f'at or below the threshold {threshold:g}: '}**$r_t$ never starts**")
        else:
            warmup = effective_warmups(beta2, 0, 0, threshold)["radam"]
            facts.append(f"{where}$r_t$ starts at step {first}, worth **{warmup:,.0f} steps** of warmup")
    return " · ".join(facts)


def threshold_control() -> float:
    return choose("Rectify: $\\rho_t >$", "threshold", (4.0, 5.0), 4.0, show=compact)


def log_t_control() -> bool:
    return choose("Step axis", "axis", ("log", "linear"), "log") == "log"


def mu_control() -> float:
    return pick(
        "**$\\mu$**, mean of the gradient (noise has size 1)",
        "mu",
        MUS,
        0.0,
        help="Gradients are μ plus standard normal noise. Moving μ draws no new samples.",
    )
