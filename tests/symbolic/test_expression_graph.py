"""Expression graphs: what they compute, when two are the same function, and how they are written."""

import numpy as np
import pytest
import sympy as sp
import torch

from nalm.symbolic.expression_graph import SIGNS, ExpressionGraph, Step, applied, letters

EXPECTED = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "minus": lambda x, y: -(x + y),
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "inverse": lambda x, y: 1 / (x * y),
    "negative": lambda x, y: -x,
    "reciprocal": lambda x, y: 1 / x,
}


def graph(*steps, inputs=3, output=-1):
    return ExpressionGraph(inputs, tuple(Step(*step) for step in steps), output)


@pytest.mark.parametrize("op", SIGNS)
def test_an_operation_computes_what_its_name_says(op):
    assert applied(op, 3.0, 4.0) == EXPECTED[op](3.0, 4.0)


@pytest.mark.parametrize("op", SIGNS)
def test_an_operation_is_a_sum_or_a_product_with_its_two_weights(op):
    kind, a, b = SIGNS[op]
    assert EXPECTED[op](3.0, 4.0) == pytest.approx(3 * a + 4 * b if kind == "sum" else 3.0**a * 4.0**b)


def test_a_step_may_read_inputs_and_earlier_steps_also_twice():
    squared = graph(("add", 0, 1), ("mul", 3, 3))
    assert squared(np.array([[1.0, 2.0, 9.0]])) == [9.0]
    assert squared(torch.tensor([[1.0, 2.0, 9.0]])).tolist() == [9.0]
    assert squared.expression(["a", "b", "c"]) == sp.sympify(
        "(a + b)**2", {n: sp.Symbol(n, real=True) for n in "ab"}
    )


def test_the_result_may_be_any_line():
    assert graph(("add", 0, 1), output=2)(np.array([1.0, 2.0, 9.0])) == 9.0


def test_only_what_the_result_depends_on_is_needed():
    made = graph(("add", 0, 1), ("mul", 0, 2), ("sub", 4, 2))
    assert made.needed == {0, 2, 4, 5}
    assert made.used_inputs == (0, 2)


def test_graphs_of_one_function_have_one_fingerprint():
    one, other = graph(("add", 0, 1), ("mul", 3, 2)), graph(("mul", 1, 2), ("mul", 0, 2), ("add", 3, 4))
    assert one.fingerprint == other.fingerprint
    assert one.fingerprint != graph(("sub", 0, 1), ("mul", 3, 2)).fingerprint


def test_a_graph_that_divides_by_zero_everywhere_has_no_fingerprint():
    assert graph(("sub", 0, 0), ("div", 1, 3)).fingerprint is None


def test_a_mentioned_input_need_not_matter():
    made = graph(("add", 0, 1), ("sub", 3, 1))
    assert made.depends_on(0)
    assert not made.depends_on(1)


def test_an_expression_is_compared_exactly_and_not_by_numbers():
    a, b, c = (sp.Symbol(name, real=True) for name in "abc")
    made = graph(("add", 0, 1), ("div", 3, 2))
    assert made.is_equal(a / c + b / c, "abc")
    assert not made.is_equal((a + b) / c + sp.Rational(1, 10**12), "abc")


def test_inputs_are_letters_as_long_as_there_are_enough():
    assert letters(4) == ["a", "b", "c", "d"]
    assert letters(27)[:2] == ["x1", "x2"]
