"""Formulas for people to look at: numbers with few digits, and no more lines than there is room for."""

from __future__ import annotations

import re
import textwrap

_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?![\w.])")


def with_few_digits(formula: str) -> str:
    """The formula with decimal numbers of four digits."""
    return _NUMBER.sub(lambda found: f"{float(found[0]):.4g}", formula)


def in_lines(formula: str, width: int, most: int) -> list[str]:
    """The lines of a formula in some width; what is longer than `most` lines is cut there."""
    lines = textwrap.wrap(formula, width, break_on_hyphens=False)
    return lines if len(lines) <= most else [*lines[: most - 1], lines[most - 1][: width - 1] + "…"]
