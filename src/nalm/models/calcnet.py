"""CalcNet: evaluates an arithmetic expression with one unit per operation.

The expression is parsed by precedence (operator precedence parsing, never `eval`) into a sequence of
operations, and each is computed by a unit with two inputs and one output. Rana et al. 2019; thesis, section
2.3.6.

    expression = numbers, + - * / ^ (also **), brackets, unary minus and plus; 1e3 and 10^3 are powers of ten

Powers bind tightest and group to the right, then unary signs, then * and /, then + and -. Exponents are whole
numbers: a power is computed as repeated products, and for negative exponents 1 is divided by the result.

Deviations: Rana et al. compute with pre-trained parts of the NALU (primer, section 5.5), for which they have
the G-NALU (thesis, table 2.2). Ours computes with NAU, NMU and NRU by default, ideal or trained, because they
are exact; other units, such as `nalm.GNALU`, are given as `units`. Neither text specifies the grammar: powers
and unary signs are our choice, and a sign is computed as a difference from 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from nalm.errors import ArgumentError, NalmError, unknown
from nalm.units import NAU, NMU, NRU, Unit

SYMBOLS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "negate": 3, "keep": 3, "^": 4, "**": 4}
POWERS = ("^", "**")
LARGEST_EXPONENT = 10_000
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<symbol>\*\*|[-+*/^()]))"
)


class ExpressionError(ArgumentError):
    """An expression that cannot be parsed or computed, with the position of the fault, counted from 1."""

    def __init__(self, text: str, position: int, expected: str, got: str) -> None:
        self.position = position
        super().__init__("expression", f"{expected} at position {position}", f"{got} in {text!r}")


@dataclass(frozen=True)
class Token:
    """A number or the symbol of an operation, and its position."""

    text: str
    position: int
    value: float | None = None


class CalcNet(nn.Module):
    """Computes expressions with units: NAU for sums and differences, NMU for products, NRU for quotients.

    Args:
        units: by operation ("add", "sub", "mul", "div"), modules from two inputs to one output, trained or
            ideal. Operations left out get ideal units in float64.

    Example:
        >>> nalm.CalcNet().evaluate("3*(4-2)/5+7*-2")
        -12.8
    """

    def __init__(self, units: Mapping[str, nn.Module] | None = None) -> None:
        super().__init__()
        given = dict(units or {})
        for op, unit in given.items():
            if op not in SYMBOLS.values():
                raise unknown("units", op, SYMBOLS.values())
            _check_fit(op, unit)
        self.units = nn.ModuleDict({op: given[op] if op in given else _ideal(op) for op in SYMBOLS.values()})
        self.eval()

    def evaluate(self, expression: str) -> float:
        """The value of an expression, each operation computed by its unit."""
        calculation = _calculation(expression, postfix(expression))
        try:
            asked = next(calculation)
            while True:
                asked = calculation.send(self._compute(asked.op, [asked])[0])
        except StopIteration as ended:
            return float(ended.value)

    def evaluate_many(self, expressions: Sequence[str]) -> list[float]:
        """The values of expressions, computed side by side: each unit is called once for many operations.

        NaN stands for an expression in which a value is not finite or a divisor is 0, which `evaluate`
        refuses.
        """
        parsed = [postfix(expression) for expression in expressions]
        values = [math.nan] * len(parsed)
        going: dict[int, tuple[Calculation, Asked]] = {}

        def proceed(place: int, calculation: Calculation, result: float | None) -> None:
            try:
                going[place] = calculation, calculation.send(result)  # type: ignore[arg-type]
            except StopIteration as ended:
                values[place] = float(ended.value)
            except ExpressionError:
                pass

        for place, tokens in enumerate(parsed):
            proceed(place, _calculation(expressions[place], tokens), None)
        while going:
            now, going = going, {}
            for op in SYMBOLS.values():
                held = {place: each for place, each in now.items() if each[1].op == op}
                results = self._compute(op, [asked for _, asked in held.values()]) if held else []
                for (place, (calculation, _)), result in zip(held.items(), results):
                    proceed(place, calculation, result)
        return values

    @torch.no_grad()
    def _compute(self, op: str, asked: Sequence[Asked]) -> list[float]:
        unit = self.units[op]
        like = next(unit.parameters(), torch.empty(0, dtype=torch.float64))
        pairs = [[each.left, each.right] for each in asked]
        found: list[float] = unit(torch.tensor(pairs, dtype=like.dtype, device=like.device))[:, 0].tolist()
        return found


class Asked(NamedTuple):
    """An operation that a unit is to compute."""

    op: str
    left: float
    right: float


Calculation = Generator[Asked, float, float]
"""Asks for operations one after the other, is sent their results, and returns the value."""


def _calculation(expression: str, tokens: Sequence[Token]) -> Calculation:
    """The calculation of an expression in postfix order."""
    values: list[float] = []
    for token in tokens:
        if token.value is not None:
            values.append(token.value)
        elif token.text == "negate":
            values.append((yield Asked("sub", 0.0, values.pop())))
        else:
            right, left = values.pop(), values.pop()
            values.append((yield from _operation(expression, token, left, right)))
        if not math.isfinite(values[-1]):
            raise ExpressionError(expression, token.position, "a result of finite size", str(values[-1]))
    return values.pop()


def _operation(expression: str, token: Token, left: float, right: float) -> Calculation:
    if token.text in POWERS:
        return (yield from _power(expression, token, left, right))
    if token.text == "/" and right == 0:
        raise ExpressionError(expression, token.position, "a divisor other than 0", "division by zero")
    return (yield Asked(SYMBOLS[token.text], left, right))


def _power(expression: str, token: Token, base: float, exponent: float) -> Calculation:
    if not abs(exponent) <= LARGEST_EXPONENT or exponent != round(exponent):
        expected = f"a whole exponent of at most {LARGEST_EXPONENT}"
        raise ExpressionError(expression, token.position, expected, f"{exponent:g}")
    result, square, left = 1.0, base, abs(int(exponent))
    while left:
        if left & 1:
            result = yield Asked("mul", result, square)
        left >>= 1
        if left:
            square = yield Asked("mul", square, square)
    if exponent >= 0:
        return result
    if result == 0:
        expected = "a base other than 0 for a negative exponent"
        raise ExpressionError(expression, token.position, expected, "division by zero")
    return (yield Asked("div", 1.0, result))


def postfix(expression: str) -> list[Token]:
    """The expression with each operation after its operands, by Dijkstra's shunting-yard algorithm."""
    if not isinstance(expression, str):
        raise ArgumentError("expression", "a string", type(expression).__name__)
    output: list[Token] = []
    waiting: list[Token] = []
    operand_next = True
    for token in _tokens(expression):
        if operand_next:
            operand_next = _open(expression, token, output, waiting)
        else:
            operand_next = _close(expression, token, output, waiting)
    if operand_next:
        raise ExpressionError(expression, len(expression) + 1, "a number or a bracket", "the end")
    while waiting:
        token = waiting.pop()
        if token.text == "(":
            raise ExpressionError(expression, token.position, "a bracket that is closed", "'(' without ')'")
        output.append(token)
    return [token for token in output if token.text != "keep"]


def _tokens(expression: str) -> list[Token]:
    tokens, end = [], 0
    stripped = expression.rstrip()
    while end < len(stripped):
        match = _TOKEN.match(stripped, end)
        if match is None:
            start = end + len(stripped[end:]) - len(stripped[end:].lstrip())
            raise ExpressionError(
                expression, start + 1, "a number, operation or bracket", repr(stripped[start])
            )
        number, symbol = match["number"], match["symbol"]
        position = match.start("number" if number else "symbol") + 1
        if number and math.isinf(float(number)):
            raise ExpressionError(expression, position, "a finite number", number)
        if number:
            tokens.append(Token(number, position, float(number)))
        else:
            tokens.append(Token(symbol, position))
        end = match.end()
    return tokens


def _open(expression: str, token: Token, output: list[Token], waiting: list[Token]) -> bool:
    """Take a token where an operand must begin; return whether an operand must begin next."""
    if token.value is not None:
        output.append(token)
        return False
    if token.text == "(":
        waiting.append(token)
    elif token.text in "+-":
        waiting.append(Token("negate" if token.text == "-" else "keep", token.position))
    else:
        raise ExpressionError(expression, token.position, "a number or a bracket", repr(token.text))
    return True


def _close(expression: str, token: Token, output: list[Token], waiting: list[Token]) -> bool:
    """Take a token after a complete operand; return whether an operand must begin next."""
    if token.value is not None or token.text == "(":
        raise ExpressionError(expression, token.position, "an operation", repr(token.text))
    closing = token.text == ")"
    while waiting and waiting[-1].text != "(" and (closing or _comes_first(waiting[-1], token)):
        output.append(waiting.pop())
    if not closing:
        waiting.append(token)
        return True
    if not waiting:
        raise ExpressionError(expression, token.position, "an operation or the end", "')' without '('")
    waiting.pop()
    return False


def _comes_first(before: Token, token: Token) -> bool:
    """Whether the waiting operation `before` is computed before `token`; powers group to the right."""
    earlier, later = PRECEDENCE[before.text], PRECEDENCE[token.text]
    return earlier > later or (earlier == later and token.text not in POWERS)


KINDS: dict[str, type[Unit]] = {"add": NAU, "sub": NAU, "mul": NMU, "div": NRU}
"""The unit of each operation."""


def _ideal(op: str) -> nn.Module:
    unit = KINDS[op](2, 1, dtype=torch.float64)
    unit.ideal_(op, 0, 1)
    return unit


def _check_fit(op: str, unit: Any) -> None:
    if not isinstance(unit, nn.Module):
        raise ArgumentError("units", f"a module for {op!r}", type(unit).__name__)
    like = next(unit.parameters(), torch.empty(0, dtype=torch.float64))
    try:
        with torch.no_grad():
            shape = tuple(unit.eval()(torch.ones(1, 2, dtype=like.dtype, device=like.device)).shape)
    except (NalmError, RuntimeError, TypeError, AttributeError, ValueError) as error:
        raise ArgumentError(
            "units", f"from two inputs to one output for {op!r}", f"an error: {error}"
        ) from error
    if shape != (1, 1):
        raise ArgumentError("units", f"from two inputs to one output for {op!r}", f"output of shape {shape}")
