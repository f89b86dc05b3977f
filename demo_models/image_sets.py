"""Where CIFAR-10 and Fashion-MNIST come from, how a copy on disk is found and checked, and how to get one."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from demo_models.download import Progress, RemoteFile, check_sha256, download
from demo_models.image_files import (
    CIFAR_SHAPE,
    Bytes,
    DataFileError,
    LabelledImages,
    concatenated,
    open_maybe_gzipped,
    read_cifar_archive,
    read_cifar_batch,
    read_idx,
    read_idx_labels,
)

DATA_VARIABLE = "RADAM_LAB_DATA"
_CIFAR_TRAIN = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
_CIFAR_TEST = "test_batch.bin"
_CIFAR_FOLDER = "cifar-10-batches-bin"  # inside the archive, so where people have unpacked it


class ImageSplits(NamedTuple):
    train: LabelledImages
    test: LabelledImages


@dataclass(frozen=True)
class ImageSet:
    """A set of images: what the files must be, and how they are read from a directory that has them."""

    name: str
    title: str
    shape: tuple[int, int, int]  # channels, height, width
    files: tuple[RemoteFile, ...]
    read: "Callable[[ImageSet, Path], ImageSplits]"
    counts: tuple[int, int]  # images to train and to test on
    mean: tuple[float, ...]  # of the training pixels by channel, black being 0 and white 1
    std: tuple[float, ...]
    unpacked: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of files inside an archive, where known

    @property
    def checksums(self) -> dict[str, str]:
        return {file.name: file.sha256 for file in self.files} | dict(self.unpacked)

    @property
    def how_to_get(self) -> str:
        return f"get it with: python -m demo_models.images download {self.name}"


def data_directory(setting: str | Path | None = None) -> Path:
    """The directory of the user's data: as given, or from the environment, or the user's cache."""
    chosen = setting or os.environ.get(DATA_VARIABLE) or "~/.cache/radam-lab"
    try:
        return Path(chosen).expanduser()
    except RuntimeError as error:  # no such home
        raise DataFileError(f"directory must be a path, got {str(chosen)!r}: {error}") from None


def load(image_set: ImageSet, directory: Path) -> ImageSplits:
    """All images of a set, or an error that names the file at fault and how to get a right one."""
    try:
        return image_set.read(image_set, directory)
    except (DataFileError, OSError) as error:
        raise DataFileError(f"{image_set.title}: {error}; {image_set.how_to_get} --dir {directory}") from error


def fetch(image_set: ImageSet, directory: Path, progress: Callable[[str], Progress]) -> list[Path]:
    """Download the files of a set into its own folder of the directory, each checked before it gets its name."""
    return [download(file, directory / image_set.name, progress(file.name)) for file in image_set.files]


def _read_cifar(image_set: ImageSet, directory: Path) -> ImageSplits:
    train_count, test_count = image_set.counts
    counts = dict.fromkeys(_CIFAR_TRAIN, train_count // len(_CIFAR_TRAIN)) | {_CIFAR_TEST: test_count}
    (archive,) = image_set.files
    path = _find(image_set, directory, archive.name, _CIFAR_TRAIN[0], f"{_CIFAR_FOLDER}/{_CIFAR_TRAIN[0]}")
    if path.name == archive.name:
        with path.open("rb") as source:
            batches = read_cifar_archive(source, str(path), counts)
    else:
        batches = {}
        for name, count in counts.items():
            batch = _find(image_set, path.parent, name)
            with batch.open("rb") as source:
                batches[name] = read_cifar_batch(source, str(batch), count)
    return ImageSplits(concatenated([batches[name] for name in _CIFAR_TRAIN]), batches[_CIFAR_TEST])


def _read_fashion(image_set: ImageSet, directory: Path) -> ImageSplits:
    def read(name: str, *shape: int) -> Bytes:
        path = _find(image_set, directory, f"{name}.gz", name)
        with path.open("rb") as source, open_maybe_gzipped(source, str(path)) as unpacked:
            return read_idx(unpacked, str(path), shape) if shape[1:] else read_idx_labels(unpacked, str(path), *shape)

    size = image_set.shape[1:]
    return ImageSplits(
        *(
            LabelledImages(
                read(f"{prefix}-images-idx3-ubyte", count, *size)[:, None], read(f"{prefix}-labels-idx1-ubyte", count)
            )
            for prefix, count in zip(("train", "t10k"), image_set.counts, strict=True)
        )
    )


def _find(image_set: ImageSet, directory: Path, *names: str) -> Path:
    """The first of the names that is in the set's folder or in the directory itself, its checksum compared if known."""
    for folder in (directory / image_set.name, directory):
        for name in names:
            path = folder / name
            if path.is_file():
                if path.name in image_set.checksums:
                    check_sha256(path, image_set.checksums[path.name])
                return path
    raise DataFileError(f"there is no {names[0]} in {directory / image_set.name} or {directory}")


def _remote(base: str, files: dict[str, tuple[int, str]]) -> tuple[RemoteFile, ...]:
    return tuple(RemoteFile(name, f"{base}/{name}", size, sha256) for name, (size, sha256) in files.items())


# The publishers give MD5 (CIFAR-10 c32a1d4ab5d03f1284b67883e8d87530; Fashion-MNIST in its README). These are the
# SHA-256 of the same files, since MD5 no longer proves anything against somebody who means harm.
IMAGE_SETS: dict[str, ImageSet] = {
    image_set.name: image_set
    for image_set in (
        ImageSet(
            name="cifar10",
            title="CIFAR-10",
            shape=CIFAR_SHAPE,
            counts=(50_000, 10_000),
            mean=(0.4914, 0.4822, 0.4465),
            std=(0.2470, 0.2435, 0.2616),
            files=_remote(
                "https://www.cs.toronto.edu/~kriz",
                {
                    "cifar-10-binary.tar.gz": (
                        170_052_171,
                        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
                    )
                },
            ),
            unpacked={
                "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
                "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
                "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
                "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
                "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
                "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
            },
            read=_read_cifar,
        ),
        ImageSet(
            name="fashion-mnist",
            title="Fashion-MNIST",
            shape=(1, 28, 28),
            counts=(60_000, 10_000),
            mean=(0.2860,),
            std=(0.3530,),
            files=_remote(
                "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
                {
                    "train-images-idx3-ubyte.gz": (
                        26_421_880,
                        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                    ),
                    "train-labels-idx1-ubyte.gz": (
                        29_515,
                        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                    ),
                    "t10k-images-idx3-ubyte.gz": (
                        4_422_102,
                        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                    ),
                    "t10k-labels-idx1-ubyte.gz": (
                        5_148,
                        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
                    ),
                },
            ),
            read=_read_fashion,
        ),
    )
}
