"""What the page "Do four steps matter?" says: the paper's claim and its table, both readings, and ours seed by seed."""

import math

from dashboard.asked.four_steps import ROWS, Choice, same_row
from dashboard.asked.sweep_config import SweepConfig
from dashboard.evidence.findings import Findings
from dashboard.evidence.four_steps import Spread, Variant, paired, variants
from demo_models import TASKS
from radam_core.methods import METHODS

# Appendix C, Table 3: test accuracy in percent, training loss, training error in percent. By the methods' names.
PAPER: dict[str, tuple[str, str, str]] = {
    "radam": ("91.08", "0.021", "0.74"),
    "adam-4-radam": ("89.98", "0.060", "2.12"),
    "sgd-4-adam-8-radam": ("90.29", "0.038", "1.23"),
}
CLAIM = (
    "RAdam's first four steps are by momentum alone. With Adam in their place the paper's network ended at a test accuracy of "
    f"{PAPER['adam-4-radam'][0]}% instead of {PAPER['radam'][0]}% (CIFAR-10 at lr 0.1, means of five runs; Appendix C)."
)
READINGS = (
    "## Variance or size?\n"
    "**The paper: variance.** In steps 1 to 4 its $\\rho_t$ is at most 4, where it calls the variance of the adaptive rate divergent. "
    "(Its approximation is; the exact variance of Gaussian gradients is in steps 1 and 2 alone.) So Adam's steps 1 to 4 should do more "
    "harm than its steps 5 to 8: “the first few updates could be more damaging than later updates”.\n\n"
    "**Ma & Yarats: size.** At step 1 Adam moves every weight by the whole learning rate, whatever its gradient. A momentum step moves "
    "it by the rate times the gradient, which is less wherever the gradient is below 1.\n\n"
    "In the second row an Adam step replaces a momentum step, which changes both at once. In the third it replaces RAdam's own "
    "adaptive steps 5 to 8 with the same $v$: that changes their size alone, by 58 to 26 times at $\\beta_2$ = 0.999 and 18 to 8 times at 0.99. So the rows of "
    "the paper cannot tell the readings apart. Other choices can try: *Adam + linear warmup* for steps 1-4 knows its rate as badly and takes small steps; *Adam-2k* only fills $v$ and takes none."
)
OBJECTION = (
    "## The four steps, or the seeds?\n"
    "Lanes of one seed start from the same weights and see the same batches, so each is compared with RAdam at its own seed: "
    "that difference is not the luck of weights or batches.\n\n"
    "It may still be chance: training makes small changes grow, and any change of a step would lead to another end. A difference "
    "whose sign changes from seed to seed says no more than that."
)
MOMENTUM = (
    "**SGD** in the paper's third row is RAdam's own first step here: momentum with its bias corrected (method `momentum`), while $v$ "
    "goes on gathering for Adam. So that row differs from RAdam in steps 5 to 8 alone."
)
EIGHT_STEPS = (
    "Each lane's gradients in its first eight steps, at the weights that the steps before had led to. Step 1 is the same for all "
    "lanes of a seed: what differs from step 2 on is what the steps did. Exact zeros are left out."
)
PLANNED = (
    "## What each variant asks of a step\n"
    "By the settings alone: what a step multiplies the momentum by, relative to the learning rate, if every gradient were 0.01. A momentum "
    "step multiplies it by 1, an adaptive one by $r_t$ (Adam: 1; GI-Adam: $\\sqrt{1-\\beta_2^t}$) over the gradient's size. Where a line has no mark the weights stand still."
)


def scale_note(config: SweepConfig) -> str:
    """What is different here, by the settings."""
    if config.task == "digits":
        ours = (
            f"Here a ResNet-{config.settings['depth']} of width {config.settings['width']} reads digits of 8x8 points"
        )
    else:
        ours = f"Here: {TASKS[config.task].story.rstrip('.')}"
    decays = {str(one.lane["decay"]) for one in config.contenders if "decay" in one.lane}
    examples = "1 example" if config.batch_size == 1 else f"{config.batch_size} examples"
    rate = f"with a {', '.join(sorted(decays))} decay of the rate" if decays else "at a constant rate"
    beta2 = config.contenders[0].lane.get("beta2", METHODS["radam"].betas[1])
    return (
        f"**What is different.** {ours}, {config.steps} steps of {examples} {rate} at $\\beta_2$ = {beta2:g}, without "
        "weight decay. The paper: "
        "ResNet-20 on CIFAR-10, 186 epochs of batches of 128, a tenth of the rate after 81 and again after 122, weight decay 1e-4, "
        "crops and flips. Compare the order of the rows, not the numbers. Our loss is the mean of the last 20 training "
        "batches; *train error* is not measured here."
    )


def choice_note(task: str, choice: Choice) -> str:
    """Where the visitor's choice stands in the table."""
    row = same_row(task, choice)
    if row is None:
        return f"Your choice, *{choice.label}*, is the last row."
    if choice == ROWS[row]:
        return f"Your choice is the row *{METHODS[row].label}*."
    return f"Your choice takes the same steps as the row *{METHODS[row].label}*, every one of them."


def comparison_sentences(found: Findings) -> list[str]:
    """Each variant beside the first, seed by seed, as far as both are over; and what chance would do."""
    first, *others = variants(found)
    told = [text for one in others if (text := _compared(found, one, first))]
    known = [len(pairs.values) for one in others if (pairs := paired(one.losses, first.losses))]
    if known and max(known) > 1:
        count = max(known)
        told.append(
            f"If the change made no difference, all {count} seeds would still fall on one side in 1 of {2 ** (count - 1)} such comparisons."
        )
    return told


def _compared(found: Findings, one: Variant, first: Variant) -> str:
    parts = []
    by_metric, by_loss = paired(one.metrics, first.metrics), paired(one.losses, first.losses)
    if by_metric and found.metric:
        parts.append(f"{found.metric} {_sides(by_metric)}")
    if by_loss:
        parts.append(f"final loss {_sides(by_loss)}")
    lost = f"; it diverged at {one.diverged} of {one.over}" if one.diverged else ""
    return f"{one.label}, beside {first.label} at the same seed: {', '.join(parts)}{lost}." if parts or lost else ""


def _sides(pairs: Spread) -> str:
    count = len(pairs.values)
    sides = [f"{name} at {n}" for name, n in (("lower", pairs.below), ("higher", pairs.above)) if n]
    equal = count - pairs.below - pairs.above
    sides += [f"equal at {equal}"] if equal else []
    return f"{' and '.join(sides)} of {count}"


def shown(value: float, percent: bool) -> str:
    """A number of the table: percent as the paper has them, others to two digits."""
    return f"{100 * value:.2f}" if percent else f"{value:.2g}"


def spread_text(values: Spread | None, percent: bool, signed: bool = False) -> str:
    """The mean, and the range in a line below; of one value, that."""
    if values is None:
        return "…"
    mean, low, high = (
        _signed(v, percent) if signed else shown(v, percent) for v in (values.mean, values.low, values.high)
    )
    return f"{mean}\n{low} to {high}" if len(values.values) > 1 else mean


def _signed(value: float, percent: bool) -> str:
    text = shown(abs(value), percent)
    return text if not float(text) else f"{'−' if math.copysign(1, value) < 0 else '+'}{text}"


AS_RECORDED = "Rows that were recorded stand here as recorded; *Train* trains them here, too."


def no_first_steps(seed: int, recorded: bool, closed: bool) -> str:
    """Why there is nothing to draw of the eight steps."""
    why = "was recorded without its single steps" if recorded else "has not been trained at these settings yet"
    return f"Seed {seed} {why}{'.' if closed else ': press *Train* above to run it here.'}"
