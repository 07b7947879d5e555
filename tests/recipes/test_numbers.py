from dataclasses import dataclass, field, replace

import pytest
import torch

from nalm.recipes import (
    MSE,
    RMSE,
    SGD,
    Adam,
    Bound,
    ClipNorm,
    Discretise,
    Growth,
    PCCThenMSE,
    Project,
    Ramp,
    Recipe,
    Reinitialise,
    UnitPenalty,
)
from nalm.recipes.numbers import join, split

FULL = Recipe(
    loss=PCCThenMSE(100.0, 1e-6),
    penalties=(UnitPenalty(10.0, Ramp(1.0, 2.0)), Discretise(0.5, Growth(3.0, 4.0), "0,1", "gates")),
    clip_norm=ClipNorm(7.0),
    optimiser=Adam(0.25, 0.8, 0.9, 1e-5),
    clamps=(Project(), Bound("weight", -1.0, 1.5)),
    reinitialise=Reinitialise(100, 2.0, 10),
    iterations=123,
    batch_size=64,
)
NUMBERS = [100.0, 1e-6, 10.0, 1.0, 2.0, 0.5, 3.0, 4.0, 10.0, 10_000.0, 7.0, 0.25, 0.8, 0.9, 1e-5, -1.0, 1.5]


@dataclass(frozen=True)
class Example:
    number: float = 1.0
    fixed: int = field(default=2, metadata={"shape": True})
    flag: bool = True
    word: str = "a"
    nothing: None = None

    def __post_init__(self):
        if not isinstance(self.number, (int, float)):
            raise TypeError("a number, please")


def test_the_numbers_come_in_the_order_of_the_fields():
    assert split(FULL)[1] == NUMBERS


@pytest.mark.parametrize("recipe", [Recipe(), FULL, Recipe(optimiser=SGD(momentum=0.5))])
def test_joining_undoes_splitting(recipe):
    shape, numbers = split(recipe)
    assert join(shape, iter(numbers)) == recipe


def test_shapes_are_hashable_and_equal_for_recipes_that_differ_in_numbers():
    other = replace(FULL, clip_norm=ClipNorm(1.0), optimiser=Adam(0.5))
    assert split(FULL)[0] == split(other)[0]
    assert hash(split(FULL)[0]) == hash(split(other)[0])


@pytest.mark.parametrize(
    "change",
    [
        {"loss": MSE()},
        {"loss": RMSE()},
        {"penalties": ()},
        {"penalties": FULL.penalties[:1]},
        {"clip_norm": None},
        {"optimiser": SGD(0.25)},
        {"clamps": (Bound("gate", -1.0, 1.5), Project())},
        {"clamps": (Project(), Bound("gate", -1.0, 1.5))},
        {"reinitialise": None},
        {"reinitialise": Reinitialise(200, 2.0, 10)},
        {"iterations": 124},
        {"batch_size": 65},
    ],
)
def test_shapes_differ_for_recipes_that_differ_in_anything_else(change):
    assert split(FULL)[0] != split(replace(FULL, **change))[0]


def test_none_in_place_of_a_number_is_another_shape():
    assert split(SGD(0.1, None))[0] != split(SGD(0.1, 0.9))[0]
    assert split(SGD(0.1, None))[1] == [0.1]


def test_words_flags_and_marked_fields_belong_to_the_shape():
    assert split(Example())[1] == [1.0]
    for other in (Example(fixed=3), Example(flag=False), Example(word="b")):
        assert split(Example())[0] != split(other)[0]


def test_whole_numbers_are_numbers_too():
    shape, numbers = split(Example(number=3))
    assert numbers == [3.0]
    assert shape == split(Example(number=3.5))[0]


def test_tensors_take_the_place_of_numbers_past_the_constructors_checks():
    each = torch.tensor([1.0, 2.0])
    joined = join(split(Example())[0], iter([each]))
    assert joined.number is each
    assert (joined.fixed, joined.flag, joined.word, joined.nothing) == (2, True, "a", None)


def test_many_recipes_become_one_with_a_number_per_model():
    recipes = [Recipe(optimiser=Adam(rate), clip_norm=ClipNorm(10 * rate)) for rate in (0.1, 0.2, 0.3)]
    shape = split(recipes[0])[0]
    columns = torch.tensor([split(recipe)[1] for recipe in recipes]).unbind(-1)
    joined = join(shape, iter(columns))
    assert torch.equal(joined.optimiser.learning_rate, torch.tensor([0.1, 0.2, 0.3]))
    assert torch.equal(joined.clip_norm.norm, torch.tensor([1.0, 2.0, 3.0]))
    assert joined.loss == MSE()


def test_a_number_alone_and_a_tuple_of_numbers_split():
    assert split(5)[1] == [5.0]
    assert split((1, (2.0, "x"), None))[1] == [1.0, 2.0]
