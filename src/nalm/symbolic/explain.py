"""Read a trained model as a formula in the user's own names."""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
import torch
from torch import nn

from nalm.errors import ArgumentError
from nalm.units._base import Unit, units_of

READABLE = 0.01
"""Weights further than this from a discrete value are not read as that value."""


@dataclass(frozen=True)
class Explanation:
    """What a model computes.

    Attributes:
        expressions: a sympy expression per output: of the snapped model if it is readable, otherwise of the
            model as it is, with its weights as decimal numbers, or none if those were not asked for.
        readable: whether all weights and gates are close enough to discrete values to be read.
        distance: the largest distance of a weight or gate from its discrete value.
        tolerance: the largest distance that was allowed.
        reading: where the expressions hold, if not everywhere.
    """

    expressions: list[sp.Expr]
    readable: bool
    distance: float
    tolerance: float = READABLE
    reading: str = ""

    def __str__(self) -> str:
        formulas = ", ".join(map(str, self.expressions))
        if self.readable:
            return f"{formulas} ({self.reading})" if self.reading else formulas
        reason = "a gate that depends on the input is neither open nor closed"
        if not self.distance <= self.tolerance:
            reason = (
                f"a weight is {self.distance:.3g} away from a discrete value "
                f"(at most {self.tolerance:g} can be read)"
            )
        said = f"not readable: {reason}. Train longer or with a stronger penalty."
        return f"{said} As it is: {formulas}" if formulas else said

    def latex(self) -> str:
        """The expressions for LaTeX."""
        return ", ".join(sp.latex(e) for e in self.expressions)


def explain(
    model: nn.Module,
    names: Sequence[str] | None = None,
    *,
    tolerance: float = READABLE,
    only_readable: bool = False,
) -> Explanation | list[Any]:
    """Read a unit, or an `nn.Sequential` of units, as simplified sympy expressions.

    Args:
        model: the trained model; it is not changed.
        names: the user's names of the inputs; by default x1, x2, ….
        tolerance: how far a weight may be from a discrete value and still be read as that value.
        only_readable: leave out the expressions of a model that is not readable, which take ten times longer.

    Returns:
        An `Explanation`; under a batch shape, nested lists of them.
    """
    if not isinstance(model, nn.Module):
        raise ArgumentError("model", "a unit or an nn.Sequential of units", type(model).__name__)
    layers = _layers(model)
    if len({tuple(layer.batch_shape) for layer in layers}) > 1:
        raise ArgumentError("model", "made of units with one batch_shape", "several")
    inputs = layers[0].in_features
    names = [f"x{i + 1}" for i in range(inputs)] if names is None else list(names)
    if len(names) != inputs:
        raise ArgumentError("names", f"{inputs} names, one per input", f"{len(names)}")
    if not all(isinstance(name, str) for name in names):
        raise ArgumentError("names", "strings", repr(names))
    if len(set(names)) != len(names):
        raise ArgumentError("names", "all different", ", ".join(names))
    symbols = [sp.Symbol(name, real=True) for name in names]
    return _explain_each(layers, symbols, tolerance, only_readable, ())


def _explain_each(
    layers: list[Unit], symbols: list[Any], tolerance: float, only_readable: bool, index: tuple[int, ...]
) -> Any:
    batch = layers[0].batch_shape
    if len(index) < len(batch):
        parts = ((*index, k) for k in range(batch[len(index)]))
        return [_explain_each(layers, symbols, tolerance, only_readable, part) for part in parts]
    singles = [_single(layer, index) for layer in layers]
    snapped = [copy.deepcopy(layer) for layer in singles]
    distance = max(_snap(layer) for layer in snapped)
    if not distance <= tolerance or not all(layer.readable() for layer in singles):
        as_it_is = [] if only_readable else _compose(singles, symbols, idealised=False)
        return Explanation(as_it_is, False, distance, tolerance)
    formulas = [_shortest(formula) for formula in _compose(snapped, symbols, idealised=True)]
    return Explanation(formulas, True, distance, tolerance, ", ".join(_readings(snapped, symbols)))


def _readings(layers: list[Unit], symbols: list[Any]) -> list[str]:
    """Where the formula holds: what each layer says of its inputs, and where numbers are taken as truth."""
    readings, values = [], symbols
    for k, layer in enumerate(layers):
        numbers = [v for v in values if layer.logical and not isinstance(v, sp.logic.boolalg.Boolean)]
        if numbers:
            readings.append(f"where {', '.join(map(str, numbers))} is 0 or 1")
        if layer.reading:
            readings.append(f"{layer.reading} of layer {k + 1}" if k else layer.reading)
        values = layer.expression(values, idealised=True)
    return list(dict.fromkeys(readings))


def _snap(unit: Unit) -> float:
    """Snap a unit, in place, and say how far at most a value moved that decides its output."""
    before = {name: value.detach().clone() for name, value in {**unit.weights(), **unit.gates()}.items()}
    unit.snap_()
    after, matters = {**unit.weights(), **unit.gates()}, unit.matters()
    moves = [(after[name].detach() - value).abs() for name, value in before.items()]
    decisive = [
        matters.get(name, torch.ones_like(move, dtype=torch.bool)) for name, move in zip(before, moves)
    ]
    return max(float(torch.where(mask, move, 0.0).max()) for mask, move in zip(decisive, moves))


@functools.lru_cache(maxsize=1024)  # thousands of trained models have a few formulas between them
def _shortest(formula: Any) -> Any:
    """Factors and sums as the layers hold them are readable; simplified only where it gets shorter."""
    if formula.has(sp.Piecewise):
        return formula  # products of cases simplify for minutes and do not get shorter
    return min(formula, sp.simplify(formula), key=sp.count_ops)


def _compose(layers: list[Unit], symbols: list[Any], *, idealised: bool) -> list[Any]:
    values = symbols
    for layer in layers:
        values = layer.expression(values, idealised=idealised)
    return values


def _single(unit: Unit, index: tuple[int, ...]) -> Unit:
    """One model of a batch as a unit of its own; not to be changed."""
    if not unit.batch_shape:
        return unit
    single = copy.deepcopy(unit)
    single.batch_shape = single.batch_shape[len(index) :]
    for name, parameter in unit.named_parameters():
        setattr(single, name, nn.Parameter(parameter.detach()[index].clone()))
    return single


def _layers(model: nn.Module) -> list[Unit]:
    if isinstance(model, Unit):
        return [model]
    if (
        isinstance(model, nn.Sequential)
        and len(model)
        and all(isinstance(m, (Unit, nn.Sequential)) for m in model)
    ):
        return [layer for module in model for layer in _layers(module)]
    found = type(model).__name__
    if units_of(model):
        found += " with other layers"
    raise ArgumentError("model", "a unit or an nn.Sequential of units", found)
