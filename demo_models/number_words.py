"""German and English number words as tokens: a translation task that needs no download.

num2words writes the words; German ones come in one piece and are split into their morphemes, so that
"dreihundertfünfundvierzigtausend" is "drei hundert fünf und vierzig tausend". A number below a million is its
thousands followed by its rest in both languages, so two tables of 999 entries hold all of them.
"""

import re
from functools import lru_cache

from num2words import num2words

LARGEST = 999_999
# Longest first where one begins another; "sech" and "sieb" are what "zehn" leaves of sechzehn and siebzehn.
_TENS = "zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig"
_UNITS = "eins|ein|zwei|drei|vier|fünf|sechs|sech|sieben|sieb|acht|neun|zehn|elf|zwölf"
_MORPHEMES = re.compile(f"{_TENS}|{_UNITS}|und|hundert|tausend")


def german(n: int) -> list[str]:
    """The morphemes of n's German name."""
    return _words(n, "de")


def english(n: int) -> list[str]:
    """The words of n's English name, without hyphens, commas or the "and" that says nothing."""
    return _words(n, "en")


def _words(n: int, language: str) -> list[str]:
    if not 1 <= n <= LARGEST:
        raise ValueError(f"n must be from 1 to {LARGEST}, got {n}")
    thousands, rest = _table(language)
    return [*thousands[n // 1000], *rest[n % 1000]]


@lru_cache
def _table(language: str) -> tuple[list[list[str]], list[list[str]]]:
    split = _MORPHEMES.findall if language == "de" else _english_words
    names = ([num2words(n * unit, lang=language) for n in range(1, 1000)] for unit in (1000, 1))
    thousands, rest = ([[], *(split(name) for name in column)] for column in names)
    return thousands, rest


def _english_words(name: str) -> list[str]:
    return [word for word in re.findall("[a-z]+", name) if word != "and"]
