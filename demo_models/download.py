"""Fetching a file of known size and checksum: it appears under its name whole and right, or not at all."""

import hashlib
import http.client
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO

from demo_models.image_files import DataFileError

_CHUNK = 1 << 18
_SILENCE_SECONDS = 30.0
_BAR_WIDTH = 30

Progress = Callable[[int, int], None]
"""Called with the bytes that have arrived and the bytes that will."""


@dataclass(frozen=True)
class RemoteFile:
    """A published file: where it is, and what makes it the right one."""

    name: str
    url: str
    size: int  # in bytes
    sha256: str


def download(file: RemoteFile, directory: Path, progress: Progress = lambda arrived, total: None) -> Path:
    """Bring the file into the directory; one that is there and right is not fetched again."""
    target = directory / file.name
    if target.is_file() and sha256_of(target) == file.sha256:
        progress(file.size, file.size)
        return target
    directory.mkdir(parents=True, exist_ok=True)
    # In the target's own directory, so that the rename is one atomic act; gone by itself if anything fails.
    with tempfile.NamedTemporaryFile(dir=directory, prefix=f".{file.name}.", suffix=".part", delete=False) as partial:
        try:
            _fetch(file, partial.file, progress)
            partial.close()
            Path(partial.name).replace(target)
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            advice = f"try again, or bring it to {target} by other means"
            raise DataFileError(f"{file.name} could not be fetched from {file.url} ({error}): {advice}") from error
        finally:
            Path(partial.name).unlink(missing_ok=True)
    return target


def check_sha256(path: Path, expected: str) -> None:
    """Refuse a file that is not the published one."""
    actual = sha256_of(path)
    if actual != expected:
        raise DataFileError(f"{path} must have SHA-256 {expected}, got {actual}: it is damaged or another file")


def sha256_of(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _fetch(file: RemoteFile, sink: IO[bytes], progress: Progress) -> None:
    if not file.url.startswith(("https://", "http://")):
        raise DataFileError(f"url must start with https:// or http://, got {file.url!r}")
    digest, arrived = hashlib.sha256(), 0
    with urllib.request.urlopen(file.url, timeout=_SILENCE_SECONDS) as response:
        while chunk := response.read(_CHUNK):
            arrived += len(chunk)
            if arrived > file.size:
                raise DataFileError(f"{file.url} must give {file.size} bytes, but it goes on")
            digest.update(chunk)
            sink.write(chunk)
            progress(arrived, file.size)
    if arrived < file.size:
        raise DataFileError(f"{file.url} must give {file.size} bytes, but ended after {arrived}: try again")
    if digest.hexdigest() != file.sha256:
        raise DataFileError(f"{file.url} must have SHA-256 {file.sha256}, got {digest.hexdigest()}: nothing was kept")


def progress_bar(name: str, stream: TextIO | None = None) -> Progress:
    """A one-line bar with the time left; where the output is not a terminal, the last state alone."""
    out = stream or sys.stderr
    start, last = time.monotonic(), 0.0

    def show(arrived: int, total: int) -> None:
        nonlocal last
        now, done = time.monotonic(), arrived >= total
        if not done and (not out.isatty() or now - last < 0.1):
            return
        last = now
        share = arrived / total
        left = "done" if done else f"{(now - start) * (1 - share) / share:.0f} s left"
        bar = "#" * round(_BAR_WIDTH * share)
        end = "\n" if done else ""
        out.write(f"\r{name} [{bar:<{_BAR_WIDTH}}] {arrived / 1e6:.1f} of {total / 1e6:.1f} MB, {left}   {end}")
        out.flush()

    return show
