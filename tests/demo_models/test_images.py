"""The image task on small sets in the published formats, found, checked and learnt from as the real ones are."""

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from demo_models import images
from demo_models.descriptions import IMAGES, PAPER_RUNS
from demo_models.download import RemoteFile
from demo_models.image_files import DataFileError, LabelledImages
from demo_models.image_sets import DATA_VARIABLE, IMAGE_SETS, ImageSplits, data_directory, load
from demo_models.images import Images, cropped_and_flipped, main
from radam_core.schedules import DECAYS
from tests.demo_models.plain_loops import largest_difference
from tests.demo_models.test_download import server
from tests.demo_models.test_image_files import cifar, idx, tar_gz

CIFAR_FILES = {f"data_batch_{n}.bin": cifar(2, n) for n in range(1, 6)} | {"test_batch.bin": cifar(3, 6)}
CIFAR_ARCHIVE = tar_gz([(f"cifar-10-batches-bin/{name}", content) for name, content in CIFAR_FILES.items()]).getvalue()
_RNG = np.random.default_rng(0)
FASHION_FILES = {
    f"{prefix}-{content}-ubyte": idx(_RNG.integers(0, 256 if len(shape) > 1 else 10, shape, dtype=np.uint8))
    for prefix, count in (("train", 10), ("t10k", 3))
    for content, shape in (("images-idx3", (count, 28, 28)), ("labels-idx1", (count,)))
}
FASHION_PACKED = {f"{name}.gz": gzip.compress(content) for name, content in FASHION_FILES.items()}


def small(name: str, contents: dict[str, bytes], unpacked: dict[str, bytes], base: str = "http://127.0.0.1:9"):
    """The published set's description, for ten training images and three test images."""
    files = tuple(
        RemoteFile(file, f"{base}/{file}", len(content), hashlib.sha256(content).hexdigest())
        for file, content in contents.items()
    )
    known = {file: hashlib.sha256(content).hexdigest() for file, content in unpacked.items()}
    return replace(IMAGE_SETS[name], counts=(10, 3), files=files, unpacked=known)


SMALL_CIFAR = small("cifar10", {"cifar-10-binary.tar.gz": CIFAR_ARCHIVE}, CIFAR_FILES)
SMALL_FASHION = small("fashion-mnist", FASHION_PACKED, {})


def write(directory: Path, contents: dict[str, bytes]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (directory / name).write_bytes(content)


@pytest.mark.parametrize(
    ("folder", "contents"),
    [
        ("cifar10", {"cifar-10-binary.tar.gz": CIFAR_ARCHIVE}),
        (".", {"cifar-10-binary.tar.gz": CIFAR_ARCHIVE}),
        ("cifar10", CIFAR_FILES),
        ("cifar-10-batches-bin", CIFAR_FILES),
        ("cifar10/cifar-10-batches-bin", CIFAR_FILES),
    ],
)
def test_cifar_is_found_packed_or_not(folder, contents, tmp_path):
    write(tmp_path / folder, contents)
    train, test = load(SMALL_CIFAR, tmp_path)
    records = np.frombuffer(b"".join(CIFAR_FILES.values()), dtype=np.uint8).reshape(13, 3073)
    assert np.array_equal(np.concatenate((train.labels, test.labels)), records[:, 0])
    assert np.array_equal(np.concatenate((train.pixels, test.pixels)).reshape(13, 3072), records[:, 1:])


@pytest.mark.parametrize("folder", ["fashion-mnist", "."])
@pytest.mark.parametrize("contents", [FASHION_PACKED, FASHION_FILES])
def test_fashion_is_found_packed_or_not(folder, contents, tmp_path):
    write(tmp_path / folder, contents)
    train, test = load(SMALL_FASHION, tmp_path)
    assert (train.pixels.shape, test.pixels.shape) == ((10, 1, 28, 28), (3, 1, 28, 28))
    assert train.pixels.tobytes() == FASHION_FILES["train-images-idx3-ubyte"][16:]
    assert test.labels.tobytes() == FASHION_FILES["t10k-labels-idx1-ubyte"][8:]


@pytest.mark.parametrize(
    ("image_set", "contents", "changes", "message"),
    [
        (SMALL_CIFAR, {}, {}, "there is no cifar-10-binary.tar.gz in"),
        (SMALL_CIFAR, CIFAR_FILES, {"test_batch.bin": None}, "there is no test_batch.bin in"),
        (SMALL_CIFAR, CIFAR_FILES, {"data_batch_3.bin": cifar(2, 99)}, "data_batch_3.bin must have SHA-256"),
        (SMALL_CIFAR, {"cifar-10-binary.tar.gz": CIFAR_ARCHIVE[:-1]}, {}, "cifar-10-binary.tar.gz must have SHA-256"),
        (SMALL_FASHION, FASHION_PACKED, {"t10k-labels-idx1-ubyte.gz": None}, "there is no t10k-labels-idx1-ubyte.gz"),
        (SMALL_FASHION, FASHION_PACKED, {"train-images-idx3-ubyte.gz": b"\x1f\x8b"}, "must have SHA-256"),
        (SMALL_FASHION, FASHION_FILES, {"train-labels-idx1-ubyte": bytes(9)}, "must start with the bytes 00 00 08 01"),
    ],
)
def test_a_missing_or_damaged_file_is_named_with_how_to_get_it(image_set, contents, changes, message, tmp_path):
    write(tmp_path, {name: content for name, content in (contents | changes).items() if content is not None})
    with pytest.raises(DataFileError) as caught:
        load(image_set, tmp_path)
    assert message in str(caught.value)
    assert f"get it with: python -m demo_models.images download {image_set.name} --dir {tmp_path}" in str(caught.value)


def test_the_task_refuses_to_open_without_its_files(tmp_path):
    with pytest.raises(DataFileError, match=r"CIFAR-10: there is no cifar-10-binary.tar.gz in .*; get it with: "):
        IMAGES.open({"directory": str(tmp_path)})


def test_the_data_directory_is_the_setting_then_the_environment_then_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "from environment"))
    assert data_directory(tmp_path) == tmp_path
    assert data_directory("") == tmp_path / "from environment"
    monkeypatch.delenv(DATA_VARIABLE)
    assert data_directory() == Path.home() / ".cache" / "radam-lab"


def test_the_published_sets_are_described_completely():
    for image_set in IMAGE_SETS.values():
        assert all(file.url.startswith("https://") and len(file.sha256) == 64 for file in image_set.files)
        assert len(image_set.mean) == len(image_set.std) == image_set.shape[0]
    assert set(IMAGE_SETS["cifar10"].unpacked) == set(CIFAR_FILES)
    assert {file.name for file in IMAGE_SETS["fashion-mnist"].files} == set(FASHION_PACKED)


def test_the_command_fetches_checks_and_says_so(tmp_path, monkeypatch, capsys):
    with server(CIFAR_ARCHIVE) as (url, asked):
        described = small("cifar10", {"cifar-10-binary.tar.gz": CIFAR_ARCHIVE}, {}, url.rsplit("/", 1)[0])
        monkeypatch.setitem(images.IMAGE_SETS, "cifar10", described)
        assert main(["download", "cifar10", "--dir", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert shown.out == f"CIFAR-10: 10 images to train on and 3 to test on in {tmp_path}\n"
    assert "done" in shown.err
    assert asked == ["/cifar-10-binary.tar.gz"]
    assert [path.name for path in (tmp_path / "cifar10").iterdir()] == ["cifar-10-binary.tar.gz"]


def test_the_command_says_what_went_wrong(tmp_path, monkeypatch, capsys):
    with server(status=503) as (url, _):
        described = small("cifar10", {"cifar-10-binary.tar.gz": CIFAR_ARCHIVE}, {}, url.rsplit("/", 1)[0])
        monkeypatch.setitem(images.IMAGE_SETS, "cifar10", described)
        assert main(["download", "cifar10", "--dir", str(tmp_path)]) == 1
    assert "cifar-10-binary.tar.gz could not be fetched from http://127.0.0.1" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.*"))


def problem(count: int = 40, **settings) -> Images:
    """Ten patterns of random pixels, one a class, with some noise."""
    rng = np.random.default_rng(1)
    patterns = rng.integers(0, 200, (10, 3, 32, 32))
    labels = np.arange(count, dtype=np.uint8) % 10
    pixels = (patterns[labels] + rng.integers(0, 56, (count, 3, 32, 32))).astype(np.uint8)
    both = LabelledImages(pixels, labels)
    chosen = {"depth": 8, "width": 4, "augment": True, "held_out": 20} | settings
    return Images(IMAGE_SETS["cifar10"], ImageSplits(both, both), **chosen)


@pytest.mark.parametrize("depth", [8, 18])
def test_each_lane_equals_a_plain_loop(depth):
    assert largest_difference(problem(depth=depth), lr=1e-3, batch_size=2) < 1e-9


def test_crops_and_flips_are_those_of_a_plain_loop_over_images():
    pixels = np.random.default_rng(0).integers(0, 256, (50, 3, 6, 5), dtype=np.uint8)
    found = cropped_and_flipped(pixels, np.random.default_rng(7))
    rng = np.random.default_rng(7)
    tops, lefts = rng.integers(0, 9, 50), rng.integers(0, 9, 50)
    flips = rng.random(50) < 0.5
    for image, result, top, left, flip in zip(pixels, found, tops, lefts, flips, strict=True):
        padded = np.zeros((3, 14, 13), dtype=np.uint8)
        padded[:, 4:10, 4:9] = image
        crop = padded[:, top : top + 6, left : left + 5]
        assert np.array_equal(result, crop[:, :, ::-1] if flip else crop)
    assert {0, 8} <= set(tops)
    assert 10 < flips.sum() < 40


def test_batches_are_standardised_augmented_by_step_and_repeatable():
    augmented, plain = problem(), problem(augment=False)
    first, again = augmented.batch(0, 1, 40), problem().batch(0, 1, 40)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], plain.batch(0, 1, 40)[0])
    assert torch.equal(first[1], plain.batch(0, 1, 40)[1])
    mean, std = (np.array(x).reshape(3, 1, 1) for x in (augmented.image_set.mean, augmented.image_set.std))
    shown, labels = plain.batch(0, 1, 40)
    pixels = np.rint((shown.numpy() * std + mean) * 255)
    order = np.array([np.abs(plain.train.pixels - image).reshape(40, -1).sum(1).argmin() for image in pixels])
    assert np.array_equal(pixels, plain.train.pixels[order])
    assert np.array_equal(labels, plain.train.labels[order])


def test_held_out_images_are_the_first_of_the_test_set_without_crops():
    found = problem(held_out=15)
    batches = list(found._held_out_batches())
    assert sum(len(labels) for _, labels in batches) == 15
    assert torch.equal(batches[0][0], problem(held_out=15, augment=False)._tensors(*found.held_out)[0])


def test_the_papers_runs_are_settings_that_the_task_takes():
    for run in PAPER_RUNS.values():
        assert IMAGES.check(run.settings)["depth"] in (18, 20)
        assert run.steps == 72_657  # 186 epochs of 50,000 images, 128 a step
        factor = DECAYS[run.decay](run.steps, 0)
        per_epoch = 50_000 / 128
        at = [81 * per_epoch - 1, 81 * per_epoch + 2, 122 * per_epoch - 1, 122 * per_epoch + 2]
        assert factor(np.round(at)).tolist() == pytest.approx([1, 0.1, 0.1, 0.01])
