"""Reading a model as a formula: what is discrete is read exactly, what is not is said not to be."""

import math

import pytest
import sympy as sp
import torch
from torch import nn

import nalm
from nalm.symbolic import Explanation
from nalm.tasks import OPERATIONS
from nalm.units import UNITS

A, B, C = sp.symbols("a b c", real=True)
POINTS = torch.tensor([[1.5, 2.25, 0.75], [3.0, 0.5, 4.0], [0.1, 7.0, 2.0]], dtype=torch.float64)
SIGNED = torch.tensor([[-1.5, 2.25, -0.75], [3.0, -0.5, 4.0], [-0.1, -7.0, -2.0]], dtype=torch.float64)


def ideal(cls, op, i=0, j=1, inputs=2, **options):
    unit = cls(inputs, 1, **options)
    unit.ideal_(op, i, j)
    return unit


def filled(cls, inputs=2, outputs=1, **values):
    """A unit in double precision with every value of the named parameters set."""
    unit = cls(inputs, outputs, dtype=torch.float64)
    with torch.no_grad():
        for name, value in values.items():
            unit.get_parameter(name).fill_(value)
    return unit


def sum_times(dtype=None):
    """The stack of NAU and NMU whose weights compute (a + b) * c."""
    model = nn.Sequential(nalm.NAU(3, 2, dtype=dtype), nalm.NMU(2, 1, dtype=dtype))
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
        model[1].weight.fill_(1.0)
    return model


def value_at(expressions, names, points):
    """The expressions' values at each row of points."""
    symbols = [sp.Symbol(name, real=True) for name in names]
    rows = [[float(e.subs(dict(zip(symbols, row)))) for e in expressions] for row in points.tolist()]
    return torch.tensor(rows, dtype=torch.float64)


def assert_computes(explanation, names, model, points):
    expected = model(points).detach()
    torch.testing.assert_close(value_at(explanation.expressions, names, points), expected)


# -- discrete weights are read -------------------------------------------------------------------


def test_a_stack_of_sum_and_product_is_read_as_written_by_hand():
    explanation = nalm.explain(sum_times(), ["a", "b", "c"])
    assert explanation.expressions == [C * (A + B)]
    assert explanation.readable
    assert explanation.distance == 0
    assert str(explanation) == "c*(a + b)"


@pytest.mark.parametrize(
    ("unit", "op", "formula"),
    [
        ("nau", "add", A + B),
        ("nau", "sub", A - B),
        ("nac", "add", A + B),
        ("nac", "sub", A - B),
        ("nmu", "mul", A * B),
        ("realnpu", "mul", A * B),
        ("realnpu", "div", A / B),
        ("nac-mul", "mul", abs(A * B)),
        ("nac-mul", "div", abs(A / B)),
        ("nalu", "add", A + B),
        ("nalu", "sub", A - B),
        ("nalu", "mul", abs(A * B)),
        ("nalu", "div", abs(A / B)),
    ],
)
def test_ideal_weights_are_read_as_their_operation(unit, op, formula):
    explanation = nalm.explain(ideal(UNITS[unit], op), ["a", "b"])
    assert explanation.readable
    assert explanation.expressions == [formula]


ARITHMETIC = [(name, op) for name, cls in UNITS.items() for op in cls.ops if op in OPERATIONS]


@pytest.mark.parametrize(("unit", "op"), ARITHMETIC)
def test_the_formula_computes_what_the_unit_does_on_positive_inputs(unit, op):
    model = ideal(UNITS[unit], op, 0, 2, inputs=3, dtype=torch.float64).eval()
    values = value_at(nalm.explain(model, "abc").expressions, "abc", POINTS)
    torch.testing.assert_close(values, model(POINTS).detach(), rtol=1e-5, atol=1e-5)


def test_separate_paths_of_the_nalu_are_read_by_its_gate():
    model = ideal(nalm.NALU, "mul", shared=False)
    with torch.no_grad():
        model.w_hat.zero_()
    assert nalm.explain(model, ["a", "b"]).expressions == [abs(A * B)]


def test_irrelevant_inputs_do_not_appear():
    (formula,) = nalm.explain(ideal(nalm.NMU, "mul", 0, 2, inputs=4), "abcd").expressions
    assert formula.free_symbols == {A, C}


def test_every_output_has_its_expression():
    model = nalm.NAU(2, 3)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]))
    explanation = nalm.explain(model, ["a", "b"])
    assert explanation.expressions == [A + B, A - B, 0]
    assert str(explanation) == "a + b, a - b, 0"


def test_powers_may_be_whole_numbers_and_halves():
    model = ideal(nalm.RealNPU, "mul", dtype=torch.float64)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[3.0, -2.0]]))
    assert nalm.explain(model, ["a", "b"]).expressions == [A**3 / B**2]
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[0.5, 0.0]]))
    root = nalm.explain(model, ["a", "b"])
    assert root.readable
    assert float(root.expressions[0].subs(A, 9)) == pytest.approx(3)


def test_a_closed_gate_hides_its_input():
    model = ideal(nalm.RealNPU, "mul")
    with torch.no_grad():
        model.gate.copy_(torch.tensor([1.0, 0.0]))
    assert nalm.explain(model, ["a", "b"]).expressions == [A]


def test_stacks_may_be_nested():
    minus = filled(nalm.NAU, inputs=1, weight=-1.0)
    model = nn.Sequential(sum_times(), minus)
    (formula,) = nalm.explain(model, "abc").expressions
    assert sp.expand(formula + C * (A + B)) == 0


# -- nearly discrete weights ---------------------------------------------------------------------


def test_nearly_discrete_weights_are_read():
    model = sum_times()
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.009 * (2 * torch.rand_like(parameter) - 1))
    explanation = nalm.explain(model, "abc")
    assert explanation.readable
    assert 0 < explanation.distance < 0.01
    assert explanation.expressions == [C * (A + B)]


def test_the_distance_is_that_of_the_worst_weight():
    model = sum_times(torch.float64)
    with torch.no_grad():
        model[0].weight[0, 0] = 0.996
        model[1].weight[0, 1] = 0.75
    assert nalm.explain(model).distance == pytest.approx(0.25)


def test_the_tolerance_decides_what_is_read():
    model = filled(nalm.NAU, weight=0.95)
    assert not nalm.explain(model, ["a", "b"]).readable
    wide = nalm.explain(model, ["a", "b"], tolerance=0.1)
    assert wide.readable
    assert wide.expressions == [A + B]


def test_the_sentence_names_the_tolerance_that_was_asked_for():
    text = str(nalm.explain(filled(nalm.NAU, weight=0.995), tolerance=0.001))
    assert "at most 0.001 can be read" in text


# -- weights that cannot be read -----------------------------------------------------------------


HALF = math.atanh(0.5)
UNREADABLE = {
    "nau": filled(nalm.NAU, 3, 2, weight=0.5),
    "nmu": filled(nalm.NMU, 3, 2, weight=0.5),
    "nac": filled(nalm.NAC, 3, 2, w_hat=HALF, m_hat=50.0),
    "nac-mul": filled(nalm.NACMul, 3, 2, w_hat=HALF, m_hat=50.0),
    "nalu": filled(nalm.NALU, 3, 2, w_hat=HALF, m_hat=50.0, gate=0.25),
    "realnpu with a gate half open": filled(nalm.RealNPU, 3, 2, weight=0.5, gate=0.5),
    "realnpu with powers of a quarter": filled(nalm.RealNPU, 3, 2, weight=0.25, gate=1.0),
    "nau+nmu": nn.Sequential(filled(nalm.NAU, 3, 2, weight=0.5), filled(nalm.NMU, 2, 1, weight=0.5)),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_weights_between_discrete_values_are_not_readable_and_the_text_says_so(name):
    explanation = nalm.explain(UNREADABLE[name])
    distance = 0.25 if "quarter" in name else 0.5
    assert not explanation.readable
    assert explanation.distance == pytest.approx(distance)
    assert f", {distance} away from " in str(explanation)
    assert str(explanation.expressions[0]) in str(explanation)


@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("points", [POINTS, SIGNED], ids=["positive", "signed"])
def test_the_expression_as_it_is_equals_the_forward_pass(name, points):
    assert_computes(nalm.explain(UNREADABLE[name]), ["x1", "x2", "x3"], UNREADABLE[name], points)


def test_fresh_weights_are_given_as_they_are():
    torch.manual_seed(0)
    model = nn.Sequential(nalm.NAU(3, 2, dtype=torch.float64), nalm.NALU(2, 1, dtype=torch.float64))
    assert_computes(nalm.explain(model, "abc"), "abc", model, SIGNED)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_weights_that_are_not_finite_are_not_readable(value):
    explanation = nalm.explain(filled(nalm.NAU, weight=value))
    assert not explanation.readable


# -- batches -------------------------------------------------------------------------------------


def test_a_batch_gives_a_list():
    model = nalm.NAU(2, 1, batch_shape=(2,))
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[[1.0, 1.0]], [[1.0, -1.0]]]))
    explanations = nalm.explain(model, ["a", "b"])
    assert [e.expressions for e in explanations] == [[A + B], [A - B]]


def test_a_batch_of_batches_gives_nested_lists():
    model = nn.Sequential(nalm.NAU(3, 2, batch_shape=(2, 3)), nalm.NMU(2, 1, batch_shape=(2, 3)))
    explanations = nalm.explain(model)
    assert [len(row) for row in explanations] == [3, 3]
    assert all(isinstance(e, Explanation) for row in explanations for e in row)


def test_each_model_of_a_batch_is_judged_by_its_own_weights():
    model = nalm.NMU(2, 1, batch_shape=(2,))
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[[1.0, 1.0]], [[0.5, 1.0]]]))
    assert [e.readable for e in nalm.explain(model)] == [True, False]


# -- names, LaTeX, and the model afterwards ------------------------------------------------------


def test_names_are_numbered_by_default():
    assert str(nalm.explain(ideal(nalm.NAU, "sub", 0, 2, inputs=3))) == "x1 - x3"


def test_names_may_be_words():
    assert str(nalm.explain(ideal(nalm.NMU, "mul"), ["height", "width"])) == "height*width"


def test_latex_of_a_quotient_is_a_fraction():
    assert nalm.explain(ideal(nalm.RealNPU, "div"), ["a", "b"]).latex() == r"\frac{a}{b}"


def test_latex_has_every_output():
    model = filled(nalm.NAU, 2, 2, weight=1.0)
    assert nalm.explain(model, ["alpha", "b"]).latex() == r"\alpha + b, \alpha + b"


@pytest.mark.parametrize("batch", [(), (2,)])
def test_the_model_is_not_changed(batch):
    model = nn.Sequential(nalm.NAU(3, 2, batch_shape=batch), nalm.RealNPU(2, 1, batch_shape=batch))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    parameters = list(model.parameters())
    nalm.explain(model, tolerance=1.0)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(old is new and new.requires_grad for old, new in zip(parameters, model.parameters()))
    assert all(layer.batch_shape == batch for layer in model)


# -- wrong arguments -----------------------------------------------------------------------------


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "c"]])
def test_a_wrong_number_of_names_is_refused(names):
    with pytest.raises(
        nalm.ArgumentError, match=f"`names` must be 2 names, one per input, but got {len(names)}"
    ):
        nalm.explain(nalm.NAU(2, 1), names)


def test_names_that_repeat_are_refused():
    with pytest.raises(nalm.ArgumentError, match="`names` must be all different, but got a, b, a"):
        nalm.explain(nalm.NAU(3, 1), ["a", "b", "a"])


@pytest.mark.parametrize("names", [3, [1, 2], [None, None]])
def test_names_that_are_no_words_are_refused(names):
    with pytest.raises(nalm.ArgumentError, match=r"`names` must be (a list with one name per input|strings)"):
        nalm.explain(nalm.NAU(2, 1), names)


@pytest.mark.parametrize("tolerance", ["0.1", None, -1, math.nan, True])
def test_a_tolerance_that_is_no_distance_is_refused(tolerance):
    with pytest.raises(nalm.ArgumentError, match="`tolerance` must be a number, 0 or more"):
        nalm.explain(nalm.NAU(2, 1), tolerance=tolerance)


@pytest.mark.parametrize("model", [nn.Linear(2, 1), nn.Sequential()])
def test_a_model_without_units_is_refused(model):
    found = type(model).__name__
    with pytest.raises(nalm.ArgumentError, match=f"`model` must be .*, but got a {found} without units"):
        nalm.explain(model)


def test_a_model_without_numbers_is_refused():
    with pytest.raises(nalm.ArgumentError, match="but got the meta device"):
        nalm.explain(nalm.NAU(2, 1, device="meta"))


# -- powers, logic, comparisons ------------------------------------------------------------------

LOGIC = {
    "and": A & B,
    "or": A | B,
    "not": ~A,
    "nand": ~A | ~B,
    "nor": ~A & ~B,
    "implies": B | ~A,
}
RELATIONS = {"lt": A < B, "gt": A > B, "le": A <= B, "ge": A >= B, "eq": sp.Eq(A, B), "ne": sp.Ne(A, B)}


@pytest.mark.parametrize("kind", [nalm.NPU, nalm.RealNPU])
def test_a_power_of_one_half_is_read_as_a_root(kind):
    unit = filled(kind, 2, 1, gate=1.0)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[0.501, -1.998]]))
    explanation = nalm.explain(unit, "ab")
    assert explanation.expressions == [sp.sqrt(A) / B**2]
    assert explanation.reading == "for positive inputs"


def test_an_imaginary_power_is_not_hidden():
    unit = filled(nalm.NPU, 2, 1, weight=1.0, imaginary=0.5, gate=1.0)
    assert nalm.explain(unit, "ab").expressions[0].has(sp.cos, sp.log)


@pytest.mark.parametrize(("op", "formula"), LOGIC.items())
@pytest.mark.parametrize("de_morgan", [False, True])
def test_rules_are_read_as_booleans(op, formula, de_morgan):
    (rule,) = nalm.explain(ideal(nalm.NLRL, op, de_morgan=de_morgan), "ab").expressions
    assert sp.simplify_logic(sp.Equivalent(rule, formula)) == sp.true


@pytest.mark.parametrize(("op", "relation"), RELATIONS.items())
@pytest.mark.parametrize("redundancy", [1, 3])
def test_comparisons_are_read_as_relations(op, relation, redundancy):
    explanation = nalm.explain(ideal(nalm.NSR, op, redundancy=redundancy), "ab")
    assert explanation.readable
    assert explanation.expressions == [relation]


def test_both_outputs_of_a_comparison_are_read():
    unit = nalm.NSR(2, 2, both=True)
    unit.ideal_("lt")
    assert nalm.explain(unit, "ab").expressions == [A < B, A >= B]


def test_a_comparison_that_is_unsure_of_itself_is_not_read():
    unit = ideal(nalm.NSR, "lt")
    with torch.no_grad():
        unit.sign_scale.fill_(0.5)
        unit.shift.zero_()
    explanation = nalm.explain(unit, "ab")
    assert not explanation.readable
    assert explanation.expressions[0].has(sp.tanh)


def test_comparisons_feed_rules_and_sums():
    compare = nalm.NSR(2, 2)
    compare.ideal_("lt")
    rule, total = ideal(nalm.NLRL, "not"), ideal(nalm.NAU, "sub")
    assert nalm.explain(nn.Sequential(compare, rule), "ab").expressions == [A >= B]
    with torch.no_grad():
        compare.sign_scale[1] *= -1
    (difference,) = nalm.explain(nn.Sequential(compare, total), "ab").expressions
    assert [difference.subs({A: a, B: 2}) for a in (1, 2, 3)] == [1, 0, -1]


def test_a_rule_takes_numbers_above_one_half_as_true():
    sums = nalm.NAU(2, 2)
    sums.ideal_("add")
    explanation = nalm.explain(nn.Sequential(sums, ideal(nalm.NLRL, "not")), "ab")
    (rule,) = explanation.expressions
    assert explanation.reading == "where a + b, a + b is 0 or 1"
    assert [rule.subs({A: a, B: 0}) for a in (0.4, 0.6)] == [sp.true, sp.false]


@pytest.mark.parametrize("kind", [nalm.INALU, nalm.GNALU, nalm.GatedNAUNMU])
def test_a_gate_that_is_neither_open_nor_closed_is_not_read(kind):
    unit = ideal(kind, "add")
    with torch.no_grad():
        unit.gate.zero_()
    assert not nalm.explain(unit, "ab").readable


def test_the_weights_of_a_closed_path_need_not_be_discrete():
    unit = ideal(nalm.INALU, "sub")
    with torch.no_grad():
        unit.w_hat_mul.fill_(0.3)
    assert nalm.explain(unit, "ab").expressions == [A - B]
    unit = ideal(nalm.NALU, "mul", shared=False)
    with torch.no_grad():
        unit.w_hat.fill_(0.3)
    assert nalm.explain(unit, "ab").expressions == [abs(A * B)]
    unit = ideal(nalm.GatedNAUNMU, "add")
    with torch.no_grad():
        unit.mul_weight.fill_(0.3)
    assert nalm.explain(unit, "ab").expressions == [A + B]


def test_the_gate_of_an_input_without_use_need_not_be_discrete():
    unit = ideal(nalm.RealNPU, "mul", 0, 1, inputs=3)
    with torch.no_grad():
        unit.gate[2] = 0.4
    assert nalm.explain(unit, "abc").expressions == [A * B]
    rule = ideal(nalm.NLRL, "and", 0, 1, inputs=3)
    with torch.no_grad():
        rule.negation[0, 2] = 0.1
    assert nalm.explain(rule, "abc").expressions == [A & B]


def test_a_value_that_decides_must_be_discrete():
    unit = ideal(nalm.INALU, "mul")
    with torch.no_grad():
        unit.w_hat_mul.fill_(0.3)
    assert not nalm.explain(unit, "ab").readable


def test_what_a_later_layer_asks_of_its_inputs_is_said_of_that_layer():
    differences = nalm.NAU(2, 2)
    differences.ideal_("sub")
    explanation = nalm.explain(nn.Sequential(differences, ideal(nalm.NALU, "add")), "ab")
    assert explanation.reading == "for positive inputs of layer 2"


@pytest.mark.parametrize("kind", [nalm.NALU, nalm.GNALU, nalm.GatedNAUNMU, nalm.NPU])
def test_units_in_lower_precision_are_read(kind):
    unit = kind(2, 1, dtype=torch.bfloat16)
    unit.ideal_("mul")
    assert nalm.explain(unit, "ab").readable
