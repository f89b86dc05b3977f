"""Scaled dot-product attention for many short sequences, with its own backward pass.

With sequences of a dozen tokens, torch's attention kernels spend their time on set-up and on strided copies, and its
softmax on rows too short for it. Here every product is one batched call on heads that lie one after the other in
memory, and nothing else goes row by row: the sums of the rows come from a product with ones,

    p = e / (e 1)   with e = exp(scores) and 1 all ones, S by S: each sum stands beside every number it divides

and backwards, with h = p (g v^T), the gradient of the scores is h - p (h 1), again by whole tensors.
"""

import math
from collections.abc import Sequence
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
        inside, batch, time = width // heads, projected[0].shape[:-2], projected[0].shape[-2]
        by_part = (_split(x, inside).view(x.shape[-1] // width, -1, x.shape[-2], inside) for x in projected)
        q, k, v = (part for parts in by_part for part in parts)
        scale = 1 / math.sqrt(inside)
        p = torch.baddbmm(q.new_empty(()), q, k.transpose(1, 2), beta=0, alpha=scale)
        by_head = p.view(heads, *batch, *p.shape[1:])
        _shift_large(by_head, mask)
        p.exp_()
        if mask is not None:
            by_head *= mask
        ctx.sequences = batch[-1] if batch else 1
        p /= _row_sums(p, ctx.sequences)
        ctx.save_for_backward(q, k, v, p)
        ctx.heads, ctx.scale, ctx.shapes = heads, scale, [x.shape for x in projected]
        return _merge(torch.bmm(p, v), heads, (*batch, time, width))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, p = ctx.saved_tensors
        g = _split(grad, q.shape[-1]).view(q.shape)
        ds = torch.bmm(g, v.transpose(1, 2)).mul_(p)
        ds.addcmul_(p, _row_sums(ds, ctx.sequences), value=-1)
        if len(ctx.shapes) == 1:
            packed = [q.new_empty((3, *q.shape))]
            dq, dk, dv = packed[0]
        else:
            packed = [q.new_empty((1, *q.shape)), k.new_empty((2, *k.shape))]
            dq, dk, dv = packed[0][0], packed[1][0], packed[1][1]
        torch.baddbmm(dq, ds, k, beta=0, alpha=ctx.scale, out=dq)
        torch.baddbmm(dk, ds.transpose(1, 2), q, beta=0, alpha=ctx.scale, out=dk)
        torch.bmm(p.transpose(1, 2), g, out=dv)
        merged = (_merge(x, len(x) * ctx.heads, shape) for x, shape in zip(packed, ctx.shapes, strict=True))
        return None, None, None, *merged


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


def _row_sums(x: Tensor, sequences: int) -> Tensor:
    """The sum of each row of [..., T, S], S times. The products are of as many rows whatever stands before `sequences`
    of them: how a lane's are rounded does not depend on how many lanes there are."""
    time, size = x.shape[-2:]
    rows = x.view(-1, sequences * time, size)
    return torch.bmm(rows, x.new_ones((size, size)).expand(len(rows), -1, -1)).view(x.shape)


def _split(x: Tensor, inside: int) -> Tensor:
    """[..., T, parts * inside] -> [parts, sequences * T, inside]."""
    rows = x.reshape(-1, x.shape[-1] // inside, inside)
    out = x.new_empty((rows.shape[1], rows.shape[0], inside))
    _in_large_units(out).copy_(_in_large_units(rows).transpose(0, 1))
    return out


def _in_large_units(x: Tensor) -> Tensor:
    """The same memory as numbers of 16 bytes where they fit: few large ones are copied faster than many small ones."""
    return x.view(torch.complex128) if x.shape[-1] * x.element_size() % 16 == 0 else x


def _merge(x: Tensor, parts: int, shape: Sequence[int]) -> Tensor:
    """The inverse of `_split`, into the given shape."""
    return torch.cat(x.view(parts, -1, x.shape[-1]).unbind(0), -1).view(shape)
