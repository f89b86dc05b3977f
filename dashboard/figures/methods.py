"""A row for each method: how it looks on every chart, what it is in words, and the warmup that it amounts to.

Adding a method is a row in `radam_core.methods.METHODS`, which says what it computes. Until it has one here, for its
colour and its words, it is grey.
"""

from dataclasses import dataclass

import numpy as np

from dashboard.figures.look import (
    BLUE,
    GREEN,
    GREY,
    LONG,
    OCHRE,
    ORANGE,
    PURPLE,
    SHORT,
    SKY,
    TWO_DOTS,
    VERMILION,
    WIDE,
    Style,
)
from radam_core.methods import METHODS
from radam_core.torch_methods import LANE_METHODS

_PAPER, _MA_YARATS, _KALRA = "Liu et al. 2020", "Ma & Yarats 2021", "Kalra & Barkeshli 2024"
_LINEAR = "Goyal et al. 2017, for Adam Vaswani et al. 2017"


@dataclass(frozen=True)
class WarmupCurve:
    """A factor w_t of the learning rate: its name on a chart, its formula (LaTeX), the idea, and where it is from."""

    name: str
    formula: str
    idea: str
    source: str


@dataclass(frozen=True)
class MethodRow:
    style: Style
    about: str
    warmup: WarmupCurve | None = None


def authors_adam_2k_factors() -> str:
    """The real steps k = 1, 2, ... of Adam-2k by the authors' code, as parts of those by the paper's text."""
    strict, authors = METHODS["adam-2k"], METHODS["adam-2k-authors"]
    t = strict.frozen_steps + np.arange(1, 100)
    parts, most = authors.coefficients(t).step / strict.coefficients(t).step, 0.9
    first = ", ".join(f"{part:.2g}" for part in parts[:3])
    return (
        f"{first}, ..., above {most:g} from $k$ = {np.argmax(parts > most) + 1} on ($\\beta_1$ = {strict.betas[0]:g})"
    )


METHOD_ROWS: dict[str, MethodRow] = {
    "radam": MethodRow(
        Style(BLUE, width=4),
        "the paper's rectified Adam: momentum steps at first, then Adam's step times $r_t$.",
        WarmupCurve(
            "RAdam's r<sub>t</sub>",
            r"w_t = r_t",
            "from the variance of Adam's adaptive rate; before it starts, steps follow the momentum at the full "
            "learning rate. Decoupled weight decay is not multiplied by it, as it is by a warmup",
            _PAPER,
        ),
    ),
    "radam-exact": MethodRow(
        Style(BLUE, "dot"),
        "RAdam with $r_t$ from the exact variance of the average in place of the paper's approximation.",
    ),
    "adam": MethodRow(Style(VERMILION, WIDE), "Adam without a warmup, as in torch."),
    "adam-linear": MethodRow(
        Style(GREEN, LONG),
        "Adam whose learning rate rises in a straight line from 0 to its full size over the warmup's steps.",
        WarmupCurve(
            "linear warmup",
            r"w_t = \min(1,\ t / T_w)",
            "the usual warmup: you choose its length $T_w$",
            _LINEAR,
        ),
    ),
    "adam-untuned-linear": MethodRow(
        Style(GREEN, "dash"),
        "a linear warmup over $2/(1-\\beta_2)$ steps, so that there is nothing to tune (Ma & Yarats).",
        WarmupCurve(
            "untuned linear",
            r"w_t = \min(1,\ t / T_w),\ T_w = 2 / (1 - \beta_2)",
            "*untuned*: nothing to choose, its length follows from $\\beta_2$",
            _MA_YARATS,
        ),
    ),
    "adam-exponential": MethodRow(
        Style(PURPLE, "dot"),
        "Adam whose learning rate comes up as $1 - e^{-t/\\tau}$; the warmup's steps are $\\tau$.",
        WarmupCurve(
            "exponential warmup", r"w_t = 1 - e^{-t / \tau}", "comes ever closer to 1: you choose $\\tau$", _MA_YARATS
        ),
    ),
    "adam-untuned-exponential": MethodRow(
        Style(PURPLE, "longdashdot"),
        "an exponential warmup with $\\tau = 1/(1-\\beta_2)$, nothing to tune (Ma & Yarats).",
        WarmupCurve(
            "untuned exponential",
            r"w_t = 1 - e^{-t / \tau},\ \tau = 1 / (1 - \beta_2)",
            "likewise nothing to choose",
            _MA_YARATS,
        ),
    ),
    "gi-adam": MethodRow(
        Style(OCHRE, "dashdot"),
        "Adam whose $v$ starts at the first squared gradient instead of 0 (Kalra & Barkeshli).",
        WarmupCurve(
            "GI-Adam (constant |g|)",
            r"w_t = \sqrt{1 - \beta_2^t}",
            "Adam whose $v$ starts at the first squared gradient instead of 0 but is corrected as if it had started at "
            "0, which makes the early steps smaller by this factor while $|g|$ stays the same. Otherwise the factor is "
            r"$1/\sqrt{1 + \frac{\beta_2^t}{1-\beta_2^t}\, g_1^2/\hat v_t}$, another for each parameter",
            _KALRA,
        ),
    ),
    "adam-2k": MethodRow(
        Style(ORANGE, TWO_DOTS),
        "the paper's control as its text describes it: for its first steps (2,000 there) it is *frozen* and only fills "
        "$v$; after that it is plain Adam with a well-filled $v$. If few gradients in $v$ were the whole trouble, this "
        "would cure it.",
    ),
    "adam-2k-authors": MethodRow(
        Style(ORANGE, "dash"),
        "Adam-2k as the authors' code counts: the frozen steps count in the correction of $m$, too, which multiplies "
        f"its $k$-th real step by $1 - \\beta_1^k$: {authors_adam_2k_factors()}.",
    ),
    "adam-eps": MethodRow(
        Style(SKY, SHORT),
        "the paper's other control: Adam with a large $\\epsilon$ of 1e-4 in the denominator, which caps the adaptive "
        "rate and so its variance; it makes updates of small gradients smaller, too.",
    ),
    "sgd": MethodRow(Style(GREY, "dot"), "stochastic gradient descent with momentum; no adaptive rate at all."),
    "momentum": MethodRow(Style(GREY, "dash"), "the averaged gradient alone, as RAdam's first steps."),
    "adam-4-radam": MethodRow(
        Style(PURPLE, WIDE), "Adam for the first four steps, then RAdam (the paper's Appendix C)."
    ),
    "sgd-4-adam-8-radam": MethodRow(
        Style(GREEN, "longdashdot"),
        "momentum for steps 1 to 4, Adam for 5 to 8, then RAdam (the paper's Appendix C).",
    ),
}

# Optimizers of torch, in the colours of what they are kin to.
METHOD_ROWS |= {
    f"torch.{name}": MethodRow(style, f"{about} By torch’s own class.")
    for name, (style, about) in {
        "NAdam": (Style(VERMILION, "dot"), "Adam with Nesterov momentum (Dozat 2016)."),
        "AMSGrad": (
            Style(VERMILION, "dash"),
            "Adam that divides by the largest $v$ so far, so that a rate never rises again (Reddi et al. 2018).",
        ),
        "Adamax": (
            Style(ORANGE, "dot"),
            "Adam that divides by the largest recent gradient in place of $\\sqrt{v}$ (Kingma & Ba 2015).",
        ),
        "Adafactor": (
            Style(SKY, "dash"),
            "for a matrix it keeps one average of squares a row and one a column; steps are relative to the "
            "parameters’ size, never above $1/\\sqrt{t}$ of it (Shazeer & Stern 2018).",
        ),
        "Muon": (
            Style(OCHRE),
            "for every matrix (embeddings, too) it makes the averaged gradient orthogonal, in bfloat16; all other "
            "parameters (biases, norms, convolutions) go by AdamW at `adamw_lr_times` (1) times the learning rate, "
            "with the lane's betas and epsilon (Jordan et al. 2024).",
        ),
        "Adam": (Style(VERMILION, "dashdot"), "Adam with L2 decay."),
        "AdamW": (Style(VERMILION, SHORT), "Adam with decoupled decay (Loshchilov & Hutter 2019)."),
        "RAdam": (Style(BLUE, "dash"), "RAdam with the threshold at 5 and L2 decay: our `radam` with profile torch."),
        "RMSprop": (Style(ORANGE, "dashdot"), "it divides by the root of an average of squares, not bias-corrected."),
        "Adagrad": (Style(SKY, "dot"), "it divides by the root of the sum of all squares so far (Duchi et al. 2011)."),
        "Adadelta": (Style(SKY, "dashdot"), "RMSprop with steps in units of its own recent steps (Zeiler 2012)."),
        "Rprop": (
            Style(GREEN, "dot"),
            "the gradient’s signs alone: a parameter’s step grows while the sign stays and shrinks when it turns; "
            "the learning rate is the first step’s size. Made for full batches.",
        ),
        "SGD": (Style(GREY, SHORT), "gradient descent, with `momentum`, `dampening` and `nesterov` as in torch."),
        "ASGD": (Style(GREY, "dashdot"), "gradient descent whose rate falls slowly; its average is not evaluated."),
    }.items()
}
METHOD_ROWS |= {
    name: MethodRow(Style(GREY, WIDE), f"{method.label}.")
    for name, method in LANE_METHODS.items()
    if name not in METHOD_ROWS
}
STYLES: dict[str, Style] = {name: row.style for name, row in METHOD_ROWS.items()}
WARMUP_CURVES: dict[str, WarmupCurve] = {name: row.warmup for name, row in METHOD_ROWS.items() if row.warmup}
