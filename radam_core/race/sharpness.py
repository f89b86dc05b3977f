"""How sharply a lane's loss bends where it stands: the largest eigenvalue of its Hessian on a batch, plain, and as
Adam sees it.

Gradient descent at a rate lr is stable along directions whose curvature is below 2/lr. Adam divides the gradient by
P = diag(sqrt(v-hat) + eps), so that what counts is the largest eigenvalue of P^(-1/2) H P^(-1/2); with momentum beta1
it must stay below (2 + 2 beta1) / ((1 - beta1) lr), 38/lr at 0.9 (Cohen et al. 2022, "Adaptive gradient methods at the
edge of stability").

Both are the largest values of a quotient, x'Hx / x'x and x'Hx / x'Px. A measured step makes the best of three
directions (Rayleigh and Ritz): the two found last time, one for each quotient, and one that leads uphill from one of
them by turns, its residual. H times a vector is the difference of two gradients of which the step has computed one, so
that this takes three more. From below it comes closer with every measured step, if they are not far apart.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from radam_core.race.frames import SHARPNESS
from radam_core.race.lanes import Lanes

PLAIN, PRECONDITIONED = SHARPNESS
DIRECTIONS = 3  # and as many gradients at every step that is measured
_LEAST = 1e-7  # a direction that the others contain but for this part of it adds nothing
FloatArray = NDArray[np.float64]


class Sharpness:
    """What is known of every lane's sharpest directions, from one measured step to the next."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._found: list[Tensor] = []  # [K, N] each: of the plain quotient, of the other, and the one to try
        self._bends = np.ones((len(lanes.buffer), DIRECTIONS))  # along these, as far as is known
        self._turn = 0

    def keep(self, rows: Sequence[int]) -> None:
        self._found = [vectors[list(rows)] for vectors in self._found]
        self._bends = self._bends[list(rows)]

    @torch.no_grad()
    def measure(self, losses: Callable[[], Tensor], divisor: Tensor, known: Tensor) -> NDArray[np.float32]:
        """[which of `SHARPNESS`, K], given the lanes' losses as a function of their parameters as they stand, P, and
        which coordinates have a gradient at all ([K, N] each). `lanes.grad` must hold the gradient; it stays as it is.
        """
        gradient = self.lanes.grad
        start = self._found or [gradient, gradient / divisor, gradient.roll(1, 1)]
        vectors = [_unit(vector * known) for vector in start]
        products = [
            (self._gradient_at(losses, vector, size) - gradient).div_(size).mul_(known)
            for vector, size in zip(vectors, self._sizes(), strict=True)
        ]
        bent = _gram(vectors, products)
        bent = (bent + bent.transpose(0, 2, 1)) / 2
        quotients = {
            PLAIN: _largest(bent, _gram(vectors, vectors)),
            PRECONDITIONED: _largest(bent, _gram(vectors, [vector * divisor for vector in vectors])),
        }
        plain, uphill = self._climb(quotients[PLAIN], vectors, products, None)
        other, uphill_other = self._climb(quotients[PRECONDITIONED], vectors, products, divisor)
        self._found = [plain, other, uphill_other if self._turn % 2 else uphill]
        self._turn += 1
        along = [quotients[PLAIN][0], _quotient(quotients[PRECONDITIONED][1], bent, _gram(vectors, vectors))]
        self._bends = np.stack([*along, along[0]], 1)
        return np.stack([quotients[name][0] for name in SHARPNESS]).astype(np.float32)

    def _sizes(self) -> list[Tensor]:
        """How far to go along each direction: to where the loss has changed by some 1e-5, by what is known of it. Short
        enough that the gradient is straight, long enough that its rounding does not count."""
        buffer = self.lanes.buffer
        reach = 10 * math.sqrt(torch.finfo(buffer.dtype).eps)
        sizes = reach / np.sqrt(np.maximum(np.abs(np.nan_to_num(self._bends, nan=1.0)), 1e-6))
        return list(torch.as_tensor(sizes.T, dtype=buffer.dtype, device=buffer.device).unsqueeze(-1))

    def _gradient_at(self, losses: Callable[[], Tensor], vector: Tensor, size: Tensor) -> Tensor:
        buffer, there = self.lanes.buffer, torch.empty_like(self.lanes.grad)
        here = buffer.clone()
        buffer.addcmul_(vector, size)
        try:
            with torch.enable_grad():
                self.lanes.backward(losses(), there)
        finally:
            buffer.copy_(here)
        return there

    def _climb(
        self,
        found: tuple[FloatArray, FloatArray],
        vectors: list[Tensor],
        products: list[Tensor],
        divisor: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """The best vector of these, and the direction in which its quotient rises most."""
        like = self.lanes.buffer
        values, parts = (torch.as_tensor(one, dtype=like.dtype, device=like.device) for one in found)
        best = _combined(vectors, parts)
        product = _combined(products, parts)
        if divisor is not None:
            product /= divisor
        return best, product - values.unsqueeze(1) * best


def _unit(vectors: Tensor) -> Tensor:
    norms = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return torch.where(norms > 0, vectors / norms, torch.zeros_like(vectors))


def _combined(vectors: list[Tensor], parts: Tensor) -> Tensor:
    return sum((vector * parts[:, i : i + 1] for i, vector in enumerate(vectors)), torch.zeros_like(vectors[0]))


def _gram(left: list[Tensor], right: list[Tensor]) -> FloatArray:
    """[K, i, j]: the products of each with each, by lane."""
    rows = [torch.stack([(a * b).sum(1, dtype=torch.float64) for b in right], 1) for a in left]
    return torch.stack(rows, 1).cpu().numpy()


def _largest(bent: FloatArray, metric: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By lane: the largest z with A x = z B x, and its x; nan and 0 for a lane whose numbers are not finite."""
    values, parts = np.full(len(bent), np.nan), np.zeros(bent.shape[:2])
    for k, (a, b) in enumerate(zip(bent, metric, strict=True)):
        if not (np.isfinite(a).all() and np.isfinite(b).all() and b.any()):
            continue
        scale = np.sqrt(np.where(np.diag(b) > 0, np.diag(b), 1.0))
        sizes, axes = np.linalg.eigh(b / np.outer(scale, scale))
        kept = sizes > _LEAST * sizes[-1]
        basis = axes[:, kept] / np.sqrt(sizes[kept]) / scale[:, None]
        found, inside = np.linalg.eigh(basis.T @ a @ basis)
        values[k], parts[k] = found[-1], basis @ inside[:, -1]
    return values, parts


def _quotient(parts: FloatArray, bent: FloatArray, metric: FloatArray) -> FloatArray:
    top = np.einsum("ki,kij,kj->k", parts, bent, parts)
    bottom = np.einsum("ki,kij,kj->k", parts, metric, parts)
    return np.divide(top, bottom, out=np.full(len(parts), np.nan), where=bottom > 0)
