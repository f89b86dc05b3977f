"""The panels of the race page, in their order: what each chart is called and what there is to know about it."""

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard.asked.config import RaceConfig
from dashboard.browser.panel import Panel
from dashboard.figures.look import Style
from dashboard.figures.race import race_figures

PANELS = (
    Panel("loss", "Training loss", "", "Training loss of every lane against the step", height=330, shown_before=True),
    Panel(
        "surface",
        "Where each lane walks",
        "The landscape in greys, log scale; the noise of the gradient is not in it. A lane that diverged ends in a "
        "cross, at its last recorded place before that.",
        "Contours of the landscape with the way of every lane",
        shown_before=True,
        height=430,
        steps=False,
        wide=True,
    ),
    Panel(
        "schedule",
        "What is left of the learning rate",
        "Warmup and decay w<sub>t</sub> times rectification r<sub>t</sub>; in a momentum-only step there is no "
        "r<sub>t</sub>, and the full rate multiplies the momentum itself. Faint: what the settings plan; full: how far "
        "the race has come.",
        "Multiplier and learning rate of every lane against the step",
        shown_before=True,
    ),
    Panel(
        "metric",
        "On held-out data",
        "Measured every so many steps.",
        "Held-out metrics of every lane",
        redrawn_for="metrics",
    ),
    Panel(
        "ridges",
        "How large are the gradients?",
        "Each ridge is a histogram of log<sub>10</sub>|x| over all parameters at one step, step 1 at the back; the "
        "bold one is the chosen step. m and v are Adam's averages of the gradient and of its square. Exact zeros are "
        "left out.",
        "Ridges of gradient histograms, a panel for each lane",
        height=390,
        steps=False,
        wide=True,
        redrawn_for="histograms",
        tools="histograms",
    ),
    Panel(
        "overlay",
        "All lanes at that step",
        "The chosen step's histograms over each other.",
        "Histograms at one step",
        steps=False,
        redrawn_for="histograms",
    ),
    Panel(
        "layers",
        "From layer to layer at that step",
        "Norm of the gradient in each group of layers.",
        "Gradient norm by layer group",
        steps=False,
        redrawn_for="histograms",
    ),
    Panel(
        "rho",
        "ρ<sub>t</sub> and r<sub>t</sub>",
        "ρ<sub>t</sub>: how many gradients of equal weight the average v is worth. Grey: what r<sub>t</sub> "
        "would be at this β<sub>2</sub>.",
        "rho_t and r_t against the step",
        shown_before=True,
    ),
    Panel(
        "norms",
        "Gradient norm",
        "Of the layers chosen above; at every step for all of them, at the histogram steps for one group.",
        "Gradient norm of every lane",
        columns=("grad_norm",),
    ),
    Panel(
        "variance",
        "Spread of the adaptive rate ψ",
        "Var[ln ψ] at the histogram steps, ψ = 1/√v̂ without ε. Within one parameter, the luck of the draw: from two "
        "averages v, each of one half of every batch (√2 times as noisy as the whole), in the mean over parameters; "
        "dotted: theory, for Gaussian gradients of mean 0 and unchanging size. Kurtosis of a half batch’s gradient: 3 "
        "in theory, more with heavy tails, less with a mean. Across the parameters of a lane: how unlike their "
        "gradients are in size.",
        "Variance of the logarithm of the adaptive rate, within one parameter and across parameters",
        height=480,
        shown_before=True,
        redrawn_for="histograms",
    ),
    Panel(
        "updates",
        "How far each step goes",
        "Of the layers chosen above; at every step for all of them, at the histogram steps for one group. Root mean "
        "square of the update over parameters, its length relative to that of the parameters θ, and the angle between "
        "θ before and after the step. Decoupled weight decay is not in the update; it shortens θ and turns nothing.",
        "Update size of every lane",
        height=480,
        columns=("update_rms", "relative_update", "angle"),
    ),
    Panel(
        "curvature",
        "Curvature, and what each rate bears",
        "Sharpness is the largest eigenvalue of the Hessian on the step’s own batch; above, as Adam sees it, with "
        "gradients divided by √v̂ + ε. From step 1 on, which is searched until nothing changes, measured steps "
        "take the two by turns, and search on from below from where it last was. Dotted, in the lane’s colour: above "
        "(2 + 2β<sub>1</sub>)/((1 − β<sub>1</sub>) α<sub>t</sub>), 38/α<sub>t</sub> at "
        "β<sub>1</sub> 0.9, up to which Adam’s steps are stable; a momentum-only step has no such limit. Below "
        "2/α<sub>t</sub>, the limit of gradient descent without momentum, for comparison: no adaptive lane has it. "
        "α<sub>t</sub> is the rate that warmup, decay and r<sub>t</sub> leave.",
        "Sharpness of every lane, plain and preconditioned, beside its limit",
        height=430,
        shown_before=True,
    ),
)


def panel_figures(config: RaceConfig, styles: Sequence[Style] | None = None) -> dict[str, go.Figure]:
    """Every figure that the server makes for a race's panels, by name."""
    return race_figures(config, styles, {panel.name: panel.columns for panel in PANELS if panel.columns})
