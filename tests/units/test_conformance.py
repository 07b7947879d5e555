"""Every unit passes every conformance check, against an independent reference."""

import pytest
import references

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
