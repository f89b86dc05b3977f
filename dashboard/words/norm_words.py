"""The words of the page on Post-LN and Pre-LN: three readings of one picture, what it cannot show, and what came out
over rates and seeds."""

import numpy as np

from dashboard.asked.norms import NORMS
from dashboard.evidence.findings import Findings
from dashboard.evidence.norms import DEPTH, largest_rate, lines_of_norm
from radam_core.evidence import LEARNED

INTRODUCTION = (
    "Where does the layer norm of a Transformer stand: after each sum of a layer and its input (**Post-LN**, as the "
    "Transformer was published) or before each layer, inside its branch (**Pre-LN**)? Both are trained here on the "
    "same batches by Adam, by Adam with a linear warmup, and by RAdam."
)
READINGS = {
    "The gradient's size": (
        "What differs from the start is *where* the gradient is large. Xiong et al. calculate, for very wide networks with "
        "random weights, that the layers near the output of a Post-LN Transformer have large gradients at initialisation, so "
        "that a large rate there is unstable, and warmup is a way around it; in Pre-LN they are smaller the deeper the model "
        "is, and its warmup can be left out. Look at the gradients at step 1, from left to right.\n\n"
        "An objection: Adam divides every coordinate by the size of its own gradient, and a factor that all steps share "
        "drops out of its update.\n\n"
        "*Xiong et al., On Layer Normalization in the Transformer Architecture, ICML 2020.*"
    ),
    "Curvature": (
        "A rate is too large if the loss bends too sharply for it. The main benefit of warmup, Kalra & Barkeshli find, is that "
        "the network bears larger rates: as the rate rises, training is pushed to places where the loss bends less, or has "
        "come there by itself. For Adam it is the preconditioned sharpness that counts, which they find to be large early "
        "on. Look at whether it is so here, whether a lane's curve meets its dotted limit, and what its loss does then.\n\n"
        "An objection: the limit is that of a quadratic, of full batches and of a $v$ that stands still, and after step 1 the "
        "curve is an estimate from below.\n\n"
        "*Kalra & Barkeshli, Why Warmup the Learning Rate? Underlying Mechanisms and Improvements, NeurIPS 2024.*"
    ),
    "Variance": (
        "Early on the adaptive rate rests on few gradients and varies too much; warmup and $r_t$ hold that variance "
        "down. The formula of $r_t$ contains $\\beta_2$ and $t$ and nothing of the model, since the gradients' size cancels: "
        "taken alone, it asks for the same slow start in both columns. Look at whether Adam fares alike in them.\n\n"
        "An objection: how much harm the same variance does may well depend on where the norm stands, and no chart here "
        "measures that.\n\n"
        "*Liu et al., On the Variance of the Adaptive Learning Rate and Beyond, ICLR 2020.*"
    ),
}
LIMITS = (
    "**What this page can and cannot show.** Two small models and one task. The live runs are one seed at a time: a lane that "
    "fails in them is an anecdote, and a curve that rises before a loss does need not be its cause. All three quantities change "
    "together. Move the seed, the depth and the rate before you believe one reading."
)


def over_seeds_words(found: Findings) -> str:
    """Which rates each method bears, by the norm, and how that is counted."""
    config = found.config
    rates = sorted({rate.lr for one in found.lines for rate in one.rates})
    head = (
        f"The runs above are one seed at one rate. Here each method has {len(rates)} rates, from {rates[0]:g} to {rates[-1]:g}, and "
        f"{len(config.seeds)} seeds, at depth {DEPTH} and over {config.steps} steps. Up to which rate does every seed learn, that is, end "
        f"below {LEARNED:.0%} of what it costs to ignore the input (dashed), and where does it end there? Where does it end best? Both "
        "are means."
    )
    rows = ["| | | learns up to (loss) | best at (loss) |", "|---|---|---|---|"]
    for norm, name in NORMS.items():
        unbroken = name.replace("-", "\u2011")
        for method, one in lines_of_norm(found, norm).items():
            borne, best = largest_rate(one), one.best
            up_to = "no rate" if borne is None else f"{borne.lr:g} ({np.mean(borne.ends):.2g})"
            end = f"{best.lr:g} ({np.mean(best.ends):.2g})" if best else ""
            rows.append(f"| **{unbroken}** | {method} | {up_to} | {end} |")
    return head + "\n\n" + "\n".join(rows)
