"""Images for a page: whether they can be read without a download, and images as part of the page."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from torch import Tensor

from nalm.data import DataError, checksum_of, load_digits, mnist
from nalm.tasks.digits._base import DigitTask

_TINTS = np.array([[74, 168, 224], [255, 138, 61]]) / 255
"""Blue and orange, which everyone can tell apart, for the two channels of an image."""


def why_none(task: DigitTask, checksum: str) -> str:
    """Why the images of a task cannot be shown, in a sentence; empty if they can.

    Args:
        task: the task.
        checksum: identifies the images that its runs have seen.
    """
    if checksum != checksum_of(task.digits):
        return "The pictures are left out: the runs have seen other images than those that are here."
    if not at_hand(task.digits):
        return (
            "The pictures are left out, because the images of MNIST are not here and a report downloads "
            f"nothing. With {mnist.VARIABLE} set to their folder, it shows them."
        )
    try:
        load_digits(task.digits)
    except DataError as error:
        return f"The pictures are left out. {error}"
    return ""


def at_hand(name: str) -> bool:
    """Whether a set of digits can be loaded without a download."""
    where = mnist.place()
    if name != "mnist" or where.chosen:
        return True
    paths = ([where.folder / f"{file.name}{end}" for end in ("", ".gz")] for file in mnist.FILES)
    return all(any(path.is_file() for path in either) for either in paths)


def as_image(brightness: Tensor) -> str:
    """An image as an address that contains it: brightness from 0 to 1, `h x w`, or `2 x h x w` in colours."""
    levels = brightness.detach().double().numpy()
    if levels.ndim == 3:
        levels = np.einsum("chw,ck->hwk", levels, _TINTS)
    return png((255 * np.clip(levels, 0, 1)).round().astype(np.uint8))


def png(pixels: np.ndarray) -> str:
    """A PNG of bytes `h x w` (grey) or `h x w x 3` (red, green, blue) as an address that contains it."""
    height, width = pixels.shape[:2]
    kind = 0 if pixels.ndim == 2 else 2
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)  # every row begins with its filter: none
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    content = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
