"""The path that a trained model takes: step by step which unit acts, what it reads and what it writes.

For selectors and the composer a step is one of their own (thesis, tables 7.5 and 7.6), for stacks it is an
output of a layer (table 7.4). Weights close to discrete values are read as these; others are shown with two
digits.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from nalm.errors import ArgumentError
from nalm.models.composer import Composer
from nalm.models.frozen_selector import FrozenSelector, module_expression
from nalm.models.gated import GatedPair
from nalm.models.selector import RecurrentSelector
from nalm.symbolic.explanation import TOLERANCE
from nalm.symbolic.expression_graph import SIGNS, SUM, ExpressionGraph, applied
from nalm.units import Unit, outer_units
from nalm.units._symbolic import number

_DIGITS = 2
_UNIT_OF = {op: "nau" if kind == SUM else "nmu" if op == "mul" else "nru" for op, (kind, *_) in SIGNS.items()}
"""The unit that computes an operation of an expression graph."""


@dataclass(frozen=True)
class PathStep:
    """One unit at work, as plain data.

    Attributes:
        step: the step of a selector, or the layer of a stack, from 1.
        output: which output of the layer, from 1; always 1 in a selector.
        unit: the name of the unit that acts; empty where a gate is neither open nor closed.
        reads: names of the inputs, lines (`line1`) or outputs of the layer before (`o1`) that it uses.
        writes: the name of what it computes; `y` is the result of the model.
        expression: what it computes, of what it reads.
        result: the same, of the model's inputs.
    """

    step: int
    output: int
    unit: str
    reads: tuple[str, ...]
    writes: str
    expression: str
    result: str

    @property
    def reads_lines(self) -> bool:
        """Whether it uses a line of working."""
        return any(name.startswith("line") for name in self.reads)


def steps_of(model: nn.Module, names: Sequence[str], *, tolerance: float = TOLERANCE) -> list[PathStep]:
    """The steps of a selector or a composer, or of a stack of units and gated pairs.

    Args:
        model: one model, without a batch shape: a unit or an `nn.Sequential` of units.
        names: the names of its inputs.
        tolerance: how far weights and gates may be from discrete values and still be read as these.
    """
    units = outer_units(model)
    plain = isinstance(model, Unit) or (
        type(model) is nn.Sequential and all(isinstance(layer, Unit) for layer in model)
    )
    if not units or not plain or any(unit.batch_shape for unit in units):
        got = f"a {type(model).__name__}" + (" with a batch_shape" if plain and units else "")
        raise ArgumentError("model", "a unit or an nn.Sequential of units, without a batch_shape", got)
    if len(names) != units[0].in_features:
        expected = f"{units[0].in_features} names, one per input"
        raise ArgumentError("names", expected, f"{len(names)}")
    if isinstance(units[0], (RecurrentSelector, FrozenSelector)) and len(units) == 1:
        return _turns(units[0], names, tolerance)
    if isinstance(units[0], Composer) and len(units) == 1:
        return steps_of_graph(units[0].graph(units[0].parameter_values()), names)
    return _layers(units, names, tolerance)


def _turns(
    selector: RecurrentSelector | FrozenSelector, names: Sequence[str], tolerance: float
) -> list[PathStep]:
    """Step by step through a selector."""
    inputs, made, results = _symbols(names), [], list[Any]()
    values = selector.parameter_values()
    lines = _symbols([f"line{t + 1}" for t in range(selector.steps)])
    for t in range(selector.steps):
        if isinstance(selector, FrozenSelector):
            unit, rows = selector.rows_read(values, t)
            empty = 0.0 if unit in ("add", "sub") else selector.blank
            given = [*inputs, *lines[:t], *[number(empty)] * (selector.steps - t)]
            own = module_expression(unit, [given[row] for row in rows])
        else:
            part = selector.parts[selector.names_at(t)[int(values["logits"][t].argmax())]]
            given = [*inputs, *lines[:t], *[number(selector.blank)] * (selector.steps - t)]
            unit, (own,) = part.name, _expressions(part, given, tolerance)
        results.append(own.subs(dict(zip(lines, results))))
        writes = "y" if t == selector.steps - 1 else str(lines[t])
        made.append(_step(t + 1, 1, unit, given, writes, own, results[-1]))
    return made


def steps_of_graph(graph: ExpressionGraph | None, names: Sequence[str]) -> list[PathStep]:
    """Step by step through an expression graph; nothing if there is none."""
    if graph is None:
        return []
    lines = _symbols([*names, *(f"line{t + 1}" for t in range(len(graph.steps)))])
    results, made = graph.lines(lines[: graph.inputs]), []
    for t, step in enumerate(graph.steps):
        line = graph.inputs + t
        if line not in graph.needed:
            continue
        own = applied(step.op, lines[step.left], lines[step.right])
        writes = "y" if line == graph.result else str(lines[line])
        made.append(_step(t + 1, 1, _UNIT_OF[step.op], lines[:line], writes, own, results[line]))
    return made


def _layers(units: Sequence[Unit], names: Sequence[str], tolerance: float) -> list[PathStep]:
    """Output by output through the layers of a stack."""
    symbols = results = _symbols(names)
    made = []
    for k, unit in enumerate(units):
        last = k == len(units) - 1
        outputs = _symbols([f"o{o + 1}" for o in range(unit.out_features)])
        found, known = _outputs(unit, symbols, tolerance), dict(zip(symbols, results))
        results = [own.subs(known) for _, own in found]
        for o, (name, own) in enumerate(found):
            single = last and unit.out_features == 1
            writes = "y" if single else str(outputs[o])
            made.append(_step(k + 1, o + 1, name, symbols, writes, own, results[o]))
        symbols = outputs
    return made


def _outputs(unit: Unit, symbols: list[Any], tolerance: float) -> list[tuple[str, Any]]:
    """For each output of a layer the name of the unit that gives it, and its expression."""
    if not isinstance(unit, GatedPair):
        return [(unit.name, own) for own in _expressions(unit, symbols, tolerance)]
    first, second = unit.parts.values()
    pairs = zip(_expressions(first, symbols, tolerance), _expressions(second, symbols, tolerance))
    found = []
    for g, (a, b) in zip(torch.sigmoid(unit.gate).tolist(), pairs):
        if min(g, 1 - g) <= tolerance:
            found.append((first.name, a) if g > 0.5 else (second.name, b))
        else:
            found.append(("", _rounded(number(g) * a + number(1 - g) * b)))
    return found


def _expressions(unit: Unit, symbols: list[Any], tolerance: float) -> list[Any]:
    """The outputs of a unit: of its snapped copy if that is close, else as it is, with few digits."""
    snapped = copy.deepcopy(unit)
    snapped.snap_()
    held, matters = snapped.discrete(), snapped.decisive_mask()
    moves = [
        torch.where(
            matters.get(name, torch.ones_like(value, dtype=torch.bool)), (held[name] - value).abs(), 0.0
        )
        for name, value in unit.discrete().items()
    ]
    close = all(float(move.detach().max()) <= tolerance for move in moves)
    return [_rounded(own) for own in (snapped if close else unit).expression(symbols, idealised=True)]


def _step(
    step: int, output: int, unit: str, given: Sequence[Any], writes: str, own: Any, result: Any
) -> PathStep:
    reads = tuple(str(s) for s in given if s.is_Symbol and s in own.free_symbols)
    return PathStep(step, output, unit, reads, writes, _text(own), _text(_rounded(result)))


def _text(expression: Any) -> str:
    """As text, with 0.52 and not 0.520000000000000 where a number stands alone."""
    import sympy as sp

    return str(sp.sstr(expression, full_prec=False))


def _symbols(names: Sequence[str]) -> list[Any]:
    import sympy as sp

    return [sp.Symbol(name, real=True) for name in names]


def _rounded(expression: Any) -> Any:
    """The expression with its decimal numbers cut to a few digits, where 0 and 1 disappear."""
    import sympy as sp

    near = {f: number(round(float(f), _DIGITS)) for f in expression.atoms(sp.Float)}
    return sp.sympify(expression).xreplace(near)
