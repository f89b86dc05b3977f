"""Scaled dot-product attention for many short sequences, with its own backward pass.

With sequences of a dozen tokens, torch's attention kernels spend their time on set-up and on strided copies, and its
softmax on rows too short for it. Here every product is one batched call on heads that lie one after the other in
memory, and the softmax is never computed as such: with e = exp(scores) and a column of ones beside the values,

    e [v, 1] = [sum_s e_s v_s, sum_s e_s]        attention, and what to divide it by

and backwards, with g' = g / sum e, the gradient of the scores is e (g' v^T - g'.out), again one product. At the size of
the `figure-1` race that takes half the time of a softmax between two products.
"""

import math
from typing import Any

import torch
from torch import Tensor

# Scores beyond this are shifted by the largest of their row first, as a softmax does for all: exp(60) squared is still
# a float32.
_LARGEST = 60.0


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
        scale = 1 / math.sqrt(q.shape[-1])
        e = torch.baddbmm(q.new_empty(()), q, k.transpose(1, 2), beta=0, alpha=scale)
        by_head = e.view(-1, heads, *e.shape[1:])
        allowed = None if mask is None else mask.reshape(-1, 1, *mask.shape[-2:])
        _shift_large(by_head, allowed)
        e.exp_()
        if allowed is not None:
            by_head *= allowed
        v1 = torch.cat((v, v.new_ones((*v.shape[:-1], 1))), -1)
        sums = torch.bmm(e, v1)
        over = sums[..., -1:].reciprocal()
        out = sums[..., :-1] * over
        ctx.save_for_backward(q, k, v1, e, over, out)
        ctx.heads, ctx.scale, ctx.shapes = heads, scale, [x.shape for x in projected]
        return _merge(out.unsqueeze(0), heads, (*projected[0].shape[:-1], width))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v1, e, over, out = ctx.saved_tensors
        (g,) = _split(grad, grad.shape[-1], ctx.heads)
        g1 = torch.empty_like(v1) if v1.shape[1] == g.shape[1] else g.new_empty((*g.shape[:-1], v1.shape[-1]))
        scaled = torch.mul(g, over, out=g1[..., :-1])
        torch.sum(scaled * out, -1, out=g1[..., -1]).neg_()
        ds = torch.bmm(g1, v1.transpose(1, 2)).mul_(e)
        if len(ctx.shapes) == 1:
            packed = [q.new_empty((3, *q.shape))]
            dq, dk, dv = packed[0]
        else:
            packed = [q.new_empty((1, *q.shape)), k.new_empty((2, *k.shape))]
            dq, dk, dv = packed[0][0], packed[1][0], packed[1][1]
        torch.baddbmm(dq, ds, k, beta=0, alpha=ctx.scale, out=dq)
        torch.baddbmm(dk, ds.transpose(1, 2), q, beta=0, alpha=ctx.scale, out=dk)
        torch.bmm(e.transpose(1, 2), scaled, out=dv)
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


def _split(x: Tensor, width: int, heads: int) -> Tensor:
    """[..., T, parts * width] -> [parts, sequences * heads, T, width / heads]."""
    parts = x.shape[-1] // width
    by_head = x.reshape(-1, x.shape[-2], parts, heads, width // heads).permute(2, 0, 3, 1, 4)
    return by_head.reshape(parts, -1, x.shape[-2], width // heads)


def _merge(x: Tensor, heads: int, shape: torch.Size | tuple[int, ...]) -> Tensor:
    """The inverse of `_split`, into the given shape."""
    return x.view(x.shape[0], -1, heads, *x.shape[2:]).permute(1, 3, 0, 2, 4).reshape(shape)
