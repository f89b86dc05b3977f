"""What the guided tour asks and explains. Numbers of the recordings are put in when the page is drawn."""

from collections.abc import Sequence

INTRODUCTION = "Eight questions for one lesson. **Predict first**: the answer stays closed until you have, or until you skip. Then a recorded run answers."
TASK = (
    "A small Post-LN Transformer learns to translate German number words. All lanes have the same first weights, the same batches "
    "and the same learning rate: 6e-3, falling to 0 over 1,000 steps."
)
QUESTIONS = {
    "lanes": "Which of these lanes will learn?",
    "curve": "How will RAdam's loss fall?",
    "gradients": "What happens to Adam's gradients?",
    "fan": "How far apart are twenty rates?",
    "length": "How long is RAdam's warmup?",
    "seeds": "How much do seeds differ?",
    "models": "Who needs no warmup?",
    "cause": "Variance or size?",
}
ASKED = {
    "lanes": TASK
    + "\n\nThe chart shows how much of it each is given. **Adam** has all of it at once, **Adam + warmup 200** comes up in a straight "
    "line, **RAdam** multiplies its step by $r_t$. **Adam-2k** stands still for 200 steps, only filling its $v$, and then takes full steps.\n\n*Learns* means: its loss ends below half of what it costs to "
    "ignore the input. Pick every lane that you think learns at most seeds, or none.",
    "curve": "You know two lanes now: Adam without a warmup, and with one of 200 steps. **Draw RAdam's loss** at the same rate "
    "and the same seed: drag over the chart, or go from point to point with the Tab key or left and right, and move a point "
    "with up and down. The axis is logarithmic: every line is a tenth of the one above it.",
    "gradients": "The same task, the first 100 steps, at $\\beta_2$ = 0.999. The chart shows the median size of all gradients with a "
    "warmup. Adam without one starts at the same place. **How many powers of ten has its median gradient lost by step 10?**",
    "fan": "Adam divides by $\\sqrt{\\hat v_t}$, an average of squared gradients. Take twenty weights whose gradients are all drawn "
    "from the same distribution, so that all twenty *should* get the same rate $1/\\sqrt{\\hat v_t}$. The chart shows one of them. "
    "**At step 5, how many times the smallest of the twenty rates is the largest?**",
    "length": "RAdam multiplies its step by $r_t$, which comes from the variance that you have just seen, and $\\beta_2$ alone sets "
    "how fast it rises. The chart shows $\\beta_2$ = 0.999. **With $\\beta_2$ = 0.99, at which step does $r_t$ come to 0.9?**",
    "seeds": "Back to the race at 6e-3, with a warmup of only 50 steps. At the first seed it ended where the dot is. **Between which "
    "losses do its five seeds end?** Draw the range so wide that you would bet on it.",
    "models": "Adam without any warmup, on three models: the Post-LN Transformer that you know; the same with its layer norms before "
    "each layer (Pre-LN), at the same rate of 6e-3; and a small ResNet with batch norm on pictures of digits, at 1e-2. **Where does it "
    "learn?** Pick all, or none.",
    "cause": "Two readings of why a slow start helps. **Variance** (Liu et al., the paper): with few gradients in $v$ the rate is left "
    "to chance, so make early steps small until it is known. **Size** (Ma & Yarats): Adam's first steps are simply too long. Four "
    "controls tell them apart, as far as they can. **What do you think decides at this rate?** A vote: on the chart it becomes what "
    "your reading says of each control.",
}
FORMS = {
    "lanes": "These learn",
    "curve": "RAdam's loss, as you draw it",
    "gradients": "Powers of ten that Adam's median gradient loses by step 10",
    "fan": "The largest of twenty rates over the smallest, at step 5",
    "length": "The step at which $r_t$ comes to 0.9",
    "seeds": "The five seeds end between",
    "models": "Adam learns without warmup",
    "cause": "What decides",
}
ALTS = {
    "lanes": "How many of five seeds each of four lanes learns at, beside what was predicted",
    "curve": "Loss curves of Adam and of Adam with warmup, a drawn one, and RAdam's",
    "gradients": "The median size of the gradients over the first 100 steps, and what was predicted for Adam",
    "fan": "Twenty trajectories of one over the root of v, far apart at first and together later",
    "length": "The rectification over the steps for two values of beta2, and where it was predicted to come to 0.9",
    "seeds": "The final losses of five seeds, and the range that was predicted",
    "models": "Whether Adam learns without warmup on three models, beside what was predicted",
    "cause": "How many of five seeds four controls learn at, beside what the chosen reading says",
}
SKIPPED = "You skipped this one."
CLASS_INTRODUCTION = (
    "A class pools its predictions under a code: no names, no accounts. Whoever opens the link is in it; what they "
    "predict is counted, and of each step their first prediction. After 24 hours a class and all of its predictions are gone."
)


def lanes_answer(counts: dict[str, tuple[int, int]]) -> str:
    told = ", ".join(f"{label} at {count} of {seeds}" for label, (count, seeds) in counts.items())
    return (
        f"**Learned:** {told} seeds. At this rate a slow start decides. Most people expect Adam to be slower; it is not slow, it is "
        "stuck: its loss stays at what ignoring the input costs. And a $v$ that 200 gradients have filled did not save Adam-2k at most "
        "seeds; the last step comes back to that."
    )


def curve_answer(first: float, adam: float, warm: float, radam: Sequence[float], off: float | None) -> str:
    yours = (
        ""
        if off is None
        else f" Your curve is off by a factor of {off:.2g} in the middle (the median over its points)."
    )
    return (
        f"From {first:.2g} RAdam comes to {radam[0]:.1e}; over five seeds it ends between {min(radam):.1e} and {max(radam):.1e}, the warmup at "
        f"{warm:.1e}, Adam at {adam:.2g}.{yours} RAdam has found its slow start without being told a length. **What you may not conclude:** "
        "that it beats a warmup. Both end at nothing, and which is lower changes with the seed."
    )


def gradients_answer(fall: float, warm: float, said: Sequence[tuple[str, str, str]]) -> str:
    rows = "\n".join(f"| {source} | {text} | {expected} |" for source, text, expected in said[:3])
    table = (
        f"\n\n**What does Adam say** at the end of its 1,000 steps?\n\n| asked | Adam says | right |\n|---|---|---|\n{rows}"
        if rows
        else ""
    )
    return (
        f"Over five seeds Adam's median gradient loses **{fall:.1f} powers of ten** in ten steps; with a warmup it loses {warm:.1f}. From then on "
        f"there is hardly anything left to learn from: the model has become one that answers without looking.{table}\n\n"
        "The paper's Figures 2 and 3 show the same. *Why* it happens the gradients do not tell: a warmup and RAdam also take smaller steps."
    )


def fan_answer(ratio: float, first: float, last: float, held: float, known: int) -> str:
    return (
        f"**{ratio:.1f} times**, among weights that all deserve the same; at step 1 even {first:,.0f} times, because there $\\hat v_1$ is one "
        f"squared gradient, and a gradient may happen to be tiny. At step 1,000 it is {last:.2f} times. At step 5 $v$ holds about "
        f"$\\rho_5$ = {held:.1f} gradients: an average of so few is mostly luck. From step {known} on the spread is below a tenth of the "
        "mean.\n\nThis fan is the whole idea of the paper: **early on, Adam's rate is a guess**. Mind what it does not say: the update is "
        "$m/\\sqrt v$, and where a gradient is tiny so is $m$. At step 1 every weight moves by exactly the learning rate, however wide the fan."
    )


def length_answer(came: int, long: int, cost: float, alike: float, untuned: float) -> str:
    return (
        f"At **step {came:,}**; with $\\beta_2$ = 0.999 it was step {long:,}, so a tenth of the memory gives a tenth of the warmup. In all it costs "
        f"{cost:,.0f} full steps, as a linear warmup over {alike:,.0f} does. The rule of thumb of Ma & Yarats, $2/(1-\\beta_2)$, has {untuned:,.0f}.\n\n"
        "So RAdam *has* a length of warmup. It is not tuned, but it is not free of choice either: whoever sets $\\beta_2$ has set it. And in a run "
        "that is shorter than it, RAdam never gets to its full rate: compare no winners there."
    )


def seeds_answer(low: float, high: float, learned: int, seeds: int, warm_low: float, warm_high: float) -> str:
    return (
        f"From **{low:.1e} to {high:.2g}**: the same method, the same settings, and {learned} of {seeds} learn. Somebody with one seed would have "
        f"written either story. With 200 steps of warmup the seeds end between {warm_low:.1e} and {warm_high:.1e}, all close together.\n\n"
        "That is why every claim of this lab is made over seeds, and why one race on a page shows what *can* happen, and no more."
    )


def models_answer(counts: Sequence[tuple[str, int, int]]) -> str:
    told = "; ".join(f"{name}: {count} of {seeds}" for name, count, seeds in counts)
    return (
        f"**Learned:** {told} (seeds; Pre-LN was recorded at a single one). The same optimizer at the same rate: whether a warmup is needed "
        "hangs on the model, too. In a Post-LN Transformer gradients near the output are large at the start, in a Pre-LN one they shrink with depth "
        "(Xiong et al. 2020).\n\nThe variance of $1/\\sqrt{v}$ is the same in all three: it depends on $\\beta_2$ and the step alone. "
        "So a rate that is left to chance cannot be the *whole* story; something about the model must make it harmful."
    )


def cause_answer(counts: dict[str, tuple[int, int]], left: float, left_large: float, factors: str) -> str:
    told = {label: f"{count} of {seeds}" for label, (count, seeds) in counts.items()}
    return (
        f"**Learned:** Adam-2k at {told['Adam-2k']} seeds, GI-Adam at {told['GI-Adam']}, Adam-eps with 1e-4 at {told['Adam-eps 1e-4']} and with "
        f"1e-2 at {told['Adam-eps 1e-2']}. Adam-2k has a well-filled $v$ and full steps, and mostly fails. GI-Adam has a $v$ as poor as Adam's and small "
        "steps, and learns. On this task, at this rate, the size of the early steps explains more than how well $v$ is known.\n\n"
        "**But the page *Variance or size* says that Adam-2k and Adam-eps avoid the failure?** It reports the paper's runs, and both can be "
        "right. The authors' code counts the frozen steps in the correction of $m$, which multiplies the first real steps by "
        f"{factors}: their Adam-2k has a slow start hidden in it, ours is strict. And what an $\\epsilon$ does hangs on the gradients: here, at "
        f"step 1, 1e-4 leaves {left:.0%} of Adam's step and changes little, 1e-2 leaves {left_large:.0%}, a slow start for small gradients "
        "that never ends. Another model at another rate is another answer.\n\n"
        "**What remains open.** Adam-2k's $v$ was filled at weights that stood still and is out of date once they move. GI-Adam's small "
        "steps also shrink the variance. So the vote is not settled by four controls on one task: it is where the evidence points here."
    )


def sharp_answer(
    steps: int,
    rate: float,
    adam: tuple[int, int],
    radam_rate: float,
    radam: tuple[int, int],
    multiplier: float,
    shared: float,
) -> str:
    return (
        f"**Did RAdam just use a smaller learning rate?** A fair question: in the {steps} steps of the sweep behind this chart, at $\\beta_2$ = "
        f"0.999, $r_t$ is {multiplier:.2f} in the mean. So here every run stands at the mean rate that was *in force*. At a constant {rate:g} "
        f"Adam learns at {adam[0]} of {adam[1]} seeds; RAdam, set to {radam_rate:g} and with a mean of {shared:.1g}, at {radam[0]} of {radam[1]}. With the "
        "same mean rate the one that starts small gets through here: it is not a smaller rate, it is a smaller rate *first*. A warmup that starts as "
        "small does it as well.\n\n"
        "The other half of the truth: at a third of the rate, 2e-3, Adam needs no slow start at all and learns at 5 of 5 seeds. At 4e-3, "
        "two thirds of it, it learned at 1 of 2, barely (it ended at 1.3), where $\\beta_2$ is 0.99 and RAdam has 0.89 of 6e-3 in the mean. What a slow start buys is room above."
    )
