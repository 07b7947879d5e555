"""Products over inputs, in memory that does not grow with batch x out x in.

Shapes: x `*batch x n x in`, weights `*batch x out x in`, result `*batch x n x out`. Internally, samples are
the last axis, as in `_functional`.

A product over few inputs is written out factor by factor, so that it fuses. Over many inputs, a block
`in x out x n` is folded by multiplying halves; its gradients are right at zero factors, where dividing the
product by each factor would fail. A block larger than `BLOCK` is cut into pieces, and each piece is computed
again for its gradient instead of being kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from nalm.units._functional import UNROLLED, Inputs, columns, joined

BLOCK = 2 << 20
"""Bytes per piece. Forward and backward hold about five times as much; smaller pieces are slower."""

Factor = Callable[..., Tensor]
"""From samples and weights, shaped to broadcast against each other, to the factors of the product."""


def product(factor: Factor, samples: Sequence[Inputs], weights: Sequence[Tensor]) -> Tensor:
    """Product over inputs of factor(*samples, *weights), an elementwise function.

    Args:
        factor: the function.
        samples: the arguments that differ per sample, each `*batch x n x in`.
        weights: the arguments that all samples share, each `*batch x out x in`.
    """
    rows = [weight.transpose(-1, -2) for weight in weights]
    inputs = rows[0].shape[-2]
    if inputs > UNROLLED:
        return _folded(factor, [joined(x).transpose(-1, -2) for x in samples], rows).transpose(-1, -2)
    each = [columns(x) for x in samples]
    factors = (factor(*(c[i] for c in each), *(r[..., i, :, None] for r in rows)) for i in range(inputs))
    result = next(factors)
    for one in factors:
        result = result * one
    return result.transpose(-1, -2)


def gated_product(x: Inputs, weight: Tensor) -> Tensor:
    """Product over inputs of weight * x + 1 - weight (Madsen & Johansen 2020, equation 12)."""
    return product(gated, (x,), (weight,))


def gated(x: Tensor, weight: Tensor) -> Tensor:
    """weight * x + 1 - weight, written so that it is exactly x at weight 1 and exactly 1 at weight 0."""
    return weight * x + (1 - weight)


def _folded(factor: Factor, columns: list[Tensor], rows: list[Tensor]) -> Tensor:
    """The product over many inputs: columns `*batch x in x n`, rows `*batch x in x out`."""
    if torch.compiler.is_compiling():  # the compiler fuses, and sizes may be unknown
        return _whole(factor, columns, rows)
    columns, rows = [c.contiguous() for c in columns], [r.contiguous() for r in rows]
    pieces = _pieces(columns[0], rows[0])
    if len(pieces) == 1:
        return _whole(factor, columns, rows)
    result: Tensor = _InPieces.apply(factor, pieces, len(columns), *columns, *rows)
    return result


def _whole(factor: Factor, columns: Sequence[Tensor], rows: Sequence[Tensor]) -> Tensor:
    return _halving(_block(factor, columns, rows))


def _block(factor: Factor, columns: Sequence[Tensor], rows: Sequence[Tensor]) -> Tensor:
    return factor(*(c[..., None, :] for c in columns), *(r[..., None] for r in rows))


def _pieces(column: Tensor, row: Tensor) -> list[tuple[slice, slice]]:
    """Samples and outputs of each piece."""
    inputs, samples, outputs = *column.shape[-2:], row.shape[-1]
    room = max(1, BLOCK // (inputs * column.element_size()))
    some = max(1, min(samples, room))
    part = max(1, min(outputs, room // some))
    return [
        (slice(n, n + some), slice(o, o + part))
        for n in range(0, max(1, samples), some)
        for o in range(0, outputs, part)
    ]


class _InPieces(torch.autograd.Function):
    """The product piece by piece; each piece is computed again for its gradient.

    Hand-written, because torch's `checkpoint` loads its compiler (70 MiB). Results are written into place:
    small tensors that outlive a piece would keep the next piece from using its memory again.
    """

    @staticmethod
    def forward(factor: Factor, pieces: list[tuple[slice, slice]], cut: int, *tensors: Tensor) -> Tensor:
        columns, rows = tensors[:cut], tensors[cut:]
        result = columns[0].new_empty((*columns[0].shape[:-2], rows[0].shape[-1], columns[0].shape[-1]))
        for some, part in pieces:
            value = _whole(factor, [c[..., some] for c in columns], [r[..., part] for r in rows])
            result[..., part, some] = value
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.factor, ctx.pieces, ctx.cut, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        tensors, cut = ctx.saved_tensors, ctx.cut
        if torch.is_grad_enabled():  # a gradient of this gradient is wanted: compute without pieces
            with torch.enable_grad():
                total = (_whole(ctx.factor, tensors[:cut], tensors[cut:]) * gradient).sum()
            wanted = [tensor for tensor in tensors if tensor.requires_grad]
            found = iter(torch.autograd.grad(total, wanted, create_graph=True))
            return (None, None, None, *(next(found) if t.requires_grad else None for t in tensors))
        gradients = [torch.zeros_like(tensor) if tensor.requires_grad else None for tensor in tensors]
        for some, part in ctx.pieces:
            where = [some] * cut + [part] * (len(tensors) - cut)
            views = [t.detach()[..., w].requires_grad_(t.requires_grad) for t, w in zip(tensors, where)]
            with torch.enable_grad():
                # A scalar, because torch loads sympy (35 MiB) to check a gradient passed to it.
                total = (_whole(ctx.factor, views[:cut], views[cut:]) * gradient[..., part, some]).sum()
            found = iter(torch.autograd.grad(total, [view for view in views if view.requires_grad]))
            for sum_, w in zip(gradients, where):
                if sum_ is not None:
                    sum_[..., w] += next(found)
        return (None, None, None, *gradients)

    @staticmethod
    def vmap(
        info: Any, dims: tuple[int | None, ...], factor: Factor, pieces: Any, cut: int, *tensors: Tensor
    ) -> tuple[Tensor, int]:
        # A leading axis is a model axis in any case.
        moved = [
            tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip(tensors, dims[3:])
        ]
        return _InPieces.apply(factor, pieces, cut, *moved), 0


def _halving(block: Tensor) -> Tensor:
    """Product along the third-last axis by multiplying halves. The backward pass of `split` is one copy."""
    while (length := block.shape[-3]) > 1:
        half = length // 2
        first, second, *rest = block.split([half, half, 1] if length % 2 else half, -3)
        block = torch.cat([first * second, *rest], -3) if rest else first * second
    return block.squeeze(-3)
