"""`nalm.compose`: the formula behind a table, and what it says where there is none."""

import math
import re

import numpy as np
import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.tasks import Composition
from nalm.tasks.sampling import sample

NAMES = ["a", "b", "c", "d"]


def table(rows=200, low=1.0, high=2.0, columns=4, seed=0):
    return np.random.default_rng(seed).uniform(low, high, (rows, columns))


@pytest.mark.parametrize("op", Composition.ops)
def test_every_expression_of_the_thesis_is_found_and_called_exact(op):
    task = Composition(op)
    x, y = sample(task, 1, "train", 100)
    found = nalm.compose(x, y, steps=2, names=task.input_names)
    assert found.found == "exact"
    assert task.is_solution(found.expression)
    assert not found.notes


@pytest.mark.parametrize("name", ["-2:2", "1.1:1.2", "-1.2:-1.1", "10:20"])
@pytest.mark.parametrize("number", range(3))
def test_so_are_sampled_ones_of_three_steps_on_every_range(name, number):
    task = Composition(f"3-step-{number}", name)
    x, y = sample(task, 0, "train", 100)
    found = nalm.compose(x, y, steps=3, names=task.input_names)
    assert found.found == "exact"
    assert task.is_solution(found.expression)


def test_the_formula_is_a_network_of_units_that_holds_far_outside():
    x = table()
    found = nalm.compose(x, (x[:, 0] - x[:, 1]) / x[:, 2], names=NAMES)
    far = torch.tensor([[1e6, -3.0, 0.5, 7.0]], dtype=torch.float64)
    assert found.model(far).item() == pytest.approx((1e6 + 3) / 0.5, rel=1e-12)
    assert str(nalm.explain(found.model, NAMES)) == "(a - b)/c"


def test_the_shortest_formula_is_taken():
    x = table()
    assert str(nalm.compose(x, x[:, 2], names=NAMES).expression) == "c"
    assert str(nalm.compose(x, -x[:, 2], names=NAMES).expression) == "-c"
    assert str(nalm.compose(x, 2 * x[:, 1], names=NAMES).expression) == "2*b"


def test_only_the_operations_that_are_allowed_are_used():
    x = table()
    found = nalm.compose(x, x[:, 0] * x[:, 1], ops=["add", "sub"], steps=3)
    assert found.found != "exact"
    assert nalm.compose(x, x[:, 0] * x[:, 1], ops=["mul"]).found == "exact"


def test_a_sign_takes_a_step_where_no_sum_can_turn_it_round():
    x = table()
    y = -x[:, 0] * x[:, 1]
    assert nalm.compose(x, y, steps=1).found != "exact"
    assert nalm.compose(x, y, steps=2, ops=["mul"]).found != "exact"
    assert nalm.compose(x, y, steps=2, ops=["mul", "sub"]).found == "exact"
    assert nalm.compose(x, -x[:, 0] - x[:, 1], steps=1, ops=["add"]).found != "exact"


OUTSIDE = {
    "sin": lambda x, noise: np.sin(x[:, 0]),
    "exp": lambda x, noise: np.exp(x[:, 0]) * x[:, 1],
    "absolute value": lambda x, noise: np.abs(x[:, 0] - 1.5),
    "modulo": lambda x, noise: np.mod(3 * x[:, 0], 1),
    "pi": lambda x, noise: math.pi * x[:, 0] * x[:, 1],
    "almost two": lambda x, noise: (2 + 1e-9) * x[:, 0],
    "noise": lambda x, noise: x[:, 0] * x[:, 1] + 1e-6 * noise,
    "relative noise": lambda x, noise: x[:, 0] / x[:, 1] * (1 + 1e-6 * noise),
    "random numbers": lambda x, noise: noise,
}


@pytest.mark.parametrize("kind", OUTSIDE)
@pytest.mark.parametrize("rows", [10, 200])
def test_a_target_outside_the_language_is_never_called_exact(kind, rows):
    x = table(rows)
    y = OUTSIDE[kind](x, np.random.default_rng(1).standard_normal(rows))
    assert nalm.compose(x, y, steps=3).found != "exact"


def test_noise_leaves_the_formula_but_not_the_verdict():
    x = table()
    y = (x[:, 0] + x[:, 1]) * x[:, 2] * (1 + 0.01 * np.random.default_rng(1).standard_normal(200))
    found = nalm.compose(x, y, steps=3, names=NAMES)
    assert str(found.expression) == "c*(a + b)"
    assert found.found == "discrete"
    assert "noise" in " ".join(found.notes)


def test_rows_that_disagree_are_named():
    x = table()
    y = x[:, 0] * x[:, 1] + x[:, 2]
    y[7] += 1
    found = nalm.compose(x, y, names=NAMES)
    assert str(found.expression) == "a*b + c"
    assert found.found == "discrete"
    assert "row is 7" in " ".join(found.notes)


def degenerate(kind):
    """Columns of which several formulas give the same target, and the target."""
    x = table()
    if kind == "copy":
        x[:, 3] = x[:, 0]
    elif kind == "sum":
        x[:, 3] = x[:, 0] + x[:, 1]
    elif kind == "weighted sum":
        x[:, 3] = 2 * x[:, 0] - 3 * x[:, 1] + 0.5
    elif kind == "product of powers":
        x[:, 3] = x[:, 0] ** 1.5 / x[:, 1]
    elif kind == "expression":
        x[:, 3] = x[:, 0] * x[:, 1] + x[:, 2]
    elif kind == "one":
        x[:, 3] = 1
    elif kind == "constant":
        x[:, 3] = 1.7
    return x, x[:, 2] * x[:, 3]


@pytest.mark.parametrize(
    "kind", ["copy", "sum", "weighted sum", "product of powers", "expression", "one", "constant"]
)
def test_columns_that_cannot_be_told_apart_are_named_and_nothing_is_exact(kind):
    x, y = degenerate(kind)
    found = nalm.compose(x, y, names=NAMES)
    assert found.found == "discrete"
    assert "d" in re.split(r"\W+", " ".join(found.notes))


def test_a_constant_column_that_the_formula_does_not_read_does_no_harm():
    x = table()
    x[:, 3] = 2020
    assert nalm.compose(x, x[:, 0] * x[:, 1]).found == "exact"


def test_bits_are_numbers_too():
    x = np.random.default_rng(0).integers(0, 2, (60, 4))
    found = nalm.compose(x, x[:, 0] * x[:, 1], names=NAMES)
    assert str(found.expression) == "a*b"
    assert found.found == "discrete"  # 16 different rows of bits say too little


def test_nothing_gives_a_target_that_is_always_zero():
    assert nalm.compose(table(), np.zeros(200)).found == "failed"


@pytest.mark.parametrize("values", [(0, 1), (-1, 0, 1), (-1, 1)])
def test_powers_of_a_column_with_few_values_cannot_be_told_apart(values):
    x = table()
    x[:, 0] = np.random.default_rng(2).choice(values, 200)
    found = nalm.compose(x, x[:, 0] ** 3 * x[:, 1] + x[:, 2], names=NAMES)
    assert found.found != "exact"


def test_a_small_term_is_not_left_out():
    x = table(columns=3) * [1e-8, 1, 1e8]
    names = NAMES[:3]
    assert str(nalm.compose(x, x[:, 0] + x[:, 2], names=names).expression) == "a + c"
    single = table().astype(np.float32)
    target = (single[:, 0] * single[:, 1] + np.float32(2e-7) * single[:, 2]).astype(np.float32)
    assert nalm.compose(single, target).found != "exact"


def test_a_constant_that_is_left_is_not_noise():
    x = table()
    found = nalm.compose(x, x[:, 0] * x[:, 1] + 0.1, names=NAMES)
    assert found.found == "approximate"
    assert "on average" in " ".join(found.notes)


def test_noise_in_few_rows_is_not_called_discrete():
    stream = np.random.default_rng(3)
    for rows in (5, 10):
        assert nalm.compose(table(rows), stream.standard_normal(rows)).found in ("approximate", "failed")


def test_a_long_search_without_result_divides_by_no_zero():
    x = table(columns=5, seed=1)
    y = np.exp(x[:, 0] * x[:, 1]) + x[:, 2]
    assert nalm.compose(x, y, steps=5, max_seconds=20).found != "exact"


def test_too_few_rows_are_said_to_be_too_few():
    x = table(4)
    found = nalm.compose(x, x[:, 0] * x[:, 1], names=NAMES)
    assert found.found == "discrete"
    assert "4 distinct rows are too few" in " ".join(found.notes)
    assert nalm.compose(table(10), table(10)[:, 0] * table(10)[:, 1]).found == "exact"


def test_random_whole_numbers_in_few_rows_are_never_exact():
    stream = np.random.default_rng(0)
    for _ in range(40):
        rows = int(stream.integers(4, 12))
        x = stream.integers(1, 6, (rows, 3))
        assert nalm.compose(x, stream.integers(1, 12, rows), steps=3).found != "exact"


@pytest.mark.parametrize("rounded", ["float32", "decimals"])
def test_the_precision_of_the_data_decides_what_is_exact(rounded):
    x = table()
    x = x.astype(np.float32) if rounded == "float32" else np.round(x, 3)
    y = (x[:, 0] + x[:, 1]) / x[:, 2]
    y = y if rounded == "float32" else np.round(y, 4)
    found = nalm.compose(x, y, names=NAMES)
    assert found.found == "exact"
    assert str(found.expression) == "(a + b)/c"
    assert nalm.compose(x, y + np.float32(1e-3) * (x[:, 3] - 1.5)).found != "exact"


def test_zeros_in_the_table_do_not_stop_the_search():
    x = np.random.default_rng(0).integers(-3, 4, (60, 3)).astype(float)
    found = nalm.compose(x, x[:, 0] * x[:, 1] + x[:, 2], names=["a", "b", "c"])
    assert str(found.expression) == "a*b + c"


def test_each_better_formula_is_reported():
    x, seen = table(), []
    nalm.compose(x, np.sin(x[:, 0]) * x[:, 1], steps=2, on_formula=lambda graph, left: seen.append(left))
    assert seen
    assert seen == sorted(seen, reverse=True)


def test_it_ends_in_time_and_says_so():
    x = table(columns=12)
    found = nalm.compose(x, np.sin(x).prod(1), steps=6, max_seconds=1.0)
    assert found.seconds < 30
    assert found.found != "exact"
    assert "ended after 1 s" in " ".join(found.notes)


def test_without_a_formula_there_is_no_model():
    found = nalm.compose(table(), np.random.default_rng(0).standard_normal(200), steps=2)
    assert found.found == "failed"
    assert found.expression is None
    assert "no formula" in str(found)
    with pytest.raises(ArgumentError, match="found"):
        _ = found.model


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"steps": 7}, "from 0 to 6"),
        ({"steps": 2.5}, "whole number"),
        ({"ops": ["pow"]}, "add, sub, mul, div"),
        ({"ops": []}, "a list of some of"),
        ({"ops": "add"}, "a list of some of"),
        ({"names": ["a"]}, "4 names"),
        ({"names": ["a", "a", "b", "c"]}, "all different"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"y": np.ones(3)}, "200 rows"),
        ({"y": np.ones((200, 2))}, "one column"),
        ({"x": np.full((200, 4), np.nan)}, "finite"),
        ({"x": np.empty((0, 4)), "y": np.empty(0)}, "a row and a column"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(change, sentence):
    given = {"x": table(), "y": table()[:, 0], **change}
    with pytest.raises(ArgumentError) as error:
        nalm.compose(given.pop("x"), given.pop("y"), **given)
    assert sentence in str(error.value)
