"""`python -m bench soak [--only NAME ...] [--minutes M] [--report FILE]`: all in 15 minutes, or parts, or shorter.

Without --only the report goes to docs/RELIABILITY.md. Exit code 1 if anything was missed.
"""

import argparse
import shlex
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from bench.soak.outcome import Amount, Outcome
from bench.soak.report import PATH, Done, report
from bench.soak.scenarios import SCENARIOS, Scenario


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench soak", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[*SCENARIOS], metavar="NAME", help=f"of {', '.join(SCENARIOS)}")
    parser.add_argument("--minutes", type=float, help="for all that is run: durations and counts are cut to fit")
    parser.add_argument("--report", type=Path, help="where the report goes; docs/RELIABILITY.md for the whole soak")
    options = parser.parse_args(given)
    signal.signal(signal.SIGTERM, _leave)
    chosen = {name: SCENARIOS[name] for name in options.only or SCENARIOS}
    full = sum(scenario.minutes for scenario in chosen.values())
    scale = min(1.0, options.minutes / full) if options.minutes else 1.0
    path = options.report or (PATH if not options.only else None)
    done: dict[str, Done] = {}
    for name, scenario in chosen.items():
        print(f"{name}: {scenario.title} ...", flush=True)
        done[name] = _do(scenario, Amount(scale))
        _tell(done[name])
        if path:  # after each: whoever has to stop it keeps what was found
            command = shlex.join(["python", "-m", "bench", "soak", *given])
            path.write_text(report(done, command, scale, left=len(chosen) - len(done)), encoding="utf-8")
    return 0 if all(one.outcome.passed for one in done.values()) else 1


def _leave(*_: object) -> None:
    """Servers end, and disks are unmounted; a second signal is not needed for that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


def _do(scenario: Scenario, amount: Amount) -> Done:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="radam-soak-") as folder:
        try:
            outcome = scenario.run(Path(folder), amount)
        except Exception as error:  # the others still have something to tell
            traceback.print_exc()
            outcome = Outcome(misses=[f"it could not be done: {type(error).__name__}: {error}"])
    return Done(outcome, time.monotonic() - begun)


def _tell(done: Done) -> None:
    for name, told in done.outcome.figures.items():
        print(f"    {name}: {told}")
    for told in done.outcome.misses:
        print(f"    MISSED {told}")
    state = f"left out: {done.outcome.left_out}" if done.outcome.left_out else f"{len(done.outcome.misses)} missed"
    print(f"    {state}, {done.seconds:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
