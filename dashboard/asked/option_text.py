"""Options as they are typed: momentum_decay=0.01, nesterov=true."""

import json
from collections.abc import Mapping
from typing import Any


def typed(text: str) -> Any:
    """A value in JSON's words, or else a word."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text  # such as numbers.norm=pre


def options_text(options: Mapping[str, Any]) -> str:
    given = {name: value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}
    return ", ".join(f"{name}={value}" for name, value in given.items())


def options_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, separator, given = (piece.strip() for piece in part.partition("="))
        if not separator:
            raise ValueError(f"options must be NAME=VALUE, with commas between them, got {text[:60]!r}")
        found[name] = typed(given)
    return found
