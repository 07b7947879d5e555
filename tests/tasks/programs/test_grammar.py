"""Programs: the integers, symbols and results of every split, against a reading by Python."""

import pytest
import torch

from nalm.tasks import Programs, Split
from nalm.tasks.programs.grammar import FEATURES, GRAMMARS, Symbol
from nalm.tasks.programs.task import RANGES, THREE
from nalm.tasks.sampling import sample

TEXT = {
    Symbol.PLUS: "+",
    Symbol.MINUS: "-",
    Symbol.IF: "if",
    Symbol.LESS: "<",
    Symbol.THEN: ":",
    Symbol.ELSE: "else",
    Symbol.END: "=",
}


def written(program):
    """A program as words: symbols, and numbers as integers."""
    places = program[:, :-1].argmax(-1).tolist()
    values = program[:, -1].tolist()
    return [int(v) if p == Symbol.NUMBER else TEXT[Symbol(p)] for p, v in zip(places, values)]


def evaluated(words):
    """The result of a program, by Python."""
    if words[0] != "if":
        return words[0] + words[2]
    _, b, _, c, _, a, _, d, operation, e, _ = words
    return (a if b < c else d) + (e if operation == "+" else -e)


@pytest.mark.parametrize("op", Programs.ops)
@pytest.mark.parametrize("split", [Split.TRAIN, THREE, Split.TEST])
def test_results_are_those_that_python_gives(op, split):
    programs, results = sample(Programs(op), 3, split, 200)
    assert programs.shape == (200, GRAMMARS[op].length, FEATURES)
    for program, result in zip(programs, results):
        words = written(program)
        assert words[-1] == "="
        assert evaluated(words) == result.item()


@pytest.mark.parametrize("split", RANGES)
def test_integers_have_the_digits_of_their_split(split):
    low, high = RANGES[split]
    programs, _ = sample(Programs("program"), 0, split, 500)
    numbers = programs[..., -1][programs[..., Symbol.NUMBER] == 1]
    assert numbers.min() >= low
    assert numbers.max() < high
    assert numbers.eq(numbers.round()).all()
    assert numbers.max() - numbers.min() > 0.9 * (high - low)


def test_both_branches_and_both_operations_occur():
    programs, _ = sample(Programs("program"), 0, Split.TRAIN, 400)
    taken = [words[1] < words[3] for words in map(written, programs)]
    minus = [words[8] == "-" for words in map(written, programs)]
    assert 0.4 < sum(taken) / 400 < 0.6
    assert 0.4 < sum(minus) / 400 < 0.6
    assert all(programs[:, k, symbol].eq(1).all() for k, symbol in ((0, Symbol.IF), (10, Symbol.END)))


def test_a_uniform_number_next_to_one_stays_below_the_range():
    u = torch.full((1, 2, 1), 1 - 2**-24)
    programs, _ = GRAMMARS["sum"].programs(u, torch.tensor([1000.0]), torch.tensor([10_000.0]))
    assert programs[0, 0, 0, -1] == 9999
