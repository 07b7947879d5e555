"""Drawn digits: pictures like MNIST's that need no files, to try things out and to test.

A digit is a few straight strokes. Each picture moves their ends, scales, slants and shifts them, and draws
them with its own thickness and contrast on a noisy ground. Random numbers come from `nalm.streams`, and all
else is arithmetic that every computer rounds alike, so that every pixel is the same everywhere.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import torch

from nalm.data.idx import SIDE
from nalm.streams import Purpose, counters, key, uniform

TRAIN, TEST = 3_000, 500
CHECKSUM = "e0a64ff46490c547"
"""The first digits of the SHA-256 of all pixels and labels: pictures that change are another set of data."""

# Corners of unbroken lines, each a column from 0 to 4 and a row from 0 to 6, row 0 on top.
_LINES: tuple[tuple[str, ...], ...] = (
    ("10 30 42 44 36 16 04 02 10",),
    ("02 20 26",),
    ("01 10 30 41 42 06 46",),
    ("01 10 30 41 42 33 44 45 36 16 05", "33 13"),
    ("36 30 04 44",),
    ("40 00 03 33 44 45 36 16 05",),
    ("40 20 02 05 16 36 45 44 33 13 04",),
    ("00 40 16",),
    ("10 30 41 42 33 13 02 01 10", "13 04 05 16 36 45 44 33"),
    ("43 33 13 02 01 10 30 41 44 26 16",),
)
_RANGES = {
    "width": (9.0, 15.0),
    "height": (14.0, 20.0),
    "slant": (-2.0, 5.0),
    "right": (-3.0, 3.0),
    "down": (-2.5, 2.5),
    "thickness": (1.5, 3.5),
    "contrast": (140.0, 255.0),
    "noise": (0.0, 60.0),
}
"""How pictures differ: in pixels, the last two in shades of grey."""
_WOBBLE = 0.12
"""The range in which a corner moves, as a fraction of the digit's size."""
_ORDER, _LOOK, _NOISE, _CORNERS = range(4)
"""What random numbers are for; those for the corners of the digits are the last ten."""


class _Glyph(NamedTuple):
    corners: np.ndarray
    """float32, `corners x 2`, from -0.5 to 0.5: across and down."""
    strokes: list[tuple[int, int]]
    """The corners that each stroke joins."""


def make() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Images and labels for training, then for testing: uint8, `n x 28 x 28` and `n`."""
    return *_pictures(TRAIN, part=0), *_pictures(TEST, part=1)


def _pictures(n: int, part: int) -> tuple[np.ndarray, np.ndarray]:
    """Equally many pictures of each digit, in random order."""
    labels = (np.arange(n) % 10).astype(np.uint8)[np.argsort(_random(part, _ORDER, n), kind="stable")]
    rolls = _random(part, _LOOK, len(_RANGES), n, 1, 1)
    look = {name: low + (high - low) * roll for (name, (low, high)), roll in zip(_RANGES.items(), rolls)}
    ink = np.empty((n, SIDE, SIDE), np.float32)
    for digit, lines in enumerate(_LINES):
        chosen, glyph = np.flatnonzero(labels == digit), _glyph(lines)
        moves = _random(part, _CORNERS + digit, len(chosen), *glyph.corners.shape) - 0.5
        mine = {name: values[chosen] for name, values in look.items()}
        ink[chosen] = _ink(glyph.corners + _WOBBLE * moves, glyph.strokes, mine)
    shades = look["contrast"] * ink + look["noise"] * (_random(part, _NOISE, n, SIDE, SIDE) - 0.5)
    return np.clip(np.rint(shades), 0, 255).astype(np.uint8), labels


def _random(part: int, step: int, *shape: int) -> np.ndarray:
    """Uniform numbers in (0, 1): float32 of `shape`."""
    stream = key(torch.zeros(1, dtype=torch.int32), Purpose.DATA, step, part)
    numbers: np.ndarray = uniform(stream, counters(*shape))[0].numpy()
    return numbers


def _glyph(lines: tuple[str, ...]) -> _Glyph:
    """Lines that meet share a corner, so that they still meet after it has moved."""
    paths = [line.split() for line in lines]
    names = sorted(set(itertools.chain(*paths)))
    corners = np.array([(int(name[0]) / 4, int(name[1]) / 6) for name in names], np.float32) - 0.5
    pairs = itertools.chain(*map(itertools.pairwise, paths))
    return _Glyph(corners, [(names.index(start), names.index(end)) for start, end in pairs])


def _ink(corners: np.ndarray, strokes: list[tuple[int, int]], look: dict[str, np.ndarray]) -> np.ndarray:
    """How much of each pixel is covered, from 0 to 1: `n x 28 x 28`, from corners `n x corners x 2`."""
    across, down = corners[..., :1], corners[..., 1:]
    x = SIDE / 2 + look["right"] + look["width"] * across - look["slant"] * down
    y = SIDE / 2 + look["down"] + look["height"] * down
    nearest = np.full((len(corners), SIDE, SIDE), np.inf, np.float32)
    for start, end in strokes:
        squared = _squared_distances(x[:, [start]], y[:, [start]], x[:, [end]], y[:, [end]])
        np.minimum(nearest, squared, out=nearest)
    return np.clip(look["thickness"] / 2 + 0.5 - np.sqrt(nearest), 0, 1)


def _squared_distances(x0: np.ndarray, y0: np.ndarray, x1: np.ndarray, y1: np.ndarray) -> np.ndarray:
    """From the middle of each pixel to a stroke: `n x 28 x 28`, from ends `n x 1 x 1`."""
    middles = np.arange(SIDE, dtype=np.float32) + np.float32(0.5)
    x, y = middles - x0, middles[:, None] - y0
    dx, dy = x1 - x0, y1 - y0
    along = np.clip((x * dx + y * dy) / (dx * dx + dy * dy), 0, 1)  # no two corners are in one place
    return np.square(x - along * dx) + np.square(y - along * dy)
