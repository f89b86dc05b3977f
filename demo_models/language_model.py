"""The paper's language model: a two-layer LSTM with an adaptive softmax (Grave et al. 2017).

Axes are counted from the end, so that the same code runs with a lane axis in front.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

State = tuple[Tensor, Tensor]
LAYERS = 2
SHRINK = 4  # each cluster of rarer words is projected to a quarter of the width of the one before


def default_cutoffs(words: int) -> tuple[int, ...]:
    """Where the clusters begin: an eighth of the words makes up four fifths of our text, a half nearly all of it."""
    return tuple(sorted({cut for cut in (words // 8, words // 2) if 0 < cut < words}))


class AdaptiveSoftmax(nn.Module):
    """log p(target), for words numbered by frequency: the frequent ones and one entry per cluster share a softmax, and
    a cluster's own softmax, narrower the rarer its words, is computed only where a target falls into it.

    As `nn.AdaptiveLogSoftmaxWithLoss`, except that every cluster is computed in every step, if on no row at all: its
    gradient is then zero instead of missing, and an optimizer moves it by its momentum in each lane alike.
    """

    def __init__(self, width: int, words: int, cutoffs: Sequence[int]) -> None:
        super().__init__()
        bounds = [*cutoffs, words]
        if bounds != sorted(set(bounds)) or bounds[0] < 1:
            raise ValueError(f"cutoffs must increase from 1 to below {words}, got {tuple(cutoffs)}")
        self.clusters = tuple(pairwise(bounds))  # (first word, one past the last)
        self.frequent = bounds[0]
        self.head = nn.Linear(width, self.frequent + len(self.clusters), bias=False)
        self.tails = nn.ModuleList()
        for number, (first, end) in enumerate(self.clusters, start=1):
            narrow = max(1, width // SHRINK**number)
            self.tails.append(
                nn.Sequential(nn.Linear(width, narrow, bias=False), nn.Linear(narrow, end - first, bias=False))
            )

    def forward(self, hidden: Tensor, target: Tensor) -> Tensor:
        """hidden [..., rows, width] and target [..., rows] -> log p [..., rows]."""
        entry, tails = target.clamp(max=self.frequent - 1), []
        for number, (tail, (first, end)) in enumerate(zip(self.tails, self.clusters, strict=True)):
            inside = (target >= first) & (target < end)
            entry = torch.where(inside, self.frequent + number, entry)
            # The rows that any lane needs: lanes may read different texts.
            needed = inside.reshape(-1, inside.shape[-1]).any(0).nonzero().squeeze(-1)
            local = (target.index_select(-1, needed) - first).clamp(0, end - first - 1)
            log_p = _chosen(log_softmax(tail(hidden.index_select(-2, needed)), -1), local)
            everywhere = log_p.new_zeros(target.shape).index_copy(-1, needed, log_p)
            tails.append(torch.where(inside, everywhere, 0.0))
        return _chosen(log_softmax(self.head(hidden), -1), entry) + sum(tails)


def _chosen(log_p: Tensor, index: Tensor) -> Tensor:
    return log_p.gather(-1, index.unsqueeze(-1)).squeeze(-1)


class LanguageModel(nn.Module):
    """Words in, log p of the words that follow out, and the LSTM's state for the words after those."""

    def __init__(self, words: int, width: int, cutoffs: Sequence[int]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, num_layers=LAYERS, batch_first=True)
        self.softmax = AdaptiveSoftmax(width, words, cutoffs)

    def forward(self, words: Tensor, targets: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """words and targets [..., batch, time] -> log p [..., batch, time]."""
        hidden, state = self.read(words, state)
        log_p = self.softmax(hidden.flatten(-3, -2), targets.flatten(-2))
        return log_p.unflatten(-1, targets.shape[-2:]), state

    def read(self, words: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """What the LSTM makes of the words, with nothing predicted."""
        hidden, state = self.lstm(self.embedding(words), state)
        return hidden, state
