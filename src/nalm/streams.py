"""Counter-based random numbers: a pure function of (seed, purpose, part, step, element).

There is no state. Any number of any step can be recomputed, and the numbers of a run depend on its own
seed alone, regardless of which runs share its batch.

A stream is named by a 64-bit key per model, mixed thoroughly from seed, purpose, part and step. An element
of the stream is a counter that passes through two multiply-xorshift rounds, one half of the key injected
before each. The rounds use the constants of a published low-bias 32-bit hash (C. Wellons, "Prospecting for
hash functions", 2018: `lowbias32`); the last xorshift is dropped because only the high bits are used.

Everything is 32-bit integer arithmetic that wraps, the only kind that vectorises well in compiled programs.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import NamedTuple

import torch
from torch import Tensor

from nalm.errors import ArgumentError

MAX_SEED = 2**31 - 1


class Purpose(IntEnum):
    """What a stream is for: streams of different purposes are independent."""

    INIT = 1
    DATA = 2
    VALIDATION = 3
    TEST = 4
    NOISE = 5
    GRADIENT_NOISE = 6
    REINIT = 7
    TASK = 8


class Key(NamedTuple):
    """The name of one stream per model: two int32 tensors of shape `models`."""

    first: Tensor
    second: Tensor


def _int32(value: int) -> int:
    """`value` modulo 2**32 as a signed number, the way int32 tensors hold it."""
    return (value + 2**31) % 2**32 - 2**31


_GOLDEN = _int32(0x9E3779B9)
_FIRST = _int32(0x7FEB352D)
_SECOND = _int32(0x846CA68B)


def _shift_right(x: Tensor, bits: int) -> Tensor:
    """Logical shift: torch's `>>` copies the sign bit, the mask removes the copies."""
    return (x >> bits) & ((1 << (32 - bits)) - 1)


def _scramble(h: Tensor) -> Tensor:
    """The full three-step hash: every input bit reaches every output bit."""
    h = (h ^ _shift_right(h, 16)) * _FIRST
    h = (h ^ _shift_right(h, 15)) * _SECOND
    return h ^ _shift_right(h, 16)


def key(seed: Tensor, purpose: Tensor | int, step: Tensor | int, part: int = 0) -> Key:
    """Name the streams of `models` runs.

    Args:
        seed: int32, shape `models`.
        purpose: what the numbers are for (see `Purpose`); int32 of shape `models`, or one purpose for all.
        step: int32, shape `models`, or one number for all.
        part: distinguishes streams of one purpose, such as the parameters of a model.
    """
    label = torch.as_tensor(purpose, dtype=torch.int32) * _int32(0x85EBCA6B) + _int32(part * 0xC2B2AE35)
    h = _scramble(seed * _GOLDEN + label)
    first = _scramble((h ^ step) + _GOLDEN)
    second = _scramble((first + label) ^ _scramble(h + step * _FIRST))
    return Key(first, second)


def counters(*shape: int, device: torch.device | str | None = None) -> Tensor:
    """The elements 0, 1, 2, … of a stream, spread over the 32-bit circle: int32 of `shape`."""
    # The stride is odd, so that no two elements below 2**32 coincide; the product wraps like all others here.
    return (torch.arange(math.prod(shape), dtype=torch.int32, device=device) * _GOLDEN).reshape(shape)


def _bits(stream: Key, elements: Tensor) -> Tensor:
    """32 random bits per element, the high bits being the better ones. Shape `models x *elements`."""
    shape = stream.first.shape + (1,) * elements.dim()
    h = elements ^ stream.first.reshape(shape)
    h = (h ^ _shift_right(h, 16)) * _FIRST
    h = h ^ stream.second.reshape(shape)
    return (h ^ _shift_right(h, 15)) * _SECOND


def uniform(stream: Key, elements: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Uniform numbers in (0, 1), shape `models x *elements`: midpoints of 2**23 bins, in float64 of 2**52.

    Midpoints are symmetric about 1/2 and hit neither an end nor the middle: a range such as (-2, 2) never
    gives an exact zero to divide by.
    """
    # The signed shift gives -1/2 … 1/2; adding 1/2 is exact and saves masking the sign.
    high = (_bits(stream, elements) >> 9).to(dtype) * 2.0**-23
    if dtype == torch.float64:
        low = _shift_right(_bits(Key(stream.second, stream.first), elements), 3).to(dtype) * 2.0**-52
        return high + low + (0.5 + 2.0**-53)
    return high + (0.5 + 2.0**-24)


def normal(stream: Key, elements: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Standard normal numbers by inversion, shape `models x *elements`."""
    return standard_normal(uniform(stream, elements, dtype))


def standard_normal(u: Tensor) -> Tensor:
    """The standard normal quantile of uniform numbers; an exact 0 is moved inside, to stay finite."""
    return torch.erfinv(2 * u.clamp(min=torch.finfo(u.dtype).eps / 4) - 1) * math.sqrt(2)


def check_seed(seed: int) -> int:
    """Return `seed` if it is valid; otherwise raise."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= MAX_SEED:
        raise ArgumentError("seed", f"a whole number from 0 to {MAX_SEED}", repr(seed))
    return seed
