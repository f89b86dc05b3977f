"""The panels of the race page, in their order: what each chart is called and what there is to know about it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Panel:
    """A chart's place: its title, a note below it, and what it is to those who cannot see it."""

    name: str
    title: str
    note: str
    alt: str
    height: int = 340
    steps: bool = True  # its x axis counts steps
    wide: bool = False
    before: bool = False  # has something to show before the race: theory, or what the settings plan
    of: str = "steps"  # what it is drawn again for: steps, metrics or histograms


PANELS = (
    Panel("loss", "Training loss", "", "Training loss of every lane against the step", height=330, before=True),
    Panel(
        "surface",
        "Where each lane walks",
        "The landscape in greys, log scale; the noise of the gradient is not in it.",
        "Contours of the landscape with the way of every lane",
        before=True,
        height=430,
        steps=False,
        wide=True,
    ),
    Panel(
        "schedule",
        "What is left of the learning rate",
        "Warmup and decay w<sub>t</sub> times rectification r<sub>t</sub>. Faint: what the settings plan; full: how "
        "far the race has come.",
        "Multiplier and learning rate of every lane against the step",
        before=True,
    ),
    Panel(
        "metric", "On held-out data", "Measured every so many steps.", "Held-out metrics of every lane", of="metrics"
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
        of="histograms",
    ),
    Panel(
        "overlay",
        "All lanes at that step",
        "The chosen step's histograms over each other.",
        "Histograms at one step",
        steps=False,
        of="histograms",
    ),
    Panel(
        "layers",
        "From layer to layer at that step",
        "Norm of the gradient in each group of layers.",
        "Gradient norm by layer group",
        steps=False,
        of="histograms",
    ),
    Panel(
        "rho",
        "ρ<sub>t</sub> and r<sub>t</sub>",
        "ρ<sub>t</sub>: how many equally weighted gradients the average v is likened to. Grey: what r<sub>t</sub> "
        "would be at this β<sub>2</sub>.",
        "rho_t and r_t against the step",
        before=True,
    ),
    Panel(
        "variance",
        "Spread of the adaptive rate ψ",
        "Measured: Var[ψ]/E[ψ]² over the parameters of a lane, which differ in the size of their gradients, too. "
        "Dotted: Var[ψ<sub>t</sub>] of one parameter by theory, for Gaussian gradients of size 1.",
        "Relative variance of the adaptive rate, measured and by theory",
        before=True,
        of="histograms",
    ),
    Panel(
        "updates",
        "How far each step goes",
        "Root mean square over parameters, and the length of the step relative to that of the parameters.",
        "Update size of every lane",
    ),
    Panel(
        "norms",
        "Gradient norm",
        "Of the layers chosen above; at every step for all of them, at the histogram steps for one group.",
        "Gradient norm of every lane",
    ),
)
