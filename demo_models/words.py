"""Text as word numbers for a language model: a corpus, its vocabulary by frequency, and windows that run on through it.

The text is the documentation that ships inside CPython, so nothing needs to be downloaded (it differs a little from one
version of Python to the next), or a file of the user's.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

UNKNOWN = "<unk>"  # number 0: what the paper calls UNK
MOST_BYTES = 20_000_000
FEWEST_WORDS = 2000
RARE = 3  # words that the training text has no more often than this become UNK, as in the paper's Appendix B
HELD_OUT = 0.1  # the last tenth of the words
_WORD = re.compile(r"\w+|([^\w\s])\1*")
_LONGEST_RUN = 3  # of one sign: a rule of 70 dashes is one word, and ">>>" stays what it is


def documentation() -> str:
    """CPython's help topics in alphabetical order, each paragraph once: some topics repeat the text of others, and what
    is held out should not have been read in training."""
    from pydoc_data.topics import topics  # here, since some systems split it off: a text of the user's needs none

    paragraphs = (part for name in sorted(topics) for part in re.split(r"\n{2,}", topics[name].strip("\n")))
    return "\n\n".join(dict.fromkeys(paragraphs))


def read_text(file: str) -> str:
    """A text file of the user's, or an error that says what is wrong with it."""
    try:
        path = Path(file).expanduser()
        if not path.is_file():
            raise ValueError(f"file must be a text file, got {file!r}, which is not there or not a regular file")
        with path.open("rb") as source:
            content = source.read(MOST_BYTES + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError: ~somebody has no home
        raise ValueError(f"file must be a text file, got {file!r}: {error}") from None
    if len(content) > MOST_BYTES:
        raise ValueError(f"file must have at most {MOST_BYTES} bytes, got more in {file!r}")
    try:
        return content.decode("utf-8-sig")  # without the mark that some editors begin with
    except UnicodeDecodeError as error:
        found = f"byte 0x{content[error.start]:02x} at position {error.start}"
        raise ValueError(f"file must be UTF-8 text, got {found} in {file!r}") from None


def split_words(text: str) -> list[str]:
    """Words and signs in lower case; a run of one sign is one word."""
    found = (match.group(0) for match in _WORD.finditer(text.lower()))
    return [word if word[0].isalnum() or word[0] == "_" else word[:_LONGEST_RUN] for word in found]


@dataclass(frozen=True)
class Corpus:
    """Words as numbers: 0 is UNK, then the training words from the most frequent down, as an adaptive softmax needs."""

    vocabulary: tuple[str, ...]
    train: Numbers
    held_out: Numbers


def make_corpus(words: Sequence[str], vocabulary_size: int) -> Corpus:
    """Number the words; rare ones, those beyond the vocabulary's size and those never trained on become UNK."""
    if len(words) < FEWEST_WORDS:
        raise ValueError(f"text must have at least {FEWEST_WORDS} words, got {len(words)}")
    split = round(len(words) * (1 - HELD_OUT))
    # Counter keeps the order of first appearance among equals: the same text gives the same numbers everywhere.
    counts = Counter(words[:split]).most_common(vocabulary_size - 1)
    frequent = [word for word, count in counts if count > RARE]
    if not frequent:
        raise ValueError(f"text must have a word that occurs more than {RARE} times, got none")
    vocabulary = (UNKNOWN, *frequent)
    number = {word: index for index, word in enumerate(vocabulary)}
    numbers = np.array([number.get(word, 0) for word in words], dtype=np.int64)
    return Corpus(vocabulary, numbers[:split], numbers[split:])


def windows(text: Numbers, seed: int, step: int, streams: int, before: int, length: int) -> Numbers:
    """Batch `step` (from 1) as [streams, before + length + 1]: parallel streams that each go on where they stopped.

    Stream b starts b/streams of the way into the text, and each step moves every stream on by `length` words, to the
    start of the next one; then all begin again, shifted. The text is a ring, so every stream is as long as any other.
    `before` more words come first, as context; the last one is only ever a target.
    """
    stride = max(length, len(text) // streams)
    epoch, index = divmod(step - 1, stride // length)
    shift = int(np.random.default_rng([seed, epoch]).integers(len(text)))
    starts = shift + np.arange(streams) * stride + index * length
    return text[(starts[:, None] + np.arange(-before, length + 1)) % len(text)]
