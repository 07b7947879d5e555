"""Programs as sequences of symbols and integers, drawn from uniform numbers, with their results.

Trask et al. 2018, section 4.4, after Zaremba & Sutskever 2014: a sum of two integers, and programs with an
if, + and -. Each integer is one step of the sequence: its symbol says that it is a number, and its value
stands in the last place of the step.

Ours: the papers do not have the programs themselves. Here a program is `if b < c : a else : d`, then + or -,
then e. The condition comes first, so that a program can be evaluated from left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor, nn


class Symbol(IntEnum):
    """The symbols of programs: the place of each in a one-hot vector."""

    NUMBER = 0
    PLUS = 1
    MINUS = 2
    IF = 3
    LESS = 4
    THEN = 5
    ELSE = 6
    END = 7


FEATURES = len(Symbol) + 1
"""Values of a step: the symbol as a one-hot vector, then the number, which is 0 for other symbols."""


@dataclass(frozen=True)
class Grammar:
    """One kind of program.

    Attributes:
        integers: how many integers a program has.
        choices: how many further random choices.
        length: steps of a program.
        write: integers and choices, `models x … x n` each, to symbols and values `models x n x length` each,
            and the result `models x n`.
    """

    integers: int
    choices: int
    length: int
    write: Callable[[Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]

    @property
    def draws(self) -> int:
        """Uniform numbers per program."""
        return self.integers + self.choices

    def programs(self, u: Tensor, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Programs `models x n x length x FEATURES`, and their results `models x n x 1`.

        Args:
            u: uniform numbers `models x draws x n`.
            low: the smallest integer, `models`.
            high: the integer above the largest, `models`.
        """
        integers, choices = u[:, : self.integers], u[:, self.integers :]
        span = (high - low)[:, None, None]
        # A uniform number next to 1 may round up to `high` itself.
        whole = torch.minimum((low[:, None, None] + integers * span).floor(), high[:, None, None] - 1)
        symbols, values, result = self.write(whole, choices)
        one_hot = nn.functional.one_hot(symbols, len(Symbol)).to(u.dtype)
        return torch.cat([one_hot, values[..., None]], -1), result[..., None]


def _sum(integers: Tensor, choices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`a + b =`."""
    a, b = integers.unbind(1)
    symbols, values = _sequence([a, Symbol.PLUS, b, Symbol.END], a)
    return symbols, values, a + b


def _program(integers: Tensor, choices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`if b < c : a else : d ± e =`."""
    a, b, c, d, e = integers.unbind(1)
    minus = choices[:, 0] < 0.5
    operation = torch.where(minus, int(Symbol.MINUS), int(Symbol.PLUS))
    steps: list[Tensor | Symbol] = [
        *(Symbol.IF, b, Symbol.LESS, c, Symbol.THEN, a, Symbol.ELSE, d),
        *(operation, e, Symbol.END),
    ]
    symbols, values = _sequence(steps, a)
    return symbols, values, torch.where(b < c, a, d) + torch.where(minus, -e, e)


def _sequence(steps: Sequence[Tensor | Symbol], like: Tensor) -> tuple[Tensor, Tensor]:
    """Symbols and values, from steps that are numbers, symbols, or symbols that differ between programs."""
    symbols, values = [], []
    for step in steps:
        is_number = isinstance(step, Tensor) and step.is_floating_point()
        symbol = Symbol.NUMBER if is_number else step
        symbols.append(torch.zeros_like(like, dtype=torch.long) + symbol)
        values.append(step if is_number and isinstance(step, Tensor) else torch.zeros_like(like))
    return torch.stack(symbols, -1), torch.stack(values, -1)


GRAMMARS = {"sum": Grammar(2, 0, 4, _sum), "program": Grammar(5, 1, 11, _program)}
"""The two tasks by their names."""
