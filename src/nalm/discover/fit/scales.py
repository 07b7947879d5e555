"""Numbers that do the same: the factor of a product, and the size of a sum in it."""

from __future__ import annotations

import sympy as sp


def without_idle_scales(expression: sp.Expr) -> sp.Expr:
    """The expression with one decimal number less for every sum whose size a factor beside it gives too.

    `1.5 sqrt(0.4 a + 0.4 b)` has three numbers for two: the first term of the sum gets the coefficient 1 or
    -1, and what it had goes into the factor.
    """
    if not expression.args:
        return expression
    parts = [without_idle_scales(part) for part in expression.args]
    if not expression.is_Mul or not any(part.is_Float for part in parts):
        return expression.func(*parts)
    factor = sp.Integer(1)
    for k, part in enumerate(parts):
        base, exponent = part.as_base_exp()
        scale = _scale(base) if exponent.is_Rational else None
        if scale is not None:
            parts[k] = _divided(base, scale) ** exponent
            factor *= scale**exponent
    return sp.Mul(factor, *parts)


def _scale(base: sp.Expr) -> sp.Float | None:
    """The size of the first coefficient of a sum, if all are decimal: a whole one fixes its size already."""
    if not base.is_Add:
        return None
    sizes = [abs(term.as_coeff_Mul()[0]) for term in base.as_ordered_terms()]
    return sizes[0] if all(size.is_Float and size > 0 for size in sizes) else None


def _divided(base: sp.Expr, scale: sp.Float) -> sp.Expr:
    """A sum over a number; coefficients of that size become whole, without a rounding."""
    terms = []
    for term in base.args:
        coefficient, rest = term.as_coeff_Mul()
        whole = abs(coefficient) == scale
        terms.append(rest * (sp.sign(coefficient) if whole else coefficient / scale))
    return sp.Add(*terms)
