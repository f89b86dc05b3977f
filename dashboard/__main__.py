"""The command line: `python -m dashboard race --preset figure-1`, `sweep`, `open`, and lists of what there is."""

import argparse
import json
import signal
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from dashboard import figure_command, open_command, own_command, sweep_command
from dashboard.asked.config import LaneConfig, RaceConfig
from dashboard.asked.option_text import typed
from dashboard.asked.presets import PRESETS, named, task_race
from dashboard.command_settings import APP, INTERRUPTED, setting
from dashboard.headless import Recording
from dashboard.paper import command as paper_command
from dashboard.recorded import making
from dashboard.runs.store import Store
from demo_models import TASKS
from radam_core.torch_methods import TORCH_METHODS


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    result: int = options.run(options)
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dashboard", description=__doc__)
    commands = parser.add_subparsers(required=True)
    race = commands.add_parser("race", help="run a race and print how each lane ended")
    what = race.add_mutually_exclusive_group(required=True)
    what.add_argument("--preset", choices=tuple(PRESETS), help="a race by name")
    what.add_argument("--task", choices=tuple(TASKS), help="a task, with Adam, Adam + warmup and RAdam")
    what.add_argument("--config", type=Path, metavar="FILE", help="a configuration as JSON, as --out writes it")
    what.add_argument(
        "--problem", metavar="FILE:NAME", help="an own model: a function that gives model, loss, batches (README)"
    )
    race.add_argument("--seed", type=int)
    race.add_argument("--steps", type=int)
    race.add_argument("--batch-size", type=int)
    race.add_argument(
        "--half-batch-steps", type=int, metavar="N", help="measure psi within one parameter in the first N steps"
    )
    race.add_argument("--dense-steps", type=int, metavar="N", help="a histogram at each of the first N steps")
    race.add_argument("--sharpness-every", type=int, metavar="N", help="measure the curvature every N steps")
    race.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"))
    race.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="TASK.SETTING=VALUE",
        help="a setting of the task, such as numbers.depth=4; see `tasks`",
    )
    race.add_argument(
        "--lane",
        action="append",
        default=[],
        metavar="LABEL.SETTING=VALUE",
        help='a setting of one lane, such as "RAdam.lr=3e-3"; "NAdam.method=torch.NAdam" adds a lane',
    )
    race.add_argument("--fresh", action="store_true", help="train every lane here, and keep nothing for the app")
    race.add_argument("--link", action="store_true", help="print the race's address in the app, and train nothing")
    race.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    race.add_argument("--out", type=Path, metavar="DIR", help="keep configuration, frames and summary there")
    race.set_defaults(run=_race)
    sweep_command.add_parsers(commands)
    making.add_parser(commands)
    paper_command.add_parser(commands)
    figure_command.add_parsers(commands)
    open_command.add_parser(commands)
    for name, show in (("tasks", _show_tasks), ("presets", _show_presets)):
        commands.add_parser(name, help=f"list the {name}").set_defaults(run=show)
    return parser


def _race(options: argparse.Namespace) -> int:
    if options.problem:
        return own_command.race(options)
    try:
        config = _config(options)
        if options.link:
            print(f"{APP}/race?{urlencode(named(config))}")
            return 0
        recording = Recording(config, options.out, keep_all=False)
        interrupted = Interrupt()
        store = None if options.fresh else Store()
        with interrupted:
            progress = Progress(recording)
            for _ in recording.train(store, interrupted):
                progress.show()
            progress.end()
    except (ValueError, OSError, sqlite3.Error) as error:
        print(f"python -m dashboard race: {error}", file=sys.stderr)
        return 2
    recording.save_summary()
    print(json.dumps(recording.summary()) if options.json else _table(recording.summary()))
    return INTERRUPTED if interrupted.asked else 0


def _config(options: argparse.Namespace) -> RaceConfig:
    if options.preset:
        config = PRESETS[options.preset].config
    elif options.config:
        config = RaceConfig.make(options.config.read_text(encoding="utf-8"))
    else:
        config = task_race(options.task)
    names = ("seed", "steps", "batch_size", "half_batch_steps", "dense_steps", "sharpness_every", "device")
    changes = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    settings = dict(setting(text, config.task) for text in options.set)
    return config.changed(**changes, settings=settings, lanes=_lanes(config, options.lane))


def _lanes(config: RaceConfig, changes: Sequence[str]) -> list[dict[str, Any]]:
    lanes = {lane.label: lane.model_dump(exclude_none=True) for lane in config.lanes}
    for text in changes:
        name, separator, given = text.partition("=")
        label, _, own = name.rpartition(".")
        if separator and label and own == "method" and label not in lanes:  # one more lane
            lanes[label] = {"label": label, "lr": config.lanes[0].lr}
        if not separator or label not in lanes:
            raise ValueError(
                f"--lane must be LABEL.SETTING=VALUE with one of {', '.join(lanes)}, "
                f"or LABEL.method=METHOD for a new one, got {text!r}"
            )
        if own in LaneConfig.model_fields or lanes[label].get("method") not in TORCH_METHODS:
            lanes[label][own] = typed(given)
        else:  # an optimizer of torch has settings of its own
            lanes[label]["options"] = {**lanes[label].get("options", {}), own: typed(given)}
    return list(lanes.values())


class Interrupt:
    """Ctrl-C once ends the race after the step in hand; twice ends it at once, as usual."""

    def __init__(self) -> None:
        self.asked = False

    def proceed(self, step: int) -> bool:  # noqa: ARG002 - the race's form
        return not self.asked

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGINT, self._interrupt)

    def __exit__(self, *exception: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, *_: object) -> None:
        self.asked = True
        signal.signal(signal.SIGINT, self._before)


class Progress:
    """A bar with the time left on stderr; where that is no terminal, a line for every tenth."""

    def __init__(self, recording: Recording) -> None:
        self.recording, self.shown = recording, 0
        self.live = sys.stderr.isatty()

    def show(self) -> None:
        total = self.recording.config.steps
        lanes = [lane for lane in self.recording.lanes if not (lane.ends and not lane.trained)]  # to be trained here
        done = sum(total if lane.ends else lane.last for lane in lanes) / len(lanes)
        tenth = int(10 * done / total)
        if not self.live and tenth == self.shown:
            return
        self.shown = tenth
        left = self.recording.seconds / max(done, 1) * (total - done)
        bar = "#" * int(30 * done / total)
        text = f"[{bar:<30}] step {done:.0f} of {total}, {left:.0f} s left"
        print(f"\r{text}   " if self.live else text, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.live:
            print(file=sys.stderr)


def _table(summary: dict[str, Any]) -> str:
    width, states = (max(len(one[name]) for one in summary["lanes"]) + 2 for name in ("label", "state"))
    rows = [f"{'lane':<{width}}{'state':<{states}}{'final loss':>10}  metric"]
    for one in summary["lanes"]:
        loss = "-" if one["final_loss"] is None else f"{one['final_loss']:.4f}"
        metric = ", ".join(
            f"{name} {'-' if value is None else f'{value:.4g}'}" for name, value in one["metric"].items()
        )
        rows.append(f"{one['label']:<{width}}{one['state']:<{states}}{loss:>10}  {metric}")
    trained = sum(one["trained"] for one in summary["lanes"])
    if trained < len(summary["lanes"]):
        rows.append(f"{trained} of {len(summary['lanes'])} lanes were new; the others were trained before")
    if trained:
        speed = f"{summary['lane_steps_per_second']:g} lane-steps a second"
        rows.append(f"{summary['steps']} steps in {summary['seconds']:.1f} s: {speed}")
    return "\n".join(rows)


def _show_tasks(_: argparse.Namespace) -> int:
    for task in TASKS.values():
        print(f"{task.name}: {task.story}")
        for one in task.settings:
            print(f"    {task.name}.{one.name} = {one.default!r}: {one.help} ({one.allowed})")
    return 0


def _show_presets(_: argparse.Namespace) -> int:
    for name, preset in PRESETS.items():
        config = preset.config
        print(f"{name}: {preset.story}")
        print(f"    {config.task}, {config.steps} steps, lanes: {' | '.join(one.label for one in config.lanes)}")
        if preset.may:
            print(f"    {preset.may}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
