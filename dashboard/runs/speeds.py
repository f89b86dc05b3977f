"""How fast tasks have trained here, for the estimate before the next run."""

import time
from dataclasses import dataclass

from dashboard.asked.config import RaceConfig
from dashboard.asked.kinds import RunConfig
from dashboard.runs.store import Store

MOST_SPEEDS = 1000


@dataclass(frozen=True)
class Speed:
    """How long a step of all lanes together took in an undisturbed worker."""

    settings: str
    lanes: int
    batch_size: int
    seconds_per_step: float


def add_speed(store: Store, config: RaceConfig, seconds_per_step: float) -> None:
    key = (config.task, settings_key(config), len(config.lanes), config.batch_size, config.device)
    with store.write() as db:
        db.execute("insert or replace into speeds values (?, ?, ?, ?, ?, ?, ?)", (*key, seconds_per_step, time.time()))
        db.execute(
            "delete from speeds where rowid not in (select rowid from speeds order by measured desc limit ?)",
            (MOST_SPEEDS,),
        )


def speeds_on(store: Store, task: str, device: str) -> list[Speed]:
    """Those measured on the task, the latest first."""
    rows = store.read(
        "select settings, lanes, batch_size, seconds_per_step from speeds where task = ? and device = ? "
        "order by measured desc limit 100",
        task,
        device,
    )
    return [Speed(**dict(row)) for row in rows]


def settings_key(config: RunConfig) -> str:
    return ",".join(f"{name}={value}" for name, value in sorted(config.settings.items()))
