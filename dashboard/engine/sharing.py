"""An engine among those of other server processes on the same store: one of them trains, for the visitors of all.

A thread beats, and looks a few times a second whether others have written to the store: the leader for what visitors of
other processes want, the others for what is new of the runs that somebody looks at here.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable

from dashboard.engine.dispatcher import Dispatcher
from dashboard.runs.feeds import PACE_SECONDS, Feeds
from dashboard.runs.processes import BEAT_SECONDS, MOST_HANDOVERS, Processes
from dashboard.runs.states import CUT_OFF, CUT_OFF_MESSAGE
from dashboard.runs.store import Store

log = logging.getLogger(__name__)


class Sharing:
    def __init__(
        self,
        store: Store,
        processes: Processes,
        feeds: Feeds,
        dispatcher: Dispatcher,
        take_up: Callable[[str, dict[str, str]], None],
    ) -> None:
        """`take_up` makes a run that visitors want one that is under way here."""
        self.store, self.processes, self.feeds, self.dispatcher = store, processes, feeds, dispatcher
        self._take_up = take_up
        self._new = self._alone = False
        self._beat_at = 0.0
        self._told: dict[str, str] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="radam-lab-sharing", daemon=True)

    def start(self) -> None:
        try:
            self.look()
        except sqlite3.Error as error:  # a full disk: what was recorded can be shown all the same
            log.warning("The store cannot be written: %s", error)
        self._thread.start()

    def close(self) -> None:
        """Leaves what it trains to others, if there are any: they go on with it at once."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join(30)
        if self.processes.leads and self.processes.heirs:
            self.dispatcher.let_go()
            self._leave()

    def left(self) -> None:
        """Everything is over."""
        if self.processes.joined:
            self._leave()

    def _leave(self) -> None:
        try:
            self.processes.leave()
        except sqlite3.Error as error:
            log.warning("The store cannot be written: %s", error)

    def _work(self) -> None:
        while not self._ended.wait(PACE_SECONDS):
            try:
                self.look()
            except sqlite3.Error as error:  # a full disk, say: it may have room again
                log.warning("The store cannot be used: %s", error)
            except Exception:  # this thread must go on
                log.exception("The other processes cannot be heard.")

    def look(self, now: float | None = None) -> None:
        now = time.monotonic() if now is None else now
        if not self.processes.joined or now - self._beat_at >= BEAT_SECONDS:
            self._beat_at = now
            self._beat(now)
        changed = self.store.changed()
        if not self.processes.leads:
            if changed:
                self.feeds.follow()
            return
        if changed or self._new:
            self._heed()
        if self.processes.others:
            self._tell()

    def _beat(self, now: float) -> None:
        with self.dispatcher.lock:
            led = self.processes.leads and self.processes.joined
            self.processes.look(now)
            leads = self.processes.leads
            self.feeds.told_by = None if leads else self.processes.told
            if led and not leads:
                log.warning("Another process has taken this one for dead, and trains in its place.")
                self.dispatcher.let_go()
            if leads and not led:
                self._begin()
            alone, self._alone = self._alone, not leads and not self.processes.others
            if self._alone and not alone:  # nobody trains: what was under way goes no further
                self.processes.give_up()

    def _begin(self) -> None:
        """To lead: with all that is under way in the store and wanted by somebody."""
        self._new, self._told = True, {}
        for run, times in self.processes.inherit().items():
            if times > MOST_HANDOVERS:
                visitors = self.processes.wishes(run).get(run, {})
                self.processes.end(run, CUT_OFF, CUT_OFF_MESSAGE, visitors)

    def _heed(self) -> None:
        with self.dispatcher.lock:
            if not self.dispatcher.under_way.written():
                return
            wishes = self.processes.wishes()
            for run in self.dispatcher.heed(wishes):
                self._take_up(run, wishes[run])
            self._new = False

    def _tell(self) -> None:
        with self.dispatcher.lock:
            statuses = {run: race.feed.status.as_json() for run, race in self.dispatcher.under_way.races.items()}
        fresh = {run: body for run, body in statuses.items() if self._told.get(run) != body}
        if fresh:
            self.processes.tell(fresh)
        self._told = statuses
