"""Products over inputs, in memory that does not grow with batch x out x in.

Shapes: x `*batch x n x in`, weights `*batch x out x in`, result `*batch x n x out`. Inside, samples are the
last axis, as in `_functional`.

A product over few inputs is written out factor by factor, so that it fuses. Over many, a block `in x out x
n` is folded by multiplying halves, which has right gradients at zero factors, unlike dividing the product
by each. A block beyond `BLOCK` is cut into pieces, and each piece is computed again for its gradient
instead of kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from nalm.units._functional import UNROLLED

BLOCK = 8 << 20
"""Bytes of a piece. Forward and backward hold about five times as much; smaller pieces are slower."""

Factor = Callable[..., Tensor]
"""From samples and weights, shaped to broadcast against each other, to the factors of the product."""


def product(factor: Factor, samples: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """Product over inputs of factor(*samples, *weights), an elementwise function.

    Args:
        factor: the function.
        samples: what each sample has of its own, each `*batch x n x in`.
        weights: what all samples share, each `*batch x out x in`.
    """
    columns, rows = [x.mT for x in samples], [weight.mT for weight in weights]
    inputs = rows[0].shape[-2]
    if inputs > UNROLLED:
        return _folded(factor, columns, rows).mT
    factors = (
        factor(*(c[..., i, None, :] for c in columns), *(r[..., i, :, None] for r in rows))
        for i in range(inputs)
    )
    result = next(factors)
    for one in factors:
        result = result * one
    return result.mT


def gated_product(x: Tensor, weight: Tensor) -> Tensor:
    """Product over inputs of weight * x + 1 - weight (Madsen & Johansen 2020, equation 10)."""
    return product(gated, (x,), (weight,))


def gated(x: Tensor, weight: Tensor) -> Tensor:
    """weight * x + 1 - weight, written such that it is exactly x at weight 1 and exactly 1 at weight 0."""
    return weight * x + (1 - weight)


def _folded(factor: Factor, columns: list[Tensor], rows: list[Tensor]) -> Tensor:
    """The product over many inputs: columns `*batch x in x n`, rows `*batch x in x out`."""

    def piece(*tensors: Tensor) -> Tensor:
        some, part = tensors[: len(columns)], tensors[len(columns) :]
        return _halving(factor(*(c[..., None, :] for c in some), *(r[..., None] for r in part)))

    if torch.compiler.is_compiling():  # the compiler fuses, and sizes may be unknown
        return piece(*columns, *rows)
    inputs, samples, outputs = *columns[0].shape[-2:], rows[0].shape[-1]
    room = max(1, BLOCK // (inputs * columns[0].element_size()))
    samples_at_once = max(1, min(samples, room))
    outputs_at_once = max(1, room // samples_at_once)
    if samples_at_once >= samples and outputs_at_once >= outputs:
        return piece(*columns, *rows)
    parts = _split(rows, outputs_at_once)

    def recomputed(some: Sequence[Tensor], part: Sequence[Tensor]) -> Tensor:
        result: Tensor = checkpoint(piece, *some, *part, use_reentrant=False, preserve_rng_state=False)
        return result

    return torch.cat(
        [
            torch.cat([recomputed(some, part) for part in parts], -2)
            for some in _split(columns, samples_at_once)
        ],
        -1,
    )


def _split(tensors: Sequence[Tensor], size: int) -> list[tuple[Tensor, ...]]:
    return list(zip(*(tensor.split(size, -1) for tensor in tensors)))


def _halving(block: Tensor) -> Tensor:
    """Product along the third last axis by multiplying halves. (Split, because its backward is one copy.)"""
    while (length := block.shape[-3]) > 1:
        half = length // 2
        first, second, *rest = block.split([half, half, 1] if length % 2 else half, -3)
        block = torch.cat([first * second, *rest], -3) if rest else first * second
    return block.squeeze(-3)
