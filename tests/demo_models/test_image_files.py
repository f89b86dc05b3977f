"""Small files in the published formats, made here: good ones, cut ones, and ones that mean harm."""

import contextlib
import gzip
import io
import struct
import tarfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo_models.image_files import (
    DataFileError,
    open_maybe_gzipped,
    read_cifar_archive,
    read_cifar_batch,
    read_idx,
    read_idx_labels,
)

RECORD = 3073


def idx(values: np.ndarray) -> bytes:
    return bytes((0, 0, 8, values.ndim)) + struct.pack(f">{values.ndim}I", *values.shape) + values.tobytes()


def cifar(count: int, seed: int = 0) -> bytes:
    records = np.random.default_rng(seed).integers(0, 256, (count, RECORD), dtype=np.uint8)
    records[:, 0] %= 10
    return records.tobytes()


def tar_gz(members: list[tuple[str, bytes | tarfile.TarInfo]]) -> io.BytesIO:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, content in members:
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            data = b"" if isinstance(content, tarfile.TarInfo) else content
            info.name, info.size = name, len(data)
            archive.addfile(info, io.BytesIO(data))
    return io.BytesIO(gzip.compress(plain.getvalue(), 1))


IMAGES = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


def test_idx_gives_back_what_was_written():
    assert np.array_equal(read_idx(io.BytesIO(idx(IMAGES)), "images", (2, 3, 4)), IMAGES)
    labels = np.array([0, 9, 3], dtype=np.uint8)
    assert np.array_equal(read_idx_labels(io.BytesIO(idx(labels)), "labels", 3), labels)


def test_gzipped_idx_is_told_by_its_name():
    packed = io.BytesIO(gzip.compress(idx(IMAGES)))
    with open_maybe_gzipped(packed, "images.gz") as source:
        assert np.array_equal(read_idx(source, "images.gz", (2, 3, 4)), IMAGES)
    with open_maybe_gzipped(io.BytesIO(idx(IMAGES)), "images") as source:
        assert np.array_equal(read_idx(source, "images", (2, 3, 4)), IMAGES)


HUGE = 2**32 - 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "images must go on for 4 more bytes"),
        (idx(IMAGES)[:3], "images must go on for 1 more bytes"),
        (idx(IMAGES)[:9], "images must go on for 7 more bytes"),
        (idx(IMAGES)[:-1], "images must go on for 1 more bytes, but it is cut short"),
        (idx(IMAGES) + b"\0", "images must end after its last record"),
        (b"\0\0\x0d\x03" + idx(IMAGES)[4:], "must start with the bytes 00 00 08 03 (IDX), got 00 00 0d 03"),
        (b"\0\0\x08\x01" + idx(IMAGES)[4:], "got 00 00 08 01"),
        (b"\x80\x04\x95." + idx(IMAGES)[4:], "got 80 04 95 2e"),  # how a pickle starts
        (idx(IMAGES)[:4] + struct.pack(">3I", HUGE, HUGE, HUGE), f"got a header for {HUGE} x {HUGE} x {HUGE}"),
        (idx(IMAGES)[:4] + struct.pack(">3I", 0, 3, 4), "must hold 2 x 3 x 4 values, got a header for 0 x 3 x 4"),
    ],
)
def test_idx_refuses_what_is_not_exactly_right(content, message):
    with pytest.raises(DataFileError) as caught:
        read_idx(io.BytesIO(content), "images", (2, 3, 4))
    assert message in str(caught.value)


def test_labels_out_of_range_are_refused():
    with pytest.raises(DataFileError, match="labels: labels must be 0 to 9, got 10"):
        read_idx_labels(io.BytesIO(idx(np.array([1, 10], dtype=np.uint8))), "labels", 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(idx(IMAGES), mtime=0)[:-9], "images.gz is damaged"),
        (gzip.compress(idx(IMAGES), mtime=0)[:-5] + b"\0\0\0\0\0", "images.gz is damaged"),  # checksum inside the gzip
        (idx(IMAGES), "images.gz is damaged"),
        (gzip.compress(idx(IMAGES) + bytes(50_000_000)), "images.gz must end after its last record"),  # a bomb
    ],
)
def test_damaged_gzip_and_bombs_are_refused_by_name(content, message):
    with pytest.raises(DataFileError, match=message), open_maybe_gzipped(io.BytesIO(content), "images.gz") as source:
        read_idx(source, "images.gz", (2, 3, 4))


def test_cifar_batch_is_label_then_planes():
    content = bytearray(cifar(2))
    content[0], content[1], content[1 + 1024], content[1 + 2048 + 33] = 7, 11, 22, 33
    pixels, labels = read_cifar_batch(io.BytesIO(bytes(content)), "batch", 2)
    assert pixels.shape == (2, 3, 32, 32)
    assert labels.tolist() == [7, content[RECORD]]
    assert (pixels[0, 0, 0, 0], pixels[0, 1, 0, 0], pixels[0, 2, 1, 1]) == (11, 22, 33)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "batch must go on for 6146 more bytes"),
        (cifar(2)[:-1], "batch must go on for 1 more bytes"),
        (cifar(3), "batch must end after its last record"),
        (b"\x0a" + cifar(2)[1:], "batch: labels must be 0 to 9, got 10"),
    ],
)
def test_cifar_batch_refuses_what_is_not_exactly_right(content, message):
    with pytest.raises(DataFileError, match=message):
        read_cifar_batch(io.BytesIO(content), "batch", 2)


COUNTS = {"data_batch_1.bin": 2, "test_batch.bin": 1}
GOOD: list[tuple[str, bytes | tarfile.TarInfo]] = [
    ("cifar-10-batches-bin/batches.meta.txt", b"airplane\n"),
    ("cifar-10-batches-bin/data_batch_1.bin", cifar(2, 1)),
    ("cifar-10-batches-bin/test_batch.bin", cifar(1, 2)),
]


def link(kind: bytes, target: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo()
    info.type, info.linkname = kind, target
    return info


def test_cifar_archive_equals_its_batches(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = read_cifar_archive(tar_gz(GOOD), "archive", COUNTS)
    for (_, content), (name, count) in zip(GOOD[1:], COUNTS.items(), strict=True):
        expected = read_cifar_batch(io.BytesIO(content), name, count)
        assert all(np.array_equal(a, b) for a, b in zip(found[name], expected, strict=True))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (GOOD[:2], "must hold data_batch_1.bin, test_batch.bin, got none called test_batch.bin"),
        ([*GOOD, ("other/test_batch.bin", cifar(1))], "test_batch.bin must be in the archive once"),
        ([*GOOD[:2], ("x/test_batch.bin", link(tarfile.SYMTYPE, "/etc/hostname"))], "must be a regular file"),
        ([*GOOD[:2], ("x/test_batch.bin", link(tarfile.LNKTYPE, GOOD[1][0]))], "must be a regular file"),
        ([*GOOD[:2], ("x/test_batch.bin", link(tarfile.FIFOTYPE, ""))], "must be a regular file"),
        ([*GOOD[:2], ("x/test_batch.bin", cifar(2))], "archive: test_batch.bin must end after its last record"),
        ([*GOOD[:2], ("x/test_batch.bin", cifar(1)[:-1])], "archive: test_batch.bin must go on for 1 more bytes"),
        ([("zeros", bytes(5_000_000)), *GOOD], "archive must unpack to at most"),  # a bomb
    ],
)
def test_hostile_archives_are_refused_by_name(members, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataFileError, match=message):
        read_cifar_archive(tar_gz(members), "archive", COUNTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.GNUTYPE_SPARSE])
def test_a_member_that_claims_to_be_endless_is_refused_at_once(kind):
    """A regression: tarfile skips it in steps of 10 KB, even when the file has long ended."""
    info = tarfile.TarInfo("cifar-10-batches-bin/readme.html")
    info.size, info.type = 2**62, kind
    packed = gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(20_000))
    with pytest.raises(DataFileError, match="archive must hold its members whole, but one goes on after the end"):
        read_cifar_archive(io.BytesIO(packed), "archive", COUNTS)


def test_a_path_that_climbs_is_read_in_place_and_never_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    climbing = [(f"../../{name}", content) for name, content in GOOD]
    assert set(read_cifar_archive(tar_gz(climbing), "archive", COUNTS)) == set(COUNTS)
    assert not any((tmp_path.parent.parent / name).exists() for name, _ in GOOD)


PACKED = tar_gz(GOOD).getvalue()
PLAIN = gzip.decompress(PACKED)


@given(st.integers(0, len(PACKED) - 1))
def test_an_archive_cut_anywhere_is_refused(length):
    with pytest.raises(DataFileError):
        read_cifar_archive(io.BytesIO(PACKED[:length]), "archive", COUNTS)


@given(st.data())
def test_an_archive_with_damaged_headers_is_read_or_refused_but_never_crashes(data):
    damaged = bytearray(PLAIN)
    for _ in range(data.draw(st.integers(1, 4))):
        header = 512 * data.draw(st.sampled_from([0, 2, 16]))  # the three members' headers
        damaged[header + data.draw(st.integers(0, 511))] = data.draw(st.integers(0, 255))
        checksum = sum(damaged[header : header + 148]) + 8 * 32 + sum(damaged[header + 156 : header + 512])
        damaged[header + 148 : header + 156] = b"%06o\0 " % checksum
    with contextlib.suppress(DataFileError):
        found = read_cifar_archive(io.BytesIO(gzip.compress(bytes(damaged), 1)), "archive", COUNTS)
        assert set(found) == set(COUNTS)
