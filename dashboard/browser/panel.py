"""A chart's place on a page with lanes: `race_panels.py` and `norm_panels.py` list them, `scripts/live.js` draws."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Panel:
    """A chart's place: its title, a note below it, and what it is to those who cannot see it."""

    name: str
    title: str
    note: str
    alt: str
    height: int = 340
    steps: bool = True  # its x axis counts steps
    wide: bool = False
    shown_before: bool = False  # it has something to show before the race: theory, or what the settings plan
    redrawn_for: str = "steps"  # what it is drawn again for: steps, metrics or histograms
    columns: tuple[str, ...] = ()  # of `QUANTITIES`: it shows these, and needs no figure of its own
    tools: str = ""  # what can be chosen above it: of "histograms" whose and when, or of which "layers"
