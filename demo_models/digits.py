"""`digits`: a small residual network on scikit-learn's 8x8 handwritten digits, which come with the package.

Every method trains this well over a wide range of learning rates: an honest counterexample to the need of warmup.
"""

from functools import lru_cache
from typing import cast

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

from demo_models.classification import accuracy, cross_entropy
from demo_models.initial import seeded
from demo_models.resnet import ResNet, make_cifar_resnet, resnet_group, resnet_layer
from demo_models.shuffled import shuffled_indices

Batch = tuple[Tensor, ...]

_CLASSES = 10
_HELD_OUT = 360  # of 1797 images: a fifth, the same in every race
_SPLIT_SEED = 2020


class Digits:
    """1437 images to learn from, standardised by their own mean and deviation, and 360 to be judged on."""

    def __init__(self, depth: int, width: int) -> None:
        self.depth, self.width = depth, width
        images, labels = _shuffled_digits()
        self.train = images[_HELD_OUT:], labels[_HELD_OUT:]
        self.held_out = images[:_HELD_OUT], labels[:_HELD_OUT]

    def make_model(self, seed: int) -> nn.Module:
        with seeded(seed):
            return make_cifar_resnet(1, _CLASSES, self.depth, self.width)

    def batch(self, seed: int, step: int, size: int) -> Batch:
        images, labels = self.train
        chosen = torch.from_numpy(shuffled_indices(len(labels), seed, step, size))
        return images[chosen], labels[chosen]

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        images, labels = batch
        return cross_entropy(model(images), labels)

    def evaluate(self, model: nn.Module) -> dict[str, Tensor]:
        return {"accuracy": accuracy(cast(ResNet, model), [self.held_out])}

    def group(self, parameter: str) -> str:
        return resnet_group(parameter)

    def layer(self, parameter: str) -> str:
        return resnet_layer(parameter)


@lru_cache
def _shuffled_digits() -> tuple[Tensor, Tensor]:
    bundled = load_digits()
    order = np.random.default_rng(_SPLIT_SEED).permutation(len(bundled.target))
    images = torch.from_numpy(bundled.images[order]).unsqueeze(1).float()
    train = images[_HELD_OUT:]
    return (images - train.mean()) / train.std(), torch.from_numpy(bundled.target[order])


def open_problem(depth: int, width: int) -> Digits:
    return Digits(depth, width)
