"""What every configuration is: frozen, checked with errors that name the field, and the same after JSON or a link."""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

LONGEST_LINK = 1 << 16


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=False)


class Validated(Frozen):
    LISTS: ClassVar[Mapping[str, type[Frozen]]] = {}  # fields that list models: an error names an entry by its label

    def __hash__(self) -> int:
        """Of its plain values alone, which is quick: a page asks for it two dozen times. Equality tells the rest."""
        values = (self.__dict__[name] for name in type(self).model_fields)
        return hash(tuple(value for value in values if isinstance(value, str | int | float)))

    @classmethod
    def make(cls, values: Mapping[str, Any] | str) -> Self:
        """From a mapping or JSON text; a `ValueError` names each field, what was given and what is allowed."""
        try:
            return cls.model_validate_json(values) if isinstance(values, str) else cls.model_validate(values)
        except ValidationError as error:
            raise ValueError("\n".join(cls._explained(problem, values) for problem in error.errors())) from None

    def to_json(self) -> str:
        """Canonical: keys in order, nothing that says nothing. Two equal configurations have equal texts."""
        return json.dumps(self.model_dump(mode="json", exclude_none=True), sort_keys=True, separators=(",", ":"))

    def refuse_local(self) -> None:
        """`ValueError` if it names files of this machine, which a link may not."""

    def to_link(self) -> str:
        """Text of letters, digits, - and _ that `from_link` turns back; it goes into a URL as it is."""
        self.refuse_local()
        return base64.urlsafe_b64encode(zlib.compress(self.to_json().encode(), 9)).decode().rstrip("=")

    @classmethod
    def from_link(cls, text: str) -> Self:
        """From a link, which is untrusted: bounded in size, and no files of this machine may be named."""
        if len(text) > LONGEST_LINK:
            raise ValueError(f"a link's configuration must have at most {LONGEST_LINK} characters, got {len(text)}")
        try:
            packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            inflater = zlib.decompressobj()
            plain = inflater.decompress(packed, LONGEST_LINK)
            whole = inflater.eof and not inflater.unconsumed_tail
            json_text = plain.decode("utf-8") if whole else ""
        except (zlib.error, ValueError):
            raise ValueError(f"a link's configuration must be whole and unchanged, got {text[:40]!r}") from None
        if not whole:
            raise ValueError("a link's configuration must be whole, and this one is cut off or too long")
        config = cls.make(json_text)
        config.refuse_local()
        return config

    @classmethod
    def _explained(cls, problem: Any, values: Mapping[str, Any] | str) -> str:
        """One of pydantic's errors in a line: where, what is allowed, and what was given."""
        where, path = cls._place(problem["loc"], values)
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "value_error":
            return f"{where}{path}: {message}" if path and not message.startswith(path) else f"{where}{message}"
        given = repr(problem["input"])
        given = given if len(given) < 80 else f"{given[:77]}..."
        allowed = cls._range(problem["loc"]) if problem["type"].startswith(("greater", "less")) else ""
        message = f"must be {allowed}" if allowed else message.replace("Input should be", "must be")
        return f"{where}{path or 'configuration'} {message[0].lower()}{message[1:]}, got {given}"

    @classmethod
    def _place(cls, loc: tuple[int | str, ...], values: Mapping[str, Any] | str) -> tuple[str, str]:
        """Where an error is: which lane, by its label or else its number from 1, and the path from there."""
        where = ""
        if len(loc) > 1 and loc[0] in cls.LISTS and isinstance(loc[1], int):
            given = json.loads(values) if isinstance(values, str) else values
            entry = given[str(loc[0])][loc[1]]
            label = entry.get("label") if isinstance(entry, Mapping) else getattr(entry, "label", None)
            name = repr(label[:60]) if isinstance(label, str) and label else loc[1] + 1
            where, loc = f"{str(loc[0]).removesuffix('s')} {name}: ", loc[2:]
        return where, "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")

    @classmethod
    def _range(cls, path: tuple[int | str, ...]) -> str:
        """The bounds of the field that a path leads to, in words."""
        names = [part for part in path if isinstance(part, str)]
        inner = cls.LISTS.get(names[0])
        schema = (inner or cls).model_json_schema()["properties"][names[1] if inner else names[0]]
        for _ in ("optional", "list"):
            schema = next(iter(schema.get("anyOf", ())), schema)
            schema = schema.get("items", schema)
        return " and ".join(f"{words} {_plain(schema[key])}" for key, words in _BOUNDS.items() if key in schema)


_BOUNDS = {"exclusiveMinimum": "above", "minimum": "at least", "exclusiveMaximum": "below", "maximum": "at most"}


def _plain(bound: float) -> str:
    """A bound as people write it: 2,147,483,648, 0.5."""
    return f"{int(bound):,}" if bound == int(bound) else f"{bound:g}"
