"""Five models as people write them, none of them for lanes: what `race_model` is tried and timed on.

Each is a module, a loss(model, batch) and a function of the step that gives a batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

WORDS, PAD = 40, 0


@dataclass(frozen=True)
class OwnModel:
    make: Callable[[], nn.Module]
    loss: Callable[[nn.Module, Any], Tensor]
    batch: Callable[[int], Any]


class Encoder(nn.Module):
    """A masked-word encoder: torch's own layers, dropout, a padding index, and the embedding tied to the output."""

    def __init__(self, width: int = 32, layers: int = 3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.out = nn.Linear(width, WORDS)
        self.out.weight = self.embedding.weight

    def forward(self, words: Tensor) -> Tensor:
        hidden: Tensor = self.encoder(self.embedding(words), src_key_padding_mask=words == PAD)
        return self.out(hidden)


class Translator(nn.Module):
    """`nn.Transformer` with a causal mask."""

    def __init__(self, width: int = 32, layers: int = 2) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(WORDS, width), nn.Embedding(WORDS, width)
        self.transformer = nn.Transformer(width, 4, layers, layers, 2 * width, dropout=0.1, batch_first=True)
        self.norm, self.out = nn.RMSNorm(width), nn.Linear(width, WORDS)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], dtype=self.out.weight.dtype)
        hidden = self.transformer(self.source(source), self.target(target), tgt_mask=mask, tgt_is_causal=True)
        out: Tensor = self.out(self.norm(hidden))
        return out


class Convolutions(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.25),
            nn.Linear(64, 10),
        )


class Recurrent(nn.Module):
    """An LSTM over packed sequences, and a class from its last state."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width, padding_idx=PAD)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, 4)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.embedding(words), lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = self.lstm(packed)
        out: Tensor = self.out(last[-1])
        return out


class Tied(nn.Module):
    """An autoencoder whose decoder is its encoder's weight turned round."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, 48), nn.Linear(48, 16)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        code = self.second(self.dropout(torch.tanh(self.first(x))))
        return functional.linear(torch.tanh(functional.linear(code, self.second.weight.t())), self.first.weight.t())


def _generator(step: int) -> torch.Generator:
    return torch.Generator().manual_seed(1000 + step)


def _words(step: int, rows: int = 16, length: int = 12) -> tuple[Tensor, Tensor]:
    """Sentences that end in padding, and their lengths."""
    generator = _generator(step)
    lengths = torch.randint(length // 2, length + 1, (rows,), generator=generator)
    words = torch.randint(1, WORDS, (rows, length), generator=generator)
    return words.where(torch.arange(length) < lengths.unsqueeze(1), torch.tensor(PAD)), lengths


def _real(step: int, *shape: int) -> Tensor:
    return torch.randn(shape, generator=_generator(step), dtype=torch.get_default_dtype())


def _encoder_loss(model: nn.Module, words: Tensor) -> Tensor:
    """The word after each."""
    return functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten(), ignore_index=PAD)


def _translator_loss(model: nn.Module, words: Tensor) -> Tensor:
    return functional.cross_entropy(model(words, words[:, :-1]).flatten(0, 1), words[:, 1:].flatten(), ignore_index=PAD)


def _images(step: int) -> tuple[Tensor, Tensor]:
    return _real(step, 32, 1, 8, 8), torch.randint(10, (32,), generator=_generator(step))


def _images_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch[0]), batch[1])


def _recurrent_loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return functional.cross_entropy(model(*batch), batch[0][:, 0] % 4)


def _tied_loss(model: nn.Module, x: Tensor) -> Tensor:
    return functional.mse_loss(model(x), x)


OWN_MODELS = {
    "TransformerEncoderLayer": OwnModel(Encoder, _encoder_loss, lambda step: _words(step)[0]),
    "nn.Transformer": OwnModel(Translator, _translator_loss, lambda step: _words(step)[0]),
    "CNN": OwnModel(Convolutions, _images_loss, _images),
    "LSTM": OwnModel(Recurrent, _recurrent_loss, _words),
    "tied MLP": OwnModel(Tied, _tied_loss, lambda step: _real(step, 32, 64)),
}


def problem() -> dict[str, Any]:
    """The encoder for `python -m dashboard sweep --problem bench/own_models.py:problem`."""
    model = OWN_MODELS["TransformerEncoderLayer"]
    return {"model": model.make, "loss": model.loss, "batches": model.batch, "steps": 60, "warmups": (0, 10, 25, 50)}
