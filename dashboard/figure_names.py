"""The pages' charts by their names on the command line, and the set for a talk about the paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.asked.tour import SKIPPED, STEPS
from dashboard.browser.norm_panels import NORM_PANELS
from dashboard.browser.race_panels import PANELS
from dashboard.paper.rows import ROWS
from dashboard.words.questions import QUESTIONS
from dashboard.words.titles import TITLES
from dashboard.words.tour_words import QUESTIONS as TOUR_QUESTIONS

RACE, SWEEP, ROW = "figure-1", "map", "figure-1"  # shown where none is named


@dataclass(frozen=True)
class Named:
    """A chart by its name on the command line: on which page it stands, and what it is called there."""

    page: str
    chart: str
    told: str
    address: Mapping[str, str] = field(default_factory=dict)  # where the page shows it, if not everywhere
    missing: str = ""  # why it can be had on the page alone


def _theory() -> Iterator[tuple[str, Named]]:
    pages = {
        "home": ("home", "home-race"),
        "rectification": ("rectification", "rho", "learning-rate", "several-beta2"),
        "variance": (
            "variance",
            "rectified-variance",
            "approximation-error",
            "paper-approximation",
            "paper-simulation",
        ),
        "size": ("variance-or-size",),
        "implementations": ("implementations",),
        "four-steps": ("four-steps-gradients", "four-steps-updates", "four-steps-layers", "four-steps-planned"),
        "norms": ("norms-rates",),
    }
    for page, charts in pages.items():
        yield from ((chart, Named(page, chart, _plain(TITLES[chart]), ONLY_AT.get(chart, {}))) for chart in charts)


# Charts that a page shows when it is asked to.
ONLY_AT: dict[str, dict[str, str]] = {"paper-simulation": {"paper": "true"}}
_BY_A_WORKER = (
    "is measured by a worker of the running app: switch on 'Measure its gradients' on the page variance, and export it "
    "there"
)


def _tour() -> Iterator[tuple[str, Named]]:
    """Each step with its answer open; an own prediction is named by --set, as in the page's address: p1=ac."""
    at = {step.name: {"step": str(place), f"p{place}": SKIPPED} for place, step in enumerate(STEPS, 1)}
    for name, query in at.items():
        yield f"tour-{name}", Named("tour", f"tour-{name}", TOUR_QUESTIONS[name], query)
    for chart, step in {"tour-race": "lanes", "tour-in-force": "cause"}.items():
        yield chart, Named("tour", chart, _plain(TITLES[chart]), at[step])


def _plain(title: str) -> str:
    return title.replace("<sub>", "_").replace("</sub>", "")


FIGURES: dict[str, Named] = {
    **{f"race-{panel.name}": Named("race", panel.name, _plain(panel.title)) for panel in PANELS},
    "sweep-maps": Named("sweep", "maps", "the maps of a sweep"),
    "sweep-rates": Named("sweep", "rates", "final loss against the learning rate"),
    "sweep-courses": Named("sweep", "courses", "each method at its best cell"),
    "sweep-signs": Named("sweep", "signs", "two early measures of every lane"),
    "paper": Named("paper", "paper-{row}", "a row of the paper's page, by --row"),
    **{
        f"paper-seeds-{number}": Named(
            "paper", f"paper-{{row}}-seeds-{number}", f"claim {number} of a trained row, seed by seed, by --row"
        )
        for number in range(1, 1 + max(len(row.claims) for row in ROWS))
    },
    "paper-ridges": Named("paper", "paper-{row}-ridges", "the histograms behind the rows figure-2 and figure-3"),
    "four-steps": Named("four-steps", "four-steps", "Appendix C: the loss of each variant"),
    **{f"norms-{panel.name}": Named("norms", panel.name, _plain(panel.title)) for panel in NORM_PANELS},
    **dict(_theory()),
    "real-gradients": Named("variance", "real-gradients", TITLES["real-gradients"], missing=_BY_A_WORKER),
    **dict(_tour()),
    **{
        f"question-{question.key}": Named("implementations", f"question-{question.key}", question.question)
        for question in QUESTIONS
    },
}
# What a talk about the paper may want, from the recordings.
TALK: tuple[tuple[str, dict[str, str]], ...] = (
    *((f"race-{name}", {"preset": "figure-1"}) for name in ("loss", "schedule", "ridges", "rho", "metric")),
    ("race-loss", {"preset": "collapse"}),
    ("race-loss", {"preset": "digits"}),
    ("sweep-maps", {"preset": "map"}),
    ("sweep-rates", {"preset": "rates"}),
    ("sweep-courses", {"preset": "figure-1"}),
    *(("paper", {"row": row.name}) for row in ROWS if row.sweep or row.theory),
    ("four-steps", {}),
    *((name, {}) for name in ("norms-loss", "norms-rates", "norms-preconditioned", "norms-by-layer")),
    *((name, {}) for name in ("rectification", "rho", "several-beta2", "variance", "rectified-variance")),
    *((name, {}) for name in ("approximation-error", "variance-or-size", "implementations")),
)


def usual_address(given: Sequence[str], asked: Mapping[str, str]) -> dict[str, str]:
    """Where these charts of one page are shown, as far as nothing else was asked. `ValueError` where they never are
    together."""
    (page,) = {FIGURES[name].page for name in given}
    found = dict(_SHOWN.get(page, {}) if not asked else {})
    for name in given:
        for key, value in FIGURES[name].address.items():
            if found.setdefault(key, value) != value:
                raise ValueError(f"{' and '.join(given)} are never on the page {page} at the same time")
    return {**found, **asked}


_SHOWN = {"race": {"preset": RACE}, "sweep": {"preset": SWEEP}, "paper": {"row": ROW}}
