"""The pages of the app: adding one is a row here and a file in pages/; and where the app's own files are."""

from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
# app.py and pages/ stand beside this package in the repository; an installed copy has them in a folder of their own,
# since other packages might call something so, too.
APP_FOLDER = _ROOT / "radam_lab" if (_ROOT / "radam_lab" / "app.py").is_file() else _ROOT
MAIN = Path(__file__).resolve().with_name("main.py")


@dataclass(frozen=True)
class PageEntry:
    """A page's file, its name in the menu and in the URL, the question it answers, and what a visitor finds there."""

    name: str
    title: str
    question: str
    icon: str
    promise: str

    @property
    def file(self) -> str:
        return str(APP_FOLDER / "pages" / f"{self.name.replace('-', '_')}.py")  # Python's modules have no hyphens


PAGES: tuple[PageEntry, ...] = (
    PageEntry("home", "Home", "RAdam Lab", ":material/home:", "RAdam's $r_t$ beside a rule of thumb, in one picture."),
    PageEntry(
        "tour",
        "Tour",
        "What do you expect?",
        ":material/school:",
        "A lesson in eight steps: predict first, then see the run that answers.",
    ),
    PageEntry(
        "race",
        "Race",
        "Who gets going?",
        ":material/sprint:",
        "Train Adam, warmup and RAdam side by side, live, and see what each step did.",
    ),
    PageEntry(
        "sweep",
        "Sweep",
        "How forgiving is it?",
        ":material/grid_on:",
        "Many rates, warmups and seeds at once: a map of what learns.",
    ),
    PageEntry(
        "paper",
        "The paper",
        "What holds up?",
        ":material/fact_check:",
        "Every figure and table of the paper beside ours, over seeds, with a verdict.",
    ),
    PageEntry(
        "four-steps",
        "Four steps",
        "Do four steps matter?",
        ":material/looks_4:",
        "The paper's Appendix C: other methods for the first steps, over seeds.",
    ),
    PageEntry(
        "norms",
        "Norms",
        "Who needs warmup?",
        ":material/stacks:",
        "Post-LN and Pre-LN Transformers side by side: gradients by layer, step sizes and curvature.",
    ),
    PageEntry(
        "rectification",
        "Rectification",
        "What does $r_t$ do?",
        ":material/trending_up:",
        "The rectification beside five warmups, and what each costs in steps.",
    ),
    PageEntry(
        "variance",
        "Variance",
        "Is the variance really that large?",
        ":material/scatter_plot:",
        "Four routes to it, exact and simulated, and the paper's figures.",
    ),
    PageEntry(
        "size",
        "Variance or size",
        "Variance or size?",
        ":material/balance:",
        "Two readings of why warmup helps, on one axis.",
    ),
    PageEntry(
        "implementations",
        "Implementations",
        "Which RAdam is yours?",
        ":material/compare_arrows:",
        "Where the published ones differ, answers, and code to take along.",
    ),
)


def page_file(name: str) -> str:
    return next(page.file for page in PAGES if page.name == name)
