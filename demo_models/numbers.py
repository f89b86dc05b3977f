"""`numbers`: German number words to English ones by a small Transformer, the paper's Figure 1 in miniature.

The numbers are drawn evenly from 1 to 999,999; a few hundred are held out. With a parallel corpus of the user's in
two files, its sentences take their place.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from demo_models.number_words import LARGEST, english, german
from demo_models.parallel import END, PAD, START, Pair, Vocabulary, read_pairs
from demo_models.transformer import Shape, Transformer, xavier

_HELD_OUT = 128
_NUMBERS = 60_000  # drawn once; enough that a race of a thousand steps rarely meets one twice
Batch = tuple[Tensor, ...]


@dataclass(frozen=True)
class Corpus:
    """Pairs of sentences as numbers, one pair a row."""

    source_words: Vocabulary
    target_words: Vocabulary
    source: Tensor
    target: Tensor

    @classmethod
    def of(cls, pairs: list[Pair]) -> "Corpus":
        sources, targets = [a for a, _ in pairs], [b for _, b in pairs]
        source_words, target_words = Vocabulary.of(sources), Vocabulary.of(targets)
        source = source_words.encode(sources)[:, 1:]  # a source needs no start token
        return cls(source_words, target_words, source, target_words.encode(targets))


class Translation:
    """Pairs of sentences and the Transformer that learns them."""

    def __init__(self, corpus: Corpus, shape: Shape, label_smoothing: float) -> None:
        self.source_words, self.target_words = corpus.source_words, corpus.target_words
        self.source, self.target = corpus.source, corpus.target
        self.shape, self.label_smoothing = shape, label_smoothing
        self.held_out = min(_HELD_OUT, len(self.source) // 10)

    def make_model(self, seed: int) -> nn.Module:
        longest = max(self.source.shape[1], self.target.shape[1])
        model = Transformer(self.shape, len(self.source_words.words), len(self.target_words.words), longest, PAD)
        xavier(model, torch.Generator().manual_seed(seed))
        return model

    def batch(self, seed: int, step: int, size: int) -> Batch:
        rows = np.random.default_rng((seed, step)).integers(self.held_out, len(self.source), size)
        chosen = torch.from_numpy(rows)
        return self.source[chosen], self.target[chosen]

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """Label-smoothed cross entropy per target token, padding left out."""
        log_p, expected = self._log_probabilities(model, batch)
        picked = log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1)
        if self.label_smoothing:
            picked = (1 - self.label_smoothing) * picked + self.label_smoothing * log_p.mean(-1)
        return _mean_over_tokens(-picked, expected)

    def _log_probabilities(self, model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        source, target = batch
        return functional.log_softmax(model(source, target[..., :-1]), -1), target[..., 1:]

    def evaluate(self, model: nn.Module) -> dict[str, Tensor]:
        """Held-out loss per token without smoothing, and how often greedy decoding gives the exact translation.

        Nothing needs to be decoded for that: as long as every word was right, the decoder has read what it reads here,
        so that the first word that is wrong there is the first that is wrong here.
        """
        log_p, expected = self._log_probabilities(model, self._held_out_batch(model))
        loss = _mean_over_tokens(-log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1), expected)
        wrong = (log_p.argmax(-1) != expected) & (expected != PAD)
        return {"exact match": 1 - wrong.any(-1).to(loss.dtype).mean(-1), "token loss": loss}

    def samples(self, model: nn.Module, count: int = 4) -> list[list[tuple[str, str, str]]]:
        """By lane: (source, what the model says, what it should say) for the first held-out sentences."""
        source, target = (x[..., :count, :] for x in self._held_out_batch(model))
        said = greedy(model, source, target.shape[-1] - 1)
        columns = [
            [vocabulary.decode(row) for row in tokens.reshape(-1, tokens.shape[-1]).tolist()]
            for vocabulary, tokens in (
                (self.source_words, source),
                (self.target_words, said),
                (self.target_words, target),
            )
        ]
        rows = list(zip(*columns, strict=True))
        return [rows[i : i + count] for i in range(0, len(rows), count)]

    def _held_out_batch(self, model: nn.Module) -> Batch:
        """The held-out pairs, with a lane axis if the model has one: its output bias tells."""
        assert isinstance(model, Transformer)
        bias = model.out.bias
        lanes = bias.shape[:-1]
        return tuple(x[: self.held_out].to(bias.device).expand(*lanes, -1, -1) for x in (self.source, self.target))

    def group(self, parameter: str) -> str:
        if parameter.startswith(("encoder", "decoder")):
            return parameter.split(".")[0].removesuffix("_norm")
        return "output" if parameter.startswith("out") else "embeddings"

    def layer(self, parameter: str) -> str:
        part, _, rest = parameter.partition(".")
        if part in ("encoder", "decoder"):
            return f"{part} {int(rest.split('.', 1)[0]) + 1}"
        return {"source": "source words", "target": "target words", "out": "output"}.get(part, part.replace("_", " "))


def _mean_over_tokens(values: Tensor, expected: Tensor) -> Tensor:
    real = (expected != PAD).to(values.dtype)
    return (values * real).sum((-2, -1)) / real.sum((-2, -1))


def greedy(model: nn.Module, source: Tensor, length: int) -> Tensor:
    """The most likely next token, again and again; padding after the end token."""
    assert isinstance(model, Transformer)
    memory, mask = model.encode(source)
    out = torch.full_like(source[..., :1], START)
    ended = torch.zeros_like(out, dtype=torch.bool)
    for _ in range(length):
        word = model.decode(out, memory, mask)[..., -1:, :].argmax(-1)
        word = torch.where(ended, PAD, word)
        ended = ended | (word == END)
        out = torch.cat((out, word), -1)
    return out[..., 1:]


def _number_pairs() -> list[Pair]:
    numbers = np.random.default_rng(2020).permutation(LARGEST)[:_NUMBERS] + 1
    return [(german(int(n)), english(int(n))) for n in numbers]


@lru_cache
def _number_words() -> Corpus:
    """Made once: it takes a second, and is the same for a model of any shape."""
    return Corpus.of(_number_pairs())


def open_problem(
    depth: int,
    width: int,
    heads: int,
    norm: str,
    label_smoothing: float,
    source_file: str,
    target_file: str,
) -> Translation:
    if width % (2 * heads):
        raise ValueError(f"numbers.width must be a multiple of twice numbers.heads, got {width} and {heads}")
    own = source_file or target_file
    corpus = Corpus.of(read_pairs(source_file, target_file)) if own else _number_words()
    shape = Shape(depth=depth, width=width, heads=heads, feed_forward=2 * width, pre_norm=norm == "pre")
    return Translation(corpus, shape, label_smoothing)
