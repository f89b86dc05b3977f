"""What a chart tells an exported figure of itself: settings, seeds, and the code that computed it."""

from dashboard.runs.identity import code_version


def told(words: str, slug: str, code: str = "") -> dict[str, str]:
    """`code` is that of a recording; without one it is this one."""
    return {
        "about": " · ".join(part for part in (words, f"RAdam Lab, code {code or code_version()}") if part),
        "slug": slug,
    }
