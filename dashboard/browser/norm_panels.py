"""The panels of the page that sets Post-LN beside Pre-LN, and what there is to know about each chart."""

from dashboard.asked.norms import DENSE_STEPS, SHARPNESS_EVERY
from dashboard.browser.panel import Panel

_ESTIMATE = (
    "Measured on the step’s own batch, by a search for the sharpest direction: at step 1 until nothing changes, then "
    f"every {SHARPNESS_EVERY} steps, by turns with the other chart, a little further from where it was. So a later "
    "point may be too low and never too high: in the median it is at 0.9 of the true value, at worst at 0.09."
)

NORM_PANELS = (
    Panel(
        "loss",
        "Training loss",
        "Each lane has one colour in both columns: left the layer norm after the sum, right before the layer. Same "
        "data, same batches, same seed. Dashed: the loss of a model that ignores its input.",
        "Training loss of every lane against the step, Post-LN left and Pre-LN right",
        height=330,
        shown_before=True,
    ),
    Panel(
        "by-layer",
        "Where is the gradient large?",
        f"Norm of the gradient of each layer’s parameters on the step’s batch: at step 1, before any update, where all "
        f"lanes of a column are still the same model, and at step {DENSE_STEPS}. Layers from the words to the output; "
        "Pre-LN has a last norm after the encoder and after the decoder.",
        f"Gradient norm by layer at step 1 and step {DENSE_STEPS}, Post-LN left and Pre-LN right",
        height=520,
        steps=False,
        wide=True,
        redrawn_for="histograms",
    ),
    Panel(
        "moves",
        "How far does a step go?",
        "Length of the update relative to that of the parameters θ, and the angle between θ before and after the step. "
        "Of the layers chosen above: at every step for all of them, at the histogram steps for one group.",
        "Relative update and angle of every lane against the step, Post-LN left and Pre-LN right",
        height=460,
        wide=True,
        tools="layers",
    ),
    Panel(
        "preconditioned",
        "How sharply does the loss bend, as Adam sees it?",
        "Largest eigenvalue of the Hessian after Adam’s division of the gradient by √v̂ + ε. "
        f"{_ESTIMATE} Dotted, in the lane’s colour: 38/α<sub>t</sub>, up to which a step of the rate α<sub>t</sub> is "
        "stable at β<sub>1</sub> = 0.9 on a loss that bends alike everywhere (Cohen et al. 2022). α<sub>t</sub> is "
        "what warmup, decay and r<sub>t</sub> leave of the learning rate; steps by momentum alone have no limit in "
        "this chart. Adam often trains well at its limit; far above it a step raises the loss, at least for a while.",
        "Preconditioned sharpness of every lane beside 38 over the rate in force, Post-LN left and Pre-LN right",
        height=360,
        wide=True,
        shown_before=True,
    ),
    Panel(
        "plain",
        "... and the plain curvature?",
        f"Largest eigenvalue of the Hessian itself. {_ESTIMATE} Dotted: 2/α<sub>t</sub>, the limit of gradient descent "
        "without momentum at the rate in force. No lane here is that: Adam’s own limit is in the chart above.",
        "Sharpness of every lane beside 2 over the rate in force, Post-LN left and Pre-LN right",
        height=360,
        wide=True,
        shown_before=True,
    ),
)
