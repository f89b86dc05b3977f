"""The table of what is done to a hosted copy: a scenario a row, in the order in which `make soak` does them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.soak import (
    bad_clients,
    class_watches,
    clock,
    full_disk,
    hostile,
    same_second,
    server_kills,
    tabs,
    visitors,
    worker_kills,
)
from bench.soak.outcome import Amount, Outcome


@dataclass(frozen=True)
class Scenario:
    """`minutes` is what the whole of it takes about; `bars` is what fails it, besides what fails any."""

    title: str
    run: Callable[[Path, Amount], Outcome]
    minutes: float
    bars: str


SCENARIOS: dict[str, Scenario] = {
    "class": Scenario(
        "200 viewers of live runs and 20 starters",
        class_watches.run,
        5.5,
        "every run is finished, p95 of viewers' delays at most 2 s, no limit of the hosted copy passed",
    ),
    "visitors": Scenario("200 visitors in the same minute", visitors.run, 1.3, "p95 until a page is whole at most 3 s"),
    "crowd": Scenario(
        "100 visitors in the same second",
        same_second.run,
        1.5,
        "the last has any page within 3 s, and within twice its idle time while a race trains on every worker",
    ),
    "tabs": Scenario(
        "500 tabs opened and closed",
        tabs.run,
        1.0,
        "after 500 more tabs than the first 150 the server's own memory is at most a tenth larger, and its open files "
        "are as many as before",
    ),
    "workers": Scenario(
        "20 workers killed", worker_kills.run, 1.7, "every race is finished, at most after another press of Train"
    ),
    "servers": Scenario(
        "3 servers killed", server_kills.run, 1.0, "finished runs are the same bytes, the others are cut off and go on"
    ),
    "disk": Scenario("A full disk", full_disk.run, 0.7, "a sentence for visitors, and all goes on once there is room"),
    "clients": Scenario(
        "Slow and vanishing clients", bad_clients.run, 0.6, "p95 until a page is whole at most 3 s meanwhile"
    ),
    "clock": Scenario("Clock jumps", clock.run, 0.6, "races finish, and starts are counted by the minute as before"),
    "hostile": Scenario(
        "10,000 hostile requests", hostile.run, 3.0, "no run is larger than allowed, memory at most half as much more"
    ),
}
