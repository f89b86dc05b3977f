"""`python -m dashboard figure NAME --out fig.pdf`, `figures`: the pages' charts as files, without opening a page."""

import argparse
import sys
from collections.abc import Collection, Mapping
from itertools import product
from pathlib import Path
from typing import Any

from dashboard.asked.presets import PRESETS
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.command_settings import APP
from dashboard.export.forms import (
    FORMATS,
    LEAST_FRAMES,
    LEAST_SCALE,
    LEAST_SECONDS,
    MOST_FRAMES,
    MOST_SCALE,
    MOST_SECONDS,
    MOVING,
    PIXELS,
    SIZES,
)
from dashboard.figure_names import FIGURES, ROW, TALK, usual_address
from dashboard.paper.rows import ROWS


def add_parsers(commands: Any) -> None:
    one = commands.add_parser("figure", help="draw a chart of the pages into a file")
    one.add_argument("name", metavar="NAME", help="one that `figures` lists; up to four, joined by +, side by side")
    one.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help=f"its ending says the form: {', '.join(FORMATS)}"
    )
    what = one.add_mutually_exclusive_group()
    what.add_argument("--preset", metavar="P", help=f"a race by name: {', '.join(PRESETS)}")
    what.add_argument(
        "--run", dest="run_id", metavar="ID", help="a race or sweep of the store, by the id in its address"
    )
    what.add_argument("--sweep", metavar="S", help=f"a sweep by name: {', '.join(SWEEPS)}")
    what.add_argument("--row", metavar="ROW", help=f"a row of the paper's page: {', '.join(row.name for row in ROWS)}")
    one.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="as in a page's address: beta2=0.99"
    )
    _add_look(one)
    one.add_argument("--theme", default="light", help="light or dark")
    one.add_argument("--pixels", type=int, default=2, help=f"of a PNG, times: {', '.join(map(str, PIXELS))}")
    one.add_argument("--step", type=int, help="a race as it was at this step")
    one.add_argument("--title", help="another one; an empty one leaves it out")
    one.add_argument("--no-legend", action="store_true")
    one.add_argument("--no-caption", action="store_true")
    one.add_argument("--transparent", action="store_true")
    one.add_argument("--frames", type=int, default=48, help="pictures of a moving figure")
    one.add_argument("--seconds", type=float, default=6.0, help="how long a moving figure takes")
    one.set_defaults(run=_figure)
    every = commands.add_parser("figures", help="list the figures, one a line, the name first")
    every.add_argument("--into", type=Path, metavar="FOLDER", help="make the set for a talk: both themes, PDF and PNG")
    _add_look(every)
    every.set_defaults(run=_figures)


def _add_look(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--size", default="16:9", help=f"one of {', '.join(SIZES)}")
    parser.add_argument("--scale", type=float, default=1.0, help=f"of the letters, {LEAST_SCALE:g} to {MOST_SCALE:g}")


def _figure(options: argparse.Namespace) -> int:
    try:
        names, page, query = asked(options)
        wanted = _options(options)
        from dashboard.figure_studio import Studio

        with Studio() as studio:
            _, made = studio.figure(page, query, names, {**wanted, "link": link(page, query)})
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_bytes(made)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{options.out}: {len(made):,} bytes")
    return 0


def asked(options: argparse.Namespace) -> tuple[tuple[str, ...], str, dict[str, str]]:
    """The charts' names on their page, the page, and its address. `ValueError` says what is not there."""
    given = options.name.split("+")
    for name in given:
        if name not in FIGURES:
            raise ValueError(f"NAME must be one that `python -m dashboard figures` lists, got {name[:60]!r}")
        if FIGURES[name].missing:
            raise ValueError(f"{name} {FIGURES[name].missing}")
    pages = {FIGURES[name].page for name in given}
    if len(pages) > 1 or len(given) > 4:
        raise ValueError("up to four figures of one page can stand side by side")
    (page,) = pages
    shows: dict[str, tuple[str, Collection[str], str]] = {
        "preset": ("race", PRESETS, "preset"),
        "sweep": ("sweep", SWEEPS, "preset"),
        "row": ("paper", [row.name for row in ROWS], "row"),
    }
    query: dict[str, str] = {}
    for option, (home, names, parameter) in shows.items():
        value = getattr(options, option)
        if value is None:
            continue
        if value not in names:
            raise ValueError(f"--{option} must be one of {', '.join(names)}, got {value[:60]!r}")
        if page != home:
            raise ValueError(f"--{option} is for figures of the page {home}, and {options.name} is of {page}")
        query[parameter] = value
    if options.run_id is not None:
        if page not in ("race", "sweep"):
            raise ValueError(f"--run is for figures of races and sweeps, and {options.name} is of the page {page}")
        query["run"] = options.run_id
    for text in options.set:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set must be NAME=VALUE, as in the page's address, got {text!r}")
        query[name] = value
    query = usual_address(given, query)
    return tuple(FIGURES[name].chart.format(row=query.get("row", ROW)) for name in given), page, query


def _options(options: argparse.Namespace) -> dict[str, Any]:
    form = options.out.suffix.removeprefix(".").lower()
    _one_of("the ending of --out", form, FORMATS)
    _one_of("--theme", options.theme, ("light", "dark"))
    _one_of("--pixels", options.pixels, PIXELS)
    look = _look(options)
    if form in MOVING and not LEAST_FRAMES <= options.frames <= MOST_FRAMES:
        raise ValueError(f"--frames must be between {LEAST_FRAMES} and {MOST_FRAMES}, got {options.frames}")
    if form in MOVING and not LEAST_SECONDS <= options.seconds <= MOST_SECONDS:
        raise ValueError(f"--seconds must be between {LEAST_SECONDS:g} and {MOST_SECONDS:g}, got {options.seconds:g}")
    if options.step is not None and options.step < 1:
        raise ValueError(f"--step must be at least 1, got {options.step}")
    named = {} if options.title is None else {"title": options.title}
    return figure_options(
        form,
        **look,
        theme=options.theme,
        pixels=options.pixels,
        step=options.step,
        transparent=options.transparent,
        legend=not options.no_legend,
        titled=options.title != "",
        caption=not options.no_caption,
        frames=options.frames,
        seconds=options.seconds,
        **named,
    )


def _look(options: argparse.Namespace) -> dict[str, Any]:
    _one_of("--size", options.size, SIZES)
    if not LEAST_SCALE <= options.scale <= MOST_SCALE:
        raise ValueError(f"--scale must be between {LEAST_SCALE:g} and {MOST_SCALE:g}, got {options.scale:g}")
    return {"size": options.size, "scale": options.scale}


def _one_of(name: str, value: Any, allowed: Collection[Any]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value!r}")


def figure_options(form: str, **changed: Any) -> dict[str, Any]:
    """As the panel of a page begins, but for what is `changed`."""
    usual = {
        "size": "16:9",
        "theme": "light",
        "transparent": False,
        "scale": 1.0,
        "pixels": 2,
        "legend": True,
        "titled": True,
        "caption": True,
        "step": None,
        "frames": 48,
        "seconds": 6,
    }
    return {"format": form, **usual, **changed}


def link(page: str, query: Mapping[str, str]) -> str:
    """Where the figure's chart stands in the app."""
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{APP.removeprefix('http://')}/{page}" + (f"?{asked}" if asked else "")


def _figures(options: argparse.Namespace) -> int:
    if options.into is None:
        width = max(map(len, FIGURES))
        for name, figure in FIGURES.items():
            print(f"{name:<{width}}  {figure.told} ({figure.page})")
        return 0
    try:
        look = _look(options)
        options.into.mkdir(parents=True, exist_ok=True)
        made = _make_talk(options.into, look)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{made} files in {options.into}")
    return 0


def _make_talk(folder: Path, look: Mapping[str, Any]) -> int:
    """The set for a talk, in both themes and two forms: how many files that were."""
    from dashboard.figure_studio import Studio

    made = 0
    with Studio() as studio:
        for name, query in TALK:
            figure = FIGURES[name]
            chart = figure.chart.format(row=query.get("row", ""))
            for theme, form in product(("light", "dark"), ("pdf", "png")):
                wanted = figure_options(form, **look, theme=theme, link=link(figure.page, query))
                file, content = studio.figure(figure.page, query, (chart,), wanted)
                (folder / file).write_bytes(content)
                made += 1
    return made
