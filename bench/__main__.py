"""`python -m bench [NAME ...] [--json]`: the table of ratios, or those of the named benchmarks.

`python -m bench soak [--only NAME ...] [--minutes M]` is no benchmark: it is what a hosted copy withstands.
"""

import argparse
import json
import sys
from importlib import import_module

from bench.interleaved import Result

BENCHMARKS = (
    "optimizers",
    "simulation",
    "pages",
    "plotly",
    "race",
    "sharpness",
    "own",
    "sweep",
    "app",
    "live",
    "crowd",
    "processes",
    "figures",
)


def main() -> int:
    if sys.argv[1:2] == ["soak"]:
        from bench.soak.command import main as soak

        return soak(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(BENCHMARKS)}; all if none")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of the table")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")

    results: list[Result] = []
    for name in options.names or BENCHMARKS:
        for result in import_module(f"bench.{name}").run():
            results.append(result)
            if not options.json:
                print(_row(result), flush=True)
    if options.json:
        print(json.dumps([result.as_json() for result in results], indent=2))
    return 0 if all(result.reached for result in results) else 1


def _row(result: Result) -> str:
    bar = f"{'at least' if result.higher_is_better else 'at most'} {result.bar:g}"
    times = ", ".join(f"{name} {ms:.3g} ms" for name, ms in result.milliseconds.items())
    return f"{result.name:<62}{result.ratio:7.2f}x  {bar:<13}{'' if result.reached else 'MISSED  '}{times}"


sys.exit(main())
