"""`surfaces`: two parameters on a landscape with a known minimum, and noise on the gradient instead of data."""

import numpy as np
import torch
from torch import Tensor, nn

from demo_models.landscapes import SURFACES, Surface

Batch = tuple[Tensor, ...]


class Point(nn.Module):
    """Where the run stands; the model has no other parameters."""

    def __init__(self, start: tuple[float, float]) -> None:
        super().__init__()
        self.position = nn.Parameter(torch.tensor(start))

    def forward(self) -> Tensor:
        return self.position


class Landscape:
    def __init__(self, surface: Surface, noise: float, condition: float) -> None:
        self.surface, self.noise, self.condition = surface, noise, condition

    def make_model(self, seed: int) -> nn.Module:  # noqa: ARG002 - a task's form; every seed starts at the same place
        return Point(self.surface.start)

    def batch(self, seed: int, step: int, size: int) -> Batch:
        """One draw of the gradient's noise for each example: their mean is what a step sees."""
        return (torch.from_numpy(self.noise * np.random.default_rng((seed, step)).standard_normal((size, 2))).float(),)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """f, whose gradient is that of f plus the mean noise: the second term is zero, but for its gradient."""
        p, noise = model(), batch[0].mean(-2)
        return self._value(p) + ((p - p.detach()) * noise).sum(-1)

    def _value(self, p: Tensor) -> Tensor:
        return self.surface.f(p[..., 0], p[..., 1], self.condition)

    def evaluate(self, model: nn.Module) -> dict[str, Tensor]:
        p = model()
        return {"distance": torch.linalg.vector_norm(p - p.new_tensor(self.surface.minimum), dim=-1)}

    def group(self, parameter: str) -> str:
        return parameter


def open_problem(surface: str, noise: float, condition: float) -> Landscape:
    return Landscape(SURFACES[surface], noise, condition)
