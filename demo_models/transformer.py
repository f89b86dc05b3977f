"""An encoder-decoder Transformer (Vaswani et al. 2017), Post-LN as in the paper's experiments, or Pre-LN.

Written with axes counted from the end, so that a race can run it with a lane axis in front.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from demo_models.attention import attend, causal_mask


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How large a Transformer is, and where its layer norms stand."""

    depth: int  # layers of the encoder, and as many of the decoder
    width: int
    heads: int
    feed_forward: int
    pre_norm: bool = False


class Sublayer(nn.Module):
    """Post-LN: norm(x + f(x)). Pre-LN: x + f(norm(x))."""

    def __init__(self, inner: nn.Module, shape: Shape) -> None:
        super().__init__()
        self.inner, self.norm, self.pre_norm = inner, nn.LayerNorm(shape.width), shape.pre_norm

    def forward(self, x: Tensor, *others: Tensor | None) -> Tensor:
        if self.pre_norm:
            return x + self.inner(self.norm(x), *others)
        return self.norm(x + self.inner(x, *others))


class SelfAttention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.project, self.out = nn.Linear(shape.width, 3 * shape.width), nn.Linear(shape.width, shape.width)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.out(attend(self.heads, mask, self.project(x)))


class CrossAttention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query, self.out = nn.Linear(shape.width, shape.width), nn.Linear(shape.width, shape.width)
        self.memory = nn.Linear(shape.width, 2 * shape.width)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        return self.out(attend(self.heads, mask, self.query(x), self.memory(memory)))


class FeedForward(nn.Sequential):
    def __init__(self, shape: Shape) -> None:
        super().__init__(
            nn.Linear(shape.width, shape.feed_forward),
            nn.ReLU(),
            nn.Linear(shape.feed_forward, shape.width),
        )


class EncoderLayer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = Sublayer(SelfAttention(shape), shape)
        self.feed_forward = Sublayer(FeedForward(shape), shape)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.feed_forward(self.attention(x, mask))


class DecoderLayer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.attention = Sublayer(SelfAttention(shape), shape)
        self.cross = Sublayer(CrossAttention(shape), shape)
        self.feed_forward = Sublayer(FeedForward(shape), shape)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None) -> Tensor:
        return self.feed_forward(self.cross(self.attention(x, mask), memory, memory_mask))


class Transformer(nn.Module):
    """Token indices in, logits of the next target token out. Source positions holding `pad` are not attended to."""

    positions: Tensor

    def __init__(self, shape: Shape, source_words: int, target_words: int, longest: int, pad: int = 0) -> None:
        super().__init__()
        self.pad, self.scale = pad, math.sqrt(shape.width)
        self.source, self.target = nn.Embedding(source_words, shape.width), nn.Embedding(target_words, shape.width)
        self.encoder = nn.ModuleList([EncoderLayer(shape) for _ in range(shape.depth)])
        self.decoder = nn.ModuleList([DecoderLayer(shape) for _ in range(shape.depth)])
        self.encoder_norm = nn.LayerNorm(shape.width) if shape.pre_norm else nn.Identity()
        self.decoder_norm = nn.LayerNorm(shape.width) if shape.pre_norm else nn.Identity()
        self.out = nn.Linear(shape.width, target_words)
        self.register_buffer("positions", sinusoids(longest, shape.width), persistent=False)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, *self.encode(source))

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """The source's encoding, and where attention may look in it."""
        x = self.source(source) * self.scale + self.positions[: source.shape[-1]]
        mask = (source != self.pad).to(x.dtype)
        seen = _by_query(mask, source.shape[-1])
        for layer in self.encoder:
            x = layer(x, seen)
        return self.encoder_norm(x), mask

    def decode(self, target: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        x = self.target(target) * self.scale + self.positions[: target.shape[-1]]
        mask, seen = causal_mask(target.shape[-1], x), _by_query(memory_mask, target.shape[-1])
        for layer in self.decoder:
            x = layer(x, memory, mask, seen)
        return self.out(self.decoder_norm(x))


def _by_query(mask: Tensor, queries: int) -> Tensor:
    """[..., S] -> [..., queries, S], written out: all layers multiply by it."""
    return mask.unsqueeze(-2).expand(*mask.shape[:-1], queries, mask.shape[-1]).contiguous()


def sinusoids(length: int, width: int) -> Tensor:
    """sin and cos of position / 10000^(2i/width), side by side."""
    angles = torch.arange(length).unsqueeze(1) / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)


def xavier(model: nn.Module, generator: torch.Generator) -> None:
    """Xavier-uniform matrices (embeddings too), zero biases, layer norms as they are."""
    for name, p in model.named_parameters():
        if p.dim() > 1:
            nn.init.xavier_uniform_(p, generator=generator)
        elif name.endswith("bias"):
            nn.init.zeros_(p)
