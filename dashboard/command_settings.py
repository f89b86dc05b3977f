"""What the commands share: the app's address, how they end, and settings as they are typed."""

import json
from typing import Any

APP = "http://localhost:8501"
INTERRUPTED = 130  # the shell's number for a command ended by Ctrl-C


def setting(text: str, task: str) -> tuple[str, Any]:
    """`TASK.SETTING=VALUE`"""
    name, separator, given = text.partition("=")
    owner, dot, own = name.partition(".")
    if not separator or not dot or owner != task:
        raise ValueError(f"--set must be {task}.SETTING=VALUE for this race, got {text!r}")
    return own, value(given)


def value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text  # a word, such as numbers.norm=pre
