"""Formulas that a small term makes look alike: 1 + u, 1 / (1 - u) and sqrt(1 + 2 u) for a small u.

They differ by about u squared. Where that is below the precision of the data, no row can tell which of them
is the law, nor whether it is an exponential or a cosine.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import sympy as sp

from nalm.discover.fit.formula import Formula

_SMALL = 0.1
"""Terms that are at most this share of the rest are small."""


def lookalikes(formula: Formula, x: np.ndarray) -> Iterator[Formula]:
    """Other formulas that are about the same on some rows; their numbers are to be fitted.

    Args:
        formula: the formula.
        x: inputs, `n x in`.
    """
    for node in dict.fromkeys(sp.preorder_traversal(formula.expression)):
        if not node.is_Add:
            continue
        for small in _small_parts(node, formula.symbols, x):
            rest = node - small
            for other in (rest / (1 - small / rest), rest * sp.sqrt(1 + 2 * small / rest)):
                made = _freed(formula.expression.xreplace({node: other}))
                if not made.has(sp.zoo, sp.nan, sp.oo):
                    yield Formula(made, formula.symbols)


def _small_parts(node: sp.Add, symbols: tuple[sp.Symbol, ...], x: np.ndarray) -> list[sp.Expr]:
    """Its terms that are small beside the others in every row, each alone and all together."""
    values = {term: Formula(term, symbols)(x) for term in node.args}
    largest = max(values, key=lambda term: float(np.median(np.abs(values[term]))))
    parts = [*(term for term in node.args if term != largest), node - largest]
    return [part for part in dict.fromkeys(parts) if _is_small(part, node - part, symbols, x)]


def _is_small(part: sp.Expr, rest: sp.Expr, symbols: tuple[sp.Symbol, ...], x: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        shares = np.abs(Formula(part, symbols)(x) / Formula(rest, symbols)(x))
    return bool((shares <= _SMALL).all())


def _freed(expression: sp.Expr) -> sp.Expr:
    """The expression with all its numbers decimal, so that they are fitted; 1, -1 and exponents stay."""
    if expression.is_Rational:
        return expression if abs(expression) in (0, 1) else sp.Float(expression, 15)
    if not expression.args:
        return expression
    if expression.is_Pow:
        return sp.Pow(_freed(expression.base), expression.exp)
    return expression.func(*map(_freed, expression.args))
