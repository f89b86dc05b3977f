"""Scaled dot-product attention for many short sequences, with its own backward pass.

With sequences of a dozen tokens, torch's attention kernels spend their time on set-up and on strided copies: at the
size of the `figure-1` race this is about twice as fast, because every product is one batched call on heads that lie
one after the other in memory.
"""

import math
from typing import Any

import torch
from torch import Tensor


def causal_bias(length: int, like: Tensor) -> Tensor:
    """[T, T] with a large negative number wherever a position would look ahead."""
    return torch.full((length, length), -1e9, dtype=like.dtype, device=like.device).triu(1)


def attend(heads: int, bias: Tensor | None, *projected: Tensor) -> Tensor:
    """Attention of queries [..., T, d] to keys and values [..., S, 2d]; or of one tensor [..., T, 3d] to itself.

    `bias` is added to the scores: [T, S], or [..., 1 or T, S] with the batch's axes and none for the heads.
    """
    width = projected[0].shape[-1] // (3 if len(projected) == 1 else 1)
    result: Tensor = _Attend.apply(heads, width, bias, *projected)  # type: ignore[no-untyped-call]
    return result


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, heads: int, width: int, bias: Tensor | None, *projected: Tensor) -> Tensor:
        q, k, v = (part for x in projected for part in _split(x, width, heads))
        scale = 1 / math.sqrt(q.shape[-1])
        scores = torch.baddbmm(q.new_empty(()), q, k.transpose(1, 2), beta=0, alpha=scale)
        if bias is not None:
            by_head = scores.view(-1, heads, *scores.shape[1:])
            by_head += bias.reshape(-1, 1, *bias.shape[-2:])
        p = scores.softmax(-1)
        ctx.save_for_backward(q, k, v, p)
        ctx.heads, ctx.scale, ctx.shapes = heads, scale, [x.shape for x in projected]
        return _merge(torch.bmm(p, v).unsqueeze(0), heads, (*projected[0].shape[:-1], width))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, p = ctx.saved_tensors
        (g,) = _split(grad, grad.shape[-1], ctx.heads)
        dp = torch.bmm(g, v.transpose(1, 2))
        ds = torch._softmax_backward_data(dp, p, -1, p.dtype)
        if len(ctx.shapes) == 1:
            packed = [q.new_empty((3, *q.shape))]
            dq, dk, dv = packed[0]
        else:
            packed = [q.new_empty((1, *q.shape)), k.new_empty((2, *k.shape))]
            dq, dk, dv = packed[0][0], packed[1][0], packed[1][1]
        torch.baddbmm(dq, ds, k, beta=0, alpha=ctx.scale, out=dq)
        torch.baddbmm(dk, ds.transpose(1, 2), q, beta=0, alpha=ctx.scale, out=dk)
        torch.bmm(p.transpose(1, 2), g, out=dv)
        return None, None, None, *(_merge(x, ctx.heads, shape) for x, shape in zip(packed, ctx.shapes, strict=True))


def _split(x: Tensor, width: int, heads: int) -> Tensor:
    """[..., T, parts * width] -> [parts, sequences * heads, T, width / heads]."""
    parts = x.shape[-1] // width
    by_head = x.reshape(-1, x.shape[-2], parts, heads, width // heads).permute(2, 0, 3, 1, 4)
    return by_head.reshape(parts, -1, x.shape[-2], width // heads)


def _merge(x: Tensor, heads: int, shape: torch.Size | tuple[int, ...]) -> Tensor:
    """The inverse of `_split`, into the given shape."""
    return x.view(x.shape[0], -1, heads, *x.shape[2:]).permute(1, 3, 0, 2, 4).reshape(shape)
