"""Scaled dot-product attention for many short sequences, with its own backward pass.

With sequences of a dozen tokens, torch's attention kernels spend their time on set-up and on strided copies, and its
softmax on rows too short for it. Here every product is one batched call on heads that lie one after the other in
memory, and the softmax is never computed as such: with e = exp(scores) and a column of ones beside the values,

    e [v, 1] = [sum_s e_s v_s, sum_s e_s]        attention, and what to divide it by

and backwards, with g' = g / sum e, the gradient of the scores is e (g' v^T - g'.out), again one product. At the size of
the `figure-1` race that takes half the time of a softmax between two products.
"""

import math
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

# Scores beyond this are shifted by the largest of their row first, as a softmax does for all: exp(60) squared is still
# a float32.
_LARGEST = 60.0
_COLUMNS = 16  # a product with as many, or a multiple, is faster than one with nine


def causal_mask(length: int, like: Tensor) -> Tensor:
    """[T, T] with 1 wherever a position may look, and 0 ahead of it."""
    return torch.ones((length, length), dtype=like.dtype, device=like.device).tril()


def attend(heads: int, mask: Tensor | None, *projected: Tensor) -> Tensor:
    """Attention of queries [..., T, d] to keys and values [..., S, 2d]; or of one tensor [..., T, 3d] to itself.

    `mask` is 1 where a query may look and 0 elsewhere, and leaves each at least one key: [T, S], or [..., 1 or T, S]
    with the batch's axes and none for the heads.
    """
    width = projected[0].shape[-1] // (3 if len(projected) == 1 else 1)
    result: Tensor = _Attend.apply(heads, width, mask, *projected)  # type: ignore[no-untyped-call]
    return result


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, heads: int, width: int, mask: Tensor | None, *projected: Tensor) -> Tensor:
        q, k, v = (part for x in projected for part in _split(x, width, heads))
        inside, scale = q.shape[-1], 1 / math.sqrt(q.shape[-1])
        e = torch.baddbmm(q.new_empty(()), q, k.transpose(1, 2), beta=0, alpha=scale)
        by_head = e.view(-1, heads, *e.shape[1:])
        allowed = None if mask is None else mask.reshape(-1, 1, *mask.shape[-2:])
        _shift_large(by_head, allowed)
        e.exp_()
        if allowed is not None:
            by_head *= allowed
        v1 = functional.pad(v, (0, _COLUMNS - inside % _COLUMNS))
        v1[..., inside] = 1.0
        sums = torch.bmm(e, v1).view(*by_head.shape[:-1], -1)
        over = sums[..., inside : inside + 1].reciprocal()
        out = q.new_empty((*projected[0].shape[:-1], width))
        torch.mul(sums[..., :inside], over, out=_heads_of(out, heads))
        ctx.save_for_backward(q, k, v1[..., : inside + 1], e, over, out)
        ctx.heads, ctx.scale, ctx.shapes = heads, scale, [x.shape for x in projected]
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v1, e, over, out = ctx.saved_tensors
        g1 = q.new_empty((*over.shape[:-1], v1.shape[-1]))
        torch.mul(_heads_of(grad, ctx.heads), over, out=g1[..., :-1])
        torch.mul(_heads_of(grad * out, ctx.heads).sum(-1), over.squeeze(-1), out=g1[..., -1]).neg_()
        g1 = g1.flatten(0, 1)
        ds = torch.bmm(g1, v1.transpose(1, 2)).mul_(e)
        if len(ctx.shapes) == 1:
            packed = [q.new_empty((3, *q.shape))]
            dq, dk, dv = packed[0]
        else:
            packed = [q.new_empty((1, *q.shape)), k.new_empty((2, *k.shape))]
            dq, dk, dv = packed[0][0], packed[1][0], packed[1][1]
        torch.baddbmm(dq, ds, k, beta=0, alpha=ctx.scale, out=dq)
        torch.baddbmm(dk, ds.transpose(1, 2), q, beta=0, alpha=ctx.scale, out=dk)
        torch.bmm(e.transpose(1, 2), g1[..., :-1], out=dv)
        return None, None, None, *(_merge(x, ctx.heads, shape) for x, shape in zip(packed, ctx.shapes, strict=True))


def _shift_large(scores: Tensor, allowed: Tensor | None) -> None:
    """Takes the largest of its row from every score, in those matrices [T, S] that have one too large for exp."""
    least, most = torch.aminmax(scores)  # of all, which is quick, and nearly always enough to know
    if max(-least, most) > _LARGEST:
        large = scores.abs().amax((-2, -1)) > _LARGEST
        wild = scores[large]
        seen = wild
        if allowed is not None:
            shown = allowed.expand(scores.shape)[large]
            seen = wild.masked_fill(shown == 0, -math.inf)
        # What may not be looked at could be larger than all the rest: it is left out of the largest, and bounded by it.
        scores[large] = (wild - seen.amax(-1, keepdim=True)).clamp(max=0)


def _heads_of(x: Tensor, heads: int) -> Tensor:
    """[..., T, width] -> [sequences, heads, T, width / heads], where it lies."""
    return x.reshape(-1, x.shape[-2], heads, x.shape[-1] // heads).transpose(1, 2)


def _split(x: Tensor, width: int, heads: int) -> Tensor:
    """[..., T, parts * width] -> [parts, sequences * heads, T, width / heads]."""
    time, parts, inside = x.shape[-2], x.shape[-1] // width, width // heads
    order, _ = _orders(x.shape[:-2].numel(), time, parts, heads, x.device)
    return x.reshape(-1, inside).index_select(0, order).view(parts, -1, time, inside)


def _merge(x: Tensor, heads: int, shape: torch.Size) -> Tensor:
    """The inverse of `_split`, into the given shape."""
    parts, sequences, time, inside = x.shape
    _, order = _orders(sequences // heads, time, parts, heads, x.device)
    return x.view(-1, inside).index_select(0, order).view(shape)


@lru_cache(32)
def _orders(sequences: int, time: int, parts: int, heads: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Which rows of a head to take one after the other, in `_split` and in `_merge`: faster than to copy them."""
    rows = torch.arange(sequences * time * parts * heads, dtype=torch.int32, device=device)
    split = rows.view(sequences, time, parts, heads).permute(2, 0, 3, 1)
    merged = rows.view(parts, sequences, heads, time).permute(1, 3, 0, 2)
    return split.flatten(), merged.flatten()
