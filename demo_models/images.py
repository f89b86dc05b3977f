"""`images`: the paper's image experiments, for those who have CIFAR-10 or Fashion-MNIST, or fetch it:

    python -m demo_models.images download cifar10 [--dir DIR]

Training images are cropped at random after padding by four pixels, and flipped, as in the paper.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from demo_models.classification import accuracy, cross_entropy
from demo_models.download import progress_bar
from demo_models.image_files import CLASSES, Bytes, DataFileError, LabelledImages
from demo_models.image_sets import DATA_VARIABLE, IMAGE_SETS, ImageSet, ImageSplits, data_directory, fetch, load
from demo_models.initial import seeded
from demo_models.resnet import ResNet, make_cifar_resnet, make_resnet18, resnet_group, resnet_layer
from demo_models.shuffled import shuffled_indices

Batch = tuple[Tensor, ...]

_PADDING = 4
_EVALUATION_BATCH = 100  # less than a training batch, whose memory is there anyway
_CROPS = 1  # keeps the crops' random numbers apart from the permutations'


class Images:
    """Images from files and the residual network that learns them; pixels stay bytes until they are in a batch."""

    def __init__(
        self, image_set: ImageSet, splits: ImageSplits, depth: int, width: int, augment: bool, held_out: int
    ) -> None:
        self.image_set, self.train = image_set, splits.train
        self.held_out = LabelledImages(splits.test.pixels[:held_out], splits.test.labels[:held_out])
        self.depth, self.width, self.augment = depth, width, augment

    def make_model(self, seed: int) -> nn.Module:
        channels = self.image_set.shape[0]
        with seeded(seed):
            if self.depth == 18:
                return make_resnet18(channels, CLASSES, self.width)
            return make_cifar_resnet(channels, CLASSES, self.depth, self.width)

    def batch(self, seed: int, step: int, size: int) -> Batch:
        chosen = shuffled_indices(len(self.train.labels), seed, step, size)
        pixels = self.train.pixels[chosen]
        if self.augment:
            pixels = cropped_and_flipped(pixels, np.random.default_rng([seed, step, _CROPS]))
        return self._tensors(pixels, self.train.labels[chosen])

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        images, labels = batch
        return cross_entropy(model(images), labels)

    def evaluate(self, model: nn.Module) -> dict[str, Tensor]:
        return {"accuracy": accuracy(cast(ResNet, model), self._held_out_batches())}

    def group(self, parameter: str) -> str:
        return resnet_group(parameter)

    def layer(self, parameter: str) -> str:
        return resnet_layer(parameter)

    def _held_out_batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        pixels, labels = self.held_out
        for start in range(0, len(labels), _EVALUATION_BATCH):
            some = slice(start, start + _EVALUATION_BATCH)
            yield self._tensors(pixels[some], labels[some])

    def _tensors(self, pixels: Bytes, labels: Bytes) -> tuple[Tensor, Tensor]:
        mean, std = (torch.tensor(values).view(-1, 1, 1) for values in (self.image_set.mean, self.image_set.std))
        return (torch.from_numpy(pixels) / 255 - mean) / std, torch.from_numpy(labels.astype(np.int64))


def cropped_and_flipped(pixels: Bytes, rng: np.random.Generator) -> Bytes:
    """Each image padded with black, cut out again at a random place, and mirrored left to right half of the time."""
    count, channels, height, width = pixels.shape
    padded = np.pad(pixels, ((0, 0), (0, 0), (_PADDING, _PADDING), (_PADDING, _PADDING)))
    rows = rng.integers(0, 2 * _PADDING + 1, (count, 1)) + np.arange(height)
    columns = rng.integers(0, 2 * _PADDING + 1, (count, 1)) + np.arange(width)
    columns = np.where(rng.random((count, 1)) < 0.5, columns[:, ::-1], columns)
    image, channel = np.arange(count)[:, None, None, None], np.arange(channels)[None, :, None, None]
    return padded[image, channel, rows[:, None, :, None], columns[:, None, None, :]]


def open_problem(dataset: str, depth: int, width: int, augment: bool, held_out: int, directory: str) -> Images:
    """Reads and checks the files first: without them there is an error that says how to get them, and no training."""
    image_set = IMAGE_SETS[dataset]
    return Images(image_set, load(image_set, data_directory(directory)), depth, width, augment, held_out)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m demo_models.images", description="Get the files of `images`.")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("download", help="fetch a set of images and check it")
    command.add_argument("dataset", choices=tuple(IMAGE_SETS))
    command.add_argument("--dir", type=Path, help=f"where to (default: ${DATA_VARIABLE}, or ~/.cache/radam-lab)")
    options = parser.parse_args(arguments)
    image_set, directory = IMAGE_SETS[options.dataset], data_directory(options.dir)
    try:
        fetch(image_set, directory, progress_bar)
        train, test = load(image_set, directory)
    except (DataFileError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{image_set.title}: {len(train.labels)} images to train on and {len(test.labels)} to test on in {directory}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
