"""Visitors who start runs: each a cookie and an address of their own, a race that nobody has asked for yet."""

import re
import secrets
import time
from dataclasses import dataclass, field
from itertools import count

from bench.driving.tab import tab
from bench.soak.host import Host
from bench.soak.outcome import Delays, Outcome
from dashboard.asked.config import RaceConfig
from dashboard.asked.presets import PRESETS

# From a second of training to some ten of them, for one who is alone.
RACES: dict[str, RaceConfig] = {
    "valley": PRESETS["valley"].config.changed(steps=2000, steps_per_frame=50),
    "digits": PRESETS["digits"].config.changed(steps=30, steps_per_frame=3, evaluate_every=30),
    "numbers": PRESETS["figure-1-quick"].config.changed(steps=16, steps_per_frame=2, evaluate_every=16),
}
_SECONDS = re.compile(r"try again in ([0-9]+) s")
REFUSALS = ("can start", "under way, and this hosted copy", "cannot be stored")


@dataclass
class Starter:
    number: int
    cookie: str = field(default_factory=lambda: secrets.token_hex(16))
    accepted: list[float] = field(default_factory=list)  # when

    @property
    def client(self) -> str:
        """An address as no other starter has it."""
        return f"10.1.{self.number // 250}.{1 + self.number % 250}"

    async def start(self, host: Host, config: RaceConfig, outcome: Outcome, delays: Delays | None = None) -> str:
        """Opens the race by its link and presses Train; why it was refused, or "" if it was not."""
        query, begun = f"config={config.to_link()}", time.monotonic()
        async with tab(host.address, self.cookie, self.client) as opened:
            page = await opened.open("race", query)
            if delays is not None:
                delays.add(time.monotonic() - begun)
            outcome.sent("pages", "showed an error" if page.errors else "")
            answer = await opened.press(page, "Train", query)
        outcome.sent("starts", "showed an error" if answer.errors else "")
        told = next((one for one in answer.sentences if any(part in one for part in REFUSALS)), "")
        if not told:
            self.accepted.append(time.monotonic())
        return told

    def most_in_a_minute(self) -> int:
        return max((sum(at - 60 < one <= at for one in self.accepted) for at in self.accepted), default=0)


_seeds = count(int(time.time()) % 1_000_000 * 100)


def new_race(kind: str) -> RaceConfig:
    """A seed of its own: nobody has trained it."""
    return RACES[kind].changed(seed=next(_seeds) % (1 << 31))


def seconds_to_wait(told: str) -> float:
    found = _SECONDS.search(told)
    return float(found[1]) if found else 2.0
