import pytest

from nalm.evaluate.intervals import success_interval
from nalm.papers import claims
from nalm.papers.agreement import Finding
from nalm.papers.claims import Findings


def found(**rows):
    """Findings of rows with so many successes of 25 in columns a, b, c, …"""
    numbers = {}
    for row, successes in rows.items():
        for column, solved in zip("abcdefghi", successes):
            interval = success_interval(solved, 25)
            numbers[row, column, "success"] = Finding(interval.value, interval.low, interval.high, 25)
    return Findings(numbers)


@pytest.mark.parametrize(("solved", "holds"), [(25, True), (24, True), (22, True), (15, False), (0, False)])
def test_full_success_stands_while_the_interval_reaches_that_of_all_seeds(solved, holds):
    assert claims.full("x")(found(x=[25, solved])) is holds


@pytest.mark.parametrize(("solved", "holds"), [(0, True), (3, True), (10, False)])
def test_no_success_stands_while_the_interval_reaches_that_of_none(solved, holds):
    assert claims.none("x")(found(x=[0, solved])) is holds


def test_columns_may_be_named():
    f = found(x=[25, 0])
    assert claims.full("x", ["a"])(f)
    assert not claims.full("x", ["b"])(f)
    assert claims.not_full("x", ["b"])(f)


@pytest.mark.parametrize(("count", "holds"), [(0, False), (3, True), (4, True), (5, False), (6, False)])
def test_full_on_so_many_columns_stands_if_other_seeds_would_give_it(count, holds):
    # Three columns are full, the fourth nearly so, two are far from it.
    assert claims.full_on("x", count)(found(x=[25, 25, 25, 24, 5, 0])) is holds


@pytest.mark.parametrize(("count", "holds"), [(0, False), (1, False), (2, True), (3, True)])
def test_some_on_so_many_columns_stands_if_other_seeds_would_give_it(count, holds):
    assert claims.some_on("x", count)(found(x=[20, 15, 1, 0, 0][:5])) is holds


@pytest.mark.parametrize(("count", "holds"), [(0, False), (1, True), (2, True), (3, False)])
def test_better_on_so_many_columns_stands_if_other_seeds_would_give_it(count, holds):
    # Surely on the first, perhaps on the second, surely not on the third.
    assert claims.better_on("x", "y", count)(found(x=[25, 12, 0], y=[0, 12, 25])) is holds


def test_equal_rows_are_not_better_on_all_columns():
    f = found(x=[12] * 9, y=[12] * 9)
    assert claims.better_on("x", "y", 4)(f)
    assert not claims.better_on("x", "y", 9)(f)
    assert not claims.better_on("x", "y", 0)(f)


def test_better_needs_a_gain_and_no_sure_loss():
    assert claims.better("x", "y")(found(x=[20, 10], y=[10, 11]))
    assert not claims.better("x", "y")(found(x=[25, 0], y=[5, 15]))
    assert not claims.better("x", "y")(found(x=[10, 10], y=[10, 10]))


def test_not_better_stands_until_one_column_is_surely_better():
    assert claims.not_better("x", "y")(found(x=[14, 0], y=[10, 25]))
    assert not claims.not_better("x", "y")(found(x=[25, 0], y=[10, 25]))


def test_alike_stands_until_one_column_surely_differs():
    assert claims.alike("x", "y")(found(x=[12, 25], y=[15, 22]))
    assert not claims.alike("x", "y")(found(x=[12, 25], y=[15, 5]))


def test_best_and_worst_stand_until_another_row_is_surely_better_or_worse_over_all_runs():
    f = found(x=[20, 5], y=[14, 14], z=[0, 0])
    assert claims.best("x", ["y", "z"])(f)
    assert claims.best("y", ["x", "z"])(f)
    assert not claims.best("z", ["x", "y"])(f)
    assert not claims.best("z", ["z"])(f)
    assert claims.worst("z", ["x", "y"])(f)
    assert not claims.worst("x", ["z"])(f)


def test_lower_compares_where_both_have_the_measure():
    numbers = {
        ("x", "a", "solved at"): Finding(100.0, None, None, 25),
        ("y", "a", "solved at"): Finding(300.0, None, None, 25),
        ("x", "b", "solved at"): Finding(900.0, None, None, 25),
        ("y", "b", "solved at"): Finding(None, None, None, 25),
    }
    f = Findings(numbers)
    assert claims.lower("solved at", "x", "y", ["a", "b"])(f)
    assert not claims.lower("solved at", "y", "x", ["a", "b"])(f)
    assert not claims.lower("sparsity", "x", "y", ["a", "b"])(f)


def test_several_claims_hold_together():
    f = found(x=[25], y=[0])
    assert claims.both(claims.full("x"), claims.none("y"))(f)
    assert not claims.both(claims.full("x"), claims.full("y"))(f)
