"""Pairs of token sequences as tensors: vocabularies, padding, a held-out part, and a user's own two files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

PAD, START, END, UNKNOWN = range(4)
_SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
LONGEST_SENTENCE, LARGEST_VOCABULARY, MOST_PAIRS = 64, 8000, 200_000

Pair = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Vocabulary:
    words: tuple[str, ...]

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> "Vocabulary":
        """The special tokens and the most frequent words; ties in alphabetical order."""
        counts = Counter(chain.from_iterable(sentences))
        ordered = sorted(counts, key=lambda word: (-counts[word], word))
        return cls((*_SPECIAL, *ordered[: LARGEST_VOCABULARY - len(_SPECIAL)]))

    def encode(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """[sentences, longest + 2]: start, words, end, padding."""
        index = {word: i for i, word in enumerate(self.words)}
        lengths = np.array([len(sentence) for sentence in sentences])
        out = np.full((len(lengths), lengths.max() + 2), PAD, dtype=np.int64)
        out[:, 0] = START
        inside = np.arange(lengths.max()) < lengths[:, None]
        out[:, 1:-1][inside] = [index.get(word, UNKNOWN) for word in chain.from_iterable(sentences)]
        out[np.arange(len(lengths)), lengths + 1] = END
        return torch.from_numpy(out)

    def decode(self, tokens: Sequence[int]) -> str:
        """The words up to the first end token."""
        end = tokens.index(END) if END in tokens else len(tokens)
        return " ".join(self.words[i] for i in tokens[:end] if i not in (PAD, START))


def read_pairs(source: str, target: str) -> list[Pair]:
    """The sentence pairs of two UTF-8 files with one sentence a line; words are what spaces separate."""
    if not (source and target):
        raise ValueError(f"source_file and target_file must be given together, got {source!r} and {target!r}")
    left, right = _lines("source_file", source), _lines("target_file", target)
    if len(left) != len(right):
        raise ValueError(f"the files must have as many lines each: {source} has {len(left)}, {target} has {len(right)}")
    pairs = [(a.split(), b.split()) for a, b in zip(left, right, strict=True)]
    kept = [(a, b) for a, b in pairs if 0 < len(a) <= LONGEST_SENTENCE and 0 < len(b) <= LONGEST_SENTENCE]
    if len(kept) < 20:
        raise ValueError(
            f"{source} and {target} must share at least 20 pairs of 1 to {LONGEST_SENTENCE} words, got {len(kept)}"
        )
    return kept[:MOST_PAIRS]


def _lines(name: str, path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} must be UTF-8 text, but {path} is not: {error}") from error
    except OSError as error:
        raise ValueError(f"{name} must be a file that can be read, got {path!r}: {error.strerror}") from error
