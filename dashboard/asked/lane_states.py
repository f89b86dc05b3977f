"""A lane's state in words, in two parts: what its race or its settings do with it, and what its loss has done.

Every word and its rule is in `STATES`, which the page shows. The rule for the loss is `LossCourse` here and in
`browser/scripts/live_loss.js`; a test holds both to the same words on recorded curves.
"""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from dashboard.asked.lane_phases import FROZEN, MOMENTUM, TRAINING, WARMING_UP
from demo_models import TASKS
from radam_core.race.frames import DIVERGED, FINISHED, STOPPED
from radam_core.race.plan import FINAL_STEPS

ABOVE, AT, BASELINE, FIRST_LOSS = "above", "at", "the baseline", "its first loss"
FALLING, STANDING, LEARNED = "falling", "standing still", "learned"
SPIKING, LOST = "spiking", "lost what it had learned"
TENTH, HALF = 0.1, 0.5  # of the baseline
LATELY, LATELY_PART = 100, 0.2  # steps, or a part of those done: so long ago was the best loss, while it falls

STATES = {
    DIVERGED: "the loss or a gradient was no longer a finite number, or the loss grew a hundredfold; the lane is out.",
    FINISHED: "it came to the last step.",
    STOPPED: "somebody stopped the race before its end.",
    "paused": "somebody holds the race; it can be resumed.",
    "failed": "an error ended the race; the line above the chart says which.",
    "cut off": "the server ended before the race did; *Train* runs it again.",
    "waiting": "the race is in the queue, or none of the lane's steps has arrived yet.",
    FROZEN: "it takes no step yet: its weights stay as they are while the average $v$ of squared gradients fills.",
    MOMENTUM: "it steps along the averaged gradient $m$ without dividing by $\\sqrt{v}$, as SGD with momentum does. "
    "RAdam does so until $r_t$ starts.",
    WARMING_UP: "warmup and $r_t$ together still leave less than half of the learning rate, and it is rising.",
    TRAINING: "none of these, while the race goes on.",
}
LOSS_STATES = {
    "baseline": "the loss of a model that ignores its input, where the task names it: for `numbers` "
    f"{TASKS['numbers'].baseline:.2f}, the cost of knowing only how often each word occurs. "
    "Where it names none, the lane's *first loss* stands in for it.",
    f"{ABOVE} {BASELINE}": "the loss is more than a tenth above the baseline.",
    f"{AT} {BASELINE}": "the loss is within a tenth of the baseline. Lanes that learn later come by here, too.",
    FALLING: f"the loss is more than a tenth below the baseline, and had its best in the last {LATELY} steps (in the "
    "last fifth of its steps, if those are more).",
    STANDING: "the same, but its best was before that.",
    LEARNED: "the loss is below half of the baseline.",
    SPIKING: "the loss is above its best by more than a tenth of the baseline, and still more than a tenth below it.",
    LOST: "the best was below half of the baseline, and the loss has gone back more than half of the way from there.",
}


@dataclass
class LossCourse:
    """A lane's loss so far, as far as its state needs it: a long race takes no more memory than a short one."""

    step: int = 0
    first: float = math.nan
    now: float = math.nan  # the mean over the last steps
    best: float = math.inf  # the smallest such mean
    best_at: int = 0
    _last: deque[tuple[int, float]] = field(default_factory=deque)

    def add(self, steps: Iterable[int], losses: Iterable[float]) -> None:
        for step, loss in zip(steps, losses, strict=True):
            if math.isfinite(loss):
                self._add(step, loss)

    def _add(self, step: int, loss: float) -> None:
        if not self.step:
            self.first = loss
        self.step = step
        self._last.append((step, loss))
        while self._last[0][0] <= step - FINAL_STEPS:
            self._last.popleft()
        self.now = sum(value for _, value in self._last) / len(self._last)
        if step >= FINAL_STEPS and self.now < self.best:
            self.best, self.best_at = self.now, step

    def state(self, baseline: float | None) -> str:
        """In words; nothing while there are too few steps to say it."""
        reference = self.first if baseline is None else baseline
        if self.step < FINAL_STEPS or not reference > 0:
            return ""
        tenth, half = TENTH * reference, HALF * reference
        best = f"(best {_short(self.best)} at step {self.best_at})"
        if self.best < half and self.now > (self.best + reference) / 2:
            return f"{LOST} {best}"
        if self.now >= reference - tenth:
            where = ABOVE if self.now > reference + tenth else AT
            return f"{where} {FIRST_LOSS if baseline is None else BASELINE}"
        if self.now - self.best > tenth:
            return f"{LEARNED}, {SPIKING} {best}" if self.now < half else f"{SPIKING} {best}"
        if self.now < half:
            return LEARNED
        lately = max(LATELY, LATELY_PART * self.step)
        return FALLING if self.step - self.best_at < lately else f"{STANDING} {best}"


def _short(loss: float) -> str:
    """As a lane's card shows its loss: `shortNumber` of live_elements.js."""
    if loss != 0 and not 1e-3 <= abs(loss) < 1e5:
        digits, power = f"{loss:.2e}".split("e")
        return f"{digits}e{int(power):+d}"
    return f"{float(f'{loss:.4g}'):g}"


def in_words(phase: str, course: LossCourse, baseline: float | None) -> str:
    """Both parts: "finished · learned". A lane that diverged has no loss to speak of."""
    loss = "" if phase.startswith(DIVERGED) else course.state(baseline)
    return " · ".join(part for part in (phase, loss) if part)
