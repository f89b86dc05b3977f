"""What the race page's address holds: a race by name or written out, a run, one to compare it with, lanes to hide.

An address is anybody's. Nothing here trusts it: `race_run.follow_link` checks what it asks for.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import named
from dashboard.forms.race_form import DEFAULT, choice_of
from dashboard.forms.shown import PageLink
from dashboard.runs.store import Run

_HIDDEN = re.compile(r"(c?)([1-9][0-9]?)")


@dataclass(frozen=True)
class Link(PageLink):
    page = "race"
    preset: str = ""
    task: str = ""
    config: str = ""
    run: str = ""
    compare: str = ""
    hide: str = ""


def link_to(
    config: RaceConfig, run: Run[RaceConfig] | None, compared: Run[RaceConfig] | None, hidden: Iterable[str]
) -> Link:
    """The shortest link to what is on the screen: a run that is what the controls say needs only its id."""
    if run is not None and run.recorded and run.config == config:
        run = None  # its name says it, and finds what is trained here, too
    same = run is not None and run.config == config
    first = run is None and choice_of(config) == DEFAULT  # the page as it opens
    named = {} if same or first else _by_name(config)
    identities = {"run": run.id if run else "", "compare": compared.id if compared else ""}
    return Link(**named, **identities, hide=hidden_text(hidden))


def _by_name(config: RaceConfig) -> dict[str, str]:
    try:
        return named(config)
    except ValueError:  # it names files of this machine, which a link may not
        return {}


def hidden_text(keys: Iterable[str]) -> str:
    """Hidden lanes as an address has them: numbers from 1, after a "c" those of the compared run, such as 2-5-c1."""
    pairs = sorted(tuple(map(int, key.split(":"))) for key in keys)
    return "-".join(f"{'c' if run else ''}{lane + 1}" for run, lane in pairs)


def hidden_keys(text: str) -> list[str]:
    """The same as the charts have them, "run:lane" counted from 0; `ValueError` for what is none."""
    found = [_HIDDEN.fullmatch(part) for part in text.split("-")] if text else []
    if len(found) > 128 or not all(found):
        raise ValueError(f"hide must be numbers of lanes, such as 2-5-c1, got {text[:40]!r}")
    return [f"{1 if part[1] else 0}:{int(part[2]) - 1}" for part in found if part]
