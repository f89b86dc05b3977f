"""`python -m dashboard sweep`: a grid of lanes on all cores, and `sweeps`, the list of those that have a name."""

import argparse
import json
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from dashboard import own_command
from dashboard.asked.axis_text import axis_values
from dashboard.asked.sweep_config import AXES, SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.command_settings import APP, INTERRUPTED, setting
from dashboard.runs.feed import Status
from dashboard.sweeping import RunningSweep, with_seeds

SIGNS_SHOWN = 5


def add_parsers(commands: Any) -> None:
    sweep = commands.add_parser("sweep", help="run a grid of lanes and print what it found; what is done stays done")
    what = sweep.add_mutually_exclusive_group(required=True)
    what.add_argument("--preset", choices=tuple(SWEEPS), help="a sweep by name")
    what.add_argument("--config", type=Path, metavar="FILE", help="a configuration as JSON, as --out writes it")
    what.add_argument(
        "--problem", metavar="FILE:NAME", help="an own model: a function that gives model, loss, batches (README)"
    )
    sweep.add_argument("--seeds", type=int, metavar="N", help="seeds 0 to N - 1")
    sweep.add_argument("--steps", type=int)
    sweep.add_argument("--batch-size", type=int)
    sweep.add_argument("--device", choices=("auto", "cpu", "cuda", "mps"))
    sweep.add_argument(
        "--set", action="append", default=[], metavar="TASK.SETTING=VALUE", help="a setting of the task; see `tasks`"
    )
    sweep.add_argument(
        "--axis",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help=f'an axis of the grid ({", ".join(AXES)}), such as "lr=0.001, 0.003" or "lr=0.001 to 0.02 in 8"',
    )
    sweep.add_argument("--fresh", action="store_true", help="train every lane here, and keep nothing for the app")
    sweep.add_argument("--link", action="store_true", help="print the sweep's address in the app, and train nothing")
    sweep.add_argument("--json", action="store_true", help="one JSON object instead of the tables")
    sweep.add_argument("--out", type=Path, metavar="DIR", help="keep configuration, cells and summary there")
    sweep.set_defaults(run=_sweep)
    commands.add_parser("sweeps", help="list the sweeps").set_defaults(run=_show_sweeps)


def _sweep(options: argparse.Namespace) -> int:
    if options.problem:
        return own_command.sweep(options)
    try:
        config = _config(options)
        if options.link:
            print(f"{APP}/sweep?{urlencode(_named(config))}")
            return 0
        running = RunningSweep(config, options.fresh)
        progress = Progress()
        before = signal.signal(signal.SIGINT, lambda *_: _stop(running, before))
        try:
            for status in running.train():
                progress.show(status)
        finally:
            signal.signal(signal.SIGINT, before)
            progress.end()
        if options.out:
            running.save(options.out)
    except (ValueError, OSError, RuntimeError, sqlite3.Error) as error:
        print(f"python -m dashboard sweep: {error}", file=sys.stderr)
        return 2
    summary = running.summary()
    print(json.dumps(summary) if options.json else _tables(summary))
    return INTERRUPTED if running.stopped else 0


def _stop(running: RunningSweep, before: Any) -> None:
    """Ctrl-C once leaves the cells that are not done; twice ends it at once, as usual."""
    running.stopped = True
    signal.signal(signal.SIGINT, before)


def _config(options: argparse.Namespace) -> SweepConfig:
    if options.preset:
        config = SWEEPS[options.preset].config
    else:
        config = SweepConfig.make(options.config.read_text(encoding="utf-8"))
    names = ("seeds", "steps", "batch_size", "device")
    changes = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    settings = dict(setting(text, config.task) for text in options.set)
    axes = dict(config.axes)
    for text in options.axis:
        name, separator, values = text.partition("=")
        if not separator or name not in AXES:
            raise ValueError(f"--axis must be NAME=VALUES with one of {', '.join(AXES)}, got {text!r}")
        axes[name] = axis_values(name, values)
    if options.seeds is not None and not 1 <= options.seeds <= 100:
        raise ValueError(f"--seeds must be from 1 to 100, got {options.seeds}")
    return config.changed(**with_seeds(changes), settings=settings, axes=axes)


def _named(config: SweepConfig) -> dict[str, str]:
    name = next((name for name, preset in SWEEPS.items() if preset.config == config), None)
    return {"preset": name} if name else {"config": config.to_link()}


class Progress:
    """A bar with the time left on stderr; where that is no terminal, a line for every tenth."""

    def __init__(self) -> None:
        self.shown, self.live = -1, sys.stderr.isatty()

    def show(self, status: Status) -> None:
        share = status.step / max(status.steps, 1)
        tenth = int(10 * share)
        if not self.live and tenth == self.shown:
            return
        self.shown = tenth
        bar = "#" * int(30 * share)
        speed = f", {status.lane_steps_per_second:.0f} lane-steps a second" if status.lane_steps_per_second else ""
        left = "" if status.seconds_left is None else f", {status.seconds_left:.0f} s left"
        text = f"[{bar:<30}] {status.step} of {status.steps} lane-steps{speed}{left}"
        print(f"\r{text}   " if self.live else text, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.live and self.shown >= 0:
            print(file=sys.stderr)


def _tables(summary: dict[str, Any]) -> str:
    lines = [line for row in summary["summary"] for line in row["lines"]]
    width = max(len(line["line"]) for line in lines) + 2
    rows = [f"{'':<{width}}{'robust share':>13}{'LR sensitivity':>16}{'best lr':>10}{'mean loss':>11}{'learned':>12}"]
    rows += [_line(line, width) for line in lines]
    rows += [_need(row["label"], need) for row in summary["summary"] for need in row["shortest_warmup"]]
    known = sorted((row for row in summary["early_signs"] if row["auc"] is not None), key=lambda row: -row["auc"])
    rows += [
        f"AUC {row['auc']:.2f} for not learning: {row['label']} at step {row['at_step']} ({row['reading']})"
        for row in known[:SIGNS_SHOWN]
    ]
    new, lanes, steps = summary["new"], summary["lanes"], summary["lane_steps"]
    speed = f"; {steps:,} lane-steps in {summary['seconds']:.0f} s, {summary['lane_steps_per_second']:g} a second"
    rows.append((f"{new} of {lanes} lanes were new" if new < lanes else f"{lanes} lanes") + (speed if steps else ""))
    return "\n".join(rows)


def _line(line: dict[str, Any], width: int) -> str:
    share, sensitivity, loss = line["robust_share"], line["lr_sensitivity"], line["best_loss"]
    told = (
        "-" if share is None else f"{share:.0%}",
        "-" if sensitivity is None else f"{sensitivity:.3f}",
        "-" if line["best_lr"] is None else f"{line['best_lr']:g}",
        "-" if loss is None else f"{loss:.4g}",
        f"{line['learned']} of {line['over']}",
    )
    return f"{line['line']:<{width}}{told[0]:>13}{told[1]:>16}{told[2]:>10}{told[3]:>11}{told[4]:>12}"


def _need(label: str, need: dict[str, Any]) -> str:
    length = need["warmup_steps"]
    told = "is open" if not need["known"] else "there is none" if length is None else f"{length:g} steps"
    return f"{label}, lr {need['lr']:g}, shortest warmup that works: {told}"


def _show_sweeps(_: argparse.Namespace) -> int:
    for name, preset in SWEEPS.items():
        config = preset.config
        print(f"{name}: {preset.story.replace('$', '')} ({config.task}, {config.size} lanes of {config.steps:,} steps)")
    return 0
