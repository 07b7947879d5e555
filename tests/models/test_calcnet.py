"""CalcNet: an expression has the value that Python gives it, and a wrong one says where it is wrong."""

import random

import pytest
import torch
from torch import nn

import nalm
from nalm.models import ExpressionError
from nalm.training.calcnet import train_calcnet

CALCNET = nalm.CalcNet()


# -- expressions built together with their values ------------------------------------------------


def a_number(rng):
    text = rng.choice(
        [
            str(rng.randint(1, 99)),
            f"{rng.uniform(0.1, 20):.3f}",
            f".{rng.randint(1, 9)}",
            f"{rng.randint(1, 9)}.",
            f"{rng.randint(1, 9)}.{rng.randint(0, 9)}e{rng.choice(['', '+', '-'])}{rng.randint(0, 2)}",
        ]
    )
    return text, float(text)


def an_operand(rng, depth):
    if depth == 0 or rng.random() < 0.5:
        return a_number(rng)
    text, value = a_sum(rng, depth - 1)
    return f"({text})", value


def a_power(rng, depth):
    text, value = an_operand(rng, depth)
    if rng.random() < 0.8 or not 1e-3 < abs(value) < 1e3:
        return text, value
    exponent = rng.randint(-3, 3)
    return f"{text}{rng.choice(['^', '**'])}{exponent}", value**exponent


def a_signed_power(rng, depth):
    text, value = a_power(rng, depth)
    return (f"-{text}", -value) if rng.random() < 0.2 else (text, value)


def a_product(rng, depth):
    text, value = a_signed_power(rng, depth)
    for _ in range(rng.choice([0, 0, 1, 2])):
        other, factor = a_signed_power(rng, depth)
        sign = rng.choice("*/")
        text, value = f"{text}{sign}{other}", value * factor if sign == "*" else value / factor
    return text, value


def a_sum(rng, depth):
    text, value = a_product(rng, depth)
    for _ in range(rng.choice([0, 1, 1, 2])):
        other, term = a_product(rng, depth)
        plus, space = rng.random() < 0.5, rng.choice(["", " "])
        if abs(value + term if plus else value - term) < 1e-2 * max(abs(value), abs(term)):
            plus = not plus  # no cancellation, which would magnify the last digit
        text = f"{text}{space}{'+' if plus else '-'}{space}{other}"
        value = value + term if plus else value - term
    return text, value


@pytest.mark.parametrize("seed", range(200))
def test_a_random_expression_has_the_value_that_python_gives(seed):
    text, value = a_sum(random.Random(seed), 3)
    assert CALCNET.evaluate(text) == pytest.approx(value, rel=1e-12, abs=0), text


def test_the_random_expressions_have_every_construct():
    texts = " ".join(a_sum(random.Random(seed), 3)[0] for seed in range(200))
    assert all(construct in texts for construct in ("((", "))", "--", "*-", "/-", "^-", "**", "e-", ")^"))


# -- grammar -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1+2*3", 7),
        ("1*2+3", 5),
        ("(1+2)*3", 9),
        ("10-4-3", 3),
        ("10-(4-3)", 9),
        ("64/4/2", 8),
        ("64/(4/2)", 32),
        ("8/4*2", 4),
        ("8*4/2", 16),
        ("2*3^2", 18),
        ("(2*3)^2", 36),
        ("2^3*2", 16),
        ("2^3^2", 512),
        ("(2^3)^2", 64),
        ("2**3**2", 512),
        ("2^3**2", 512),
        ("3*(4-2)/5+7*-2", -12.8),
    ],
)
def test_operations_group_as_in_mathematics(text, value):
    assert CALCNET.evaluate(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-5", -5),
        ("+5", 5),
        ("--5", 5),
        ("-+-+5", 5),
        ("-(-5)", 5),
        ("2--3", 5),
        ("2+-3", -1),
        ("2*-3", -6),
        ("6/-3", -2),
        ("-2^2", -4),
        ("(-2)^2", 4),
        ("-2^-2", -0.25),
        ("2^-2", 0.25),
        ("2^--2", 4),
        ("2^-1^2", 0.5),
        ("-2*3+1", -5),
    ],
)
def test_signs_bind_less_than_powers_and_more_than_products(text, value):
    assert CALCNET.evaluate(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("007", 7),
        ("7.", 7),
        (".5", 0.5),
        ("0.1", 0.1),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e+3", 1000),
        ("1e-3", 0.001),
        (".5e1", 5),
        ("2.e2", 200),
        ("1e3+1", 1001),
        ("1e3-1e-3", 999.999),
        ("10^3", 1000),
        ("2.5*10^-3", 0.0025),
        ("1e308", 1e308),
    ],
)
def test_numbers_are_read_as_python_reads_them(text, value):
    assert CALCNET.evaluate(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("text", ["1+2*3", " 1 + 2 * 3 ", "1\t+\n2  *3", "((1)+(2)*(3))", "(((1+2*3)))"])
def test_spaces_and_superfluous_brackets_do_not_matter(text):
    assert CALCNET.evaluate(text) == 7


@pytest.mark.parametrize(("text", "value"), [("5^0", 1), ("0^0", 1), ("0^3", 0), ("0*5", 0), ("0/5", 0)])
def test_zero_computes_as_in_python(text, value):
    assert CALCNET.evaluate(text) == value


@pytest.mark.parametrize("exponent", [1, 2, 3, 7, 31, 64, 100])
def test_a_power_is_the_repeated_product(exponent):
    assert CALCNET.evaluate(f"1.1^{exponent}") == pytest.approx(1.1**exponent, rel=1e-12)
    assert CALCNET.evaluate(f"1.1^-{exponent}") == pytest.approx(1.1**-exponent, rel=1e-12)


def test_the_largest_exponent_is_ten_thousand():
    assert CALCNET.evaluate("1.0001^10000") == pytest.approx(1.0001**10000, rel=1e-11)


# -- long expressions ----------------------------------------------------------------------------


def test_five_thousand_nested_brackets_are_read():
    assert CALCNET.evaluate("(" * 5000 + "3+4" + ")" * 5000) == 7


def test_five_thousand_signs_are_read():
    assert CALCNET.evaluate("-" * 5000 + "3") == 3


def test_two_thousand_terms_are_added():
    assert CALCNET.evaluate("+".join(map(str, range(2000)))) == sum(range(2000))


def test_two_thousand_operations_may_wait_for_their_operand():
    assert CALCNET.evaluate("1-(" * 2000 + "1" + ")" * 2000) == 1


# -- wrong expressions ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 1),
        ("   ", 4),
        ("1+", 3),
        ("1 + ", 5),
        ("-", 2),
        ("(", 2),
        ("1*(2-", 6),
    ],
)
def test_an_expression_that_ends_too_early_is_wrong_at_its_end(text, position):
    with pytest.raises(
        ExpressionError, match=f"a number or a bracket at position {position}, .* the end"
    ) as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


@pytest.mark.parametrize(
    ("text", "position"),
    [("1+*2", 3), ("*2", 1), ("/ 2", 1), ("1 + + * 2", 7), ("()", 2), ("(1+)", 4), (")", 1), ("2***3", 4)],
)
def test_an_operation_without_its_operand_is_wrong_where_it_stands(text, position):
    with pytest.raises(ExpressionError, match="a number or a bracket at position") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


@pytest.mark.parametrize(
    ("text", "position"), [("2 3", 3), ("2(3)", 2), ("(2)(3)", 4), ("(2) 3", 5), ("1.2.3", 4), ("1..2", 3)]
)
def test_operands_without_an_operation_are_wrong_at_the_second(text, position):
    with pytest.raises(ExpressionError, match="an operation at position") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


@pytest.mark.parametrize(("text", "position"), [("(1+2", 1), ("1+(2", 3), ("((1)", 1), ("(1)*(2+(3)", 5)])
def test_a_bracket_that_is_not_closed_is_wrong_where_it_opens(text, position):
    with pytest.raises(ExpressionError, match="a bracket that is closed at position") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


@pytest.mark.parametrize(("text", "position"), [("1+2)", 4), ("(1))", 4), ("1)+(2", 2)])
def test_a_bracket_that_was_not_opened_is_wrong_where_it_closes(text, position):
    with pytest.raises(ExpressionError, match=r"'\)' without '\('") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


@pytest.mark.parametrize(
    ("text", "position", "character"),
    [
        ("a", 1, "a"),
        ("1 $ 2", 3, r"\$"),
        ("  1 + x", 7, "x"),
        ("1,000", 2, ","),
        ("2e", 2, "e"),
        (".", 1, r"\."),
        ("3 % 2", 3, "%"),
        ("1 + inf", 5, "i"),
        ("nan", 1, "n"),
        ("1_000", 2, "_"),
        ("0x10", 2, "x"),
    ],
)
def test_a_character_of_no_meaning_is_wrong_where_it_stands(text, position, character):
    with pytest.raises(ExpressionError, match=f"at position {position}, but got '{character}'") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


def test_a_number_too_large_is_wrong_where_it_begins():
    with pytest.raises(ExpressionError, match="a finite number at position 5, but got 1e400") as e:
        CALCNET.evaluate("1 + 1e400")
    assert e.value.position == 5


@pytest.mark.parametrize(
    ("text", "position"),
    [("1/0", 2), ("3 / (2-2)", 3), ("1+2/0.0", 4), ("8/4/0", 4), ("0/0", 2), ("1/-0", 2)],
)
def test_division_by_zero_is_wrong_at_its_sign(text, position):
    with pytest.raises(ExpressionError, match="division by zero") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


@pytest.mark.parametrize(("text", "position"), [("0^-1", 2), ("1+(2-2)**-3", 8)])
def test_a_negative_power_of_zero_is_wrong_at_its_sign(text, position):
    with pytest.raises(ExpressionError, match="division by zero") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("2^0.5", 2),
        ("1 + 2**(1/2)", 6),
        ("2^10001", 2),
        ("2^-10001", 2),
        ("2^2^0.5", 4),
    ],
)
def test_an_exponent_that_is_not_whole_or_too_large_is_wrong_at_the_power(text, position):
    with pytest.raises(ExpressionError, match="a whole exponent of at most 10000") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position


def test_the_error_shows_the_expression():
    with pytest.raises(nalm.ArgumentError, match=r"`expression` must be .* in '1\+\*2'"):
        CALCNET.evaluate("1+*2")


def test_the_error_shows_the_symbol_as_it_was_written():
    with pytest.raises(ExpressionError, match=r"but got '\*\*' in '1\+\*\*2'"):
        CALCNET.evaluate("1+**2")


@pytest.mark.parametrize(
    "text", ["__import__('os')", "print(1)", "(lambda: 1)()", "[1][0]", "'a'*3", "1if 1else 2"]
)
def test_python_is_not_run(text):
    with pytest.raises(ExpressionError):
        CALCNET.evaluate(text)


@pytest.mark.parametrize("expression", [None, 5, b"1+1", ["1"]])
def test_what_is_not_a_string_is_refused(expression):
    with pytest.raises(nalm.ArgumentError, match="`expression` must be a string"):
        CALCNET.evaluate(expression)


# -- units ---------------------------------------------------------------------------------------


class Counting(nn.Module):
    """A function of two inputs that counts how often it is asked."""

    def __init__(self, function):
        super().__init__()
        self.function, self.calls = function, 0

    def forward(self, input):
        self.calls += 1
        return self.function(input[:, :1], input[:, 1:])


@pytest.mark.parametrize(
    ("op", "function", "text", "calls"),
    [
        ("add", torch.add, "1+2*3+4", 2),
        ("sub", torch.sub, "9-2-3+4", 2),
        ("sub", torch.sub, "-5", 1),
        ("add", torch.add, "+5", 0),
        ("mul", torch.mul, "2*3*4+1", 2),
        ("mul", torch.mul, "1.5^4", 3),
        ("div", torch.div, "8/4/2*3", 2),
        ("div", torch.div, "2^-3", 1),
    ],
)
def test_every_operation_is_computed_by_its_unit(op, function, text, calls):
    unit = Counting(function)
    calcnet = nalm.CalcNet({op: unit})
    unit.calls = 0
    assert calcnet.evaluate(text) == pytest.approx(CALCNET.evaluate(text), rel=1e-12)
    assert unit.calls == calls


def test_a_unit_that_computes_something_else_changes_the_value():
    assert nalm.CalcNet({"add": Counting(torch.mul)}).evaluate("3+4") == 12


def test_operations_left_out_have_ideal_units():
    calcnet = nalm.CalcNet({"add": Counting(torch.add)})
    kinds = {op: type(unit) for op, unit in calcnet.units.items()}
    assert kinds == {"add": Counting, "sub": nalm.NAU, "mul": nalm.NMU, "div": nalm.NRU}
    assert calcnet.evaluate("7/2-5*3+1") == pytest.approx(-10.5, rel=1e-12)


def test_a_unit_in_single_precision_computes_in_it():
    unit = nalm.NMU(2, 1)
    unit.ideal_("mul", 0, 1)
    value = nalm.CalcNet({"mul": unit}).evaluate("0.1*3")
    assert value == pytest.approx(0.3, rel=1e-6)
    assert value == float(torch.tensor(value, dtype=torch.float32))


def test_units_compute_as_in_evaluation():
    unit = nalm.SNMU(2, 1, dtype=torch.float64)
    calcnet = nalm.CalcNet({"mul": unit})
    assert len({calcnet.evaluate("3*4") for _ in range(5)}) == 1


def test_a_unit_that_needs_a_batch_while_training_fits():
    unit = nn.Sequential(Counting(torch.add), nn.BatchNorm1d(1, eps=0, affine=False, dtype=torch.float64))
    assert nalm.CalcNet({"add": unit}).evaluate("3+4") == 7


def test_a_model_of_several_layers_may_be_a_unit():
    model = nn.Sequential(nalm.NAU(2, 2, dtype=torch.float64), nalm.NMU(2, 1, dtype=torch.float64))
    with torch.no_grad():
        model[0].weight.copy_(torch.eye(2))
        model[1].weight.fill_(1.0)
    assert nalm.CalcNet({"mul": model}).evaluate("3*4+2") == 14


@pytest.mark.parametrize(
    "unit",
    [
        nalm.NAU(3, 1),
        nalm.NAU(2, 2),
        nn.Linear(3, 1),
        nn.Linear(2, 2),
        nn.Identity(),
        nn.Sequential(),
        nn.Bilinear(1, 1, 1),
        nn.GRU(2, 1),
    ],
    ids=repr,
)
def test_a_module_that_is_not_from_two_inputs_to_one_output_is_refused(unit):
    with pytest.raises(nalm.ArgumentError, match="`units` must be from two inputs to one output for 'add'"):
        nalm.CalcNet({"add": unit})


@pytest.mark.parametrize("unit", [None, "nau", torch.add])
def test_what_is_not_a_module_is_refused(unit):
    with pytest.raises(nalm.ArgumentError, match="`units` must be a module for 'mul'"):
        nalm.CalcNet({"mul": unit})


@pytest.mark.parametrize(("op", "close"), [("mull", "mul"), ("ad", "add"), ("divide", "div"), ("SUB", "sub")])
def test_an_unknown_operation_is_refused_with_the_nearest(op, close):
    with pytest.raises(nalm.ArgumentError, match=f"one of add, sub, mul, div, .* Did you mean '{close}'"):
        nalm.CalcNet({op: nalm.NAU(2, 1)})


@pytest.mark.xdist_group("nmu")
def test_trained_units_compute_expressions():
    calcnet = train_calcnet()
    assert calcnet.evaluate("2*3+1") == pytest.approx(7, abs=1e-3)
    assert calcnet.evaluate("7/2-5") == pytest.approx(-1.5, abs=1e-3)


@pytest.mark.parametrize(("text", "position"), [("1e308*10", 6), ("1+10^309", 5), ("2^(1e308*10)", 9)])
def test_a_result_too_large_to_be_held_is_refused_where_it_arises(text, position):
    with pytest.raises(ExpressionError, match="a result of finite size") as e:
        CALCNET.evaluate(text)
    assert e.value.position == position
