"""Formulas for LaTeX: what sympy writes well stays, other names become text."""

import pytest
import sympy as sp

from nalm.symbolic.latex import latex


@pytest.mark.parametrize("name", ["a", "alpha", "x_1", "mass"])
def test_usual_names_are_written_as_sympy_writes_them(name):
    expression = sp.sqrt(sp.Symbol(name)) / 2
    assert latex(expression) == sp.latex(expression)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("speed [m/s]", r"\text{speed [m/s]}"),
        ("100%", r"\text{100\%}"),
        ("R&D_cost", r"\text{R\&D\_cost}"),
        ("a^b~{c}", r"\text{a\textasciicircum{}b\textasciitilde{}\{c\}}"),
        ("\\input", r"\text{\textbackslash{}input}"),
    ],
)
def test_other_names_are_text_with_nothing_that_latex_would_act_on(name, text):
    assert latex(2 * sp.Symbol(name)) == f"2 {text}"
