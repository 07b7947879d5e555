"""Every unit passes every conformance check, against an independent reference."""

import pytest
import references

from nalm.errors import ArgumentError
from nalm.testing import CHECKS, Subject, check
from nalm.units import NAU, UNITS

SUBJECTS = {
    "nac": Subject(UNITS["nac"], references.nac),
    "nac-mul": Subject(UNITS["nac-mul"], references.nac_mul, positive=True),
    "nalu": Subject(UNITS["nalu"], references.nalu, positive=True),
    "nau": Subject(UNITS["nau"], references.nau),
    "nmu": Subject(UNITS["nmu"], references.nmu),
    "realnpu": Subject(UNITS["realnpu"], references.real_npu),
}


def test_every_unit_has_an_entry_with_a_reference():
    assert set(SUBJECTS) == set(UNITS)
    assert all(subject.reference is not None for subject in SUBJECTS.values())


@pytest.mark.parametrize("one", CHECKS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("name", UNITS)
def test_conformance(name, one):
    one(SUBJECTS[name])


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


def test_a_wrong_unit_is_told_what_is_wrong():
    with pytest.raises(AssertionError, match="Doubled: equals_its_reference"):
        check(Doubled, reference=references.nau)
    with pytest.raises(AssertionError, match="Doubled: is_exact_at_ideal_weights"):
        check(Doubled)


def test_an_unknown_option_is_told_the_nearest():
    with pytest.raises(ArgumentError, match=r"`option` .* but got 'shard'\. Did you mean 'shared'"):
        UNITS["nalu"](2, 1, shard=False)


def test_a_batch_shape_that_is_no_tuple_is_refused():
    with pytest.raises(ArgumentError, match="`batch_shape` must be a tuple"):
        NAU(2, 1, batch_shape=3)
