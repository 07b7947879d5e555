"""CalcNet with trained units: the expressions that it is asked, and how its answers are judged."""

from fractions import Fraction

import pytest

import nalm
from nalm.papers.mistry2023.programs import calcnet
from nalm.papers.mistry2023.programs.calcnet_expressions import Node, expressions, joined
from nalm.papers.scale import Scale


@pytest.mark.parametrize("depth", calcnet.DEPTHS)
def test_expressions_have_their_depth_and_the_value_that_their_text_has(depth):
    for node in expressions(depth, 20, 99):
        assert node.depth == depth
        assert nalm.CalcNet().evaluate(node.text) == pytest.approx(float(node.value), rel=1e-9)


def test_expressions_are_different_and_the_same_every_time():
    first, again = (expressions(3, 50, 99) for _ in range(2))
    assert [node.text for node in first] == [node.text for node in again]
    assert len({node.text for node in first}) == 50


def number(value):
    return Node(Fraction(value), str(value))


def test_brackets_are_written_only_where_precedence_needs_them():
    sum_, difference = joined("+", number(2), number(3)), joined("-", number(9), number(3))
    assert joined("*", sum_, number(7)).text == "(2+3)*7"
    assert joined("-", sum_, difference).text == "2+3-(9-3)"
    assert joined("+", joined("*", number(2), number(3)), number(4)).text == "2*3+4"


def test_expressions_with_a_zero_inside_are_not_asked():
    zero = joined("-", number(4), number(4))
    assert zero is None


def test_an_exact_network_is_right_and_a_faulty_one_is_not():
    node = expressions(4, 1, 99)[0]
    assert calcnet.relative_errors(nalm.CalcNet(), [node])[0] < 1e-9
    wrong = nalm.NAU(2, 1)
    wrong.ideal_("sub", 0, 1)
    assert calcnet.relative_errors(nalm.CalcNet({"add": wrong}), [joined("+", number(2), number(3))])[0] > 1


def test_a_result_that_is_not_finite_is_infinitely_wrong():
    wrong = nalm.NAU(2, 1)  # computes 0, by which nothing can be divided
    wrong.weight.data.zero_()
    node = joined("/", number(2), joined("+", number(2), number(3)))
    assert calcnet.relative_errors(nalm.CalcNet({"add": wrong}), [node]) == [float("inf")]


def test_many_expressions_side_by_side_are_those_one_by_one():
    texts = [node.text for node in expressions(3, 10, 99)] + ["2^5", "-3", "2^-2", "7"]
    calculator = nalm.CalcNet()
    assert calculator.evaluate_many(texts) == pytest.approx([calculator.evaluate(text) for text in texts])
    assert calculator.evaluate_many([]) == []


def test_every_row_has_a_unit_for_each_operation():
    made = calcnet.cases(Scale(quick=True))
    assert list(made) == list(calcnet.ROWS)
    assert all(list(row) == ["add", "sub", "mul", "div"] for row in made.values())
    assert all(case.task.op == op for row in made.values() for op, case in row.items())
