"""Formulas of docstrings as text for a terminal."""

import pytest

from nalm.cli.plain_math import equations, plain_math


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (
            r"\prod_i (W_{o,i} x_i + 1 - W_{o,i}), \qquad W \in [0, 1]",
            "∏_i (W_oi x_i + 1 - W_oi),  W ∈ [0, 1]",
        ),
        (r"\sigma_\phi(x) = \frac{1}{1 + \phi^{-x}}", "σ_φ(x) = 1 / (1 + φ^(-x))"),
        (r"\exp\Big(\sum_i |x_i|^{W_{o,i}}\Big)", "exp(∑_i |x_i|^(W_oi))"),
        (r"W = \tanh(\hat W), \varphi = \sqrt 5", "W = tanh(W\N{COMBINING CIRCUMFLEX ACCENT}), varphi = √5"),
        (r"a &= \text{softmax}(V) \quad\text{or}\quad b \\ c", "a = softmax(V)  or  b  c"),
    ],
)
def test_latex_becomes_text(latex, text):
    assert plain_math(latex) == text


def test_the_displayed_formulas_of_a_docstring_are_found():
    text = """A unit.

    .. math:: y = x_1

    With :math:`x` its input:

    .. math::
        a = b, \\qquad
        c = d

    The end.
    """
    assert equations(text) == ["y = x_1", "a = b,  c = d"]
    assert equations("No formula.") == []
