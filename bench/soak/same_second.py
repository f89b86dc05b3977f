"""100 visitors open each page in the same second, on the idle server and while a race trains on every worker.

Three times, as in `python -m bench crowd`, and the median is told: this machine has other guests.
"""

from pathlib import Path

from bench.crowd import IDLE, REPEATS, THREE_LINES, TRAINING, VISITORS, measured, results
from bench.soak.host import hosted
from bench.soak.outcome import Amount, Outcome
from dashboard.navigation import PAGES


def run(folder: Path, amount: Amount) -> Outcome:
    outcome, visitors, repeats = Outcome(), amount.count(VISITORS, VISITORS // 4), amount.count(REPEATS, 1)
    with hosted(folder) as host:
        found = measured(host, folder, repeats, visitors)
        outcome.requests["pages"] += 2 * repeats * (visitors + 1) * len(PAGES)
        outcome.figures["visitors of each page"] = f"{visitors}, {repeats} times"
        for name in (*(page.name for page in PAGES), THREE_LINES):
            idle, busy = found[IDLE][name][0] / 1e3, found[TRAINING][name][0] / 1e3
            outcome.figures[f"the last had {name} after"] = f"{idle:.1f} s; {busy:.1f} s while races trained"
        for one in results(found, visitors):
            outcome.require(one.reached, f"{one.name}: {one.ratio:.2f}, at most {one.bar:g}")
        outcome.no_errors()
        host.judge(outcome)
    return outcome
