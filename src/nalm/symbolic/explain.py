"""Read a trained model as a formula in the user's own names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sympy as sp
from torch import Tensor, nn

from nalm.errors import ArgumentError
from nalm.symbolic.check import Checked, checked
from nalm.symbolic.explanation import TOLERANCE, Explanation
from nalm.symbolic.follow import Call, CannotFollow
from nalm.symbolic.rounding import Move, largest_move
from nalm.symbolic.sources import READABLE_MODELS, Chain, Source, source_of, unwrapped
from nalm.units._base import units_of
from nalm.units._computed import kind_of
from nalm.units._remarks import remarks_of

__all__ = ["TOLERANCE", "Explanation", "explain"]


def explain(
    model: nn.Module,
    names: Sequence[str] | None = None,
    *,
    tolerance: float = TOLERANCE,
    only_readable: bool = False,
) -> Explanation | list[Any]:
    """Read a model as simplified sympy expressions.

    The model is a unit, an `nn.Sequential` of units, or any module that passes its input through units with
    only changes of shape, selections of columns and arithmetic between them. It is read with its hooks, in
    evaluation mode, and without wrappers that distribute or compile it. The formula is compared with the
    model on sampled inputs before it is returned.

    Args:
        model: the trained model; it is not changed.
        names: the user's names of the inputs; by default x1, x2, ….
        tolerance: how far a weight may be from a discrete value and still be read as that value.
        only_readable: leave out the expressions of a model that is not readable, which take ten times longer.

    Returns:
        An `Explanation`; under a batch shape, nested lists of them.
    """
    if not isinstance(model, nn.Module):
        raise ArgumentError("model", "a unit or a module with units", type(model).__name__)
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not tolerance >= 0:
        raise ArgumentError("tolerance", "a number, 0 or more", repr(tolerance))
    remarks = remarks_of(model)
    model = unwrapped(model)
    batch = _batch_shape(model)
    symbols = None if names is None else _symbols(names)
    source_at = source_of(model, None if symbols is None else len(symbols))
    origin = (0,) * len(batch)
    first = source_at(origin)
    inputs = first.inputs
    if symbols is None:
        symbols = [sp.Symbol(f"x{i + 1}", real=True) for i in range(inputs)]
    if len(symbols) != inputs:
        raise ArgumentError("names", f"{inputs} names, one per input", f"{len(symbols)}")
    reader = _Reader(symbols, tolerance, only_readable, remarks or remarks_of(model))
    try:
        return _nested(batch, (), lambda index: reader.read(first if index == origin else source_at(index)))
    except CannotFollow as error:
        raise ArgumentError("model", READABLE_MODELS, f"a model that is not: {error}") from None


def _batch_shape(model: nn.Module) -> tuple[int, ...]:
    units = units_of(model)
    if not units:
        raise ArgumentError(
            "model", "a unit or a module with units", f"a {type(model).__name__} without units"
        )
    if any(parameter.is_meta for parameter in model.parameters()):
        raise ArgumentError("model", "on a device that holds its weights", "the meta device")
    shapes = {tuple(unit.batch_shape) for unit in units}
    if len(shapes) > 1:
        got = " and ".join(map(str, sorted(shapes)))
        raise ArgumentError("model", "made of units with the same batch_shape", got)
    return shapes.pop()


def _symbols(names: Sequence[str]) -> list[Any]:
    if isinstance(names, Tensor) or not isinstance(names, Iterable):
        raise ArgumentError("names", "a list with one name per input", repr(names))
    given = list(names)
    if not all(isinstance(name, str) for name in given):
        raise ArgumentError("names", "strings", repr(given))
    if len(set(given)) != len(given):
        raise ArgumentError("names", "all different", ", ".join(given))
    return [sp.Symbol(name, real=True) for name in given]


def _nested(batch: tuple[int, ...], index: tuple[int, ...], read: Callable[[tuple[int, ...]], Any]) -> Any:
    if len(index) == len(batch):
        return read(index)
    return [_nested(batch, (*index, k), read) for k in range(batch[len(index)])]


@dataclass(frozen=True)
class _Reader:
    """Settings that all models of a batch share."""

    symbols: list[Any]
    tolerance: float
    only_readable: bool
    remarks: tuple[str, ...]

    def read(self, source: Source) -> Explanation:
        """Snap a copy, take its formula, and compare them."""
        snapped = source.snapped()
        move = largest_move(source, snapped, self.tolerance)
        unclear = "" if move.distance > self.tolerance else _unclear(source)
        if not move.distance <= self.tolerance or unclear:
            return self._as_it_is(source, move, unclear)
        key, symbols = snapped.key(), tuple(self.symbols)
        found = _read(snapped, symbols, True) if key is None else _read_once(_Same(key, snapped), symbols)
        return Explanation(
            list(found.formulas),
            not found.wrong,
            move.distance,
            self.tolerance,
            found.reading,
            found.wrong,
            self.remarks,
        )

    def _as_it_is(self, source: Source, move: Move, unclear: str) -> Explanation:
        found = _Found() if self.only_readable else _read(source, self.symbols, False)
        reason = found.wrong or unclear
        return Explanation(
            found.formulas, False, move.distance, self.tolerance, "", reason, self.remarks, move
        )


@dataclass(frozen=True)
class _Found:
    """The formulas of a model and where they hold; or what is wrong with them."""

    formulas: list[Any] = field(default_factory=list)
    reading: str = ""
    wrong: str = ""


@dataclass(frozen=True)
class _Same:
    """A model that compares equal to any other that computes the same."""

    key: Hashable
    source: Source = field(compare=False)


@functools.lru_cache(maxsize=1024)  # thousands of trained models share a few formulas
def _read_once(model: _Same, symbols: tuple[Any, ...]) -> _Found:
    return _read(model.source, symbols, True)


def _read(source: Source, symbols: Sequence[Any], idealised: bool) -> _Found:
    """The formulas of a model, compared with it."""
    formulas, calls = source.formulas(symbols, idealised)
    if any(formula.has(sp.zoo, sp.nan) for formula in formulas):
        return _Found(wrong="it divides by zero")
    truth = idealised and any(_is_truth(value) for call in calls for value in call.outputs)
    compared = checked(source, formulas, symbols, idealised=idealised, truth=truth)
    if compared.differs:
        return _Found(wrong=_what_differs(source, compared, symbols, idealised))
    if not idealised:
        return _Found(formulas)
    readings = _readings(source, calls)
    if not compared.compared:
        readings.append("not compared with the model, because no sampled input is in this range")
    return _Found([_shortest(formula) for formula in formulas], ", ".join(readings))


def _unclear(source: Source) -> str:
    """Why a unit cannot be read although its weights are discrete; empty if all units can."""
    unit = next((unit for unit in source.units if not unit.readable()), None)
    if unit is None:
        return ""
    label = source.label(unit)
    return f"in {label}, {unit.unreadable}" if label else unit.unreadable


def _is_truth(value: Any) -> bool:
    return isinstance(value, sp.logic.boolalg.Boolean) and not isinstance(value, sp.Symbol)


def _what_differs(source: Source, found: Checked, symbols: Sequence[Any], idealised: bool) -> str:
    """Name the unit that does not compute its own formula, or the model if every unit does."""
    for unit in source.units:
        own = [sp.Symbol(f"x{k + 1}", real=True) for k in range(unit.in_features)]
        formulas = unit.expression(own, idealised=idealised)
        alone = checked(
            Chain([unit]), formulas, own, idealised=idealised, truth=any(map(_is_truth, formulas))
        )
        if alone.differs:
            label = source.label(unit) or f"the {kind_of(unit)}"
            return (
                f"{label} does not compute its own formula: it gives {alone.model:.6g} for "
                f"{_inputs(own, alone.inputs)}, and its formula gives {alone.formula:.6g}. "
                "A unit that changes `compute` must change `symbolic` as well"
            )
    return (
        f"the model gives {found.model:.6g} for {_inputs(symbols, found.inputs)}, but the formula of its "
        f"parts gives {found.formula:.6g}"
    )


def _inputs(symbols: Sequence[Any], values: Sequence[float]) -> str:
    shown = [f"{symbol} = {value:.4g}" for symbol, value in zip(symbols, values)]
    return ", ".join(shown[:4]) + (", …" if len(shown) > 4 else "")


def _readings(source: Source, calls: list[Call]) -> list[str]:
    """Where the formula holds: each layer's reading, and which numbers are taken as truth values."""
    readings = []
    for k, call in enumerate(calls):
        numbers = [
            v for v in call.inputs if call.unit.logical and not isinstance(v, sp.logic.boolalg.Boolean)
        ]
        if numbers:
            readings.append(f"where {', '.join(map(str, numbers))} is 0 or 1")
        if call.unit.reading:
            where = call.unit.reading
            of = f"layer {k + 1}" if isinstance(source, Chain) else source.label(call.unit)
            readings.append(f"{where} of {of}" if k else where)
    return list(dict.fromkeys(readings))


@functools.lru_cache(maxsize=1024)
def _shortest(formula: Any) -> Any:
    """The formula simplified, or unchanged if that is not shorter: the layers' own form is readable."""
    if formula.has(sp.Piecewise):
        return formula  # products of cases simplify for minutes and do not get shorter
    return min(formula, sp.simplify(formula), key=sp.count_ops)
