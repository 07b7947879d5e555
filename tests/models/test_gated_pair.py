"""Gated pairs: one gate per output, free of the input."""

import pytest
import torch

import nalm
from nalm.models import GatedPair, ModelSpec
from nalm.models.path import steps_of


def open_(pair, gates):
    with torch.no_grad():
        pair.gate.copy_(torch.tensor([120.0 if gate else -120.0 for gate in gates]))


def select(unit, rows):
    with torch.no_grad():
        unit.weight.copy_(torch.tensor(rows, dtype=unit.weight.dtype))


@pytest.fixture
def add_mul():
    """(a + b) c as in table 7.4: a + b and c in the first layer, their product in the second."""
    stack = ModelSpec.parse("gated+gated").build(4, 1, hidden=2)
    first, second = stack
    select(first.parts["m1"], [[1, 1, 0, 0], [0.3, 0.4, 0.2, 0.1]])
    select(first.parts["m2"], [[0.6, 0.2, 0.4, 0.5], [0, 0, 1, 0]])
    select(second.parts["m2"], [[1, 1]])
    open_(first, [True, False])
    open_(second, [False])
    return stack


def test_outputs_of_a_layer_may_come_from_different_units(add_mul):
    assert add_mul(torch.tensor([[2.0, 5.0, 3.0, 7.0]])).tolist() == [[21.0]]


def test_weights_behind_a_closed_gate_do_not_prevent_a_formula(add_mul):
    found = nalm.explain(add_mul, list("abcd"))
    assert found.readable
    assert str(found) == "c*(a + b)"


def test_a_gate_that_is_not_saturated_is_unreadable(add_mul):
    with torch.no_grad():
        add_mul[0].gate[1] = -1.0
    found = nalm.explain(add_mul, list("abcd"))
    assert not found.readable
    assert "g[1] of `0` (GatedPair) is 0.2689" in str(found)


def test_its_path_names_the_unit_of_every_output(add_mul):
    steps = steps_of(add_mul, "abcd")
    assert [(s.step, s.output, s.unit, s.reads, s.writes, s.expression, s.result) for s in steps] == [
        (1, 1, "nau", ("a", "b"), "o1", "a + b", "a + b"),
        (1, 2, "nmu", ("c",), "o2", "c", "c"),
        (2, 1, "nmu", ("o1", "o2"), "y", "o1*o2", "c*(a + b)"),
    ]


def test_the_path_shows_partial_gates_and_weights_with_two_digits(add_mul):
    with torch.no_grad():
        add_mul[1].gate.zero_()
        add_mul[1].parts["m1"].weight.copy_(torch.tensor([[0.8812, 0.0]]))
    last = steps_of(add_mul, "abcd")[-1]
    assert (last.unit, last.expression) == ("", "o1*o2/2 + 0.44*o1")


def test_a_number_that_stands_alone_has_two_digits_too(add_mul):
    with torch.no_grad():
        add_mul[0].gate[0] = 0.0812
        for part in add_mul[0].parts.values():
            part.weight[0] = 0
    assert steps_of(add_mul, "abcd")[0].expression == "0.48"


def test_it_can_express_what_either_unit_can():
    assert GatedPair(2, 1, units="nau|nmu").ops == ("add", "sub", "mul")
    assert GatedPair(2, 1, units="inac|inac-mul").ops == ("add", "sub", "mul", "div")


def test_the_gate_starts_like_that_of_the_inalu():
    gates = GatedPair(2, 1, batch_shape=(2000,)).gate.detach()
    assert abs(float(gates.mean())) < 0.02
    assert 0.18 < float(gates.std()) < 0.22
