"""A sweep without a browser: over all cores, into the app's own store, and what it found. No torch but in workers."""

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.asked.sweep_config import SweepConfig
from dashboard.asked.sweep_presets import SWEEPS
from dashboard.engine.engine import Engine
from dashboard.evidence.findings import Findings
from dashboard.runs.downloads import as_csv, as_parquet
from dashboard.runs.feed import Status
from dashboard.runs.identity import lane_ids
from dashboard.runs.states import FAILED, FINISHED
from dashboard.runs.store import Store
from dashboard.runs.sweep_feed import SweepFeed

LOOK_SECONDS = 0.25
READY_SECONDS = 300.0


def sweep(config: SweepConfig | str, **changes: Any) -> Findings:
    """Runs a sweep, or one by name, to its end: `sweep("rates", steps=200).summary()`. `seeds` may be a number.

    Workers are processes of their own: in a script, call it below `if __name__ == "__main__":`.
    """
    if isinstance(config, str):
        if config not in SWEEPS:
            raise ValueError(f"preset must be one of {', '.join(SWEEPS)}, got {config!r}")
        config = SWEEPS[config].config
    running = RunningSweep(config.changed(**with_seeds(changes)) if changes else config)
    for _ in running.train():
        pass
    return running.findings()


def with_seeds(changes: dict[str, Any]) -> dict[str, Any]:
    """So many seeds are those from 0 on."""
    seeds = changes.get("seeds")
    return {**changes, "seeds": tuple(range(seeds))} if isinstance(seeds, int) else changes


@dataclass
class RunningSweep:
    config: SweepConfig
    fresh: bool = False  # nothing is taken from the app's store, and nothing kept there
    stopped: bool = False  # set it, and the cells that are not done are left
    new: int = 0  # lanes that had to be trained
    lane_steps: int = 0  # that were trained here
    seconds: float = 0.0  # of training
    _feed: SweepFeed | None = field(default=None, repr=False)

    def train(self) -> Iterator[Status]:
        """The run's status, a few times a second, until it is over. `RuntimeError` says why it could not be trained."""
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(folder)) if self.fresh else Store()
            engine = Engine(store, guest=not self.fresh)
            try:
                self.new = engine.estimate(self.config).new
                if self.new:
                    engine.start()
                yield from self._until_over(engine)
            finally:
                if self.new:
                    engine.close()
                store.close()

    def _until_over(self, engine: Engine) -> Iterator[Status]:
        if self.new and not engine.wait_until_ready(READY_SECONDS):
            raise RuntimeError(engine.trouble or "The workers did not start.")
        run = engine.submit(self.config)
        feed = engine.feeds.open(run)
        assert isinstance(feed, SweepFeed)
        self._feed, before, started = feed, feed.lane_steps(), time.perf_counter()
        while not feed.status.over:
            if self.stopped:
                engine.stop(run)
            yield feed.status
            time.sleep(LOOK_SECONDS)
        feed.look()
        self.seconds, self.lane_steps = time.perf_counter() - started, feed.lane_steps() - before
        if feed.status.state == FAILED:
            raise RuntimeError(feed.status.message)
        self.stopped = feed.status.state != FINISHED

    def findings(self) -> Findings:
        assert self._feed is not None
        return Findings.of(self.config, self._feed.outcomes())

    def summary(self) -> dict[str, Any]:
        """One plain object: the speed, every cell, each contender, and the early signs."""
        found = self.findings()
        signs = [{**row, "auc": None if row["auc"] is None else round(row["auc"], 4)} for row in found.signs]
        return {
            "task": self.config.task,
            "steps": self.config.steps,
            "lanes": len(set(lane_ids(self.config))),
            "new": self.new,
            "seconds": round(self.seconds, 3),
            "lane_steps": self.lane_steps,
            "lane_steps_per_second": round(self.lane_steps / self.seconds, 2) if self.seconds else 0.0,
            "cells": found.cells(),
            "summary": found.summary(),
            "early_signs": signs,
        }

    def save(self, out: Path) -> None:
        """The configuration, the cells as tables, and the summary."""
        out.mkdir(parents=True, exist_ok=True)
        (out / "config.json").write_text(self.config.to_json() + "\n", encoding="utf-8")
        (out / "summary.json").write_text(json.dumps(self.summary(), indent=2) + "\n", encoding="utf-8")
        table = self.findings().table()
        (out / "cells.csv").write_bytes(as_csv(table))
        (out / "cells.parquet").write_bytes(as_parquet(table))
