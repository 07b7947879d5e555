"""Does a compiled step equal the eager one? On a few models, the results must agree up to rounding.

The effect of rounding is measured, not guessed: the eager step is applied again to numbers that are a few
roundings away. Where its result moves, as the sign of a gradient near zero does, the compiled result may move
as well. Everything else must agree to half of the digits of the tensor's largest number.

A program is compared at its first use in a process, even if it was loaded from disk. Measured for the steps
of NMU and RealNPU: 11 to 24 ms of one core, about a thousandth of the time to compile them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import torch
from torch import Tensor

Tensors = dict[str, Tensor]

MODELS = 19
"""Models to compare: a vector of sixteen and three more, because the remainder runs in a loop of its own."""
_HALVINGS = 5
"""The weights of the last model are halved this often, those between in proportion. Swapped models are thus
noticed, and next to saturated weights, whose gradients are only rounding, there are smaller ones."""
_ROUNDINGS = 8
"""How many roundings the numbers are moved by."""
_MARGIN = 64
"""How many times further than the eager result a compiled result may move."""
_STRAY = 0.1
"""Share of a tensor's numbers that may be off, if no element is off in most models: the gradient of a
saturated weight is, by chance, zero or the rounding of 1. A wrong loop is wrong at some element in all
models, or at all elements in at least two of the nineteen models."""


def different_models(tensors: Tensors, weights: Collection[str]) -> Tensors:
    """`MODELS` models made from those of the tensors, no two alike.

    Args:
        tensors: by name, the model axis first.
        weights: the names of tensors that may have any value: they are scaled down, by another factor in each
            model. The others may be codes or indices.
    """
    factor = 2.0 ** -torch.linspace(0, _HALVINGS, MODELS, dtype=torch.float64)
    found = {}
    for name, tensor in tensors.items():
        models = tensor[torch.arange(MODELS, device=tensor.device) % len(tensor)]
        if name in weights and tensor.is_floating_point():
            models = models * factor.to(models).reshape(-1, *[1] * (models.dim() - 1))
        found[name] = models
    return found


def moved(tensors: Tensors, weights: Collection[str]) -> Tensors:
    """The same tensors with every weight moved up or down by a few roundings of the coarsest dtype."""
    generator = torch.Generator().manual_seed(0)
    size = _ROUNDINGS * rounding_of(tensors)

    def move(tensor: Tensor) -> Tensor:
        up = torch.rand(tensor.shape, generator=generator).to(tensor.device) < 0.5
        return tensor * torch.where(up, 1 + size, 1 - size).to(tensor)

    return {n: move(t) if n in weights and t.is_floating_point() else t for n, t in tensors.items()}


def first_difference(
    compiled: Sequence[Tensor], eager: Sequence[Tensor], eager_moved: Sequence[Tensor], rounding: float
) -> int | None:
    """The index of the first tensor that differs by more than rounding explains; None if all agree.

    Args:
        compiled: the results of the compiled step.
        eager: those of the eager step.
        eager_moved: those of the eager step on numbers a few roundings away.
        rounding: the relative size of a rounding.
    """
    for index, (got, expected, other) in enumerate(zip(compiled, eager, eager_moved, strict=True)):
        if not _agree(got, expected, other, rounding):
            return index
    return None


def _agree(got: Tensor, expected: Tensor, other: Tensor, rounding: float) -> bool:
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    if not got.is_floating_point():
        return torch.equal(got, expected)
    # Where rounding decides whether a number overflows, any result is accepted.
    certain = expected.isfinite() == other.isfinite()
    both = expected.isfinite() & other.isfinite() & got.isfinite()
    off = _masked((got.double() - expected.double()).abs(), both)
    movement = _masked((other.double() - expected.double()).abs(), both).max()
    allowed = math.sqrt(rounding) * _masked(expected.double().abs(), both).max() + _MARGIN * movement
    wrong = certain & ((off > allowed) | (got.isfinite() != expected.isfinite()))
    everywhere = wrong.double().mean(0).max()
    return bool(everywhere < 0.5 and wrong.double().mean() <= _STRAY)


def _masked(values: Tensor, where: Tensor) -> Tensor:
    return torch.where(where, values, 0.0)


def rounding_of(tensors: Tensors) -> float:
    """The relative rounding of the coarsest dtype among these tensors."""
    return max((torch.finfo(t.dtype).eps for t in tensors.values() if t.is_floating_point()), default=0.0)
