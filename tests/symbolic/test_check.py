"""Formulas are compared with the models they are read from: all units pass, and whatever differs does not."""

import pytest
import torch
from torch import nn

import nalm
from nalm.symbolic.check import samples
from nalm.units import UNITS

ALL = [(name, op) for name, cls in UNITS.items() for op in cls.ops]


def ideal(cls, op, **options):
    unit = cls(3, 2, **options)
    unit.ideal_(op, 0, 2)
    return unit


@pytest.mark.parametrize(("name", "op"), ALL)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_every_unit_says_is_compared_and_right(name, op, dtype):
    explanation = nalm.explain(ideal(UNITS[name], op, dtype=dtype))
    assert explanation.readable
    assert "not compared" not in explanation.reading


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("readable", [True, False], ids=["discrete", "as drawn"])
def test_a_unit_that_computes_something_else_is_noticed(name, readable):
    cls = UNITS[name]
    off = type("Off", (cls,), {"compute": lambda self, x: 1 + cls.compute(self, x)})
    torch.manual_seed(0)
    unit = ideal(off, off.ops[0]) if readable else off(3, 2)
    explanation = nalm.explain(unit)
    assert not explanation.readable
    assert explanation.expressions == []
    assert "the Off does not compute its own formula" in explanation.reason


@pytest.mark.parametrize("name", UNITS)
def test_a_fresh_unit_is_what_its_expression_says(name):
    torch.manual_seed(0)
    assert len(nalm.explain(UNITS[name](3, 2)).expressions) == 2


@pytest.mark.parametrize(("name", "op"), ALL)
def test_readings_hold_for_some_of_the_samples_row_by_row(name, op):
    unit = ideal(UNITS[name], op, dtype=torch.float64)
    x = samples(3)
    holds = unit.holds(x)
    assert holds.dtype == torch.bool
    assert holds.shape == (len(x),)
    assert holds.any()
    if not unit.reading and not unit.logical:
        assert holds.all()


def test_samples_are_the_same_every_time_and_of_many_kinds():
    x = samples(2)
    assert torch.equal(x, samples(2))
    assert (x > 100).any()
    assert (x < -10).any()
    assert ((x.abs() < 0.1) & (x != 0)).any()
    assert (x.isfinite()).all()


def test_a_formula_that_no_sample_can_test_says_so():
    minus = nalm.NAU(1, 2, dtype=torch.float64)
    root = nalm.RealNPU(2, 1, dtype=torch.float64)
    with torch.no_grad():
        minus.weight.copy_(torch.tensor([[1.0], [-1.0]]))  # never both positive
        root.weight.fill_(0.5)
        root.gate.fill_(1.0)
    assert "not compared with the model" in str(nalm.explain(nn.Sequential(minus, root), "a"))
