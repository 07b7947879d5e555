"""Every unit passes every conformance check, against an independent reference."""

import pytest
import references
import torch
from torch import nn

from nalm.errors import ArgumentError
from nalm.testing import CHECKS, Subject, check
from nalm.units import NAU, UNITS

SUBJECTS = {
    "nac": Subject(UNITS["nac"], references.nac),
    "nac-mul": Subject(UNITS["nac-mul"], references.nac_mul),
    "nalu": Subject(UNITS["nalu"], references.nalu),
    "inac": Subject(UNITS["inac"], references.nac),
    "inac-mul": Subject(UNITS["inac-mul"], references.inac_mul),
    "inalu": Subject(UNITS["inalu"], references.inalu),
    "gnalu": Subject(UNITS["gnalu"], references.gnalu),
    "nau": Subject(UNITS["nau"], references.nau),
    "nmu": Subject(UNITS["nmu"], references.nmu),
    "gated-nau-nmu": Subject(UNITS["gated-nau-nmu"], references.gated_nau_nmu),
    "snmu": Subject(UNITS["snmu"], references.nmu),
    "stgnmu": Subject(UNITS["stgnmu"], references.stgnmu),
    "realnpu": Subject(UNITS["realnpu"], references.npu),
    "npu": Subject(UNITS["npu"], references.npu),
    "nru": Subject(UNITS["nru"], references.nru),
    "nmru": Subject(UNITS["nmru"], references.nmru),
    "nlrl": Subject(UNITS["nlrl"], references.nlrl),
    "nsr": Subject(UNITS["nsr"], references.nsr),
    "quadratic": Subject(UNITS["quadratic"], references.quadratic),
    "linear": Subject(UNITS["linear"], references.linear),
}


def test_every_unit_has_an_entry_with_a_reference():
    assert set(SUBJECTS) == set(UNITS)
    assert all(subject.reference is not None for subject in SUBJECTS.values())


@pytest.mark.parametrize("one", CHECKS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("name", UNITS)
def test_conformance(name, one):
    one(SUBJECTS[name])


def variant(name, reference=None, **options):
    return Subject(UNITS[name], reference, options=options)


VARIANTS = {
    "nac-mul sigmoid": variant("nac-mul", references.nac_mul_sigmoid, weight="sigmoid"),
    "nac-mul linear": variant("nac-mul", references.nac_mul_linear, weight="linear"),
    "nalu separate": variant("nalu", shared=False),
    "gnalu golden gate": variant("gnalu", golden_gate=True),
    "inalu authors": variant("inalu", references.inalu, initial="authors"),
    "nau unclamped": variant("nau", references.nau, clamp=False, penalised=False),
    "nmu unclamped": variant("nmu", references.nmu, clamp=False, penalised=False),
    "nmu input variance": variant("nmu", references.nmu, input_variance=1.0),
    "snmu batch noise": variant("snmu", references.nmu, noise="batch"),
    "realnpu naive": variant("realnpu", references.npu, relevance=False),
    "npu naive": variant("npu", references.npu, relevance=False),
    "npu straight-through": variant("npu", references.npu, gate_gradient="straight-through"),
    "nru separate": variant("nru", references.nru_separate, sign="separate"),
    "nmru unsigned": variant("nmru", references.nmru_unsigned, sign=False),
    "nmru gated": variant("nmru", gate=True),
    "nmru exact evaluation": variant("nmru", exact_evaluation=True),
    "nlrl de morgan": variant("nlrl", references.nlrl_de_morgan, de_morgan=True),
    "nsr redundant": variant("nsr", redundancy=3, scale=2.0),
    "linear sigmoid": variant("linear", weight="sigmoid"),
    "linear tanh": variant("linear", weight="tanh", bias=False),
}


@pytest.mark.parametrize("one", CHECKS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("name", VARIANTS)
def test_conformance_with_options(name, one):
    one(VARIANTS[name])


class Sum(NAU):
    """A unit of a user's own."""

    name = "sum"


class Doubled(NAU):
    """Computes twice what it says."""

    name = "doubled"

    def compute(self, x):
        return 2 * super().compute(x)


def test_a_unit_of_the_users_own_is_checked_by_one_call():
    check(Sum, reference=references.nau)


class Nearest(UNITS["nalu"]):
    """A unit of a user's own that is right for positive inputs only."""

    name = "nearest"


def test_the_limits_of_a_unit_are_those_of_its_subclasses():
    check(Nearest)


@pytest.mark.parametrize("wrong", [nn.Linear, NAU(2, 1), 3])
def test_what_is_no_unit_cannot_be_checked(wrong):
    with pytest.raises(ArgumentError, match=r"`unit` must be a subclass of nalm\.Unit"):
        check(wrong)


@pytest.mark.parametrize(("name", "option"), [("nalu", "shared"), ("nsr", "both"), ("nau", "clamp")])
@pytest.mark.parametrize("value", ["false", None, 0])
def test_a_switch_must_be_true_or_false(name, option, value):
    with pytest.raises(ArgumentError, match=f"`{option}` must be True or False"):
        UNITS[name](2, 2, **{option: value})


def test_float16_is_refused():
    with pytest.raises(
        ArgumentError, match=r"`dtype` must be torch.float32, torch.float64 or torch.bfloat16"
    ):
        NAU(2, 1, dtype=torch.float16)


def test_an_index_must_be_a_whole_number():
    with pytest.raises(ArgumentError, match=r"`j` must be an input from 0 to 1, but got 1\.0"):
        NAU(2, 1).ideal_("add", 0, 1.0)


def test_a_unary_operation_needs_one_input():
    unit = UNITS["nlrl"](1, 1)
    unit.ideal_("not", 0)
    assert unit(torch.tensor([[0.0], [1.0]])).round().tolist() == [[1.0], [0.0]]


def test_a_wrong_unit_is_told_what_is_wrong():
    with pytest.raises(AssertionError, match="equals_its_reference: forward: off by"):
        check(Doubled, reference=references.nau)
    with pytest.raises(AssertionError, match="is_exact_at_ideal_weights: add is off by 1"):
        check(Doubled)


def test_an_unknown_option_is_told_the_nearest():
    with pytest.raises(ArgumentError, match=r"`option` .* but got 'shard'\. Did you mean 'shared'"):
        UNITS["nalu"](2, 1, shard=False)


def test_a_batch_shape_that_is_no_tuple_is_refused():
    with pytest.raises(ArgumentError, match="`batch_shape` must be a tuple"):
        NAU(2, 1, batch_shape=3)
