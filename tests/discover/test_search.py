"""The search from both ends: every expression is found, with its sign, in as few steps as it has."""

import itertools

import numpy as np
import pytest

from nalm.discover.realise import INPUT, realised
from nalm.discover.search import Search
from nalm.discover.values import Values, allowed_operations
from nalm.symbolic.expression_graph import ExpressionGraph, Step, applied
from nalm.tasks import OPERATIONS, Composition

ALL = allowed_operations(OPERATIONS)


def rows(inputs, low=1.0, high=2.0, count=6):
    return np.random.default_rng(inputs).uniform(low, high, (count, inputs))


def listed(x, depth, ops=ALL):
    values = Values(x, ops, 10**6)
    for _ in range(depth):
        assert values.deepen()
    return values


def found(graph, x, depth, steps, precision=1e-9):
    return list(Search(listed(x, depth), graph(x), precision).graphs(steps))


def brute_force(x, steps):
    """All values of so many steps, up to sign, by trying everything but x - x and x / x."""
    ops = [op for op in ALL if op not in ("negative", "minus")]  # which only turn signs round

    def all_graphs(done):
        if len(done) == steps:
            yield ExpressionGraph(x.shape[1], done)
            return
        lines = range(x.shape[1] + len(done))
        for op, left, right in itertools.product(ops, lines, lines):
            if left != right or op not in ("sub", "div"):
                yield from all_graphs((*done, Step(op, left, right)))

    keys = set()
    for graph in all_graphs(()):
        value = graph(x)
        if (value != 0).all() and set(range(x.shape[1], x.shape[1] + steps)) <= graph.needed:
            keys.add(tuple(np.round(value * np.sign(value[0]), 7)))
    return keys


@pytest.mark.parametrize("steps", [1, 2])
def test_the_levels_hold_every_value_of_so_many_steps(steps):
    x = rows(2, count=3)
    values = listed(x, steps)
    known = {tuple(np.round(value, 7)) for level in values.levels for value in level.values}
    assert not brute_force(x, steps) - known


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("number", range(8))
def test_an_expression_of_three_steps_is_found_however_many_are_listed(number, depth):
    task = Composition(f"3-step-{number}")
    x = rows(6)
    graphs = found(task.graph, x, depth, 3)
    assert task.graph.fingerprint in {graph.fingerprint for graph in graphs}


@pytest.mark.parametrize("number", range(6))
def test_one_of_five_steps_is_found_by_taking_an_input_off_first(number):
    task = Composition(f"5-step-{number}", inputs=3)
    x = rows(3)
    for steps in range(1, 6):
        graphs = found(task.graph, x, 3, steps)
        if graphs:
            break
    assert task.graph.fingerprint in {graph.fingerprint for graph in graphs}


@pytest.mark.parametrize(
    ("low", "high"), [(-2.0, 2.0), (1.1, 1.2), (-1.2, -1.1), (10.0, 20.0), (-20.0, -10.0)]
)
def test_ranges_that_break_training_do_not_matter(low, high):
    for number in range(5):
        task = Composition(f"3-step-{number}")
        x = rows(6, low, high)
        assert task.graph.fingerprint in {g.fingerprint for g in found(task.graph, x, 3, 3)}


def test_what_is_not_in_the_language_is_not_found():
    x = rows(3)
    search = Search(listed(x, 3), np.sin(x[:, 0]), 1e-9)
    assert all(not list(search.graphs(steps)) for steps in range(5))


def test_only_the_chosen_operations_are_used():
    x = rows(3)
    sums = Values(x, allowed_operations(["add"]), 10**6)
    sums.deepen()
    assert not list(Search(sums, x[:, 0] * x[:, 1], 1e-9).graphs(2))
    assert list(Search(sums, x[:, 0] + x[:, 1] + x[:, 2], 1e-9).graphs(2))


def test_a_level_that_would_be_too_large_is_not_made():
    values = Values(rows(5), ALL, 1000)
    assert values.deepen()
    assert not values.deepen()
    assert values.depth == 1


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("op", Composition.ops)
def test_signs_are_settled_when_a_graph_is_made(op, sign):
    graph = Composition(op).graph
    x = rows(4, -2, 2)
    for row in x:
        named = [(k, step.op, step.left, step.right) for k, step in enumerate(graph.steps, start=4)]
        # As the search knows it: operations on numbers without their signs.
        lines = [abs(v) for v in row]
        for _, op_, left, right in named:
            lines.append(abs(applied(op_, lines[left], lines[right])))
        made = realised(named, row, sign * lines[-1])
        assert made(row) == pytest.approx(sign * lines[-1])


def test_an_input_may_have_to_be_turned_round():
    assert realised([(1, INPUT, 1, 1)], np.array([3.0, 4.0]), 4.0)(np.array([3.0, 4.0])) == 4.0
    assert realised([(1, INPUT, 1, 1)], np.array([3.0, 4.0]), -4.0)(np.array([3.0, 4.0])) == -4.0
