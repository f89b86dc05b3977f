"""What the paper's page says of its rows as a whole, and of where each comes from."""

from collections import Counter
from collections.abc import Sequence

VERDICT_WORDS = {
    "agrees": ("agrees", "agree"),
    "partly": ("agrees in part", "agree in part"),
    "differs": ("differs", "differ"),
    "not at this scale": ("cannot be judged at this scale", "cannot be judged at this scale"),
    "not recorded": ("has no recording here", "have no recording here"),
}


def counted(verdicts: Sequence[str]) -> str:
    """So many of them agree, and so on."""
    counts = Counter(verdicts)
    told = [f"{counts[name]} {words[counts[name] != 1]}" for name, words in VERDICT_WORDS.items() if counts[name]]
    return f"Of {len(verdicts)} rows {', '.join(told)}."


def made_sentence(seeds: int, date: str, code: str, machine: str, older: bool, command: str) -> str:
    """Where a row's numbers come from; without a date it is computed, not trained."""
    if not date:
        return f"Computed, not trained: `{command}`"
    old = " **That code is older than this one.**" if older else ""
    return f"{seeds} seeds, recorded on {date} by code {code} ({machine}).{old} Again: `{command}`"
