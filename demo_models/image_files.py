"""CIFAR-10's binary batches and Fashion-MNIST's IDX files, read strictly.

Nothing is unpickled, nothing is unpacked to disk, and no number in a file decides how much memory is used: the caller
says what must be there, and a file that holds less, more or something else is refused with its name. So an archive
that is hostile (a bomb, a link, a path that climbs) can at worst be refused.
"""

import gzip
import io
import struct
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

CLASSES = 10  # of both sets
CIFAR_SHAPE = (3, 32, 32)  # red, green and blue planes, row by row, after one byte of label
IDX_UNSIGNED_BYTES = 0x08
_TAR_BLOCK = 512
_CHUNK = 1 << 20


class DataFileError(ValueError):
    """A data file that is missing, cut short, too long, or not what its name says."""


class LabelledImages(NamedTuple):
    """Pixels [count, channels, height, width] from 0 to 255, and the class of each image."""

    pixels: Bytes
    labels: Bytes


def read_idx(source: BinaryIO, name: str, shape: tuple[int, ...]) -> Bytes:
    """An IDX file of unsigned bytes: two zeros, the type, the number of dimensions, each size, then the values."""
    magic = _read_exactly(source, 4, name)
    expected = bytes((0, 0, IDX_UNSIGNED_BYTES, len(shape)))
    if magic != expected:
        raise DataFileError(f"{name} must start with the bytes {expected.hex(' ')} (IDX), got {magic.hex(' ')}")
    sizes = struct.unpack(f">{len(shape)}I", _read_exactly(source, 4 * len(shape), name))
    if sizes != shape:
        raise DataFileError(f"{name} must hold {_times(shape)} values, got a header for {_times(sizes)}")
    values = _read_exactly(source, int(np.prod(shape)), name)
    _expect_end(source, name)
    return np.frombuffer(values, dtype=np.uint8).reshape(shape)


def read_idx_labels(source: BinaryIO, name: str, count: int) -> Bytes:
    """The labels of `count` images."""
    return _checked_labels(read_idx(source, name, (count,)), name)


def read_cifar_batch(source: BinaryIO, name: str, count: int) -> LabelledImages:
    """One batch of CIFAR-10's binary version: `count` records of a label and its 3072 pixels, and no header."""
    record = 1 + int(np.prod(CIFAR_SHAPE))
    records = np.frombuffer(_read_exactly(source, count * record, name), dtype=np.uint8).reshape(count, record)
    _expect_end(source, name)
    return LabelledImages(records[:, 1:].reshape(count, *CIFAR_SHAPE), _checked_labels(records[:, 0], name))


def read_cifar_archive(source: BinaryIO, name: str, counts: Mapping[str, int]) -> dict[str, LabelledImages]:
    """The batches named in `counts` out of the tar.gz archive, by the last part of their path.

    Only regular files are looked at, and they are parsed where they stand in the stream. Decompression ends a little
    after the size that the batches have, however much the archive would give.
    """
    record = 1 + int(np.prod(CIFAR_SHAPE))
    most = sum(count * record + 4 * _TAR_BLOCK for count in counts.values()) + _CHUNK
    found: dict[str, LabelledImages] = {}
    with _corruption_named(name), gzip.open(source, "rb") as inner:
        unpacked = _Bounded(inner, most, name)
        for archive, member in _members(unpacked):
            batch = member.name.rsplit("/", 1)[-1]
            if batch not in counts:
                continue
            content = archive.extractfile(member) if member.isreg() else None
            if content is None:
                raise DataFileError(f"{name}: {member.name} must be a regular file inside the archive")
            if batch in found:
                raise DataFileError(f"{name}: {batch} must be in the archive once, got it twice")
            found[batch] = read_cifar_batch(_as_binary(content), f"{name}: {batch}", counts[batch])
        while unpacked.read():  # to the gzip's own checksum, which comes last
            pass
    missing = sorted(set(counts) - set(found))
    if missing:
        raise DataFileError(f"{name} must hold {', '.join(counts)}, got none called {', '.join(missing)}")
    return found


@contextmanager
def open_maybe_gzipped(source: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """The content of a file that may be compressed, told by its name; damage is reported with that name."""
    with _corruption_named(name):
        if not name.endswith(".gz"):
            yield source
            return
        with gzip.open(source, "rb") as inner:
            yield _as_binary(inner)


def concatenated(batches: Sequence[LabelledImages]) -> LabelledImages:
    return LabelledImages(*(np.concatenate(parts) for parts in zip(*batches, strict=True)))


class _Bounded(io.RawIOBase):
    """A stream that gives no more than `most` bytes, which is what a compressed file may unpack to, and that refuses to
    be asked again and again after its end, as tarfile does to skip a member that claims to be endless."""

    def __init__(self, source: gzip.GzipFile, most: int, name: str) -> None:
        self._source, self._left, self._most, self._name = source, most, most, name
        self._patience = 100

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = min(size, _CHUNK) if size >= 0 else _CHUNK
        data = self._source.read(wanted)
        self._left -= len(data)
        if self._left < 0:
            raise DataFileError(f"{self._name} must unpack to at most {self._most} bytes, got more")
        if not data:
            self._patience -= 1
            if self._patience < 0:
                raise DataFileError(f"{self._name} must hold its members whole, but one goes on after the end")
        return data


def _members(unpacked: _Bounded) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    with tarfile.open(fileobj=unpacked, mode="r|") as archive:
        for member in archive:
            yield archive, member


def _as_binary(stream: object) -> BinaryIO:
    return stream  # type: ignore[return-value]  # gzip and tarfile give binary streams that typeshed calls otherwise


@contextmanager
def _corruption_named(name: str) -> Iterator[None]:
    """What gzip and tarfile raise for damaged files, as our error with the file's name."""
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError, tarfile.TarError) as error:
        raise DataFileError(f"{name} is damaged: {error}") from error


def _read_exactly(source: BinaryIO, size: int, name: str) -> bytes:
    """Exactly `size` bytes, gathered by the chunk so that a short file never costs a long buffer."""
    parts, missing = [], size
    while missing:
        part = source.read(min(missing, _CHUNK))
        if not part:
            raise DataFileError(f"{name} must go on for {missing} more bytes, but it is cut short")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _expect_end(source: BinaryIO, name: str) -> None:
    if source.read(1):
        raise DataFileError(f"{name} must end after its last record, but it goes on")


def _checked_labels(labels: Bytes, name: str) -> Bytes:
    if labels.size and labels.max() >= CLASSES:
        raise DataFileError(f"{name}: labels must be 0 to {CLASSES - 1}, got {labels.max()}")
    return labels


def _times(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))
