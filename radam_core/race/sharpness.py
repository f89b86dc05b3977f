"""How sharply a lane's loss bends where it stands: the largest eigenvalue of its Hessian on a batch, plain, and as
Adam sees it.

Gradient descent at a rate lr is stable along directions whose curvature is below 2/lr. Adam divides the gradient by
P = diag(sqrt(v-hat) + eps), so that what counts is the largest eigenvalue of P^(-1/2) H P^(-1/2); with momentum beta1
it must stay below (2 + 2 beta1) / ((1 - beta1) lr), 38/lr at 0.9 (Cohen et al. 2022, "Adaptive gradient methods at the
edge of stability").

Both are the largest values of a quotient, x'Hx / x'x and x'Hx / x'Px. They are searched for from below: the next
direction is the one in which the quotient rises most, and what is found is the best of all that were taken (Rayleigh
and Ritz). At the start, before the first update, both are searched for until they stand still. From then on the
measured steps take them by turns, with two directions each: the best one of last time, and one more.

H times a vector is the difference of two gradients, so that such a step takes three. They are of float64, a
thousand-millionth apart: in float32 they would have to be so far apart that thousands of ReLUs turn on or off between
them, and what those add is no curvature. (It was measured so before, and was wrong by up to fifty times.)
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from radam_core.race.frames import SHARPNESS
from radam_core.race.lanes import Lanes
from radam_core.race.problem import Batch

PLAIN, PRECONDITIONED = SHARPNESS
TURNS = (PRECONDITIONED, PLAIN)
PRODUCTS = 2  # of H with a vector
GRADIENTS = 1 + PRODUCTS  # at every step that is measured, but for the start
AT_START = 8  # products for each: six were enough in all races that were tried, where two found a tenth
APART = 1e-9  # of two gradients, in all parameters together
_LEAST = 1e-7  # a direction that the others contain but for this part of it adds nothing
FloatArray = NDArray[np.float64]
Loss = Callable[[nn.Module, Batch], Tensor]  # by lane


class Sharpness:
    """What is known of every lane's sharpest directions, from one measured step to the next."""

    def __init__(self, lanes: Lanes, products: int = PRODUCTS) -> None:
        self.lanes, self.products = lanes, products
        self.best: dict[str, Tensor] = {}  # [K, N] each
        self.turn = 0
        self._twin: Lanes | None = None  # of float64

    def keep(self, rows: Sequence[int]) -> None:
        self.best = {name: vectors[list(rows)] for name, vectors in self.best.items()}
        self._twin = None

    @torch.no_grad()
    def measure(self, loss: Loss, batch: Batch, divisor: Tensor, known: Tensor) -> dict[str, FloatArray]:
        """By lane, those of `SHARPNESS` whose turn it is, on a batch, given P and which coordinates have a gradient
        at all ([K, N] each). It leaves no trace in the lanes."""
        twin = self._twin = self._twin or self.lanes.in_double()
        known, divisor = known.to(twin.buffer.device), divisor.to(twin.buffer)
        batch = tuple(x.to(twin.buffer if x.is_floating_point() else twin.buffer.device) for x in batch)

        def losses() -> Tensor:
            return loss(twin.model, batch)

        gradient = self._gradient(twin, losses, None)
        metrics = {PRECONDITIONED: divisor, PLAIN: torch.ones_like(gradient)}

        def search(name: str, products: int) -> FloatArray:
            metric = metrics[name]
            direction = self.best.get(name, gradient / metric)
            vectors: list[Tensor] = []
            bent: list[Tensor] = []
            for _ in range(products):
                vectors.append(_unit(direction * known))
                bent.append((self._gradient(twin, losses, vectors[-1]) - gradient).mul_(known).div_(APART))
                values, parts = _largest(_gram(vectors, bent), _gram(vectors, [vector * metric for vector in vectors]))
                best = _combined(vectors, parts)
                direction = _combined(bent, parts) / metric - torch.as_tensor(values).to(best).unsqueeze(1) * best
            self.best[name] = best
            return values

        if not self.best:
            return {name: search(name, AT_START) for name in TURNS}
        name = TURNS[self.turn % len(TURNS)]
        self.turn += 1
        return {name: search(name, self.products)}

    def _gradient(self, twin: Lanes, losses: Callable[[], Tensor], towards: Tensor | None) -> Tensor:
        """Where the lanes are, or beside it."""
        twin.buffer.copy_(self.lanes.buffer)
        if towards is not None:
            twin.buffer.add_(towards, alpha=APART)
        found = torch.empty_like(twin.grad)
        with torch.enable_grad():
            twin.backward(losses(), found)
        return found


def _unit(vectors: Tensor) -> Tensor:
    norms = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return torch.where(norms > 0, vectors / norms, torch.zeros_like(vectors))


def _combined(vectors: list[Tensor], parts: FloatArray) -> Tensor:
    of_lane = torch.as_tensor(parts).to(vectors[0])
    return sum((vector * of_lane[:, i : i + 1] for i, vector in enumerate(vectors)), torch.zeros_like(vectors[0]))


def _gram(left: list[Tensor], right: list[Tensor]) -> FloatArray:
    """[K, i, j]: the products of each with each, by lane."""
    rows = [torch.stack([(a * b).sum(1) for b in right], 1) for a in left]
    return torch.stack(rows, 1).cpu().numpy()


def _largest(bent: FloatArray, metric: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By lane: the largest z with A x = z B x, and its x; nan and 0 for a lane whose numbers are not finite."""
    bent = (bent + bent.transpose(0, 2, 1)) / 2  # but for rounding it is
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
