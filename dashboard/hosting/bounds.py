"""How large a run may be on a hosted copy: one table, which pages show, and by which a run is refused."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dashboard.asked.config import RaceConfig
from dashboard.asked.kinds import RunConfig
from dashboard.asked.sweep_config import SweepConfig
from dashboard.hosting.settings import Hosting, hosting
from demo_models.task import Value


@dataclass(frozen=True)
class Bound:
    """`field` is the name in the settings and in sentences; `kinds` are the runs that it is for."""

    field: str
    of: Callable[[RunConfig], int]
    told: str
    kinds: tuple[str, ...] = (RaceConfig.kind, SweepConfig.kind)


BOUNDS = (
    Bound("lanes", lambda config: config.size, "{:,} lanes", (RaceConfig.kind,)),
    Bound("cells", lambda config: config.size, "{:,} cells", (SweepConfig.kind,)),
    Bound("steps", lambda config: config.steps, "{:,} steps"),
    Bound("batch_size", lambda config: config.batch_size, "batches of {:,}"),
)


def refusal(limits: Hosting, config: RunConfig) -> str:
    """Why a hosted copy does not train this, in a sentence; empty if it does."""
    try:
        config.refuse_local()
    except ValueError as problem:
        return f"A hosted copy reads no files of its visitors: {problem}."
    for bound in BOUNDS:
        most, given = getattr(limits, bound.field), bound.of(config)
        if config.kind in bound.kinds and given > most:
            return f"{bound.field} must be at most {most:,} on this hosted copy, got {given:,}."
    for name, value in _settings(config):
        most = limits.sizes.get(name)
        if most is not None and not isinstance(value, str) and value > most:
            return f"{name} must be at most {most:,g} on this hosted copy, got {value:,g}."
    return ""


def _settings(config: RunConfig) -> Iterator[tuple[str, Value]]:
    """All settings of the task that any lane has, a sweep's contenders' own among them."""
    own: list[Mapping[str, Value]] = [config.settings]
    if isinstance(config, SweepConfig):
        own += [contender.settings for contender in config.contenders]
    for settings in own:
        for name, value in settings.items():
            yield f"{config.task}.{name}", value


def allowed(kind: str, task: str) -> str:
    """What a hosted copy allows of such a run, in a sentence; empty on one's own machine."""
    limits = hosting()
    if limits is None:
        return ""
    parts = [bound.told.format(getattr(limits, bound.field)) for bound in BOUNDS if kind in bound.kinds]
    sizes = [(name.partition("."), most) for name, most in limits.sizes.items()]
    parts += [f"{own.replace('_', ' ')} {most:,g}" for (owner, _, own), most in sizes if owner == task]
    return (
        f"This hosted copy allows up to {', '.join(parts)}; {minutes(limits)} a run, {limits.runs_per_visitor} runs at "
        f"a time and {limits.starts_per_visitor} starts a minute for each visitor."
    )


def kept() -> str:
    """How much a hosted copy keeps, in a sentence; empty on one's own machine."""
    limits = hosting()
    size = f"{limits.store_megabytes:,} MB" if limits else ""
    return f"This hosted copy keeps {size} of runs: those that nobody has used for longest go first." if size else ""


def minutes(limits: Hosting) -> str:
    return f"{limits.run_minutes:g} minute{'' if limits.run_minutes == 1 else 's'}"


def helped(text: str | None, name: str) -> str | None:
    """A control's help, with the most that a hosted copy allows; `name` is a field, or TASK.SETTING."""
    limits = hosting()
    most = None if limits is None else limits.sizes.get(name, getattr(limits, name, None))
    if most is None:
        return text
    return f"{text or ''} At most {most:,g} on this hosted copy.".strip()
