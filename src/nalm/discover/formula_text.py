"""Formulas as text that can be read back without running anything.

Columns are written x0, x1, … by their places, because their names may be anything, and decimal numbers c0,
c1, …, because text would round them. What is read is a tree of Python's own parser, of which only sums,
products, powers, whole numbers, pi, e and absolute values are accepted. Nothing is evaluated, so that no text
takes long to read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import sympy as sp

from nalm.errors import NalmError

LONGEST = 100_000
"""The longest text that is read."""
_DIGITS = 40
"""The most digits of a whole number that is read."""
_NUMBERS = {"pi": sp.pi, "E": sp.E}
_FUNCTIONS = {"Abs": sp.Abs}
_PLACE = re.compile(r"([xc])(0|[1-9]\d{0,6})")


class FormulaError(NalmError):
    """A formula that cannot be written or read."""


def written(expression: sp.Expr, symbols: Sequence[sp.Symbol], constants: list[sp.Float]) -> str:
    """The text of an expression.

    Args:
        expression: in these symbols.
        symbols: the columns, in their order.
        constants: its decimal numbers are added here.
    """
    places = {symbol: f"x{k}" for k, symbol in enumerate(symbols)}

    def text(node: sp.Expr) -> str:
        if node in places:
            return places[node]
        if node.is_Float:
            constants.append(node)
            return f"c{len(constants) - 1}"
        if node.is_Rational:
            return f"({node.p}/{node.q})" if node.q != 1 else f"({node.p})"
        named = next((name for name, number in _NUMBERS.items() if node == number), None)
        if named is not None:
            return named
        parts = [text(part) for part in node.args]
        for kind, sign in ((sp.Add, " + "), (sp.Mul, "*"), (sp.Pow, "**")):
            if isinstance(node, kind):
                return f"({sign.join(parts)})"
        if isinstance(node, tuple(_FUNCTIONS.values())):
            return f"{type(node).__name__}({parts[0]})"
        raise FormulaError(f"{node} cannot be saved: only sums, products, powers and absolute values can.")

    return text(expression)


def read(text: str, symbols: Sequence[sp.Symbol], constants: Sequence[sp.Float]) -> sp.Expr:
    """The expression of a text, in these symbols, with these decimal numbers."""
    if len(text) > LONGEST:
        raise FormulaError(f"The formula has {len(text):,} characters; at most {LONGEST:,} are read.")
    try:
        tree = ast.parse(text, mode="eval").body
        return _Reader(symbols, constants).expression(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FormulaError("The formula is not written as nalm writes formulas.") from None


class _Reader:
    """Makes expressions of trees."""

    def __init__(self, symbols: Sequence[sp.Symbol], constants: Sequence[sp.Float]) -> None:
        self._named = {"x": list(symbols), "c": list(constants)}

    def expression(self, node: ast.expr) -> sp.Expr:
        """The expression of a tree; nothing in it is simplified, so that it stays as it was written."""
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return _whole(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
                return _whole(-value)
            case ast.BinOp(op=ast.Div(), left=left, right=ast.Constant(value=int() as below)) if below > 0:
                above = self.expression(left)
                if not above.is_Integer:
                    raise _refused(node)
                return sp.Rational(above.p, _whole(below).p)
            case ast.BinOp(op=ast.Pow(), left=left, right=right):
                return sp.Pow(self.expression(left), self.expression(right), evaluate=False)
            case ast.BinOp(op=ast.Add() | ast.Mult() as op):
                kind = sp.Add if isinstance(op, ast.Add) else sp.Mul
                return kind(*map(self.expression, _operands(node, type(op))), evaluate=False)
            case ast.Call(func=ast.Name(id=name), args=[part], keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](self.expression(part), evaluate=False)
            case ast.Name(id=name):
                return self._name(name)
        raise _refused(node)

    def _name(self, name: str) -> sp.Expr:
        if name in _NUMBERS:
            return _NUMBERS[name]
        found = _PLACE.fullmatch(name)
        if found is None or int(found[2]) >= len(self._named[found[1]]):
            raise FormulaError(f"The formula names {name[:40]!r}, which is neither a column nor a number.")
        return self._named[found[1]][int(found[2])]


def _operands(node: ast.expr, sign: type[ast.operator]) -> list[ast.expr]:
    """The operands of a chain such as a + b + c, which the parser nests to the left."""
    found: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, sign):
        found.append(node.right)
        node = node.left
    return [node, *reversed(found)]


def _whole(value: int) -> sp.Integer:
    if abs(value) >= 10**_DIGITS:
        raise FormulaError(f"The formula has a whole number of more than {_DIGITS} digits.")
    return sp.Integer(value)


def _refused(node: ast.expr) -> FormulaError:
    return FormulaError(f"The formula has {ast.unparse(node)[:60]!r}, which is not read.")
