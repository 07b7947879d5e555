"""Formulas for LaTeX, whatever the names in them are."""

from __future__ import annotations

import re

import sympy as sp

_USUAL = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
"""Names that sympy writes well: letters, Greek letters by their names, and indices after `_`."""
_ESCAPED = {character: f"\\{character}" for character in "#$%&_{}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


def latex(expression: sp.Expr) -> str:
    """The text of an expression for LaTeX; names such as `speed [m/s]` stand in it as text.

    Example:
        >>> latex(sp.Symbol("share in %") / 2)
        '\\\\frac{\\\\text{share in \\\\%}}{2}'
    """
    unusual = [s for s in expression.free_symbols if not _USUAL.fullmatch(s.name)]
    named: str = sp.latex(expression, symbol_names={symbol: _as_text(symbol.name) for symbol in unusual})
    return named


def _as_text(name: str) -> str:
    return rf"\text{{{''.join(_ESCAPED.get(character, character) for character in name)}}}"
