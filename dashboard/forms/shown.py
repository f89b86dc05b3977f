"""What a page that shows runs keeps of its visitor: its link, the run that was started or opened last, and what of a
link could not be opened. An address is anybody's: nothing here trusts it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, Self, TypeVar
from urllib.parse import urlencode

import streamlit as st

from dashboard.asked.config import RaceConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.browser import address
from dashboard.runs.identity import run_id
from dashboard.runs.states import FINISHED
from dashboard.runs.store import Run

Config = TypeVar("Config", RaceConfig, SweepConfig)


@dataclass(frozen=True)
class PageLink:
    """What a page's address holds. Each field is a text, empty where the address does not have it."""

    page: ClassVar[str]

    @classmethod
    def from_address(cls) -> Self:
        """What the page was entered with; empty from then on."""
        return cls(*("".join(address.asked(field.name)[:1]) for field in fields(cls)))

    def given(self) -> dict[str, str]:
        return {name: value for name, value in vars(self).items() if value}

    def to_address(self) -> None:
        """So that a refresh comes back here."""
        for name, value in self.given().items():
            address.say(name, [value])

    def url(self) -> str:
        page = str(st.context.url or f"/{self.page}").split("?")[0]
        return f"{page}?{urlencode(self.given())}".rstrip("?")


class Watched:
    """The runs that this session has started or seen under way, of a page whose settings are all that its link says:
    how those ended is shown. Of other people's it is shown that they finished; one that was stopped raises questions.
    """

    def __init__(self, page: str) -> None:
        self._key = f"{page}-watched"

    def shows(self, run: Run[Config] | None) -> bool:
        if run is None:
            return False
        watched: set[str] = st.session_state.setdefault(self._key, set())
        if not run.over:
            watched.add(run.id)
        return run.state == FINISHED or run.id in watched


class Shown:
    """Of one page, in the visitor's session."""

    def __init__(self, page: str) -> None:
        names = ("run", "attempt", "link", "seen", "refused")
        self._run, self._attempt, self._link, self._seen, self._refused = (f"{page}-{name}" for name in names)

    def remember_link(self, link: PageLink) -> None:
        """What the page shows: an address that says just this opens nothing."""
        st.session_state[self._link] = link

    def is_new(self, link: PageLink) -> bool:
        """It asks for something else than what is shown. An empty one asks for nothing: who comes back by the menu
        finds the page as it was; and so does who comes by Back."""
        return link not in (type(link)(), st.session_state.get(self._link))

    def refuse(self, sentence: str) -> None:
        st.session_state[self._refused] = [*st.session_state.get(self._refused, []), sentence]

    def headed(self, title: str) -> None:
        """The page's title, and what of its link could not be opened, said once."""
        st.title(title)
        with st.container():  # always there: a sentence in it moves no chart to another place
            for problem in st.session_state.pop(self._refused, []):
                address.refuse(problem)

    def open(self, run: str) -> None:
        st.session_state[self._run] = run

    def started(self, run: str) -> None:
        st.session_state[self._run], st.session_state[self._attempt] = run, time.time()

    def attempt(self) -> float:
        """When a run was last started here: a stream that has ended is opened again after another start.

        A count would not do: a server that was started again counts from zero, while the browser remembers.
        """
        return float(st.session_state.get(self._attempt, 0.0))

    def run(
        self,
        config: Config | None,
        find: Callable[[str], Run[Config] | None],
        recorded: Callable[[Config], Run[Config] | None],
    ) -> Run[Config] | None:
        """The run that was started or opened last, until it is over and a control is moved; then that of the controls,
        which `find` has by its id, or their recording."""
        moved = st.session_state.get(self._seen) != config
        st.session_state[self._seen] = config
        opened = st.session_state.get(self._run)
        run = find(opened) if opened else None
        if run and (config is None or not moved or not run.over or run.config == config):
            return run
        self.open("")
        if config is None:
            return None
        same = find(run_id(config))
        # Nobody asked for it here: somebody else's run that came to nothing would only raise questions.
        return same if same and (same.state == FINISHED or not same.over) else recorded(config)
