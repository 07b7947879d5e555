"""The base class is an ordinary class: it mixes with others, and its options are checked in one place."""

import abc
import copy
import inspect
import pickle

import pytest
import torch

import nalm
from nalm.errors import ArgumentError
from nalm.units import UNITS
from nalm.units._base import Unit


class Counted(abc.ABC):
    """What a user's code may demand of its layers."""

    @abc.abstractmethod
    def count(self):
        """How many."""


class Abstract(nalm.NAU, Counted):
    """A unit that is still abstract."""


class Concrete(Abstract):
    """A unit that is not."""

    def count(self):
        return self.in_features


class Scaled(nalm.NAU):
    """A user's unit with an `__init__` of its own, which knows nothing of ours."""

    def __init__(self, inputs, *, factor=1.0, careful=True):
        self.factor = factor
        super().__init__(inputs, 1)

    def compute(self, x):
        return self.factor * super().compute(x)


def test_there_is_no_metaclass():
    assert type(Unit) is type
    assert all(type(kind) is type for kind in UNITS.values())


def test_a_unit_may_be_an_abstract_base_class_too():
    unit = Concrete(3, 1)
    assert (unit.count(), Concrete.name) == (3, "concrete")
    assert unit(torch.ones(2, 3)).shape == (2, 1)
    assert isinstance(unit, Counted)
    assert inspect.signature(Concrete) == inspect.signature(nalm.NAU)
    with pytest.raises(TypeError, match="abstract"):
        Abstract(3, 1)
    with pytest.raises(ArgumentError, match="Did you mean 'batch_shape'"):
        Concrete(3, 1, batchshape=(2,))


@pytest.mark.parametrize("kind", [nalm.NAU, nalm.NALU, Concrete, Scaled])
def test_it_is_copied_and_pickled_like_any_module(kind):
    unit = kind(2) if kind is Scaled else kind(2, 1)
    x = torch.rand(4, 2)
    for again in (copy.copy(unit), copy.deepcopy(unit), pickle.loads(pickle.dumps(unit))):
        assert type(again) is kind
        assert torch.equal(again(x), unit(x))


def test_the_signature_shows_the_options_of_every_unit():
    for kind in (Unit, *UNITS.values()):
        names = list(inspect.signature(kind).parameters)
        assert names[:2] == ["in_features", "out_features"]
        assert {"batch_shape", "device", "dtype"} <= set(names)
        assert not {"common", "options", "sizes"} & set(names)
    assert list(inspect.signature(Scaled).parameters) == ["inputs", "factor", "careful"]


@pytest.mark.parametrize("kind", UNITS.values())
def test_unknown_options_are_refused_before_anything_is_made(kind):
    before = torch.get_rng_state()
    with pytest.raises(ArgumentError, match=r"Argument `option` must be one of in_features.*'dtyp'.*'dtype'"):
        kind(2, 1, dtyp=torch.float64)
    assert torch.equal(before, torch.get_rng_state())


def test_a_users_own_options_are_checked_in_the_same_place():
    assert Scaled(2, factor=3.0, careful=False).factor == 3.0
    with pytest.raises(ArgumentError, match="Did you mean 'factor'"):
        Scaled(2, faktor=3.0)
    with pytest.raises(ArgumentError, match="`careful` must be True or False, but got 1"):
        Scaled(2, careful=1)


def test_a_name_is_that_of_the_class_unless_it_says_so():
    assert (Unit.name, Scaled.name, nalm.NMU.name) == ("unit", "scaled", "nmu")

    class Other(Scaled):
        name = "another"

    class Next(Other):
        pass

    assert (Other.name, Next.name) == ("another", "next")
