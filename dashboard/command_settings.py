"""What the commands share: the app's address, how they end, and settings as they are typed."""

from typing import Any

from dashboard.asked.option_text import typed

APP = "http://localhost:8501"
INTERRUPTED = 130  # the shell's number for a command ended by Ctrl-C


def setting(text: str, task: str) -> tuple[str, Any]:
    """`TASK.SETTING=VALUE`"""
    name, separator, given = text.partition("=")
    owner, dot, own = name.partition(".")
    if not separator or not dot or owner != task:
        raise ValueError(f"--set must be {task}.SETTING=VALUE for this race, got {text!r}")
    return own, typed(given)
