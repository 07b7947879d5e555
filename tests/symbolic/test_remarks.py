"""What is known of a model's weights is said with its formula, until they change."""

import copy
import pickle

import pytest
import torch
from torch import nn

import nalm
from nalm.units._remarks import forget_remarks_, remark_, remarks_of

FAILED = "`nalm.solve` failed on it: 64 % of the variance is left unexplained"


@pytest.fixture
def model():
    unit = nalm.NMU(2, 1)
    unit.ideal_("mul")
    return nn.Sequential(unit)


def test_a_remark_stands_beside_the_formula(model):
    remark_(model, FAILED)
    explanation = nalm.explain(model, "ab")
    assert explanation.remarks == (FAILED,)
    assert str(explanation) == f"a*b ({FAILED})"


def test_a_remark_is_forgotten_when_the_weights_change(model):
    remark_(model, FAILED)
    with torch.no_grad():
        model[0].weight[0, 1] = 0
    assert str(nalm.explain(model, "ab")) == "a"


def test_a_remark_outlives_snapping_and_copying(model):
    with torch.no_grad():
        model[0].weight[0, 1] = 0.9
    remark_(model, FAILED)
    nalm.snap_(model)
    for same in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.double()):
        assert remarks_of(same) == (FAILED,)


def test_a_remark_takes_the_place_of_advice(model):
    with torch.no_grad():
        model[0].weight[0, 1] = 0.95
    assert "penalty" in str(nalm.explain(model, "ab"))
    remark_(model, FAILED)
    text = str(nalm.explain(model, "ab"))
    assert FAILED in text
    assert "penalty" not in text


def test_a_remark_on_what_is_compiled_is_found(model):
    remark_(model, FAILED)
    assert nalm.explain(torch.compile(model), "ab").remarks == (FAILED,)


def test_remarks_add_up_and_can_be_taken_back(model):
    remark_(model, "one")
    remark_(model, "two")
    assert remarks_of(model) == ("one", "two")
    forget_remarks_(model)
    assert remarks_of(model) == ()


def test_a_remark_on_weights_that_are_no_numbers_stays(model):
    with torch.no_grad():
        model[0].weight.fill_(float("nan"))
    remark_(model, FAILED)
    assert remarks_of(model) == (FAILED,)


def test_a_remarked_model_still_finds_its_program():
    from nalm.models.many import Models

    plain, remarked = nalm.NMU(2, 1), nalm.NMU(2, 1)
    remark_(remarked, FAILED)
    keys = [Models(m, torch.float32, torch.device("cpu")).key() for m in (plain, remarked)]
    assert keys[0] is not None
    assert keys[0] == keys[1]


# -- advice follows from what was seen -----------------------------------------------------------


def test_a_weight_far_from_discrete_values_is_named_without_advice():
    unit = nalm.NMU(2, 1)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[1.0, 0.53]]))
    text = str(nalm.explain(nn.Sequential(unit, unit.__class__(1, 1)), only_readable=True))
    assert "Train longer" not in text
    assert str(nalm.explain(unit, "ab", only_readable=True)) == (
        "not readable: W[0, 1] is 0.53, 0.47 away from 1 (at most 0.01 can be read)."
    )


def test_the_layer_of_the_weight_is_named():
    model = nn.Sequential(nalm.NAU(2, 2), nalm.NMU(2, 1))
    model[0].ideal_("add")
    with torch.no_grad():
        model[1].weight.copy_(torch.tensor([[1.0, 0.25]]))
    assert "W[0, 1] of layer 2 (NMU) is 0.25, 0.25 away from 0" in str(nalm.explain(model))


def test_a_number_that_is_none_is_said_to_be_so():
    unit = nalm.NAU(2, 1)
    with torch.no_grad():
        unit.weight.fill_(float("nan"))
    assert str(nalm.explain(unit, only_readable=True)).startswith("not readable: W[0, 0] is nan")


def test_a_comparison_is_not_called_a_gate():
    unit = nalm.NSR(2, 1)
    unit.ideal_("lt")
    with torch.no_grad():
        unit.sign_scale.fill_(0.5)
        unit.shift.zero_()
    assert "a comparison" in str(nalm.explain(unit, only_readable=True))
