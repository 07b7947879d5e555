"""Files of the IDX format, in which MNIST comes: a magic number, the sizes, then one byte per value.

Numbers of the heading are unsigned, 32 bits, high byte first. The magic number says that values are bytes
(0x08) and how many sizes follow: LeCun, Cortes & Burges, "The MNIST database of handwritten digits".
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np

from nalm.errors import NalmError

SIDE = 28
"""Pictures have this many rows and columns."""
_GZIP = b"\x1f\x8b"
_IMAGES, _LABELS = 0x0803, 0x0801


class DataError(NalmError):
    """A file of data is missing, cannot be fetched, or does not hold what it should."""


def read_images(path: Path) -> np.ndarray:
    """The pictures in a file, gzipped or not: uint8, `n x 28 x 28`."""
    return images_in(raw_bytes(path), path)


def read_labels(path: Path) -> np.ndarray:
    """The labels in a file, gzipped or not: uint8, `n`."""
    return labels_in(raw_bytes(path), path)


def raw_bytes(path: Path, called: str | None = None) -> bytes:
    """What is in a file, unzipped if it is gzipped, whatever its name: browsers unzip and keep the name.

    Args:
        path: the file.
        called: what errors call it, if not by its path.
    """
    where = called or path
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"Expected a readable file at {where}, but found: {error.strerror}.") from None
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"Expected a whole gzip file at {where}, but found a damaged one: {error}.") from None


def images_in(raw: bytes, path: Path) -> np.ndarray:
    """The pictures in unzipped bytes: uint8, `n x 28 x 28`. Errors name `path`."""
    sizes = _sizes(raw, path, "images", _IMAGES)
    if sizes[1:] != (SIDE, SIDE):
        found = f"{sizes[1]} x {sizes[2]}"
        raise DataError(f"Expected images of {SIDE} x {SIDE} pixels in {path}, but found {found}.")
    return _values(raw, path, "images", sizes)


def labels_in(raw: bytes, path: Path) -> np.ndarray:
    """The labels in unzipped bytes: uint8, `n`. Errors name `path`."""
    return _values(raw, path, "labels", _sizes(raw, path, "labels", _LABELS))


def _sizes(raw: bytes, path: Path, what: str, magic: int) -> tuple[int, ...]:
    """The sizes in the heading, as many as the magic number says in its last byte."""
    dimensions = magic & 0xFF
    wanted = struct.pack(">I", magic)
    if len(raw) >= 4 and raw[:4] != wanted:
        begins = f"magic number {wanted.hex(' ')}"
        raise DataError(
            f"Expected IDX {what} ({begins}) in {path}, but found {raw[:4].hex(' ')} at its beginning."
        )
    heading = 4 + 4 * dimensions
    if len(raw) < heading:
        raise DataError(
            f"Expected IDX {what} with a heading of {heading} bytes in {path}, but found {_bytes(raw)}."
        )
    return struct.unpack_from(f">{dimensions}I", raw, 4)


def _values(raw: bytes, path: Path, what: str, sizes: tuple[int, ...]) -> np.ndarray:
    heading = 4 + 4 * len(sizes)
    expected = heading + math.prod(sizes)
    if len(raw) != expected:
        fault = "cut off" if len(raw) < expected else "with more at its end"
        raise DataError(
            f"Expected {expected:,} bytes (unzipped) for {sizes[0]:,} {what} in {path}, "
            f"but found a file {fault}: {_bytes(raw)}."
        )
    return (
        np.frombuffer(raw, dtype=np.uint8, offset=heading).reshape(sizes).copy()
    )  # a copy can be written to


def _bytes(raw: bytes) -> str:
    return f"{len(raw):,} byte{'' if len(raw) == 1 else 's'}"
