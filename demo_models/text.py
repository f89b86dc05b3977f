"""`text`: the paper's language model in miniature, on CPython's own documentation or on a text of the user's.

The paper unrolls 20 steps and carries the LSTM's state from batch to batch. A batch here is a function of its number
alone, and lanes may be paused, probed and measured without changing, so no state is kept between batches: each window
is preceded by `context` words that are read first, without gradient, to bring the state to where it should be. That is
the carried state, cut off after that many words, and made by the current weights rather than by earlier ones.
Held-out perplexity does carry its state through the whole held-out text.
"""

from functools import lru_cache
from typing import cast

import torch
from torch import Tensor, nn

from demo_models.initial import seeded
from demo_models.language_model import LanguageModel, State, default_cutoffs
from demo_models.words import Corpus, documentation, make_corpus, read_text, split_words, windows

Batch = tuple[Tensor, ...]

_HELD_OUT_STREAMS = 16
_HELD_OUT_CHUNK = 64  # words of each stream at a time
_GROUPS = {  # by the start of a parameter's name
    "embedding": "embedding",
    "softmax.head": "softmax, frequent words",
    "softmax.tails": "softmax, rare words",
}


class Text:
    """Next-word prediction: the loss is the mean -log p in nats, the metric its exponential on held-out text."""

    def __init__(self, corpus: Corpus, width: int, length: int, context: int) -> None:
        self.corpus, self.width, self.length, self.context = corpus, width, length, context

    def make_model(self, seed: int) -> nn.Module:
        words = len(self.corpus.vocabulary)
        with seeded(seed):
            return LanguageModel(words, self.width, default_cutoffs(words))

    def batch(self, seed: int, step: int, size: int) -> Batch:
        found = torch.from_numpy(windows(self.corpus.train, seed, step, size, self.context, self.length))
        return found[:, :-1], found[:, self.context + 1 :]

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        words, targets = batch
        state: State | None = None
        if self.context:
            with torch.no_grad():
                _, state = cast(LanguageModel, model).read(words[..., : self.context])
        log_p, _ = model(words[..., self.context :], targets, state)
        return -log_p.mean((-2, -1))

    def evaluate(self, model: nn.Module) -> dict[str, Tensor]:
        weight = cast(LanguageModel, model).softmax.head.weight  # has a lane axis if the model has
        text = torch.from_numpy(self.corpus.held_out).to(weight.device)
        steps = (len(text) - 1) // _HELD_OUT_STREAMS
        count = steps * _HELD_OUT_STREAMS
        words, targets = (
            part[:count].view(_HELD_OUT_STREAMS, steps).expand(*weight.shape[:-2], -1, -1) for part in (text, text[1:])
        )
        total, state = weight.new_zeros(weight.shape[:-2]), None
        for start in range(0, steps, _HELD_OUT_CHUNK):
            chunk = slice(start, start + _HELD_OUT_CHUNK)
            log_p, state = model(words[..., chunk], targets[..., chunk], state)
            total = total - log_p.sum((-2, -1))
        return {"perplexity": torch.exp(total / count)}

    def group(self, parameter: str) -> str:
        part, _, name = parameter.partition(".")
        if part == "lstm":
            return f"LSTM layer {int(name.rsplit('_l', 1)[1]) + 1}"
        return next(group for start, group in _GROUPS.items() if parameter.startswith(start))


@lru_cache
def _documentation_words() -> list[str]:
    return split_words(documentation())


def open_problem(vocabulary: int, width: int, length: int, context: int, file: str) -> Text:
    words = split_words(read_text(file)) if file else _documentation_words()
    return Text(make_corpus(words, vocabulary), width, length, context)
